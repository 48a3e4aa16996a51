// What a model is to the rest of the product: one step in, one step out. No runtime.
import type { Json, JsonObject } from "../kernel/index.ts"

export type ThinkingLevel = "off" | "minimal" | "low" | "medium" | "high"

export type ContentPart =
  | { type: "text"; text: string }
  /** `data` is base64. */
  | { type: "image"; mediaType: string; data: string }

export interface ToolCall {
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

export type ModelMessage =
  | { role: "user"; content: ContentPart[] }
  | { role: "assistant"; text: string; toolCalls: ToolCall[] }
  | { role: "tool"; results: ToolResultPart[] }

export interface ToolSchema {
  name: string
  description: string
  /** JSON schema of an object. */
  inputSchema: JsonObject
}

export interface ModelDelta {
  kind: "text" | "reasoning"
  text: string
}

export interface ModelRequest {
  system: string
  messages: ModelMessage[]
  tools: ToolSchema[]
  /** Tokens of the reply at most; unset: the model's own limit. */
  maxOutputTokens?: number
  /** Aborts the call at once; the rejection is the signal's reason. */
  signal: AbortSignal
  onDelta?: (delta: ModelDelta) => void
}

export type FinishReason = "stop" | "tool-calls" | "length" | "content-filter" | "other"

export interface ModelReply {
  text: string
  reasoning: string
  toolCalls: ToolCall[]
  finishReason: FinishReason
  usage: { inputTokens: number; outputTokens: number }
  /** `provider/model` that really answered (a fallback may have stepped in). */
  model: string
}

/** Which model a run wants; both are overrides of the configured default. */
export interface ModelSelection {
  /** `provider/model` or an alias. */
  model?: string | undefined
  thinking?: ThinkingLevel | undefined
  /** Agent whose own model setting applies before `agents.defaults`. */
  agentId: string
}

export interface ModelInfo {
  /** `provider/model`. */
  id: string
  /** Tokens that fit into one request, prompt and reply together. */
  contextTokens: number
  vision: boolean
}

export interface ModelRegistry {
  /** What the selection resolves to. Throws `model-unknown`, `model-not-allowed` or `model-key-missing`. */
  describe(selection: ModelSelection): ModelInfo & { thinking: ThinkingLevel; fallbacks: string[] }
  /**
   * One step, with retries (Retry-After honoured) and then the fallback list.
   * Throws `model-failed` when all have failed, or the abort reason.
   */
  complete(selection: ModelSelection, request: ModelRequest): Promise<ModelReply>
}
