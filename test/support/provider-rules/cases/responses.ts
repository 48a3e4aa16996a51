// OpenAI on Responses.
import type { JsonObject } from "../../../../src/kernel/index.ts"
import { bmp, png, table, wordSchema, type RuleCase } from "./case.ts"

const user: JsonObject = { role: "user", content: [{ type: "input_text", text: "hello" }] }
const call = (more: JsonObject = {}): JsonObject => ({
  type: "function_call",
  call_id: "call_1",
  name: "lookup",
  arguments: "{}",
  ...more,
})
const output = (more: JsonObject = {}): JsonObject => ({
  type: "function_call_output",
  call_id: "call_1",
  output: "a drink",
  ...more,
})
const reasoning = (more: JsonObject = {}): JsonObject => ({
  type: "reasoning",
  id: "rs_1",
  summary: [],
  encrypted_content: "signed-reply-1",
  ...more,
})
const issued = [
  {
    id: "reply-1",
    parts: [
      { type: "reasoning" as const, text: "Hm.", signature: "signed-reply-1", redacted: false },
      { type: "call" as const, id: "call_1", name: "lookup", input: {} },
    ],
  },
]

export const responsesCases: RuleCase[] = table(
  { provider: "openai-responses", path: "/v1/responses", base: { model: "gpt-5", input: [user], store: false } },
  [
    { rule: "hasInput", refused: { input: [] }, words: "Missing required parameter: 'input'.", taken: { input: "hi" } },
    {
      rule: "knownParameters",
      refused: { max_tokens: 100 },
      words: "Unknown parameter: 'max_tokens'.",
      taken: { max_output_tokens: 100 },
    },
    {
      rule: "itemIds",
      refused: { input: [user, call({ id: "item_1" }), output()] },
      words: "Invalid 'input[1].id': 'item_1'. Expected an ID that begins with 'fc'.",
      taken: { input: [user, call({ id: "fc_1" }), output()] },
    },
    {
      rule: "itemIds",
      refused: { input: [user, reasoning({ id: "rs|1" }), call(), output()] },
      words: "Expected an ID that contains letters, numbers, underscores, or dashes",
      taken: { input: [user, reasoning(), call(), output()] },
    },
    {
      rule: "itemsAreSingle",
      refused: {
        input: [user, reasoning(), call(), output(), reasoning(), call({ call_id: "b" }), output({ call_id: "b" })],
      },
      words: "Duplicate item found with id rs_1. Remove duplicate items from your input and try again.",
      taken: { input: [user, reasoning(), call(), output()] },
    },
    {
      rule: "callIdLength",
      refused: { input: [user, call({ call_id: "c".repeat(65) }), output({ call_id: "c".repeat(65) })] },
      words: "Invalid 'input[1].call_id': string too long. Expected a string with maximum length 64",
      taken: { input: [user, call({ call_id: "c".repeat(64) }), output({ call_id: "c".repeat(64) })] },
    },
    {
      rule: "callNames",
      refused: { input: [user, call({ name: "look.up" }), output()] },
      words: "Invalid 'input[1].name': string does not match pattern.",
      taken: { input: [user, call(), output()] },
    },
    {
      rule: "outputsFollowCalls",
      refused: { input: [user, output()] },
      words: "No tool call found for function call output with call_id call_1.",
      taken: { input: [user, call(), output()] },
    },
    {
      rule: "callsHaveOutputs",
      refused: { input: [user, call(), user] },
      words: "No tool output found for function call call_1.",
      taken: { input: [user, call(), output(), user] },
    },
    {
      rule: "itemsAreStored",
      refused: { input: [user, { type: "item_reference", id: "rs_1" }, call(), output()] },
      status: 404,
      words: "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false.",
      taken: { input: [user, reasoning(), call(), output()] },
    },
    {
      rule: "encryptedContentIsOurs",
      refused: {
        input: [user, reasoning({ encrypted_content: "made-up" }), call({ call_id: "x" }), output({ call_id: "x" })],
      },
      words: "could not be verified. Reason: Encrypted content could not be decrypted or parsed.",
      taken: { input: [user, reasoning(), call({ call_id: "x" }), output({ call_id: "x" })] },
      issued,
    },
    {
      rule: "reasoningIsFollowed",
      refused: { input: [user, reasoning(), user] },
      words: "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
      taken: { input: [user, reasoning(), { role: "assistant", content: [{ type: "output_text", text: "x" }] }, user] },
    },
    {
      rule: "itemsKeepTheirReasoning",
      refused: { input: [user, call({ id: "fc_reply-1-1" }), output()] },
      words: "of type 'function_call' was provided without its required 'reasoning' item: 'rs_reply-1-0'.",
      taken: { input: [user, reasoning({ id: "rs_reply-1-0" }), call({ id: "fc_reply-1-1" }), output()] },
      issued,
    },
    {
      rule: "contentTypes",
      refused: { input: [user, { role: "assistant", content: [{ type: "input_text", text: "x" }] }, user] },
      words: "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'.",
      taken: { input: [user, { role: "assistant", content: [{ type: "output_text", text: "x" }] }, user] },
    },
    {
      rule: "pictureTypes",
      refused: {
        input: [{ role: "user", content: [{ type: "input_image", image_url: `data:image/bmp;base64,${bmp}` }] }],
      },
      words: "You uploaded an unsupported image.",
      taken: {
        input: [{ role: "user", content: [{ type: "input_image", image_url: `data:image/png;base64,${png}` }] }],
      },
    },
    {
      rule: "outputTokens",
      refused: { max_output_tokens: 15 },
      words: "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 15 instead.",
      taken: { max_output_tokens: 16 },
    },
    {
      rule: "toolSchemaHasNoUnionOnTop",
      refused: { tools: [{ type: "function", name: "lookup", parameters: { ...wordSchema, anyOf: [] } }] },
      words: `"param":"tools[0].parameters","code":"invalid_function_parameters"`,
      taken: { tools: [{ type: "function", name: "lookup", parameters: wordSchema }] },
    },
    {
      rule: "responsesEffort",
      refused: { model: "gpt-5.1", reasoning: { effort: "minimal" } },
      words: "Unsupported value: 'minimal' is not supported with the 'gpt-5.1' model.",
      taken: { reasoning: { effort: "minimal" } },
    },
    {
      rule: "temperature",
      refused: { temperature: 1 },
      words: "Unsupported parameter: 'temperature' is not supported with this model.",
      taken: { model: "gpt-4.1", temperature: 0.5 },
    },
    {
      rule: "includes",
      refused: { model: "gpt-4.1", include: ["reasoning.encrypted_content"] },
      words: "Encrypted content is not supported with this model.",
      taken: { include: ["reasoning.encrypted_content"] },
    },
  ],
)
