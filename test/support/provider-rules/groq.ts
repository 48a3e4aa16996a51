// Groq: OpenAI's interface by a strict schema of its own.
import { commonMessageRules, contentIsNotNull, messagesOf, streamOptionsNeedStream } from "./chat-messages.ts"
import type { Dialect, Rule } from "./contract.ts"
import { groqKey } from "./credentials.ts"
import { openaiErrorBody } from "./openai-models.ts"
import { commonToolRules, toolNamesUnique } from "./openai-tools.ts"
import { firstFault, modelOf, textOf, unknownKeys } from "./read.ts"

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(" "))

/** API reference, "Create chat completion". */
const knownFields = setOf(
  "model messages temperature top_p max_tokens max_completion_tokens stream stream_options stop seed n user tools " +
    "tool_choice parallel_tool_calls functions function_call response_format logprobs top_logprobs logit_bias " +
    "presence_penalty frequency_penalty reasoning_effort reasoning_format include_reasoning service_tier metadata " +
    "store search_settings documents citation_options compound_custom disable_tool_validation exclude_domains include_domains",
)
const knownMessageFields: Readonly<Record<string, ReadonlySet<string>>> = {
  system: setOf("role content name"),
  user: setOf("role content name"),
  assistant: setOf("role content name tool_calls function_call reasoning"),
  tool: setOf("role content tool_call_id name"),
}

// fanenr/chatbot#21
const fields: Rule = ({ body }) => {
  const [unknown] = unknownKeys(body, knownFields)
  return unknown === undefined ? undefined : badRequest(`property '${unknown}' is unsupported`)
}

// janhq/jan#8136, NousResearch/hermes-agent#11089
const messageFields: Rule = ({ body }) =>
  firstFault(messagesOf(body), (message, index) => {
    const role = textOf(message.role)
    const [unknown] = unknownKeys(message, knownMessageFields[role] ?? new Set())
    if (unknown === undefined) return undefined
    const place = `'messages.${index}'`
    return badRequest(
      `${place} : for 'role:${role}' the following must be satisfied[(${place} : property '${unknown}' is unsupported)]`,
    )
  })

// vercel/ai#8057
const reasoningOfPlainModels: Rule = ({ body }) =>
  firstFault(messagesOf(body), (message, index) =>
    message.reasoning !== undefined && !reasons(modelOf(body))
      ? badRequest(`messages[${index}].reasoning: reasoning is not supported with this model`)
      : undefined,
  )

/** "Reasoning" page: GPT-OSS and Qwen 3 think, Llama and Kimi K2 Instruct do not. */
function reasons(model: string): boolean {
  return !/^(llama|meta-llama\/|moonshotai\/kimi-k2-instruct|gemma)/.test(model)
}

// "Reasoning" page
const efforts: Rule = ({ body }) => {
  if (body.reasoning_effort === undefined) return undefined
  const model = modelOf(body)
  if (!reasons(model)) return badRequest("`reasoning_effort` is not supported with this model")
  const taken = model.includes("qwen3") ? ["none", "default"] : ["low", "medium", "high"]
  if (!/qwen3|gpt-oss/.test(model) || taken.includes(String(body.reasoning_effort))) return undefined
  return badRequest(`\`reasoning_effort\` must be one of ${taken.map((level) => `\`${level}\``).join(", ")}`)
}

// gsd-build/gsd-2#4376
const toolCount: Rule = ({ body }) =>
  Array.isArray(body.tools) && body.tools.length > 128
    ? badRequest("'tools' : maximum number of items is 128")
    : undefined

function badRequest(message: string) {
  return { message, type: "invalid_request_error" }
}

export const groq: Dialect = {
  rules: [
    fields,
    messageFields,
    reasoningOfPlainModels,
    efforts,
    toolCount,
    ...commonMessageRules,
    contentIsNotNull,
    streamOptionsNeedStream,
    toolNamesUnique,
    ...commonToolRules,
  ],
  credentials: groqKey,
  errorBody: openaiErrorBody,
}
