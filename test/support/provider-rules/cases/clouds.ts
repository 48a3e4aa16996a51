// Gemini's own interface and Bedrock's.
import type { JsonObject } from "../../../../src/kernel/index.ts"
import { png, table, wordSchema, type RuleCase } from "./case.ts"

const says = (words: string): JsonObject => ({ role: "user", parts: [{ text: words }] })
const model = (...parts: JsonObject[]): JsonObject => ({ role: "model", parts })
const call = (more: JsonObject = {}): JsonObject => ({ functionCall: { name: "lookup", args: {} }, ...more })
const answer = (more: JsonObject = {}): JsonObject => ({
  functionResponse: { name: "lookup", response: { content: "a drink" }, ...more },
})
const answers = (...parts: JsonObject[]): JsonObject => ({ role: "user", parts })
const declares = (parameters: JsonObject, more: JsonObject = {}): JsonObject => ({
  tools: [{ functionDeclarations: [{ name: "lookup", description: "x", parameters, ...more }] }],
})
const turn = (...contents: JsonObject[]): JsonObject => ({ contents: [says("x"), ...contents] })
const level = (thinkingConfig: JsonObject): JsonObject => ({ generationConfig: { thinkingConfig } })
const signed = { thoughtSignature: "signed-1" }
const gemini3 = "/v1beta/models/gemini-3-pro-preview:streamGenerateContent?alt=sse"
const issued = [
  { id: "r", parts: [{ type: "call" as const, id: "c", name: "lookup", input: {}, signature: "signed-1" }] },
]

