// Anthropic on Messages, and a strict proxy of it.
import type { JsonObject } from "../../../../src/kernel/index.ts"
import { png, repeated, table, wordSchema, type RuleCase } from "./case.ts"

const path = "/v1/messages"
const user: JsonObject = { role: "user", content: "hello" }
const assistant = (...content: JsonObject[]): JsonObject => ({ role: "assistant", content })
const text = (words: string, more: JsonObject = {}): JsonObject => ({ type: "text", text: words, ...more })
const use = (more: JsonObject = {}): JsonObject => ({
  type: "tool_use",
  id: "toolu_1",
  name: "lookup",
  input: {},
  ...more,
})
const outcome = (id = "toolu_1", content = "a drink"): JsonObject => ({ type: "tool_result", tool_use_id: id, content })
const results = (...content: JsonObject[]): JsonObject => ({ role: "user", content })
const tool = (more: JsonObject = {}): JsonObject => ({ name: "lookup", input_schema: wordSchema, ...more })
const thought = (more: JsonObject = {}): JsonObject => ({
  type: "thinking",
  thinking: "Hm.",
  signature: "signed-1",
  ...more,
})
const image = (media: string, data = png): JsonObject =>
  results({ type: "image", source: { type: "base64", media_type: media, data } })
const loop = (...content: JsonObject[]): JsonObject => ({ messages: [user, assistant(...content), results(outcome())] })
const mark = { cache_control: { type: "ephemeral" } }
const budget = { thinking: { type: "enabled", budget_tokens: 1024 }, max_tokens: 2000 }
const base = { model: "claude-sonnet-4-5", max_tokens: 1000, messages: [user] }
const issued = [
  {
    id: "reply-1",
    parts: [
      { type: "reasoning" as const, text: "Hm.", signature: "signed-1", redacted: false },
      { type: "call" as const, id: "toolu_1", name: "lookup", input: {} },
      { type: "reasoning" as const, text: "", signature: "hidden-1", redacted: true },
    ],
  },
]

const shape = table({ provider: "anthropic", path, base }, [
  { rule: "required", refused: { messages: [] }, words: "messages: at least one message is required", taken: {} },
  {
    rule: "maxTokens",
    refused: { max_tokens: 64_001 },
    words: "max_tokens: 64001 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4-5",
    taken: { max_tokens: 64_000 },
  },
  {
    rule: "fields",
    refused: { store: false },
    words: "store: Extra inputs are not permitted",
    taken: { metadata: {} },
  },
  {
    rule: "fields",
    refused: { ...budget, ...loop(thought(mark), use()) },
    words: "messages.1.content.0.thinking.cache_control: Extra inputs are not permitted",
    taken: { ...budget, ...loop(thought(), use(mark)) },
  },
  {
    rule: "roles",
    refused: { messages: [{ role: "system", content: "x" }, user] },
    words: 'messages: Unexpected role \\"system\\".',
    taken: { system: "x" },
  },
  {
    rule: "startsWithUser",
    refused: { messages: [assistant(text("x")), user] },
    words: 'messages: first message must use the \\"user\\" role',
    taken: { messages: [user, assistant(text("x")), user] },
  },
  {
    rule: "messagesHaveContent",
    refused: { messages: [{ role: "user", content: "" }] },
    words: "messages.0: all messages must have non-empty content except for the optional final assistant message",
    taken: { messages: [user, assistant()] },
  },
  {
    rule: "cacheMarksHaveText",
    refused: { messages: [results(text("x"), text("", mark))] },
    words: "messages.0.content.1.text: cache_control cannot be set for empty text blocks",
    taken: { messages: [results(text("x"), text("y", mark))] },
  },
  {
    rule: "cacheMarkCount",
    refused: { tools: [tool(mark)], messages: [results(...repeated(4, () => text("x", mark)))] },
    words: "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    taken: { tools: [tool(mark)], messages: [results(...repeated(3, () => text("x", mark)))] },
  },
  {
    rule: "textIsNotBlank",
    refused: { messages: [results(text(""))] },
    words: "messages: text content blocks must be non-empty",
    taken: { messages: [results(text("."))] },
  },
  {
    rule: "textIsNotBlank",
    refused: { messages: [{ role: "user", content: " \n" }] },
    words: "messages: text content blocks must contain non-whitespace text",
    taken: { system: "" },
  },
  {
    rule: "lastTextIsTrimmed",
    refused: { messages: [user, assistant(text("I think "))] },
    words: "messages: final assistant content cannot end with trailing whitespace",
    taken: { messages: [user, assistant(text("I think"))] },
  },
  {
    rule: "pictures",
    refused: { messages: [image("image/bmp")] },
    words: "media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'",
    taken: { messages: [image("image/png")] },
  },
  {
    rule: "pictures",
    refused: { messages: [image("image/jpeg")] },
    words: "specified using the image/jpeg media type, but the image appears to be a image/png image",
    taken: { messages: [image("image/png")] },
  },
])

