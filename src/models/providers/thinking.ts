// Thinking levels -> what each kind of provider is sent. `off` sends nothing: the model's own default applies.
import type { JsonObject } from "../../kernel/index.ts"
import type { ThinkingLevel } from "../contract.ts"
import type { ProviderSettings } from "../view.ts"

export interface ThinkingOptions {
  /** The library makes an effort or a budget of tokens of it, whichever the model takes. */
  reasoning?: Exclude<ThinkingLevel, "off">
  providerOptions?: Record<string, JsonObject>
}

export function thinkingOptions(kind: ProviderSettings["kind"], thinking: ThinkingLevel): ThinkingOptions {
  const level = thinking === "off" ? {} : { reasoning: thinking }
  if (kind !== "openai") return level
  // Conversations are ours to keep: the provider is asked not to store them. Summaries of reasoning, which the library
  // asks for by itself, are refused to accounts that have not been verified.
  return { ...level, providerOptions: { openai: { store: false, reasoningSummary: null } } }
}
