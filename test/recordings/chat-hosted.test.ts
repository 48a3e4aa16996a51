// Streams of Chat Completions through the registry: hosted services.
import { failingTest, readingTest, useStage } from "./support/replay.ts"

const stage = useStage()
const call = (id: string, name: string, input: string, more: object = {}) => ({
  id,
  type: "function",
  function: { name, arguments: input },
  ...more,
})
const oslo = '{"city":"Oslo"}'
const bergen = '{"city":"Bergen"}'
const toOslo: [string, { city: string }] = ["get_weather", { city: "Oslo" }]
const toBergen: [string, { city: string }] = ["get_weather", { city: "Bergen" }]
const calling = (content: string | null, ...calls: object[]) => ({
  role: "assistant",
  content,
  tool_calls: calls.map((each) => ({ ...each })),
})

readingTest(stage, "chat/openai-text", {
  text: "It is 7 °C in Tromsø ❄ today.",
  usage: { inputTokens: 16, outputTokens: 12, cacheReadTokens: 0, reasoningTokens: 0 },
  back: () => ({ role: "assistant", content: "It is 7 °C in Tromsø ❄ today." }),
})

readingTest(stage, "chat/openai-calls", {
  calls: [["get_weather", { city: "Tromsø" }], toOslo],
  usage: { inputTokens: 90, outputTokens: 40, cacheReadTokens: 64, reasoningTokens: 0 },
  back: () =>
    calling(null, call("call_Own1", "get_weather", '{"city":"Tromsø"}'), call("call_Own2", "get_weather", oslo)),
})

readingTest(stage, "chat/openai-length", {
  text: "The first part It is 7 °C in Tromsø ❄ today.",
  next: "chat/openai-text",
  usage: { inputTokens: 46, outputTokens: 28, cacheReadTokens: 0, reasoningTokens: 0 },
})

const declined = { chat: "The model declined to answer this.", message: /declined/, requests: 1 }
failingTest(stage, "chat/openai-refusal", declined)
failingTest(stage, "chat/openai-error", {
  chat: "The model service is overloaded just now.",
  message: /The server had an error processing your request/,
  requests: 3,
})

readingTest(stage, "chat/azure-text", {
  text: "It is cold.",
  usage: { inputTokens: 15, outputTokens: 78, cacheReadTokens: 0, reasoningTokens: 64 },
})
failingTest(stage, "chat/azure-filtered", declined)

readingTest(stage, "chat/gemini-calls", {
  calls: [toOslo, toBergen],
  usage: { inputTokens: 29, outputTokens: 78 },
  back: () =>
    calling(
      null,
      call("function-call-101", "get_weather", oslo, {
        extra_content: { google: { thought_signature: "EqUC-own-compat==" } },
      }),
      call("function-call-102", "get_weather", bergen),
    ),
})

readingTest(stage, "chat/mistral-text", { text: "Hello there ❄.", usage: { inputTokens: 13, outputTokens: 8 } })

readingTest(stage, "chat/mistral-call", {
  calls: [toOslo, toBergen],
  usage: { inputTokens: 124, outputTokens: 22 },
  back: () => calling("", call("gSIMJiOkT", "get_weather", oslo), call("hTJNKjPlU", "get_weather", bergen)),
})

readingTest(stage, "chat/mistral-incremental-call", {
  calls: [toOslo],
  usage: { inputTokens: 171, outputTokens: 14, cacheReadTokens: 128 },
  // Ids have nine letters and digits here, also where the service itself gave another.
  back: ([id = ""]) => {
    if (!/^[a-zA-Z0-9]{9}$/.test(id)) throw new Error(`${id} is no id of nine letters and digits`)
    return calling("", call(id, "get_weather", oslo))
  },
})

readingTest(stage, "chat/mistral-thinking", {
  text: "Hello ❄",
  reasoning: "The user greets. I greet back.",
  usage: { inputTokens: 10, outputTokens: 46 },
  back: () => ({
    role: "assistant",
    content: [
      { type: "thinking", thinking: [{ type: "text", text: "The user greets. I greet back." }] },
      { type: "text", text: "Hello ❄" },
    ],
  }),
})

