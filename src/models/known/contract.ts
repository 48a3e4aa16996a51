// What is known of a model without asking it, and the form in which the generated table holds it. No runtime.
import type { ModelPrices } from "../config.ts"
import type { ThinkingLevel } from "../contract.ts"

export interface KnownModel {
  /** Tokens of prompt and reply together. */
  contextTokens: number
  /** Tokens of the longest reply; undefined: nobody says, or it differs from host to host. */
  maxOutputTokens: number | undefined
  vision: boolean
  /** Levels that the model takes. Empty: it does not think on demand. Undefined: not known. */
  reasoning: readonly Exclude<ThinkingLevel, "off">[] | undefined
  /** Whether thinking can be switched off; true as well for a model that never thinks. Undefined: not known. */
  canBeOff: boolean | undefined
  /** US dollars for a million tokens, at this very provider. */
  prices: ModelPrices | undefined
}

/**
 * Levels in one word. `none`: does not think. `always`: thinks, and has no dial. `off-high`: every level and off, also
 * for models that can only be switched on and off. Without `off` thinking cannot be switched off.
 */
export type ThinkingWord =
  | "none"
  | "always"
  | "unknown"
  | "off-high"
  | "minimal-high"
  | "low-high"
  | "medium-high"
  | "medium"
  | "high"
  | "low,high"
  | "off,low-high"
  | "off,low,high"
  | "off,high"

/** Prices: input, output, cache read, cache write; none of them, or the first two at least. */
export type ModelRow = readonly [
  id: string,
  contextTokens: number,
  maxOutputTokens: number | null,
  vision: boolean,
  thinking: ThinkingWord,
  ...prices: number[],
]

/** Models of one provider, whose figures the prices are. */
export interface ModelSection {
  seller: string
  /** Where the provider answers, for configurations that write its address down. */
  hosts: readonly string[]
  /** The provider runs models of others: its figures say nothing about the same model elsewhere. */
  hostOnly: boolean
  /** Weights that anybody may run: the longest reply is each host's own choice. */
  open: boolean
  rows: readonly ModelRow[]
}

/** Figures that are safe for every model whose name begins with one of these. */
export type FamilyRow = readonly [
  starts: readonly string[],
  contextTokens: number,
  maxOutputTokens: number | null,
  vision: boolean,
  thinking: ThinkingWord,
]
