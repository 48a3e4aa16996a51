// What is known of a model without asking it. No runtime.
import type { ModelPrices } from "../config.ts"
import type { ThinkingLevel } from "../contract.ts"

export interface KnownModel {
  /** Tokens of prompt and reply together. */
  contextTokens: number
  /** Tokens of the longest reply. */
  maxOutputTokens: number
  vision: boolean
  /** Levels that the model takes, in its provider's words where they differ; empty: it does not think on demand. */
  reasoning: readonly Exclude<ThinkingLevel, "off">[]
  /** True when thinking can be switched off. */
  canBeOff: boolean
  /** US dollars for a million tokens. */
  prices: ModelPrices | undefined
}
