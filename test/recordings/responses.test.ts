// Streams of the Responses interface through the registry: OpenAI, Azure, and servers that imitate it.
import { failingTest, readingTest, useStage } from "./support/replay.ts"

const stage = useStage()
const message = (content: string, more: { phase?: string } = {}) => ({ role: "assistant", content, ...more })
const call = (call_id: string, name: string, input: string) => ({
  type: "function_call",
  call_id,
  name,
  arguments: input,
})
const counts = (inputTokens: number, cacheReadTokens: number, outputTokens: number, reasoningTokens: number) => ({
  inputTokens,
  outputTokens,
  cacheReadTokens,
  reasoningTokens,
})

readingTest(stage, "responses/openai-text", {
  text: "It is 7 °C in Tromsø ❄ today.",
  usage: counts(31, 0, 14, 0),
  back: () => [message("It is 7 °C in Tromsø ❄ today.")],
})

readingTest(stage, "responses/openai-reasoning-call", {
  reasoning: "**Picking a tool**\n\nThe weather is asked for.\n**Naming the place**\n\nTromsø it is.",
  calls: [["get_weather", { city: "Tromsø", days: 2 }]],
  usage: counts(211, 128, 96, 64),
  back: () => [
    {
      type: "reasoning",
      id: "rs_0b7a41c9a2f0",
      encrypted_content: "gAAAAABqRt5_first-half-of-what-is-encrypted-and-its-end==",
      summary: [
        { type: "summary_text", text: "**Picking a tool**\n\nThe weather is asked for." },
        { type: "summary_text", text: "**Naming the place**\n\nTromsø it is." },
      ],
    },
    call("call_Wz3kQ0vT9bYcN2", "get_weather", '{"city":"Tromsø","days":2}'),
  ],
})

readingTest(stage, "responses/openai-parallel-calls", {
  calls: [
    ["get_weather", { city: "Oslo" }],
    ["get_weather", { city: "Bergen" }],
    ["list_notes", {}],
  ],
  usage: counts(240, 0, 71, 20),
  back: () => [
    {
      type: "reasoning",
      id: "rs_0b7a41c9a3f0",
      encrypted_content: "gAAAAABq-no-summary-but-encrypted-all-the-same==",
      summary: [],
    },
    call("call_One11", "get_weather", '{"city":"Oslo"}'),
    call("call_Two22", "get_weather", '{"city":"Bergen"}'),
    call("call_Three33", "list_notes", "{}"),
  ],
})

readingTest(stage, "responses/openai-phase-call", {
  text: "I look it up first. ",
  reasoning: "**Planning**",
  calls: [["get_weather", { city: "Bodø" }]],
  usage: counts(300, 0, 40, 12),
  back: () => [
    {
      type: "reasoning",
      id: "rs_0b7a41c9b0f0",
      encrypted_content: "gAAAAABq-phase-one==",
      summary: [{ type: "summary_text", text: "**Planning**" }],
    },
    message("I look it up first. ", { phase: "commentary" }),
    call("call_Ph4se", "get_weather", '{"city":"Bodø"}'),
  ],
})

readingTest(stage, "responses/openai-phase-answer", {
  text: "Checking. It snows in Bodø.",
  usage: counts(300, 256, 40, 12),
  back: () => [message("Checking. ", { phase: "commentary" }), message("It snows in Bodø.", { phase: "final_answer" })],
})

readingTest(stage, "responses/azure-call", {
  calls: [["get_weather", { city: "Oslo" }]],
  usage: counts(70, 0, 18, 0),
  back: () => [call("call_Az1", "get_weather", '{"city":"Oslo"}')],
})

readingTest(stage, "responses/copilot-rotating-ids", {
  reasoning: "**Counting**",
  calls: [["get_weather", { city: "Oslo" }]],
  usage: counts(19, 0, 105, 80),
})

readingTest(stage, "responses/lmstudio-reasoning-text", {
  text: "Hello there.",
  reasoning: "A greeting.",
  usage: counts(70, 0, 21, 9),
})

readingTest(stage, "responses/openai-incomplete-tokens", {
  text: "The first part It is 7 °C in Tromsø ❄ today.",
  next: "responses/openai-text",
  usage: counts(53, 0, 30, 0),
})

const declined = { chat: "The model declined to answer this.", message: /declined/, requests: 1 }
failingTest(stage, "responses/openai-refusal", declined)
failingTest(stage, "responses/openai-incomplete-filter", declined)

failingTest(stage, "responses/openai-failed", {
  chat: "The model service is overloaded just now.",
  message: /An error occurred while processing your request/,
  requests: 3,
})
failingTest(stage, "responses/openai-error-nested", {
  chat: "The account at the model service has no credit left.",
  message: /You exceeded your current quota/,
  requests: 1,
})
failingTest(stage, "responses/openai-error-flat", {
  chat: "The model service has had too many requests just now.",
  message: /Rate limit reached for gpt-5\.2/,
  requests: 3,
})
