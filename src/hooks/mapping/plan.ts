// One delivery and its mapping -> what is to be done: templates, then the transform's changes, then checks.
// Nothing here can give a delivery trust: `unwrapped` comes from the mapping's configuration and nowhere else.
import type { PromptSegment } from "../../agent/turn-input.ts"
import { AppError, type Json, isJsonObject } from "../../kernel/index.ts"
import { isHookKey } from "../../sessions/keys.ts"
import type { AgentAction, HookAction } from "../action.ts"
import { cleanName, thinkingLevels } from "../payload.ts"
import { type Template, type TemplateValues, lookUp } from "../template.ts"
import type { Overrides, RunTransform, TransformInput } from "../transform/contract.ts"
import { type CompiledMapping, fingerprint } from "./compile.ts"

export const maxForEachItems = 200

/** No actions: the mapping wants nothing done. */
export interface Plan {
  actions: HookAction[]
}

export interface PlanOptions {
  runTransform: RunTransform
}

export async function planDelivery(
  options: PlanOptions,
  mapping: CompiledMapping,
  values: TemplateValues,
): Promise<Plan> {
  if (mapping.forEach === undefined) {
    const action = await planItem(options, mapping, values)
    return { actions: action ? [action] : [] }
  }
  const items = lookUp(values, mapping.forEach)
  if (!Array.isArray(items)) throw new AppError("bad-request", "The payload has no list where forEach says")
  if (items.length > maxForEachItems) {
    throw new AppError("bad-request", `The list has ${items.length} elements; at most ${maxForEachItems} are taken`)
  }
  const actions: HookAction[] = []
  for (const item of items) {
    const action = await planItem(options, mapping, { ...values, item })
    if (action) actions.push(action)
  }
  return { actions }
}

async function planItem(
  options: PlanOptions,
  mapping: CompiledMapping,
  values: TemplateValues,
): Promise<HookAction | undefined> {
  if (isIgnored(mapping, values)) return undefined
  const overrides = mapping.transform ? await options.runTransform(mapping.transform, transformInput(values)) : {}
  if (overrides === null) return undefined
  return (overrides.kind ?? mapping.action) === "wake"
    ? wakeAction(mapping, values, overrides)
    : agentAction(mapping, values, overrides)
}

function isIgnored({ preset }: CompiledMapping, values: TemplateValues): boolean {
  return preset?.event !== undefined && preset.ignored.has(preset.event.render(values))
}

function wakeAction(mapping: CompiledMapping, values: TemplateValues, overrides: Overrides): HookAction {
  const { templates } = mapping
  const given = overrides.text ?? overrides.message
  const { text, segments: made } = said(given, templates.text ?? presetTexts(mapping, values)?.message, values)
  if (text === "") throw new AppError("bad-request", "text is required: the mapping renders none")
  const mode = overrides.mode ?? overrides.wakeMode ?? mapping.wakeMode
  // An event without pieces stands in a boundary; one that is all the operator's stands as it is.
  const segments: PromptSegment[] | undefined = mapping.unwrapped ? [{ kind: "operator", text }] : made
  const shared = mapping.shareHistory ? { shareHistory: true as const } : {}
  return { kind: "wake", text, ...(segments ? { segments } : {}), mode, ...shared }
}

