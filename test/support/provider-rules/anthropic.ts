// Anthropic on Messages: what stands where, text that is not blank, marks of caches, pictures, fields it knows.
// Tools, thinking and single models have files of their own.
import type { JsonObject } from "../../../src/kernel/index.ts"
import { allBlocks, badRequest, blocksOf, messagesOf } from "./anthropic-blocks.ts"
import { effort, maxTokens, prefill, sampling, thinkingKind } from "./anthropic-models.ts"
import {
  budget,
  lastBlockIsNotThinking,
  loopStartsWithThinking,
  signatures,
  thinkingIsUnchanged,
  thinkingSampling,
} from "./anthropic-thinking.ts"
import {
  callIdForm,
  callIdsAreUnique,
  callInputs,
  callNames,
  callsHaveResults,
  forcedTools,
  resultsAreSingle,
  resultsFollowCalls,
  toolNames,
  toolNamesUnique,
  toolSchemas,
} from "./anthropic-tools.ts"
import type { Dialect, Fault, Rule } from "./contract.ts"
import { anthropicKey } from "./credentials.ts"
import { commonPictureTypes, pictureTypeOf } from "./pictures.ts"
import { firstFault, objectOf, objectsOf, textOf, unknownKeys } from "./read.ts"

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(" "))

/** API reference, "Create a message". */
const knownFields = setOf(
  "model max_tokens messages system tools tool_choice temperature top_p top_k stop_sequences stream metadata thinking " +
    "service_tier container context_management mcp_servers output_config output_format inference_geo cache_control speed",
)
const knownToolFields = setOf(
  "name description input_schema cache_control type strict eager_input_streaming defer_loading input_examples allowed_callers",
)
const knownBlockFields: Readonly<Record<string, ReadonlySet<string>>> = {
  text: setOf("type text cache_control citations"),
  image: setOf("type source cache_control"),
  tool_use: setOf("type id name input cache_control caller"),
  tool_result: setOf("type tool_use_id content is_error cache_control"),
  thinking: setOf("type thinking signature"),
  redacted_thinking: setOf("type data"),
}

const required: Rule = ({ body }) => {
  const missing = ["model", "messages"].find((field) => body[field] === undefined)
  if (missing !== undefined) return badRequest(`${missing}: Field required`)
  return messagesOf(body).length > 0 ? undefined : badRequest("messages: at least one message is required")
}

// anthropics/claude-code#4378, anomalyco/opencode#23767
const fields: Rule = ({ body }) => {
  const [unknown] = unknownKeys(body, knownFields)
  if (unknown !== undefined) return extra(unknown)
  const inTools = firstFault(objectsOf(body.tools), (tool, index) => {
    if (tool.type !== undefined && tool.type !== "custom") return undefined
    const [field] = unknownKeys(tool, knownToolFields)
    return field === undefined ? undefined : extra(`tools.${index}.custom.${field}`)
  })
  if (inTools) return inTools
  return firstFault(allBlocks(body), ({ block, type, at }) => {
    const [field] = unknownKeys(block, knownBlockFields[type] ?? new Set(Object.keys(block)))
    return field === undefined ? undefined : extra(`${at}.${type}.${field}`)
  })
}

function extra(place: string): Fault {
  return badRequest(`${place}: Extra inputs are not permitted`)
}

// API reference: the system prompt is no message
const roles: Rule = ({ body }) =>
  firstFault(messagesOf(body), (message, index) => {
    if (message.role === "user" || message.role === "assistant") return undefined
    if (message.role !== "system") return badRequest(`messages.${index}.role: Input should be 'user' or 'assistant'`)
    return badRequest(
      'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.',
    )
  })

// lobehub/lobehub#1601. The hosted service has taken such requests since 2025 and answers them with nothing
// (anthropics/courses#79); proxies and other clouds still refuse them.
const startsWithUser: Rule = ({ body }) =>
  messagesOf(body)[0]?.role === "assistant" ? badRequest('messages: first message must use the "user" role') : undefined

// tghamm/Anthropic.SDK#50
const cacheMarkCount: Rule = ({ body }) => {
  const marked = [...objectsOf(body.tools), ...allBlocks(body).map(({ block }) => block)].filter(hasMark).length
  const all = marked + (hasMark(body) ? 1 : 0)
  return all > 4 ? badRequest(`A maximum of 4 blocks with cache_control may be provided. Found ${all}.`) : undefined
}

const hasMark = (block: JsonObject) => block.cache_control !== undefined && block.cache_control !== null

// stakpak/agent#511, anthropics/claude-code#54039
const cacheMarksHaveText: Rule = ({ body }) =>
  firstFault(allBlocks(body), ({ block, type, at }) =>
    type === "text" && hasMark(block) && textOf(block.text) === ""
      ? badRequest(`${at}.text: cache_control cannot be set for empty text blocks`)
      : undefined,
  )

