// The configured mappings and presets, made ready once for each configuration: templates compiled, defaults filled in,
// found by path in one step however many there are.
import { createHash } from "node:crypto"
import type { Log } from "../../kernel/index.ts"
import type { WakeMode } from "../action.ts"
import type { HookMappingConfig, HookPresetName, HookVerifyConfig, HooksConfig } from "../config.ts"
import { type Preset, presets } from "../presets/index.ts"
import { type Template, type TemplatePath, compilePath, compileTemplate } from "../template.ts"

export interface CompiledMapping {
  id: string
  path: string | undefined
  source: string | undefined
  action: "wake" | "agent"
  wakeMode: WakeMode
  deliver: boolean
  channel: string
  timeoutSeconds: number | undefined
  unwrapped: boolean
  shareHistory: boolean
  templates: Record<TemplateField, Template | undefined>
  /** The texts of a preset, by event; the mapping's own template wins. */
  preset: CompiledPreset | undefined
  transform: HookMappingConfig["transform"]
  forEach: TemplatePath | undefined
  verify: HookVerifyConfig | undefined
  /** Who sends here, as far as it is known: by `verify`, else by the preset. */
  scheme: HookVerifyConfig["scheme"] | undefined
  /** Equal for equal `verify` settings, so that each is checked once for a request. */
  verifyKey: string | undefined
  idFrom: TemplatePath | undefined
  /** Whether the body stands for a delivery that has no id of its own. */
  dedupe: boolean
  callbackUrl: string | undefined
  /** Headers and query parameters that are credentials, in lower case. */
  hidden: readonly string[]
}

export type TemplateField = "name" | "sessionKey" | "message" | "text" | "to" | "model" | "preferredModel" | "thinking"

export interface CompiledPreset {
  name: string
  event: Template | undefined
  texts: Map<string, { message: Template; sessionKey: Template }>
  otherwise: Template
  sessionKey: Template
  ignored: ReadonlySet<string>
}

export interface Mappings {
  all: readonly CompiledMapping[]
  /** Those that a path can reach, in the order of the configuration. */
  at(path: string): readonly CompiledMapping[]
  /** What is a credential by the word of any mapping that a path can reach, in lower case. */
  hiddenAt(path: string): ReadonlySet<string>
}

export type MappingsView = Pick<HooksConfig, "mappings" | "presets" | "gmail"> &
  Partial<Pick<HooksConfig, "shareHistory">>

export function compileMappings(view: MappingsView, log: Log): Mappings {
  const known = view.presets.filter((name): name is HookPresetName => Object.hasOwn(presets, name))
  const unknown = view.presets.filter((name) => !Object.hasOwn(presets, name))
  if (unknown.length > 0) log.warn({ presets: unknown }, "hook presets unknown: ignored")
  const entries: HookMappingConfig[] = [
    ...view.mappings,
    ...[...new Set(known)].map((preset) => ({ preset, allowUnsafeExternalContent: false, hide: [] })),
  ]
  const used = new Set<string>()
  const all = entries.map((entry, index) => compileMapping(view, entry, uniqueId(used, entry, index)))
  const anywhere = all.filter((mapping) => mapping.path === undefined)
  const byPath = new Map<string, CompiledMapping[]>()
  for (const { path } of all) {
    if (path === undefined || byPath.has(path)) continue
    byPath.set(
      path,
      all.filter((mapping) => mapping.path === path || mapping.path === undefined),
    )
  }
  const at = (path: string) => byPath.get(path) ?? anywhere
  return { all, at, hiddenAt: (path) => new Set(at(path).flatMap(({ hidden }) => hidden)) }
}

function uniqueId(used: Set<string>, entry: HookMappingConfig, index: number): string {
  const wanted = entry.id ?? entry.preset ?? `mapping-${index + 1}`
  let id = wanted
  for (let count = 2; used.has(id); count += 1) id = `${wanted}-${count}`
  used.add(id)
  return id
}

function compileMapping(view: MappingsView, entry: HookMappingConfig, id: string): CompiledMapping {
  const preset = entry.preset === undefined ? undefined : presets[entry.preset]
  // The set-up command of the mail watch keeps what its runs need in a section of its own.
  const gmail = entry.preset === "gmail" ? view.gmail : undefined
  const forEach = entry.forEach ?? preset?.forEach
  const idFrom = entry.verify?.idFrom ?? preset?.idFrom
  return {
    id,
    path: entry.match?.path ?? preset?.name,
    source: entry.match?.source,
    action: entry.action ?? "agent",
    wakeMode: entry.wakeMode ?? "now",
    deliver: entry.deliver ?? true,
    channel: entry.channel ?? "last",
    timeoutSeconds: entry.timeoutSeconds,
    unwrapped: entry.allowUnsafeExternalContent || gmail?.allowUnsafeExternalContent === true,
    shareHistory: entry.shareHistory ?? view.shareHistory ?? false,
    templates: {
      name: compiled(entry.name ?? preset?.title),
      sessionKey: compiled(entry.sessionKey),
      message: compiled(entry.messageTemplate),
      text: compiled(entry.textTemplate),
      to: compiled(entry.to),
      model: compiled(entry.model),
      preferredModel: compiled(gmail?.model),
      thinking: compiled(entry.thinking ?? gmail?.thinking),
    },
    preset: preset && compilePreset(preset),
    transform: entry.transform,
    forEach: forEach === undefined ? undefined : compilePath(forEach),
    verify: entry.verify,
    scheme: entry.verify?.scheme ?? preset?.scheme,
    verifyKey: entry.verify && fingerprint(JSON.stringify(entry.verify)),
    idFrom: idFrom === undefined ? undefined : compilePath(idFrom),
    dedupe: entry.dedupe ?? entry.verify !== undefined,
    callbackUrl: entry.callbackUrl,
    hidden: [...entry.hide, ...(entry.verify?.header === undefined ? [] : [entry.verify.header])].map((name) =>
      name.toLowerCase(),
    ),
  }
}

function compilePreset(preset: Preset): CompiledPreset {
  const texts = Object.entries(preset.texts ?? {}).map(([event, text]) => {
    const { message, sessionKey = preset.sessionKey } = typeof text === "string" ? { message: text } : text
    return [event, { message: compileTemplate(message), sessionKey: compileTemplate(sessionKey) }] as const
  })
  return {
    name: preset.name,
    event: compiled(preset.event),
    texts: new Map(texts),
    otherwise: compileTemplate(preset.otherwise),
    sessionKey: compileTemplate(preset.sessionKey),
    ignored: new Set(preset.ignored),
  }
}

function compiled(text: string | undefined): Template | undefined {
  return text === undefined ? undefined : compileTemplate(text)
}

/** Names a secret without showing it. */
export function fingerprint(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16)
}
