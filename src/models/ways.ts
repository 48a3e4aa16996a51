// How a target wants to be spoken to, as far as it concerns every interface alike.
import { waysOf as chatWaysOf } from "./chat-completions/index.ts"
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
  const quirks = { ...settings.quirks, ...target.entry.quirks }
  if (settings.kind !== "openai-compatible") {
    return { callIds: quirks.callIds ?? "any", reasoningTags: quirks.reasoningTags ?? "off" }
  }
  const { callIds, reasoningTags } = chatWaysOf(settings, target)
  const isOpen = quirks.reasoningTags === undefined && reasoningTags === "auto" && opensByItself.test(target.modelId)
  return { callIds, reasoningTags: isOpen ? "open" : reasoningTags }
}
