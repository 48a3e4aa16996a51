// A server on Chat Completions of which nothing is known: what most of them refuse, taken together, in OpenAI's words.
// Left out is what some want and others refuse, such as reasoning that comes back.
import type { Dialect, Rule } from "./contract.ts"
import {
  callNames,
  callsAreNotEmpty,
  commonMessageRules,
  contentIsNotNull,
  findBadArguments,
  isBlank,
  limitCallIds,
  messagesOf,
  picturesAreTheUsers,
  pictureTypes,
  streamOptionsNeedStream,
} from "./chat-messages.ts"
import { openaiKey } from "./credentials.ts"
import { openaiErrorBody } from "./openai-models.ts"
import {
  commonToolRules,
  promptCacheKey,
  strictTools,
  toolCount,
  toolDescriptions,
  toolNamesUnique,
} from "./openai-tools.ts"
import { firstFault } from "./read.ts"

// Moonshot's words; LM Studio, xAI, and Anthropic behind a proxy refuse it too (BiFangKNT/mtga#68)
const messagesAreNotBlank: Rule = ({ body }) =>
  firstFault(messagesOf(body), (message, index) => {
    const hasCalls = Array.isArray(message.tool_calls) && message.tool_calls.length > 0
    if (message.role === "tool" || hasCalls || !isBlank(message)) return undefined
    const words = `Invalid request: the message at position ${index} with role '${String(message.role)}' must not be empty`
    return { message: words }
  })

// Templates read the arguments as JSON: Ollama, vLLM and llama.cpp answer with an error when they are none
const argumentsAreObjects: Rule = ({ body }) => {
  const found = findBadArguments(body)
  return found && { message: `invalid tool call arguments in message ${found.index}: ${found.written.slice(0, 100)}` }
}

export const generic: Dialect = {
  rules: [
    ...commonMessageRules,
    callsAreNotEmpty,
    limitCallIds(64),
    callNames,
    contentIsNotNull,
    messagesAreNotBlank,
    argumentsAreObjects,
    picturesAreTheUsers,
    pictureTypes,
    streamOptionsNeedStream,
    toolCount,
    toolNamesUnique,
    ...commonToolRules,
    toolDescriptions,
    strictTools,
    promptCacheKey,
  ],
  credentials: openaiKey,
  errorBody: openaiErrorBody,
}
