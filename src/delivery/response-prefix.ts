// `messages.responsePrefix` -> the words before a reply. Variables that are unknown or have no value stay as written, so
// that a typing error is seen.

export interface PrefixValues {
  /** `provider/model`. */
  model: string | undefined
  thinkingLevel: string | undefined
  identityName: string | undefined
}

export function responsePrefix(template: string | undefined, values: () => PrefixValues): string {
  const wanted = template?.trim() ?? ""
  if (wanted === "") return ""
  const { model, thinkingLevel, identityName } = values()
  if (wanted === "auto") return identityName === undefined ? "" : `[${identityName}]`
  const slash = model?.indexOf("/") ?? -1
  const variables: Record<string, string | undefined> = {
    model: model?.slice(slash + 1),
    modelfull: model,
    provider: slash < 0 ? undefined : model?.slice(0, slash),
    thinkinglevel: thinkingLevel,
    "identity.name": identityName,
  }
  return wanted.replace(/\{([a-z.]+)\}/gi, (whole, name: string) => variables[name.toLowerCase()] ?? whole)
}
