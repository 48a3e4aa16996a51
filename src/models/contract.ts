// What a model is to the rest of the product: one step in, one step out. No runtime.
import type { Json, JsonObject } from "../kernel/index.ts"

export type ThinkingLevel = "off" | "minimal" | "low" | "medium" | "high"

export type ContentPart =
  | { type: "text"; text: string }
  /** `data` is base64. */
  | { type: "image"; mediaType: string; data: string }

export interface ToolCall {
  /** Unique in its reply. */
  id: string
  name: string
  /** As the model wrote it; the tool's own schema decides whether it is acceptable. */
  input: Json
}

export interface ToolResultPart {
  callId: string
  toolName: string
  content: ContentPart[]
  isError: boolean
}

/**
 * A reply as its provider wants it back: reasoning, text and calls in their order, each with the provider's own words
 * about it (signatures, ids, encrypted reasoning), which nobody else reads.
 */
export interface Replay {
  /** Interface and model that wrote it. It goes back to the same only; to others it is as if it were not there. */
  source: string
  parts: ReplayPart[]
}

export type ReplayPart =
  | { type: "reasoning"; text: string; meta?: JsonObject }
  /** The next `length` characters of the message's text. */
  | { type: "text"; length: number; meta?: JsonObject }
  /** The tool call with this id. */
  | { type: "call"; id: string; meta?: JsonObject }

export type ModelMessage =
  | { role: "user"; content: ContentPart[] }
  | { role: "assistant"; text: string; toolCalls: ToolCall[]; replay?: Replay }
  | { role: "tool"; results: ToolResultPart[] }

export interface ToolSchema {
  name: string
  description: string
  /** JSON schema of an object: `type: "object"` at the top, no `oneOf`, `anyOf` or `allOf` beside it. */
  inputSchema: JsonObject
}

export interface ModelDelta {
  kind: "text" | "reasoning"
  text: string
}

/** What a model call is made for; stands in the ledger beside its tokens. */
export interface UsedFor {
  /** `check`: an operator tries a model out; no fallback answers in its place. */
  purpose: "chat" | "hook" | "heartbeat" | "schedule" | "compact" | "picture" | "check" | "test"
  sessionKey?: string
  runId?: string
  origin?: string
}

export interface ModelRequest {
  system: string
  messages: ModelMessage[]
  tools: ToolSchema[]
  /** Tokens of the reply at most; unset: the model's own limit. */
  maxOutputTokens?: number
  usedFor: UsedFor
  /** Saying nothing is an answer here: an empty reply is not asked for again, and no fault. */
  mayBeSilent?: boolean
  /** Aborts the call at once; the rejection is the signal's reason. */
  signal: AbortSignal
  onDelta?: (delta: ModelDelta) => void
  /**
   * All deltas of this step so far are void: another try begins. Returns the words of them that a person has already
   * been sent for good; the next try goes on behind these. Unset: nothing is ever shown.
   */
  onRestart?: () => string
}

/** `refused`: the model or its provider declined to answer. */
export type FinishReason = "stop" | "tool-calls" | "length" | "refused" | "paused" | "other"

/** Tokens of one call. Undefined is unknown, never zero. */
export interface Usage {
  /** All of the prompt, read from a cache or not. */
  inputTokens: number | undefined
  /** All of the reply, reasoning included. */
  outputTokens: number | undefined
  cacheReadTokens?: number | undefined
  cacheWriteTokens?: number | undefined
  reasoningTokens?: number | undefined
  /** US dollars, where the provider says itself what it charges. */
  cost?: number | undefined
}

export interface ModelReply {
  text: string
  reasoning: string
  toolCalls: ToolCall[]
  /** Unset where text and calls say all. */
  replay?: Replay
  finishReason: FinishReason
  /** Of all calls that it took. */
  usage: Usage
  /** Calls of providers behind it, when more than one: a cut reply was gone on with, an empty one asked for again. */
  calls?: number
  /** `provider/model` that really answered (a fallback may have stepped in). */
  model: string
  /** The models that were asked before it in this step and failed, with why. Unset: the one that was wanted answered. */
  failedBefore?: FailedModel[]
}

export interface FailedModel {
  /** `provider/model` */
  model: string
  reason: string
}

/** One answered call of a provider, for the ledger. A step may take several. */
export interface UsageRecord {
  /** `provider/model` */
  model: string
  agentId: string
  usedFor: UsedFor
  usage: Usage
  /** US dollars; undefined when the prices or the tokens are not known. */
  cost: number | undefined
  ms: number
  /** What it counts for against caps, where the provider has told less than that. */
  counted?: Spent
}

/** Tokens of prompt and reply together, and whole billionths of a dollar. */
export interface Spent {
  tokens: number
  nanoDollars: number
}

/** One call as it is about to be made, with the most that it can take. */
export interface PlannedCall {
  /** `provider/model` */
  model: string
  agentId: string
  usedFor: UsedFor
  /** Tokens of the prompt at most. */
  inputTokens: number
  /** Tokens of the longest reply that the model gives when it is not told otherwise. */
  outputTokens: number
  /** Billionths of a dollar for a token: never too low. */
  inputPrice: number
  outputPrice: number
  /** Whose word the price is: the model's own, or the dearest known of its provider, or of all, because it is unknown. */
  pricedBy: "model" | "provider" | "all"
}

/** A call that may be made. Exactly one of the three says how it ended; none of them throws or waits. */
export interface AdmittedCall {
  /** The reply has to be kept this short; unset: the model's own limit is short enough. */
  maxOutputTokens?: number
  /** The provider has answered. */
  settle(record: UsageRecord): void
  /** It took nothing: the provider has refused it, or was not reached. */
  refund(): void
  /** It was cut while it ran: what of it has most likely been charged. */
  lose(spent: Spent): void
}

/** Asked before each call of a provider, retries and fallbacks too. Throws `budget-exceeded`, or the signal's reason. */
export type AdmitCall = (call: PlannedCall, signal: AbortSignal) => Promise<AdmittedCall>

/** Which model a run wants; both are overrides of the configured default. */
export interface ModelSelection {
  /** `provider/model` or an alias. */
  model?: string | undefined
  thinking?: ThinkingLevel | undefined
  /** Agent whose own model setting applies before `agents.defaults`. */
  agentId: string
  /** The operator names the model: the allowed list, which bounds what chats may choose, does not hold. */
  byOperator?: boolean | undefined
}

export interface ModelInfo {
  /** `provider/model`. */
  id: string
  /** Tokens that fit into one request, prompt and reply together. */
  contextTokens: number
  /** Tokens that a prompt may have, so that the longest reply still fits behind it. */
  promptTokens: number
  vision: boolean
}

export interface ModelRegistry {
  /** What the selection resolves to. Throws `model-unknown`, `model-not-allowed` or `model-key-missing`. */
  describe(selection: ModelSelection): ModelInfo & { thinking: ThinkingLevel | "default"; fallbacks: string[] }
  /**
   * One step, with retries (Retry-After honoured) and then the fallback list.
   * Throws `model-failed` when all have failed, or the abort reason.
   */
  complete(selection: ModelSelection, request: ModelRequest): Promise<ModelReply>
}