readingTest(stage, "chat/mistral-thinking-call", {
  text: "I look. ",
  reasoning: "Ask the tool.",
  calls: [toOslo],
  usage: { inputTokens: 10, outputTokens: 46 },
  back: () => ({
    role: "assistant",
    content: [
      { type: "thinking", thinking: [{ type: "text", text: "Ask the tool." }] },
      { type: "text", text: "I look. " },
    ],
    tool_calls: [call("kWXyZ1234", "get_weather", oslo)],
  }),
})

readingTest(stage, "chat/groq-call", {
  calls: [["list_notes", {}]],
  usage: { inputTokens: 210, outputTokens: 15 },
  back: () => calling(null, call("tk85n1k4m", "list_notes", "{}")),
})
readingTest(stage, "chat/groq-old-usage", { text: "Hello ❄", usage: { inputTokens: 45, outputTokens: 6 } })
readingTest(stage, "chat/groq-reasoning-call", {
  reasoning: "Okay, I ask.",
  calls: [toOslo],
  usage: { inputTokens: 17, outputTokens: 107, reasoningTokens: 96 },
  back: () => ({ ...calling(null, call("ab12cd34e", "get_weather", oslo)), reasoning: "Okay, I ask." }),
})

readingTest(stage, "chat/deepseek-text", {
  text: "It is cold ❄.",
  reasoning: "The place is Tromsø.",
  usage: { inputTokens: 18, outputTokens: 219, cacheReadTokens: 0, reasoningTokens: 205 },
})
readingTest(stage, "chat/deepseek-call", {
  reasoning: "The place is Tromsø.",
  calls: [["get_weather", { city: "Tromsø" }]],
  usage: { inputTokens: 339, outputTokens: 83, cacheReadTokens: 320, reasoningTokens: 39 },
  back: () => ({
    ...calling("", call("call_00_ioIn7own", "get_weather", '{"city":"Tromsø"}')),
    reasoning_content: "The place is Tromsø.",
  }),
})
failingTest(stage, "chat/deepseek-no-resource", {
  chat: "The model service is overloaded just now.",
  message: /insufficient_system_resource/,
  requests: 3,
})

readingTest(stage, "chat/xai-text", {
  text: "Hello ❄",
  reasoning: "First, greet.",
  usage: { inputTokens: 12, outputTokens: 292, cacheReadTokens: 11, reasoningTokens: 290 },
})
readingTest(stage, "chat/xai-call", {
  reasoning: "Ask",
  calls: [toOslo],
  usage: { inputTokens: 291, outputTokens: 222, cacheReadTokens: 290, reasoningTokens: 196 },
  back: () => ({ ...calling(null, call("call_55117580", "get_weather", oslo)), reasoning_content: "Ask" }),
})

readingTest(stage, "chat/cerebras-call", {
  reasoning: "We need the weather.",
  calls: [toOslo],
  usage: { inputTokens: 120, outputTokens: 40, cacheReadTokens: 0 },
  back: () => ({ ...calling(null, call("a8f1c2d3e", "get_weather", oslo)), reasoning: "We need the weather." }),
})

const together = { inputTokens: 30, outputTokens: 25, cacheReadTokens: 0 }
readingTest(stage, "chat/together-text", { text: "Hello ❄", reasoning: "Greet back.", usage: together })
readingTest(stage, "chat/together-call", {
  calls: [toOslo],
  usage: together,
  back: () => calling(null, call("call_bok2own", "get_weather", oslo)),
})

