// Streams of Bedrock's Converse interface through the registry: binary frames, cut anywhere.
import { failingTest, readingTest, useStage } from "./support/replay.ts"

const stage = useStage()

readingTest(stage, "converse/text", {
  text: "It is 7 °C in Tromsø ❄ today.",
  usage: { inputTokens: 22, outputTokens: 15 },
  back: () => [{ text: "It is 7 °C in Tromsø ❄ today." }],
})

readingTest(stage, "converse/thinking-call", {
  text: "I look. ",
  reasoning: "The place is Oslo.",
  calls: [
    ["get_weather", { city: "Oslo" }],
    ["list_notes", {}],
  ],
  usage: { inputTokens: 1012, outputTokens: 80, cacheReadTokens: 900, cacheWriteTokens: 100 },
  back: () => [
    { reasoningContent: { reasoningText: { text: "The place is Oslo.", signature: "Ep0C-own-bedrock==" } } },
    { text: "I look. " },
    { toolUse: { toolUseId: "tooluse_Own1", name: "get_weather", input: { city: "Oslo" } } },
    { toolUse: { toolUseId: "tooluse_Own2", name: "list_notes", input: {} } },
  ],
})

readingTest(stage, "converse/redacted", {
  calls: [["get_weather", { city: "Oslo" }]],
  usage: { inputTokens: 30, outputTokens: 20 },
  back: () => [
    { reasoningContent: { redactedContent: Buffer.from("own redacted bytes").toString("base64") } },
    { toolUse: { toolUseId: "tooluse_Own3", name: "get_weather", input: { city: "Oslo" } } },
  ],
})

readingTest(stage, "converse/nova-call", {
  text: "I look. ",
  calls: [["get_weather", { city: "Oslo" }]],
  usage: { inputTokens: 400, outputTokens: 30 },
})

readingTest(stage, "converse/length", {
  text: "The first part It is 7 °C in Tromsø ❄ today.",
  next: "converse/text",
  usage: { inputTokens: 44, outputTokens: 19 },
})

const declined = { chat: "The model declined to answer this.", message: /declined/, requests: 1 }
failingTest(stage, "converse/guardrail", declined)
failingTest(stage, "converse/filtered", declined)

failingTest(stage, "converse/throttled", {
  chat: "The model service has had too many requests just now.",
  message: /Too many tokens, please wait/,
  requests: 3,
})
failingTest(stage, "converse/validation", {
  chat: "The model service did not understand the request.",
  message: /tool_use ids must be unique/,
  requests: 1,
})