const tools = table({ provider: "anthropic", path, base }, [
  {
    rule: "toolNames",
    refused: { tools: [tool({ name: "caldav.create" })] },
    words: "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
    taken: { tools: [tool({ name: "n".repeat(128) })] },
  },
  {
    rule: "toolNamesUnique",
    refused: { tools: [tool(), tool()] },
    words: "tools: Tool names must be unique.",
    taken: { tools: [tool(), tool({ name: "other" })] },
  },
  {
    rule: "toolSchemas",
    refused: { tools: [tool({ input_schema: { ...wordSchema, oneOf: [] } })] },
    words: "tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level",
    taken: { tools: [tool()] },
  },
  {
    rule: "toolSchemas",
    refused: { tools: [tool({ input_schema: {} })] },
    words: "tools.0.custom.input_schema.type: Field required",
    taken: { tools: [tool({ input_schema: { type: "object" } })] },
  },
  {
    rule: "callIdForm",
    refused: { messages: [user, assistant(use({ id: "functions.x:0" })), results(outcome("functions.x:0"))] },
    words: "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
    taken: { messages: [user, assistant(use({ id: "functions_x_0" })), results(outcome("functions_x_0"))] },
  },
  {
    rule: "callNames",
    refused: loop(use({ name: "look.up" })),
    words: "messages.1.content.0.tool_use.name: String should match pattern",
    taken: loop(use()),
  },
  {
    rule: "callInputs",
    refused: loop(use({ input: "{" })),
    words: "messages.1.content.0.tool_use.input: Input should be a valid dictionary",
    taken: loop(use()),
  },
  {
    rule: "callIdsAreUnique",
    refused: loop(use(), use()),
    words: "messages: `tool_use` ids must be unique",
    taken: { messages: [user, assistant(use(), use({ id: "b" })), results(outcome(), outcome("b"))] },
  },
  {
    rule: "resultsFollowCalls",
    refused: { messages: [results(outcome())] },
    words: "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1.",
    taken: loop(use()),
  },
  {
    rule: "resultsAreSingle",
    refused: { messages: [user, assistant(use()), results(outcome(), outcome())] },
    words: "each tool_use must have a single result. Found multiple `tool_result` blocks with id: toolu_1",
    taken: loop(use()),
  },
  {
    rule: "callsHaveResults",
    refused: { messages: [user, assistant(use()), results(text("wait"), outcome())] },
    words: "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1.",
    taken: { messages: [user, assistant(use()), results(outcome(), text("go on"))] },
  },
  {
    rule: "forcedTools",
    refused: { ...budget, tools: [tool()], tool_choice: { type: "any" } },
    words: "Thinking may not be enabled when tool_choice forces tool use.",
    taken: { ...budget, tools: [tool()], tool_choice: { type: "auto" } },
  },
])

