// Cerebras: every field that it does not know is an error, and the body of errors is flat.
import { commonMessageRules, messagesOf, streamOptionsNeedStream } from "./chat-messages.ts"
import type { Dialect, Fault, Rule } from "./contract.ts"
import { cerebrasKey } from "./credentials.ts"
import { commonToolRules, toolNamesUnique } from "./openai-tools.ts"
import { textOf, unknownKeys } from "./read.ts"

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(" "))

/** API reference, "Chat completions". */
const knownFields = setOf(
  "model messages max_tokens max_completion_tokens response_format seed stop stream stream_options temperature top_p " +
    "tools tool_choice parallel_tool_calls user logprobs top_logprobs reasoning_effort reasoning_format clear_thinking " +
    "disable_reasoning prediction service_tier n prompt_cache_key",
)
const knownMessageFields: Readonly<Record<string, ReadonlySet<string>>> = {
  system: setOf("role content name"),
  developer: setOf("role content name"),
  user: setOf("role content name"),
  assistant: setOf("role content name tool_calls reasoning refusal"),
  tool: setOf("role content tool_call_id name"),
}

// proxysoul/Empryo#209 (fields), Kilo-Org/kilocode#10375 and Alishahryar1/free-claude-code#1136 (messages)
const fields: Rule = ({ body }) => {
  const places = unknownKeys(body, knownFields)
  for (const [index, message] of messagesOf(body).entries()) {
    const role = textOf(message.role)
    const unknown = unknownKeys(message, knownMessageFields[role] ?? new Set())
    places.push(...unknown.map((key) => `messages.${index}.${role}.${key}`))
  }
  if (places.length === 0) return undefined
  const message = places.map((place) => `${place}: property '${place}' is unsupported`).join("\n")
  return { message, type: "invalid_request_error", param: "validation_error", code: "wrong_api_format" }
}

function errorBody(fault: Fault) {
  const { message, type = "invalid_request_error", param = "validation_error", code = "wrong_api_format" } = fault
  return { message, type, param, code }
}

export const cerebras: Dialect = {
  rules: [fields, ...commonMessageRules, streamOptionsNeedStream, toolNamesUnique, ...commonToolRules],
  credentials: cerebrasKey,
  errorBody,
}