// API reference: only the last message of an assistant may be empty
const messagesHaveContent: Rule = ({ body }) => {
  const messages = messagesOf(body)
  return firstFault(messages, (message, index) => {
    if (message.content !== "" && blocksOf(message.content).length > 0) return undefined
    if (message.role === "assistant" && index === messages.length - 1) return undefined
    return badRequest(
      `messages.${index}: all messages must have non-empty content except for the optional final assistant message`,
    )
  })
}

// anthropics/claude-code#23440 and #59812
const textIsNotBlank: Rule = ({ body }) =>
  firstFault(allBlocks(body), ({ block, type, at }) => {
    // A system prompt of no words at all is taken; a block of it is not.
    if (type !== "text" || textOf(block.text).trim() !== "" || body.system === "") return undefined
    const where = at.startsWith("system") ? "system" : "messages"
    const wanted = textOf(block.text) === "" ? "be non-empty" : "contain non-whitespace text"
    return badRequest(`${where}: text content blocks must ${wanted}`)
  })

// tailcallhq/forgecode#1872
const lastTextIsTrimmed: Rule = ({ body }) => {
  const last = messagesOf(body).at(-1)
  if (last?.role !== "assistant") return undefined
  const block = blocksOf(last.content).at(-1)
  const text = textOf(block?.text)
  if (block?.type !== "text" || text === text.trimEnd()) return undefined
  return badRequest("messages: final assistant content cannot end with trailing whitespace")
}

const maxPictureBytes = 5 * 1024 * 1024

// anthropics/claude-code#8184 (types), home-assistant/core#167208 (bytes), "Vision" guide (size)
const pictures: Rule = ({ body }) =>
  firstFault(allBlocks(body), ({ block, type, at }) => {
    const source = objectOf(block.source)
    if (type !== "image" || source.type !== "base64") return undefined
    const mediaType = textOf(source.media_type)
    const place = `${at}.image.source.base64`
    if (!commonPictureTypes.has(mediaType)) {
      const message = `${place}.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'`
      return badRequest(message)
    }
    const data = textOf(source.data)
    const bytes = Math.floor((data.length * 3) / 4)
    if (bytes > maxPictureBytes) {
      return badRequest(`${place}: image exceeds 5 MB maximum: ${bytes} bytes > ${maxPictureBytes} bytes`)
    }
    const real = pictureTypeOf(data)
    if (real === undefined) return badRequest(`${at}.image.source.base64.data: Could not process image`)
    if (real === mediaType) return undefined
    return badRequest(
      `${place}: The image was specified using the ${mediaType} media type, but the image appears to be a ${real} image`,
    )
  })

const rules: readonly Rule[] = [
  required,
  maxTokens,
  fields,
  roles,
  startsWithUser,
  toolNames,
  toolNamesUnique,
  toolSchemas,
  callIdForm,
  callNames,
  callInputs,
  callIdsAreUnique,
  messagesHaveContent,
  cacheMarksHaveText,
  cacheMarkCount,
  textIsNotBlank,
  lastTextIsTrimmed,
  pictures,
  resultsFollowCalls,
  resultsAreSingle,
  callsHaveResults,
  budget,
  thinkingSampling,
  thinkingKind,
  forcedTools,
  signatures,
  loopStartsWithThinking,
  thinkingIsUnchanged,
  lastBlockIsNotThinking,
  effort,
  sampling,
  prefill,
]

function errorBody(fault: Fault) {
  const error = { type: fault.type ?? "invalid_request_error", message: fault.message }
  return { type: "error", error, request_id: "req_011CTestRequestOfTheStandIn" }
}

export const anthropic: Dialect = { rules, credentials: anthropicKey, errorBody }

// anomalyco/opencode#23767: proxies with an older idea of a tool
const eagerInputStreaming: Rule = ({ body }) =>
  firstFault(objectsOf(body.tools), (tool, index) =>
    "eager_input_streaming" in tool ? extra(`tools.${index}.custom.eager_input_streaming`) : undefined,
  )

// microsoft/autogen#2884: before 2024-10 the service did not join messages of one role
const rolesAlternate: Rule = ({ body }) => {
  const messages = messagesOf(body)
  const index = messages.findIndex((message, position) => position > 0 && message.role === messages[position - 1]?.role)
  if (index === -1) return undefined
  const role = String(messages[index]?.role)
  return badRequest(
    `messages: roles must alternate between "user" and "assistant", but found multiple "${role}" roles in a row`,
  )
}

/** A proxy on Anthropic's interface that knows only what the interface began with. */
export const strictAnthropic: Dialect = {
  rules: [...rules, eagerInputStreaming, rolesAlternate],
  credentials: anthropicKey,
  errorBody,
}
