// Streams of the Messages interface through the registry: Anthropic, and proxies that speak it more or less.
import { failingTest, readingTest, useStage } from "./support/replay.ts"

const stage = useStage()
const counts = (inputTokens: number, outputTokens: number) => ({
  inputTokens,
  outputTokens,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
})
const text = (words: string) => ({ type: "text", text: words })
const thinking = (words: string, signature: string) => ({ type: "thinking", thinking: words, signature })
const call = (id: string | undefined, name: string, input: object) => ({
  type: "tool_use",
  id: id ?? "",
  name,
  input: { ...input },
})

readingTest(stage, "messages/anthropic-text", {
  text: "It is 7 °C in Tromsø ❄ today.",
  usage: counts(40, 15),
  back: () => [text("It is 7 °C in Tromsø ❄ today.")],
})

readingTest(stage, "messages/anthropic-thinking-call", {
  reasoning: "The place is Tromsø, so I ask.",
  calls: [["get_weather", { city: "Tromsø", days: 2 }]],
  usage: counts(40, 61),
  back: () => [
    thinking("The place is Tromsø, so I ask.", "EqQBCkYI-own-signature-1+/=="),
    call("toolu_01Weather", "get_weather", { city: "Tromsø", days: 2 }),
  ],
})

readingTest(stage, "messages/anthropic-redacted", {
  reasoning: "Visible again.",
  calls: [["list_notes", {}]],
  usage: counts(40, 44),
  back: () => [
    { type: "redacted_thinking", data: "EmwKAhgB-own-redacted-1" },
    thinking("Visible again.", "EqQBCkYI-own-signature-2"),
    call("toolu_01Note", "list_notes", {}),
  ],
})

readingTest(stage, "messages/anthropic-interleaved", {
  text: "I look at Oslo. And at Bergen.",
  reasoning: "First Oslo.\nThen Bergen.",
  calls: [
    ["get_weather", { city: "Oslo" }],
    ["get_weather", { city: "Bergen" }],
  ],
  usage: counts(40, 90),
  back: () => [
    thinking("First Oslo.", "sig-one"),
    text("I look at Oslo. "),
    call("toolu_01A", "get_weather", { city: "Oslo" }),
    thinking("Then Bergen.", "sig-two"),
    text("And at Bergen."),
    call("toolu_01B", "get_weather", { city: "Bergen" }),
  ],
})

readingTest(stage, "messages/anthropic-omitted-thinking", {
  calls: [["get_weather", { city: "Oslo" }]],
  usage: counts(40, 20),
  back: () => [thinking("", "sig-omitted-display"), call("toolu_01C", "get_weather", { city: "Oslo" })],
})

readingTest(stage, "messages/anthropic-cache", {
  text: "From the cache.",
  usage: { inputTokens: 4605, outputTokens: 12, cacheReadTokens: 3400, cacheWriteTokens: 1200, reasoningTokens: 0 },
})

readingTest(stage, "messages/anthropic-eager", {
  calls: [["send_note", { text: "line one\nline two é", to: ["a"] }]],
  usage: counts(40, 30),
})

readingTest(stage, "messages/anthropic-eager-invalid", {
  calls: [
    ["send_note", '{"text": "never clo'],
    ["get_weather", { city: "Oslo" }],
  ],
  usage: counts(40, 30),
  back: () => [
    call("toolu_01F", "send_note", { unreadable_input: '{"text": "never clo' }),
    call("toolu_01G", "get_weather", { city: "Oslo" }),
  ],
})

readingTest(stage, "messages/anthropic-max-tokens-call", {
  calls: [["get_weather", { city: "Oslo" }]],
  usage: counts(40, 30),
  back: () => [call("toolu_01H", "get_weather", { city: "Oslo" })],
})

readingTest(stage, "messages/anthropic-unknown-block", { text: "Another model speaks.", usage: counts(40, 9) })

for (const name of ["max-tokens", "window", "pause"]) {
  readingTest(stage, `messages/anthropic-${name}`, {
    text: "The first part It is 7 °C in Tromsø ❄ today.",
    next: "messages/anthropic-text",
    usage: counts(80, 31),
  })
}

failingTest(stage, "messages/anthropic-refusal", {
  chat: "The model declined to answer this.",
  message: /declined/,
  requests: 1,
})
failingTest(stage, "messages/anthropic-overloaded", {
  chat: "The model service is overloaded just now.",
  message: /Overloaded/,
  requests: 3,
})
failingTest(stage, "messages/anthropic-error-first", {
  chat: "The model service is overloaded just now.",
  message: /Internal server error/,
  requests: 3,
})

readingTest(stage, "messages/proxy-no-usage-crlf", { text: "Tromsø ❄", back: () => [text("Tromsø ❄")] })

readingTest(stage, "messages/proxy-no-event-lines", {
  calls: [["get_weather", { city: "Oslo" }]],
  usage: { inputTokens: 93, outputTokens: 7, cacheReadTokens: 32 },
})

readingTest(stage, "messages/proxy-json-body", {
  text: "I look. ",
  reasoning: "Hm.",
  calls: [["get_weather", { city: "Oslo" }]],
  usage: { inputTokens: 33, outputTokens: 12 },
  back: () => [thinking("Hm.", "sig-whole"), text("I look. "), call("toolu_p3", "get_weather", { city: "Oslo" })],
})

readingTest(stage, "messages/proxy-stream-as-json", {
  text: "Hello.",
  usage: { inputTokens: 17, outputTokens: 4 },
})

readingTest(stage, "messages/proxy-kimi", {
  reasoning: "Ask the tool.",
  calls: [["get_weather", { city: "Oslo" }]],
  usage: { inputTokens: 90, outputTokens: 25 },
  // Thinking that nobody signed is refused; the id is the model's own.
  back: () => [call("functions.get_weather:0", "get_weather", { city: "Oslo" })],
})