function agentAction(mapping: CompiledMapping, values: TemplateValues, overrides: Overrides): AgentAction {
  const { templates } = mapping
  const preset = presetTexts(mapping, values)
  const given = overrides.message ?? overrides.text
  const { text: message, segments } = said(given, templates.message ?? preset?.message, values)
  if (message === "") throw new AppError("bad-request", "message is required: the mapping renders none")
  return {
    kind: "agent",
    message,
    ...(segments && !mapping.unwrapped ? { segments } : {}),
    name: cleanName(overrides.name ?? render(templates.name, values) ?? ""),
    sessionKey: blank(overrides.sessionKey ?? render(templates.sessionKey, values) ?? presetKey(mapping, values)),
    wakeMode: overrides.wakeMode ?? overrides.mode ?? mapping.wakeMode,
    deliver: overrides.deliver ?? mapping.deliver,
    channel: overrides.channel ?? mapping.channel,
    to: blank(overrides.to ?? render(templates.to, values)),
    model: blank(overrides.model ?? render(templates.model, values)),
    preferredModel: blank(render(templates.preferredModel, values)),
    thinking: thinkingLevel(overrides.thinking ?? render(templates.thinking, values)),
    timeoutSeconds: overrides.timeoutSeconds ?? mapping.timeoutSeconds,
    ...(mapping.unwrapped ? { unwrapped: true } : {}),
    ...(mapping.shareHistory ? { shareHistory: true } : {}),
    ...(mapping.callbackUrl === undefined ? {} : { callbackUrl: mapping.callbackUrl }),
  }
}

/**
 * What is said: by a template, whose words are the operator's and whose values are marked; or by a transform, of whose
 * text nobody can tell which words came out of the payload, so that all of them count as such.
 */
function said(
  given: string | undefined,
  template: Template | undefined,
  values: TemplateValues,
): { text: string; segments?: PromptSegment[] } {
  if (given !== undefined || !template) return { text: given?.trim() ?? "" }
  const segments = trimmed(template.segments(values))
  return { text: segments.map((segment) => segment.text).join(""), segments }
}

function trimmed(segments: readonly PromptSegment[]): PromptSegment[] {
  const first = segments.findIndex(({ text }) => text.trim() !== "")
  if (first === -1) return []
  const kept = segments.slice(first, segments.findLastIndex(({ text }) => text.trim() !== "") + 1)
  return kept.map((segment, index) => {
    const text = index === 0 ? segment.text.trimStart() : segment.text
    return { ...segment, text: index === kept.length - 1 ? text.trimEnd() : text }
  })
}

function presetTexts({ preset }: CompiledMapping, values: TemplateValues) {
  if (!preset) return undefined
  const text = preset.event && preset.texts.get(preset.event.render(values))
  return { message: text?.message ?? preset.otherwise, sessionKey: text?.sessionKey ?? preset.sessionKey }
}

/** Senders have ids of any form; a delivery of theirs is not refused for what our own template makes of them. */
function presetKey(mapping: CompiledMapping, values: TemplateValues): string | undefined {
  const key = render(presetTexts(mapping, values)?.sessionKey, values)
  if (key === undefined || isHookKey(key)) return key
  return `hook:${mapping.preset?.name}:${fingerprint(key)}`
}

function render(template: Template | undefined, values: TemplateValues): string | undefined {
  return template?.render(values)
}

function blank(text: string | undefined): string | undefined {
  const trimmed = text?.trim()
  return trimmed === "" ? undefined : trimmed
}

function thinkingLevel(text: string | undefined): AgentAction["thinking"] {
  const wanted = blank(text)?.toLowerCase()
  if (wanted === undefined) return undefined
  const level = thinkingLevels.find((known) => known === wanted)
  if (!level) throw new AppError("bad-request", `thinking must be one of ${thinkingLevels.join(", ")}`)
  return level
}

function transformInput(values: TemplateValues): TransformInput {
  const query = new URLSearchParams(values.query).toString()
  return {
    payload: values.payload,
    headers: values.headers,
    // Transforms are given a URL; the host means nothing here and is not the caller's to choose.
    url: `http://localhost/${values.path}${query === "" ? "" : `?${query}`}`,
    path: values.path,
    ...(values.item === undefined ? {} : { item: values.item }),
  }
}

/** The first mapping of the path whose `source` is the payload's. */
export function selectMapping(candidates: readonly CompiledMapping[], payload: Json): CompiledMapping | undefined {
  const source = isJsonObject(payload) && Object.hasOwn(payload, "source") ? payload["source"] : undefined
  return candidates.find((mapping) => mapping.source === undefined || mapping.source === source)
}