const gemini = table(
  {
    provider: "gemini",
    path: "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
    base: { contents: [says("x")] },
  },
  [
    {
      rule: "fields",
      refused: { max_tokens: 5 },
      words: `Invalid JSON payload received. Unknown name \\"max_tokens\\": Cannot find field.`,
      taken: { generationConfig: { maxOutputTokens: 5 } },
    },
    {
      rule: "schemaFields",
      refused: declares({ ...wordSchema, $schema: "x" }),
      words: `Unknown name \\"$schema\\" at 'tools[0].function_declarations[0].parameters': Cannot find field.`,
      taken: declares(wordSchema),
    },
    {
      rule: "schemaFields",
      refused: declares({ type: "object", properties: { a: { type: "integer", exclusiveMinimum: 0 } } }),
      words: `Unknown name \\"exclusiveMinimum\\" at 'tools[0].function_declarations[0].parameters.properties[0].value'`,
      taken: declares({ type: "object", properties: { a: { type: "integer", minimum: 1 } } }),
    },
    { rule: "hasContents", refused: { contents: [] }, words: "contents is not specified", taken: {} },
    {
      rule: "partsHaveData",
      refused: turn(model({ thought: true }), says("y")),
      words: "contents[1].parts[0].data: required oneof field 'data' must have one initialized field",
      taken: turn(model({ text: "Hm.", thought: true }), says("y")),
    },
    {
      rule: "textIsNotBlank",
      refused: { contents: [says("")] },
      words: "Unable to submit request because it must have a text parameter.",
      taken: turn(model({ text: "", ...signed }), says("y")),
    },
    {
      rule: "responsesAreObjects",
      refused: turn(model(call()), answers(answer({ response: "a drink" }))),
      words: "Invalid value at 'contents[2].parts[0].function_response.response'",
      taken: turn(model(call()), answers(answer())),
    },
    {
      rule: "responsesHaveNames",
      refused: turn(model(call()), answers(answer({ name: "" }))),
      words: "contents[2].parts[0].function_response.name: Name cannot be empty.",
      taken: turn(model(call()), answers(answer())),
    },
    {
      rule: "functionNames",
      refused: declares(wordSchema, { name: "1lookup" }),
      words: "Invalid function name. Must start with a letter or an underscore.",
      taken: declares(wordSchema, { name: "_look.up:1-a" }),
    },
    {
      rule: "functionNamesUnique",
      refused: { tools: [declares(wordSchema).tools, declares(wordSchema).tools].flat() as JsonObject[] },
      words: "Duplicate function declaration found: lookup",
      taken: declares(wordSchema),
    },
    {
      rule: "schemas",
      refused: declares({ type: "object", properties: { a: { type: "array" } } }),
      words: "parameters.properties[a].items: missing field.",
      taken: declares({ type: "object", properties: { a: { type: "array", items: { type: "string" } } } }),
    },
    {
      rule: "schemas",
      refused: declares({ type: "object", properties: {} }),
      words: "parameters.properties: should be non-empty for OBJECT type",
      taken: { tools: [{ functionDeclarations: [{ name: "now" }] }] },
    },
    {
      rule: "schemas",
      refused: declares({ ...wordSchema, required: ["other"] }),
      words: "parameters.required[0]: property is not defined",
      taken: declares(wordSchema),
    },
    {
      rule: "callsFollowUsers",
      refused: turn(model({ text: "Wait." }), model(call()), answers(answer())),
      words: "function call turn comes immediately after a user turn or after a function response turn.",
      taken: turn(model({ text: "Wait." }, call()), answers(answer())),
    },
    {
      rule: "responsesFollowCalls",
      refused: { contents: [answers(answer())] },
      words: "Please ensure that function response turn comes immediately after a function call turn.",
      taken: turn(model(call()), answers(answer())),
    },
    {
      rule: "responsesAreAsManyAsCalls",
      refused: turn(model(call(), call()), answers(answer())),
      words: "the number of function response parts is equal to the number of function call parts",
      taken: turn(model(call(), call()), answers(answer(), answer())),
    },
    {
      rule: "endsWithUser",
      refused: turn(model({ text: "y" })),
      words: "Please ensure that multiturn requests end with a user role or a function response.",
      taken: turn(model({ text: "y" }), says("z")),
    },
    {
      rule: "thoughtSignatures",
      path: gemini3,
      refused: turn(model(call()), answers(answer())),
      words: "Function call is missing a thought_signature in functionCall parts.",
      taken: turn(model(call(signed), call()), answers(answer(), answer())),
    },
    {
      rule: "thoughtSignatures",
      path: gemini3,
      refused: turn(model(call(signed)), answers(answer()), model(call()), answers(answer())),
      words: "`default_api:lookup` , position 4.",
      taken: turn(model(call()), answers(answer()), model({ text: "y" }), says("z")),
    },
    {
      rule: "signaturesAreOurs",
      path: gemini3,
      refused: turn(model(call({ thoughtSignature: "made-up" })), answers(answer())),
      words: "Corrupted thought signature.",
      taken: turn(model(call({ thoughtSignature: "skip_thought_signature_validator" })), answers(answer())),
      issued,
    },
    {
      rule: "pictures",
      refused: { contents: [answers({ inlineData: { mimeType: "image/gif", data: png } })] },
      words: "Unsupported MIME type: image/gif",
      taken: { contents: [answers({ inlineData: { mimeType: "image/png", data: png } })] },
    },
    {
      rule: "thinking",
      refused: level({ thinkingLevel: "low" }),
      words: "Thinking level is not supported for this model.",
      taken: level({ thinkingBudget: 0 }),
    },
    {
      rule: "thinking",
      path: gemini3,
      refused: level({ thinkingLevel: "minimal" }),
      words: "Thinking level MINIMAL is not supported for this model.",
      taken: level({ thinkingLevel: "low" }),
    },
  ],
)

const hello: JsonObject = { role: "user", content: [{ text: "hello" }] }
const uses = (more: JsonObject = {}): JsonObject => ({
  role: "assistant",
  content: [{ toolUse: { toolUseId: "t1", name: "lookup", input: {}, ...more } }],
})
const gives = (more: JsonObject = {}): JsonObject => ({
  role: "user",
  content: [{ toolResult: { toolUseId: "t1", content: [{ text: "a drink" }], ...more } }],
})
const spec = (more: JsonObject = {}): JsonObject => ({
  toolConfig: { tools: [{ toolSpec: { name: "lookup", inputSchema: { json: wordSchema }, ...more } }] },
})
const thinks = (text: string, signature = "signed-1"): JsonObject => ({
  role: "assistant",
  content: [{ reasoningContent: { reasoningText: { text, signature } } }, { text: "x" }],
})
const loop = (use: JsonObject, given: JsonObject): JsonObject => ({ messages: [hello, use, given], ...spec() })

