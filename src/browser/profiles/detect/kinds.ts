// The browsers that speak CDP, in the order in which they are looked for.

export type BrowserKind = "chrome" | "brave" | "edge" | "chromium" | "canary" | "custom"

export interface Detected {
  kind: BrowserKind
  path: string
}

export const order = ["chrome", "brave", "edge", "chromium", "canary"] as const

export function kindOfProgram(path: string): BrowserKind {
  return kindOfName(path.split(/[\\/]/).at(-1) ?? "") ?? "custom"
}

/** The kind that a desktop entry, bundle id, ProgId or program name stands for; undefined when it does not speak CDP. */
export function kindOfName(name: string): Exclude<BrowserKind, "custom"> | undefined {
  const text = name.toLowerCase()
  if (/chrome.?(canary|dev|unstable|sxs)|chromessht/.test(text)) return "canary"
  if (/brave/.test(text)) return "brave"
  if (/edge|msedge/.test(text)) return "edge"
  if (/chromium|vivaldi|opera|yandex|thebrowser|(^|\W)arc(\W|$)/.test(text)) return "chromium"
  if (/chrome/.test(text)) return "chrome"
  return undefined
}
