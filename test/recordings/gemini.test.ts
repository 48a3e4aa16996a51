// Streams of the Gemini interface through the registry: with a key, in Google's cloud, and through a proxy.
import { failingTest, readingTest, useStage } from "./support/replay.ts"

const stage = useStage()

/** Cached tokens are told as none: the interface leaves the count out when it is 0. */
const counts = (inputTokens: number, outputTokens: number, reasoningTokens: number, cacheReadTokens = 0) => ({
  inputTokens,
  outputTokens,
  reasoningTokens,
  cacheReadTokens,
})

readingTest(stage, "gemini/text", {
  text: "It is 7 °C in Tromsø ❄ today.",
  usage: counts(9, 42, 30),
  back: () => [{ text: "It is 7 °C in Tromsø ❄ today.", thoughtSignature: "EpAI-own-sig-text==" }],
})

readingTest(stage, "gemini/thoughts", {
  text: "It is cold.",
  reasoning: "**Recalling**\n\nTromsø is cold.\n",
  usage: counts(9, 44, 40),
  back: () => [{ text: "It is cold.", thoughtSignature: "EpAI-own-sig-thought==" }],
})

readingTest(stage, "gemini/call", {
  reasoning: "**Asking**\n",
  calls: [["get_weather", { city: "Tromsø", days: 2 }]],
  usage: counts(29, 60, 45),
  back: ([id = ""]) => [
    {
      functionCall: { id, name: "get_weather", args: { city: "Tromsø", days: 2 } },
      thoughtSignature: "EqUC-own-sig-call==",
    },
  ],
})

readingTest(stage, "gemini/parallel-calls", {
  calls: [
    ["get_weather", { city: "Oslo" }],
    ["get_weather", { city: "Bergen" }],
    ["list_notes", {}],
  ],
  usage: counts(29, 90, 60),
  back: ([first = "", second = "", third = ""]) => [
    {
      functionCall: { id: first, name: "get_weather", args: { city: "Oslo" } },
      thoughtSignature: "EqUC-own-sig-first==",
    },
    { functionCall: { id: second, name: "get_weather", args: { city: "Bergen" } } },
    { functionCall: { id: third, name: "list_notes", args: {} } },
  ],
})

readingTest(stage, "gemini/text-then-call", {
  text: "I look. ",
  calls: [["get_weather", { city: "Oslo" }]],
  usage: counts(20, 14, 0),
  back: ([id = ""]) => [
    { text: "I look. ", thoughtSignature: "sig-on-text" },
    { functionCall: { id, name: "get_weather", args: { city: "Oslo" } }, thoughtSignature: "sig-on-call" },
  ],
})

readingTest(stage, "gemini/vertex-call", {
  calls: [["list_notes", {}]],
  usage: counts(24, 25, 20),
  back: () => [{ functionCall: { name: "list_notes", args: {} }, thoughtSignature: "AY89-own-vertex==" }],
})

readingTest(stage, "gemini/cached", { text: "Yes.", usage: counts(2100, 2, 0, 2000) })
readingTest(stage, "gemini/json-array", { text: "Hello there.", usage: counts(5, 3, 0) })

readingTest(stage, "gemini/max-tokens", {
  text: "The first part It is 7 °C in Tromsø ❄ today.",
  next: "gemini/text",
  usage: counts(21, 46, 30),
})

/** Asked for again: the counts are those of both replies. */
const blank = {
  "max-tokens-empty": counts(21, 106, 94),
  "malformed-call": counts(99, 42, 30),
  "empty-candidate": counts(19, 42, 30),
}
for (const [name, usage] of Object.entries(blank)) {
  readingTest(stage, `gemini/${name}`, { text: "It is 7 °C in Tromsø ❄ today.", next: "gemini/text", usage })
}

const declined = { chat: "The model declined to answer this.", message: /declined/, requests: 1 }
failingTest(stage, "gemini/safety", declined)
failingTest(stage, "gemini/blocked-prompt", declined)

failingTest(stage, "gemini/error-in-stream", {
  chat: "The model service is overloaded just now.",
  message: /The model is overloaded/,
  requests: 3,
})