const bedrock = table(
  {
    provider: "bedrock",
    path: "/model/anthropic.claude-sonnet-4-5/converse-stream",
    base: { messages: [hello] },
  },
  [
    {
      rule: "fields",
      refused: { model: "x" },
      words: "model: Extra inputs are not permitted",
      taken: { inferenceConfig: {} },
    },
    {
      rule: "startsWithUser",
      refused: { messages: [{ role: "assistant", content: [{ text: "x" }] }, hello] },
      words: "A conversation must start with a user message.",
      taken: {},
    },
    {
      rule: "rolesAlternate",
      refused: { messages: [hello, hello] },
      words: "A conversation must alternate between user and assistant roles.",
      taken: { messages: [hello, { role: "assistant", content: [{ text: "x" }] }, hello] },
    },
    {
      rule: "contentIsNotEmpty",
      refused: { messages: [{ role: "user", content: [] }] },
      words: "The content field in the Message object at messages.0 is empty.",
      taken: {},
    },
    {
      rule: "textIsNotBlank",
      refused: { messages: [{ role: "user", content: [{ text: " " }] }] },
      words: "The text field in the ContentBlock object at messages.0.content.0 is blank.",
      taken: { system: [{ text: "x" }] },
    },
    {
      rule: "toolConfigIsThere",
      refused: { messages: [hello, uses(), gives()] },
      words: "The toolConfig field must be defined when using toolUse and toolResult content blocks.",
      taken: loop(uses(), gives()),
    },
    {
      rule: "toolsAreNotNone",
      refused: { toolConfig: { tools: [] } },
      words: "at 'toolConfig.tools' failed to satisfy constraint: Member must have length greater than or equal to 1",
      taken: spec(),
    },
    {
      rule: "toolSpecs",
      refused: spec({ inputSchema: { json: { oneOf: [] } } }),
      words: "The value at toolConfig.tools.0.toolSpec.inputSchema.json.type must be one of the following: object.",
      taken: spec(),
    },
    {
      rule: "toolSpecs",
      refused: spec({ name: "look.up" }),
      words: "Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+",
      taken: spec({ name: "n".repeat(64) }),
    },
    {
      rule: "callIds",
      refused: loop(uses({ toolUseId: "functions.x:0" }), gives({ toolUseId: "functions.x:0" })),
      words: "Value 'functions.x:0' at 'messages.2.member.content.1.member.toolUse.toolUseId'",
      taken: loop(uses(), gives()),
    },
    {
      rule: "callInputs",
      refused: loop(uses({ input: "{" }), gives()),
      words: "The format of the value at messages.1.content.0.toolUse.input is invalid.",
      taken: loop(uses(), gives()),
    },
    {
      rule: "results",
      refused: loop(uses(), gives({ content: [{ json: [1] }] })),
      words: "The format of the value at messages.2.content.0.toolResult.content.0.json is invalid.",
      taken: loop(uses(), gives({ content: [{ json: { a: 1 } }] })),
    },
    {
      rule: "results",
      refused: loop(uses(), gives({ content: [], status: "error" })),
      words: "toolResult cannot be empty when status value is error.",
      taken: loop(uses(), gives({ status: "error" })),
    },
    {
      rule: "resultsFollowCalls",
      refused: { messages: [gives()], ...spec() },
      words:
        "The number of toolResult blocks at messages.0.content exceeds the number of toolUse blocks of previous turn.",
      taken: loop(uses(), gives()),
    },
    {
      rule: "callsHaveResults",
      refused: loop(uses(), hello),
      words: "Expected toolResult blocks at messages.2.content for the following Ids: t1",
      taken: loop(uses(), gives()),
    },
    {
      rule: "pictures",
      refused: { messages: [{ role: "user", content: [{ image: { format: "bmp", source: { bytes: png } } }] }] },
      words: "Member must satisfy enum value set: [gif, jpeg, png, webp]",
      taken: { messages: [{ role: "user", content: [{ image: { format: "png", source: { bytes: png } } }] }] },
    },
    {
      rule: "reasoningIsUnchanged",
      refused: { messages: [hello, thinks("Other."), hello] },
      words: "blocks in the latest assistant message cannot be modified.",
      taken: { messages: [hello, thinks("Hm."), hello] },
      issued: [{ id: "r", parts: [{ type: "reasoning", text: "Hm.", signature: "signed-1", redacted: false }] }],
    },
  ],
)

export const cloudCases: RuleCase[] = [...gemini, ...bedrock]
