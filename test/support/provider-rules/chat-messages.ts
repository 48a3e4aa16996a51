// Rules about the messages of Chat Completions in OpenAI's words. Servers that speak its interface take these rules
// singly; those with words of their own have them in their own file.
import type { Json, JsonObject } from "../../../src/kernel/index.ts"
import type { Fault, Rule } from "./contract.ts"
import { nameFault, stringTooLong } from "./openai-tools.ts"
import { commonPictureTypes, parseDataUrl, pictureTypeOf } from "./pictures.ts"
import { firstFault, firstRepeated, objectOf, objectsOf, textOf } from "./read.ts"

const badRequest = "invalid_request_error"

export function messagesOf(body: JsonObject): JsonObject[] {
  return objectsOf(body.messages)
}

export function callsOf(message: JsonObject): JsonObject[] {
  return message.role === "assistant" ? objectsOf(message.tool_calls) : []
}

export function callIds(message: JsonObject): string[] {
  return callsOf(message).map((call) => textOf(call.id))
}

/** The tool messages right behind a message. */
export function resultsBehind(messages: readonly JsonObject[], index: number): JsonObject[] {
  const rest = messages.slice(index + 1)
  const end = rest.findIndex((message) => message.role !== "tool")
  return end === -1 ? rest : rest.slice(0, end)
}

/** Text and the texts of parts, joined. */
export function contentText(content: Json | undefined): string {
  if (typeof content === "string") return content
  return objectsOf(content)
    .map((part) => textOf(part.text))
    .join("")
}

function hasPicture(content: Json | undefined): boolean {
  return objectsOf(content).some((part) => part.type === "image_url")
}

export function isBlank(message: JsonObject): boolean {
  return contentText(message.content).trim() === "" && !hasPicture(message.content)
}

export const modelIsNamed: Rule = ({ body }) =>
  textOf(body.model) === "" ? { message: "you must provide a model parameter", type: badRequest } : undefined

// CopilotKit/CopilotKit#529
export const hasMessages: Rule = ({ body }) => {
  if (body.messages === undefined) {
    const message = "Missing required parameter: 'messages'."
    return { message, type: badRequest, param: "messages", code: "missing_required_parameter" }
  }
  return messagesOf(body).length === 0 ? emptyArray("messages") : undefined
}

function emptyArray(param: string): Fault {
  const message = `Invalid '${param}': empty array. Expected an array with minimum length 1, but got an empty array instead.`
  return { message, type: badRequest, param, code: "empty_array" }
}

const roles = ["system", "assistant", "user", "function", "tool", "developer"]

// API reference, "Create chat completion": the roles of messages
export const knownRoles: Rule = ({ body }) =>
  firstFault(messagesOf(body), (message, index) => {
    if (roles.includes(textOf(message.role))) return undefined
    const words = `Invalid value: '${textOf(message.role)}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.`
    return { message: words, type: badRequest, param: `messages[${index}].role`, code: "invalid_value" }
  })

// simonw/llm#937
export const resultsFollowCalls: Rule = ({ body }) => {
  const messages = messagesOf(body)
  return firstFault(messages, (message, index) => {
    if (message.role !== "tool") return undefined
    const caller = messages.findLastIndex((other, position) => position < index && other.role !== "tool")
    if (caller !== -1 && callIds(messages[caller] ?? {}).includes(textOf(message.tool_call_id))) return undefined
    const words =
      "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
    return { message: words, type: badRequest, param: `messages.[${index}].role` }
  })
}

// microsoft/promptflow#3130 and the API reference
export const callsHaveResults: Rule = ({ body }) => {
  const messages = messagesOf(body)
  return firstFault(messages, (message, index) => {
    const answered = resultsBehind(messages, index).map((result) => textOf(result.tool_call_id))
    const open = callIds(message).filter((id) => !answered.includes(id))
    if (open.length === 0) return undefined
    const words = `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${open.join(", ")}`
    return { message: words, type: badRequest, param: `messages.[${index + 1}].role` }
  })
}

// agno-agi/agno#5116
export const resultsAreSingle: Rule = ({ body }) => {
  const messages = messagesOf(body)
  return firstFault(messages, (_, index) => {
    const behind = resultsBehind(messages, index).map((result) => textOf(result.tool_call_id))
    const id = firstRepeated(behind)
    if (id === undefined) return undefined
    const first = index + 1 + behind.indexOf(id)
    const second = index + 1 + behind.lastIndexOf(id)
    const words = `Invalid parameter: Duplicate value for 'tool_call_id' of '${id}', in messages[${first}] and messages[${second}].`
    return { message: words, type: badRequest, param: `messages.[${second}].tool_call_id` }
  })
}