const router = { inputTokens: 140, outputTokens: 60, cacheReadTokens: 100, cacheWriteTokens: 20, reasoningTokens: 22 }
readingTest(stage, "chat/openrouter-claude", {
  text: "I look. ",
  reasoning: "The place is Oslo.",
  calls: [toOslo],
  usage: router,
  back: () => ({
    ...calling("I look. ", call("toolu_or1", "get_weather", oslo)),
    reasoning_details: [
      {
        type: "reasoning.text",
        text: "The place is Oslo.",
        signature: "EqQB-own-or-sig==",
        format: "anthropic-claude-v1",
        index: 0,
      },
    ],
  }),
})
readingTest(stage, "chat/openrouter-encrypted", {
  reasoning: "**Thinking**",
  calls: [toOslo, toBergen],
  usage: router,
  back: () => ({
    ...calling(null, call("call_orA", "get_weather", oslo), call("call_orB", "get_weather", bergen)),
    reasoning_details: [
      { type: "reasoning.summary", summary: "**Thinking**", format: "openai-responses-v1", index: 0 },
      {
        type: "reasoning.encrypted",
        data: "gAAAA-own-encrypted==",
        id: "rs_own1",
        format: "openai-responses-v1",
        index: 0,
      },
    ],
  }),
})
readingTest(stage, "chat/openrouter-gemini", {
  reasoning: "Ask.",
  calls: [toOslo],
  usage: router,
  back: () => ({
    ...calling(null, call("tool_0_get_weather_own", "get_weather", oslo)),
    reasoning_details: [
      { type: "reasoning.text", text: "Ask.", format: "google-gemini-v1", index: 0 },
      {
        type: "reasoning.encrypted",
        data: "EqUC-own-or==",
        id: "tool_0_get_weather_own",
        format: "google-gemini-v1",
        index: 0,
      },
    ],
  }),
})
failingTest(stage, "chat/openrouter-error", {
  chat: "The model service is overloaded just now.",
  message: /Provider disconnected unexpectedly/,
  requests: 3,
})
failingTest(stage, "chat/openrouter-error-body", {
  chat: "The model service is overloaded just now.",
  message: /upstream connect error/,
  requests: 3,
})

readingTest(stage, "chat/kimi-calls", {
  text: "I look. ",
  reasoning: "Both places.",
  calls: [toOslo, toBergen],
  usage: { inputTokens: 60, outputTokens: 44, cacheReadTokens: 60 },
  back: () => ({
    ...calling(
      "I look. ",
      call("functions.get_weather:0", "get_weather", oslo),
      call("functions.get_weather:1", "get_weather", bergen),
    ),
    reasoning_content: "Both places.",
  }),
})

readingTest(stage, "chat/zai-call", {
  text: "\nI look.\n",
  reasoning: "\nAsk the tool.",
  calls: [toOslo],
  usage: { inputTokens: 180, outputTokens: 33, cacheReadTokens: 128 },
  back: () => ({
    ...calling("\nI look.\n", call("call_-7642own", "get_weather", oslo)),
    reasoning_content: "\nAsk the tool.",
  }),
})
failingTest(stage, "chat/zai-sensitive", declined)

readingTest(stage, "chat/qwen-call", {
  reasoning: "Ask it.",
  calls: [["get_weather", { city: "Tromsø" }]],
  usage: { inputTokens: 295, outputTokens: 22, cacheReadTokens: 0, reasoningTokens: 8 },
  back: () => ({
    ...calling(null, call("call_eee117own", "get_weather", '{"city":"Tromsø"}')),
    reasoning_content: "Ask it.",
  }),
})

const minimax = { inputTokens: 200, outputTokens: 60, reasoningTokens: 20 }
readingTest(stage, "chat/minimax-tags", {
  text: "I look. ",
  reasoning: "\nThe place is Oslo.\n",
  calls: [toOslo],
  usage: minimax,
  // MiniMax wants its thinking back inside the content, as it came.
  back: () =>
    calling("<think>\nThe place is Oslo.\n</think>\n\nI look. ", call("call_function_own_1", "get_weather", oslo)),
})
readingTest(stage, "chat/minimax-split", {
  reasoning: "The place is Oslo.",
  calls: [toOslo],
  usage: minimax,
  back: () => ({
    ...calling(null, call("call_function_own_2", "get_weather", oslo)),
    reasoning_details: [
      {
        type: "reasoning.text",
        id: "reasoning-text-1",
        format: "MiniMax-response-v1",
        index: 0,
        text: "The place is Oslo.",
      },
    ],
  }),
})
failingTest(stage, "chat/minimax-error", {
  chat: "The account at the model service has no credit left.",
  message: /insufficient balance/,
  requests: 1,
})

readingTest(stage, "chat/fireworks-call", {
  reasoning: "Ask it.",
  calls: [toOslo],
  usage: { inputTokens: 70, outputTokens: 29, cacheReadTokens: 16 },
  back: () => ({ ...calling(null, call("call_fwOwn1", "get_weather", oslo)), reasoning_content: "Ask it." }),
})
