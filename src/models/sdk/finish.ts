// Why a reply ended, by the provider's own word first: the packages fold several of them into one.
import type { LanguageModelV4FinishReason } from "@ai-sdk/provider"
import type { FinishReason } from "../contract.ts"

const known: Readonly<Record<string, FinishReason>> = {
  // Messages
  end_turn: "stop",
  stop_sequence: "stop",
  tool_use: "tool-calls",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  pause_turn: "paused",
  refusal: "refused",
  // Responses
  max_output_tokens: "length",
  content_filter: "refused",
  // Gemini
  STOP: "stop",
  MAX_TOKENS: "length",
  CONTINUATION: "length",
  SAFETY: "refused",
  RECITATION: "refused",
  BLOCKLIST: "refused",
  PROHIBITED_CONTENT: "refused",
  SPII: "refused",
  IMAGE_SAFETY: "refused",
  LANGUAGE: "refused",
  OTHER: "other",
  MALFORMED_FUNCTION_CALL: "other",
  UNEXPECTED_TOOL_CALL: "other",
  // Converse
  content_filtered: "refused",
  guardrail_intervened: "refused",
}

const unified: Readonly<Record<LanguageModelV4FinishReason["unified"], FinishReason>> = {
  stop: "stop",
  length: "length",
  "content-filter": "refused",
  "tool-calls": "tool-calls",
  error: "other",
  interrupted: "other",
  other: "other",
}

/** Some servers say `stop`, or nothing, although they ask for tools; what counts is whether they ask. */
export function toFinishReason(reason: LanguageModelV4FinishReason, hasCalls: boolean): FinishReason {
  const own = reason.raw !== undefined && Object.hasOwn(known, reason.raw) ? known[reason.raw] : undefined
  const found = own ?? unified[reason.unified]
  if (hasCalls && (found === "stop" || found === "other")) return "tool-calls"
  // Said without a call: an end like any other.
  return found === "tool-calls" && !hasCalls ? "stop" : found
}