// alvesvaren/zod-to-openai-tool#263
export const callIdsAreUnique: Rule = ({ body }) =>
  firstFault(messagesOf(body), (message) => {
    const id = firstRepeated(callIds(message))
    if (id === undefined) return undefined
    return { message: `Duplicate call_ids submitted: ['${id}', '${id}']`, type: badRequest }
  })

// camel-ai/camel#2215, anomalyco/opencode#12653: Chat Completions still takes 40 characters, Responses 64
export function limitCallIds(limit: number): Rule {
  return function callIdLength({ body }) {
    return firstFault(messagesOf(body), (message, index) =>
      firstFault(callIds(message), (id, position) =>
        id.length > limit ? stringTooLong(`messages[${index}].tool_calls[${position}].id`, id, limit) : undefined,
      ),
    )
  }
}

// openai/openai-node#1341
export const callsAreNotEmpty: Rule = ({ body }) =>
  firstFault(messagesOf(body), (message, index) =>
    Array.isArray(message.tool_calls) && message.tool_calls.length === 0
      ? emptyArray(`messages[${index}].tool_calls`)
      : undefined,
  )

// mcp-use/mcp-use#90, continuedev/continue#11645
export const callNames: Rule = ({ body }) =>
  firstFault(messagesOf(body), (message, index) =>
    firstFault(callsOf(message), (call, position) =>
      nameFault(textOf(objectOf(call.function).name), `messages[${index}].tool_calls[${position}].function.name`),
    ),
  )

// run-llama/llama_index#17921, langchain-ai/langchainjs#4153
export const contentIsNotNull: Rule = ({ body }) =>
  firstFault(messagesOf(body), (message, index) => {
    if (message.content !== null && message.content !== undefined) return undefined
    if (callsOf(message).length > 0 || message.function_call !== undefined) return undefined
    const words = "Invalid value for 'content': expected a string, got null."
    return { message: words, type: badRequest, param: `messages.[${index}].content` }
  })

// API reference: pictures are parts of a user's message alone
export const picturesAreTheUsers: Rule = ({ body }) =>
  firstFault(messagesOf(body), (message, index) => {
    if (message.role === "user" || !hasPicture(message.content)) return undefined
    const role = textOf(message.role)
    const words = `Invalid 'messages[${index}]'. Image URLs are only allowed for messages with role 'user', but this message with role '${role}' contains an image URL.`
    return { message: words, type: badRequest, param: `messages[${index}]`, code: "invalid_value" }
  })

// "Images and vision" guide: PNG, JPEG, WEBP and GIF without motion
export const pictureTypes: Rule = ({ body }) =>
  firstFault(messagesOf(body), (message) =>
    firstFault(objectsOf(message.content), (part) => pictureFault(textOf(objectOf(part.image_url).url))),
  )

export function pictureFault(url: string): Fault | undefined {
  const picture = parseDataUrl(url)
  if (!picture) return undefined
  if (commonPictureTypes.has(picture.mediaType) && pictureTypeOf(picture.data) !== undefined) return undefined
  const message =
    "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp']."
  return { message, type: badRequest, code: "invalid_image_format" }
}

// BerriAI/litellm#5803
export const streamOptionsNeedStream: Rule = ({ body }) => {
  if (body.stream_options === undefined || body.stream_options === null || body.stream === true) return undefined
  const message = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
  return { message, type: badRequest, param: "stream_options" }
}

/** The place of the first call whose arguments are no JSON object, with what stands there. */
export function findBadArguments(body: JsonObject): { index: number; written: string } | undefined {
  for (const [index, message] of messagesOf(body).entries()) {
    for (const call of callsOf(message)) {
      const written = objectOf(call.function).arguments
      if (!isObjectText(written)) return { index, written: textOf(written) }
    }
  }
  return undefined
}

function isObjectText(written: Json | undefined): boolean {
  if (typeof written !== "string") return false
  try {
    const value: unknown = JSON.parse(written)
    return typeof value === "object" && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

/** Of messages: what nobody on this interface takes. */
export const commonMessageRules: readonly Rule[] = [
  modelIsNamed,
  hasMessages,
  knownRoles,
  resultsFollowCalls,
  callsHaveResults,
  resultsAreSingle,
  callIdsAreUnique,
]
