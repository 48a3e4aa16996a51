// Chat Completions: the common rules in OpenAI's words, OpenAI's own, and those of a server nobody knows.
import type { JsonObject } from "../../../../src/kernel/index.ts"
import { bmp, png, repeated, table, wordSchema, type RuleCase } from "./case.ts"

export const user: JsonObject = { role: "user", content: "hello" }
export const call = (id = "call_1", more: JsonObject = {}): JsonObject => ({
  id,
  type: "function",
  function: { name: "lookup", arguments: '{"word":"tea"}', ...more },
})
export const calls = (...list: JsonObject[]): JsonObject => ({ role: "assistant", content: "", tool_calls: list })
export const result = (id = "call_1", content = "a drink"): JsonObject => ({ role: "tool", tool_call_id: id, content })
export const tool = (parameters: JsonObject = wordSchema, more: JsonObject = {}): JsonObject => ({
  type: "function",
  function: { name: "lookup", description: "Looks up", parameters, ...more },
})
export const picture = (data: string, type = "image/png"): JsonObject => ({
  type: "image_url",
  image_url: { url: `data:${type};base64,${data}` },
})

const path = "/v1/chat/completions"
const base = { model: "gpt-4.1", messages: [user] }
const withTools = (...tools: JsonObject[]): JsonObject => ({ tools })
const strict = (parameters: JsonObject) => withTools(tool(parameters, { strict: true }))
const closed = { ...wordSchema, additionalProperties: false }

