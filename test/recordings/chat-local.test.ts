// Streams of Chat Completions through the registry: servers of one's own, and a proxy in front of others.
import { failingTest, readingTest, useStage } from "./support/replay.ts"

const stage = useStage()
const call = (id: string | undefined, name: string, input: string) => ({
  id: id ?? "",
  type: "function",
  function: { name, arguments: input },
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

const vllm = { inputTokens: 20, outputTokens: 42 }
readingTest(stage, "chat/vllm-text", { text: "\n\nHello ❄", reasoning: "Greet back.", usage: vllm })
readingTest(stage, "chat/vllm-call", {
  reasoning: "Ask it.",
  calls: [toOslo, ["list_notes", {}]],
  usage: vllm,
  back: () => ({
    ...calling(null, call("chatcmpl-tool-0ownA", "get_weather", oslo), call("chatcmpl-tool-0ownB", "list_notes", "{}")),
    reasoning: "Ask it.",
  }),
})
failingTest(stage, "chat/vllm-error", {
  chat: "The model service is overloaded just now.",
  message: /EngineCore encountered an issue/,
  requests: 3,
})

readingTest(stage, "chat/sglang-call", {
  reasoning: "Ask it.",
  calls: [toOslo],
  usage: { inputTokens: 50, outputTokens: 21, reasoningTokens: 6 },
  back: () => ({ ...calling(null, call("call_sgOwn", "get_weather", oslo)), reasoning_content: "Ask it." }),
})

const llama = { inputTokens: 250, outputTokens: 35, cacheReadTokens: 236 }
readingTest(stage, "chat/llamacpp-text", { text: "Hello ❄", reasoning: "Greet back.", usage: llama })
readingTest(stage, "chat/llamacpp-call", {
  reasoning: "Ask it.",
  calls: [toOslo],
  usage: llama,
  back: () => ({ ...calling(null, call("Wm6Tx0own", "get_weather", oslo)), reasoning_content: "Ask it." }),
})
failingTest(stage, "chat/llamacpp-error", {
  chat: "The conversation is longer than the model can take.",
  message: /Context size has been exceeded/,
  requests: 1,
})
failingTest(stage, "chat/llamacpp-error-data", {
  chat: "The model service is overloaded just now.",
  message: /Failed to parse input at pos 24/,
  requests: 3,
})

readingTest(stage, "chat/lmstudio-call", {
  calls: [toOslo],
  back: () => calling("", call("365174485", "get_weather", oslo)),
})
readingTest(stage, "chat/lmstudio-whole-calls", {
  calls: [toOslo, toBergen],
  back: () => calling("", call("111", "get_weather", oslo), call("222", "get_weather", bergen)),
})
failingTest(stage, "chat/lmstudio-error", {
  chat: "The model service is overloaded just now.",
  message: /The model has crashed/,
  requests: 3,
})
failingTest(stage, "chat/lmstudio-compute-error", {
  chat: "The model service is overloaded just now.",
  message: /Compute error/,
  requests: 3,
})

const ollama = { inputTokens: 26, outputTokens: 298 }
readingTest(stage, "chat/ollama-text", { text: "Hello ❄", reasoning: "Greet back.", usage: ollama })
readingTest(stage, "chat/ollama-calls", {
  calls: [toOslo, toBergen],
  usage: ollama,
  back: () => calling(null, call("call_ol1own", "get_weather", oslo), call("call_ol2own", "get_weather", bergen)),
})
readingTest(stage, "chat/ollama-calls-no-ids", {
  calls: [toOslo, toBergen],
  usage: ollama,
  back: ([first, second]) => calling(null, call(first, "get_weather", oslo), call(second, "get_weather", bergen)),
})
readingTest(stage, "chat/ollama-same-call-twice", {
  calls: [
    ["list_notes", {}],
    ["list_notes", {}],
  ],
  usage: ollama,
  back: () => calling(null, call("call_tw1own", "list_notes", "{}"), call("call_tw2own", "list_notes", "{}")),
})

readingTest(stage, "chat/litellm-claude", {
  text: "I look. ",
  reasoning: "Ask it.",
  calls: [toOslo],
  usage: { inputTokens: 500, outputTokens: 40, cacheReadTokens: 450, cacheWriteTokens: 30, reasoningTokens: 11 },
  // The proxy hands blocks with their signatures on to Claude, which refuses thinking that lacks its own.
  back: () => ({
    ...calling("I look. ", call("toolu_lite1", "get_weather", oslo)),
    reasoning_content: "Ask it.",
    thinking_blocks: [{ type: "thinking", thinking: "Ask it.", signature: "EqQB-own-lite==" }],
  }),
})
readingTest(stage, "chat/litellm-ollama", {
  calls: [toOslo, toBergen],
  back: () => calling(null, call("9b1-own", "get_weather", oslo), call("9b2-own", "get_weather", bergen)),
})
failingTest(stage, "chat/litellm-error", {
  chat: "The model service is overloaded just now.",
  message: /Overloaded/,
  requests: 3,
})

readingTest(stage, "chat/raw-lone-close", { text: "Hello ❄", reasoning: "I greet back.\n" })
readingTest(stage, "chat/raw-harmony", { text: "Hello ❄", reasoning: "Just a greeting." })