const thinking = table({ provider: "anthropic", path, base: { ...base, ...budget } }, [
  {
    rule: "budget",
    refused: { thinking: { type: "enabled", budget_tokens: 1023 } },
    words: "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
    taken: {},
  },
  {
    rule: "budget",
    refused: { max_tokens: 1024 },
    words: "`max_tokens` must be greater than `thinking.budget_tokens`.",
    taken: { max_tokens: 1025 },
  },
  {
    rule: "thinkingSampling",
    refused: { temperature: 0.5 },
    words: "`temperature` may only be set to 1 when thinking is enabled.",
    taken: { temperature: 1 },
  },
  {
    rule: "thinkingKind",
    refused: { model: "claude-opus-4-8" },
    words: 'is not supported for this model. Use \\"thinking.type.adaptive\\"',
    taken: { model: "claude-opus-4-8", thinking: { type: "adaptive" } },
  },
  {
    rule: "thinkingKind",
    refused: { thinking: { type: "adaptive" } },
    words: "adaptive thinking is not supported on this model",
    taken: { model: "claude-opus-4-6", thinking: { type: "adaptive" } },
  },
  {
    rule: "signatures",
    refused: loop({ type: "thinking", thinking: "Hm." }, use()),
    words: "messages.1.content.0.thinking.signature: Field required",
    taken: loop(thought(), use()),
  },
  {
    rule: "signatures",
    refused: loop(thought({ signature: "made-up" }), use()),
    words: "messages.1.content.0: Invalid `signature` in `thinking` block",
    taken: loop(thought(), use(), { type: "redacted_thinking", data: "hidden-1" }, text(".")),
    issued,
  },
  {
    rule: "loopStartsWithThinking",
    refused: loop(use()),
    words: "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.",
    taken: loop(thought(), use()),
  },
  {
    rule: "thinkingIsUnchanged",
    refused: loop(thought({ thinking: "Other." }), use(), { type: "redacted_thinking", data: "hidden-1" }, text(".")),
    words:
      "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.",
    taken: loop(thought(), use(), { type: "redacted_thinking", data: "hidden-1" }, text(".")),
    issued,
  },
  {
    rule: "thinkingIsUnchanged",
    refused: loop(thought(), { type: "redacted_thinking", data: "hidden-1" }, use(), text(".")),
    words: "These blocks must remain as they were in the original response.",
    taken: loop(thought(), use(), { type: "redacted_thinking", data: "hidden-1" }, text(".")),
    issued,
  },
  {
    rule: "lastBlockIsNotThinking",
    refused: { messages: [user, assistant(text("x"), thought()), user] },
    words: "messages.1: The final block in an assistant message cannot be `thinking`.",
    taken: { messages: [user, assistant(thought(), text("x")), user] },
  },
])

const models = table({ provider: "anthropic", path, base }, [
  {
    rule: "effort",
    refused: { output_config: { effort: "low" } },
    words: "This model does not support the effort parameter.",
    taken: { model: "claude-opus-4-5", output_config: { effort: "low" } },
  },
  {
    rule: "sampling",
    refused: { model: "claude-opus-4-7", temperature: 0.5 },
    words: "`temperature` is deprecated for this model.",
    taken: { model: "claude-opus-4-7", temperature: 1 },
  },
  {
    rule: "sampling",
    refused: { temperature: 0.5, top_p: 0.5 },
    words: "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
    taken: { temperature: 0.5 },
  },
  {
    rule: "prefill",
    refused: { model: "claude-sonnet-4-6", messages: [user, assistant(text("I"))] },
    words: "This model does not support assistant message prefill. The conversation must end with a user message.",
    taken: { messages: [user, assistant(text("I"))] },
  },
])

const strict = table({ provider: "strict-anthropic", path, base }, [
  {
    rule: "eagerInputStreaming",
    refused: { tools: [tool({ eager_input_streaming: true })] },
    words: "tools.0.custom.eager_input_streaming: Extra inputs are not permitted",
    taken: { tools: [tool()] },
  },
  {
    rule: "rolesAlternate",
    refused: { messages: [user, user] },
    words: "messages: roles must alternate between",
    taken: { messages: [user, assistant(text("x")), user] },
  },
])

export const anthropicCases: RuleCase[] = [...shape, ...tools, ...thinking, ...models, ...strict]
