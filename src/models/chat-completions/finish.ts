// The word with which a reply ends -> what it means.
import type { FinishReason } from "../contract.ts"

/** `failed`: the server gave up on a reply that it had begun. */
export type End = FinishReason | "failed"

const ends: Readonly<Record<string, End>> = {
  stop: "stop",
  stop_sequence: "stop",
  end: "stop",
  end_turn: "stop",
  eos: "stop",
  eos_token: "stop",
  tool_calls: "tool-calls",
  tool_use: "tool-calls",
  function_call: "tool-calls",
  length: "length",
  max_tokens: "length",
  model_length: "length", // Mistral
  model_context_window_exceeded: "length",
  content_filter: "refused",
  refusal: "refused",
  safety: "refused", // Gemini
  recitation: "refused",
  prohibited_content: "refused",
  sensitive: "refused", // z.ai
  pause_turn: "paused",
  error: "failed", // OpenRouter, Mistral
  network_error: "failed", // z.ai
  insufficient_system_resource: "failed", // DeepSeek: ended early for want of machines
  abort: "failed", // vLLM
}

export function endOf(reason: string): End {
  const word = reason.toLowerCase()
  return (Object.hasOwn(ends, word) ? ends[word] : undefined) ?? "other"
}

/** What counts is whether the model calls tools, not whether the server says so. */
export function finishReason(end: FinishReason, hasCalls: boolean, wasRefused: boolean): FinishReason {
  if (hasCalls) return end === "stop" || end === "other" ? "tool-calls" : end
  if (wasRefused) return "refused"
  return end === "tool-calls" ? "stop" : end
}
