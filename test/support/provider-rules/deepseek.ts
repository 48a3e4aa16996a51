// DeepSeek: reasoning of turns that called tools comes back with every later request. "Thinking mode" guide.
import type { JsonObject } from "../../../src/kernel/index.ts"
import {
  callIdsAreUnique,
  callNames,
  callsAreNotEmpty,
  callsOf,
  contentIsNotNull,
  findBadArguments,
  hasMessages,
  messagesOf,
  modelIsNamed,
  resultsBehind,
  resultsFollowCalls as resultsFollowCallsOfOpenai,
  callIds,
} from "./chat-messages.ts"
import type { Dialect, Fault, Rule } from "./contract.ts"
import { deepseekKey } from "./credentials.ts"
import type { Issued } from "./issued.ts"
import { openaiErrorBody } from "./openai-models.ts"
import { commonToolRules, toolCount, toolNamesUnique } from "./openai-tools.ts"
import { firstFault, modelOf, objectOf, objectsOf, textOf } from "./read.ts"

/** R1 of early 2025, which took no tools: its "Reasoning model" guide has earlier reasoning refused. */
const oldReasoner = "deepseek-r1"

function thinks(body: JsonObject): boolean {
  const type = objectOf(body.thinking).type
  if (type === "disabled") return false
  return type === "enabled" || /^deepseek-(reasoner|v4)/.test(modelOf(body))
}

/** Messages by the questions of the user that they belong to, with their positions. */
function turnsOf(body: JsonObject): JsonObject[][] {
  const turns: JsonObject[][] = [[]]
  for (const message of messagesOf(body)) {
    if (message.role === "user") turns.push([])
    turns.at(-1)?.push(message)
  }
  return turns
}

// earendil-works/pi#3636, mnfst/modelparams.dev#29; all replies of such a turn: openclaw/openclaw#73417
const reasoningComesBack: Rule = ({ body }, issued) => {
  if (!thinks(body)) return undefined
  return firstFault(turnsOf(body), (turn) => {
    if (!turn.some((message) => callsOf(message).length > 0)) return undefined
    const bad = turn.some((message) => message.role === "assistant" && !isAsIssued(message, issued))
    if (!bad) return undefined
    return badRequest("The `reasoning_content` in the thinking mode must be passed back to the API.")
  })
}

/** The service asks for the field; that it is unchanged only a stand-in can tell, and does. */
function isAsIssued(message: JsonObject, issued: Issued): boolean {
  if (typeof message.reasoning_content !== "string") return false
  const [id] = callIds(message)
  const reply = id === undefined ? undefined : issued.byCall(id)
  if (!reply) return true
  const reasoning = reply.parts.filter((part) => part.type === "reasoning").map((part) => part.text)
  return reasoning.join("") === message.reasoning_content
}

const reasoningOfOldModels: Rule = ({ body }) => {
  const hasReasoning = messagesOf(body).some((message) => message.reasoning_content !== undefined)
  if (!hasReasoning || !modelOf(body).includes(oldReasoner)) return undefined
  return badRequest("The `reasoning_content` is not allowed in the input messages of this model.")
}

// FoundationAgents/OpenManus#744
const resultsFollowCalls: Rule = (request, issued) =>
  resultsFollowCallsOfOpenai(request, issued) &&
  badRequest("Messages with role 'tool' must be a response to a preceding message with 'tool_calls'")

const callsHaveResults: Rule = ({ body }) => {
  const messages = messagesOf(body)
  return firstFault(messages, (message, index) => {
    const given = resultsBehind(messages, index).map((result) => textOf(result.tool_call_id))
    if (callIds(message).every((id) => given.includes(id))) return undefined
    return badRequest(
      "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. (insufficient tool messages following tool_calls message)",
    )
  })
}

/** "Models & Pricing" page. */
function maxTokensOf(model: string): number | undefined {
  if (model.startsWith("deepseek-chat")) return 8192
  if (model.startsWith("deepseek-reasoner")) return 65_536
  return model.startsWith("deepseek-v4") ? 393_216 : undefined
}

// Gitlawb/openclaude#35
const maxTokens: Rule = ({ body }) => {
  const limit = maxTokensOf(modelOf(body))
  if (typeof body.max_tokens !== "number" || limit === undefined) return undefined
  if (body.max_tokens >= 1 && body.max_tokens <= limit) return undefined
  return badRequest(`Invalid max_tokens value, the valid range of max_tokens is [1, ${limit}]`)
}

const textOnly: Rule = ({ body }) =>
  firstFault(messagesOf(body), (message, index) => {
    if (!objectsOf(message.content).some((part) => part.type === "image_url")) return undefined
    return badRequest(
      `Failed to deserialize the JSON body into the target type: messages[${index}]: unknown variant \`image_url\`, expected \`text\` at line 1 column 1`,
    )
  })

const argumentsAreObjects: Rule = ({ body }) => {
  const found = findBadArguments(body)
  return found && badRequest(`Invalid arguments of a tool call in messages[${found.index}]: not a JSON object`)
}

function badRequest(message: string): Fault {
  return { message, type: "invalid_request_error", code: "invalid_request_error" }
}

export const deepseek: Dialect = {
  rules: [
    modelIsNamed,
    hasMessages,
    textOnly,
    resultsFollowCalls,
    callsHaveResults,
    callIdsAreUnique,
    callsAreNotEmpty,
    callNames,
    contentIsNotNull,
    argumentsAreObjects,
    reasoningComesBack,
    reasoningOfOldModels,
    maxTokens,
    toolCount,
    toolNamesUnique,
    ...commonToolRules,
  ],
  credentials: deepseekKey,
  errorBody: openaiErrorBody,
}
