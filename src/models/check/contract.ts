// What a check of one model tells. It is also the wire form of `POST /api/models/test`. No runtime.
import type { FailureKind } from "../failure/index.ts"

export interface ContextFact {
  tokens: number
  /** Who says so. `assumed`: nobody does. */
  from: "configuration" | "server" | "table" | "assumed"
}

/** `timeout`: the whole check took too long. The others are the failures of models and of selections. */
export type CheckFailureKind = FailureKind | "timeout" | "key-missing" | "not-configured"

export interface CheckFailure {
  kind: CheckFailureKind
  message: string
  /** The next step. */
  hint: string | null
}

/** Null is unknown, everywhere. */
export interface ModelCheck {
  /** `provider/model`; as it was written where nothing has this name. */
  model: string
  /** Whether the agent can work with it: it answers, and takes the tools. */
  usable: boolean
  /** Why it is not usable. */
  failure: CheckFailure | null
  /** What else there is to know or to mend, each with its next step. */
  advice: string[]
  key: "accepted" | "refused" | "missing" | "none-needed" | null
  /** Whether the provider has a model of this name. */
  exists: boolean | null
  /** `not-called`: taken, and left unused although a call was asked for. */
  tools: "called" | "not-called" | "refused" | null
  /** `not-sent`: the model is not known to take any. */
  pictures: "seen" | "wrong" | "refused" | "not-sent" | null
  /** What was seen of its thinking. */
  reasoning: { tokens: number | null; characters: number } | null
  streaming: { pieces: number; firstMs: number | null } | null
  durationMs: number
  tokens: { input: number | null; output: number | null } | null
  /** US dollars. */
  cost: number | null
  context: ContextFact | null
  maxOutputTokens: number | null
}