const openai = table({ provider: "openai-chat", path, base }, [
  { rule: "modelIsNamed", refused: { model: "" }, words: "you must provide a model parameter", taken: {} },
  { rule: "hasMessages", refused: { messages: [] }, words: "Invalid 'messages': empty array", taken: {} },
  {
    rule: "knownRoles",
    refused: { messages: [{ role: "robot", content: "x" }] },
    words: "Invalid value: 'robot'. Supported values are: 'system', 'assistant'",
    taken: { messages: [{ role: "developer", content: "x" }, user] },
  },
  {
    rule: "resultsFollowCalls",
    refused: { messages: [user, result()] },
    words: "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
    taken: { messages: [user, calls(call()), result()] },
  },
  {
    rule: "callsHaveResults",
    refused: { messages: [user, calls(call("a"), call("b")), result("a"), user] },
    words: "The following tool_call_ids did not have response messages: b",
    taken: { messages: [user, calls(call("a"), call("b")), result("b"), result("a"), user] },
  },
  {
    rule: "resultsAreSingle",
    refused: { messages: [user, calls(call()), result(), result()] },
    words: "Duplicate value for 'tool_call_id' of 'call_1', in messages[2] and messages[3].",
    taken: { messages: [user, calls(call()), result()] },
  },
  {
    rule: "callIdsAreUnique",
    refused: { messages: [user, calls(call(), call()), result()] },
    words: "Duplicate call_ids submitted: ['call_1', 'call_1']",
    taken: { messages: [user, calls(call(), call("call_2")), result(), result("call_2")] },
  },
  {
    rule: "knownArguments",
    refused: { thinking: { type: "enabled" } },
    words: "Unrecognized request argument supplied: thinking",
    taken: { user: "u", store: false },
  },
  {
    rule: "callsAreNotEmpty",
    refused: { messages: [user, { role: "assistant", content: "x", tool_calls: [] }, user] },
    words: "Invalid 'messages[1].tool_calls': empty array. Expected an array with minimum length 1",
    taken: { messages: [user, { role: "assistant", content: "x" }, user] },
  },
  {
    rule: "callIdLength",
    refused: { messages: [user, calls(call("c".repeat(41))), result("c".repeat(41))] },
    words: "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40",
    taken: { messages: [user, calls(call("c".repeat(40))), result("c".repeat(40))] },
  },
  {
    rule: "callNames",
    refused: { messages: [user, calls(call("a", { name: "skill<|channel|>json" })), result("a")] },
    words: "Invalid 'messages[1].tool_calls[0].function.name': string does not match pattern.",
    taken: { messages: [user, calls(call("a", { name: "skill_json" })), result("a")] },
  },
  {
    rule: "contentIsNotNull",
    refused: { messages: [user, { role: "assistant", content: null }, user] },
    words: "Invalid value for 'content': expected a string, got null.",
    taken: { messages: [user, { ...calls(call()), content: null }, result()] },
  },
  {
    rule: "picturesAreTheUsers",
    refused: { messages: [user, calls(call()), { ...result(), content: [picture(png)] }] },
    words: "this message with role 'tool' contains an image URL.",
    taken: { messages: [user, calls(call()), result(), { role: "user", content: [picture(png)] }] },
  },
  {
    rule: "pictureTypes",
    refused: { messages: [{ role: "user", content: [picture(bmp, "image/bmp")] }] },
    words: "You uploaded an unsupported image.",
    taken: { messages: [{ role: "user", content: [picture(png)] }] },
  },
  {
    rule: "streamOptionsNeedStream",
    refused: { stream_options: { include_usage: true } },
    words: "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
    taken: { stream: true, stream_options: { include_usage: true } },
  },
  {
    rule: "toolCount",
    refused: withTools(...repeated(129, (index) => tool(wordSchema, { name: `t${index}` }))),
    words: "Invalid 'tools': array too long. Expected an array with maximum length 128",
    taken: withTools(...repeated(128, (index) => tool(wordSchema, { name: `t${index}` }))),
  },
  {
    rule: "toolNames",
    refused: withTools(tool(wordSchema, { name: "n".repeat(65) })),
    words: "Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64",
    taken: withTools(tool(wordSchema, { name: "n".repeat(64) })),
  },
  {
    rule: "toolSchemaIsObject",
    refused: withTools(tool({ oneOf: [wordSchema] })),
    words: `Invalid schema for function 'lookup': schema must be a JSON Schema of 'type: \\"object\\"', got 'type: \\"None\\"'.`,
    taken: withTools(tool({ type: "object", properties: {} })),
  },
  {
    rule: "toolSchemaHasNoUnionOnTop",
    refused: withTools(tool({ ...wordSchema, oneOf: [{ required: ["word"] }] })),
    words: "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.",
    taken: withTools(tool({ type: "object", properties: { word: { anyOf: [{ type: "string" }] } } })),
  },
  {
    rule: "toolArraysHaveItems",
    refused: withTools(tool({ type: "object", properties: { words: { type: ["array", "null"] } } })),
    words: "In context=('properties', 'words'), array schema missing items.",
    taken: withTools(tool({ type: "object", properties: { words: { type: "array", items: { type: "string" } } } })),
  },
  {
    rule: "toolDescriptions",
    refused: withTools(tool(wordSchema, { description: "d".repeat(1025) })),
    words: "Invalid 'tools[0].function.description': string too long. Expected a string with maximum length 1024",
    taken: withTools(tool(wordSchema, { description: "d".repeat(1024) })),
  },
  {
    rule: "strictTools",
    refused: strict(wordSchema),
    words: "In context=(), 'additionalProperties' is required to be supplied and to be false.",
    taken: strict(closed),
  },
  {
    rule: "strictTools",
    refused: strict({ ...closed, required: [] }),
    words: "including every key in properties. Missing 'word'.",
    taken: withTools(tool({ ...closed, required: [] })),
  },
  {
    rule: "promptCacheKey",
    refused: { prompt_cache_key: "k".repeat(65) },
    words: "Invalid 'prompt_cache_key': string too long. Expected a string with maximum length 64",
    taken: { prompt_cache_key: "k".repeat(64) },
  },
  {
    rule: "maxTokensField",
    refused: { model: "gpt-5.4", max_tokens: 100 },
    words: "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    taken: { model: "gpt-5.4", max_completion_tokens: 100 },
  },
  {
    rule: "temperature",
    refused: { model: "o3", temperature: 1 },
    words: "Unsupported parameter: 'temperature' is not supported with this model.",
    taken: { temperature: 0.2 },
  },
  {
    rule: "temperature",
    refused: { model: "gpt-5-mini", temperature: 0.2 },
    words: "'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
    taken: { model: "gpt-5-mini", temperature: 1 },
  },
  {
    rule: "chatEffort",
    refused: { reasoning_effort: "low" },
    words: "Unrecognized request argument supplied: reasoning_effort",
    taken: { model: "gpt-5", reasoning_effort: "minimal" },
  },
  {
    rule: "chatEffort",
    refused: { model: "gpt-5.1", reasoning_effort: "minimal" },
    words: "Supported values are: 'none', 'low', 'medium', and 'high'.",
    taken: { model: "gpt-5.1", reasoning_effort: "none" },
  },
])

const generic = table({ path, base: { ...base, model: "m" } }, [
  {
    rule: "callIdLength",
    refused: { messages: [user, calls(call("c".repeat(65))), result("c".repeat(65))] },
    words: "Expected a string with maximum length 64",
    taken: { messages: [user, calls(call("c".repeat(64))), result("c".repeat(64))] },
  },
  {
    rule: "messagesAreNotBlank",
    refused: { messages: [{ role: "user", content: " " }] },
    words: "the message at position 0 with role 'user' must not be empty",
    taken: { messages: [{ role: "user", content: [picture(png)] }] },
  },
  {
    rule: "argumentsAreObjects",
    refused: { messages: [user, calls(call("a", { arguments: '{"word": "te' })), result("a")] },
    words: "invalid tool call arguments",
    taken: { messages: [user, calls(call("a", { arguments: "{}" })), result("a")] },
  },
  {
    rule: "toolNamesUnique",
    refused: withTools(tool(), tool()),
    words: "Tool names must be unique.",
    taken: withTools(tool(), tool(wordSchema, { name: "other" })),
  },
])

export const chatCases: RuleCase[] = [...openai, ...generic]
