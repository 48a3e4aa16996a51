// How the server of a target wants to be spoken to, as far as it concerns every interface alike.
import { presetOf } from "./chat-completions/index.ts"
import type { CallIdForm } from "./conversation/index.ts"
import type { ModelTarget } from "./resolve.ts"
import type { ProviderSettings } from "./view.ts"

export interface Ways {
  callIds: CallIdForm
  reasoningTags: "auto" | "open" | "off"
}

/** Models whose chat template opens the reasoning itself, so that a reply begins inside it and only closes it. */
const opensByItself = /(?:^|[/:])(?:deepseek-r1|qwq|qwen3[\w.-]*-thinking|minimax-m[23])/i

export function waysOf(target: ModelTarget, settings: ProviderSettings): Ways {
  const set = {
    ...presetOf(settings.preset)?.quirks,
    ...definedOnly(settings.quirks),
    ...definedOnly(target.entry.quirks),
  }
  const isCompatible = settings.kind === "openai-compatible"
  return {
    callIds: set.callIds ?? "any",
    reasoningTags: set.reasoningTags ?? (isCompatible ? (opensByItself.test(target.modelId) ? "open" : "auto") : "off"),
  }
}

function definedOnly<T extends object>(value: T | undefined): Partial<T> {
  if (!value) return {}
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as Partial<T>
}
