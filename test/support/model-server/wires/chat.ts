// Chat Completions, with the ways of those who speak it: where reasoning stands, and where the count of tokens comes.
import { isJsonObject, type Json, type JsonObject } from "../../../../src/kernel/index.ts"
import type { IssuedPart } from "../../provider-rules/index.ts"
import { argumentsOf, data, hasCalls, textOfParts, type WholeReply, type Wire } from "./contract.ts"
import { finishWord } from "./finish.ts"

const reasoningField: ReadonlySet<string> = new Set(["groq", "cerebras", "together", "ollama", "openrouter"])

/** These count without being asked, in the chunk that ends the reply: recorded streams of DeepSeek and Mistral. */
const countsWithFinish: ReadonlySet<string> = new Set(["deepseek", "mistral"])

function chunk(reply: WholeReply, delta: JsonObject, more: JsonObject = {}): string {
  const { finish_reason: finishReason = null, ...rest } = more
  const choices = [{ index: 0, delta, finish_reason: finishReason }]
  return data({ id: reply.id, object: "chat.completion.chunk", created: 1, model: reply.model, choices, ...rest })
}

function usageOf(reply: WholeReply): JsonObject {
  const { input, output, reasoning, cacheRead } = reply.usage
  const cache = { prompt_cache_hit_tokens: cacheRead, prompt_cache_miss_tokens: input - cacheRead }
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cacheRead },
    completion_tokens_details: { reasoning_tokens: reasoning },
    ...(reply.provider === "deepseek" ? cache : {}),
  }
}

const finishOf = (reply: WholeReply) => finishWord("chat", reply.finishReason, hasCalls(reply) ? "tool_calls" : "stop")

/** Position among the calls of the reply. */
function toCall(reply: WholeReply, part: Extract<IssuedPart, { type: "call" }>): JsonObject {
  const index = reply.parts.filter((other) => other.type === "call").indexOf(part)
  return { index, id: part.id, type: "function", function: { name: part.name, arguments: argumentsOf(part) } }
}

/** OpenRouter sends the proof of a text in a chunk of its own, with the same index. */
function reasoningDetails(reply: WholeReply, part: Extract<IssuedPart, { type: "reasoning" }>): JsonObject[] {
  const index = reply.parts.filter((other) => other.type === "reasoning").indexOf(part)
  if (part.redacted) {
    return [{ type: "reasoning.encrypted", data: part.signature, format: "openai-responses-v1", index }]
  }
  const common = { type: "reasoning.text", format: "anthropic-claude-v1", index }
  return [
    { ...common, text: part.text },
    { ...common, signature: part.signature },
  ]
}

function reasoningDeltas(reply: WholeReply, part: Extract<IssuedPart, { type: "reasoning" }>): JsonObject[] {
  if (reply.provider === "mistral") {
    return [{ content: [{ type: "thinking", thinking: [{ type: "text", text: part.text }] }] }]
  }
  if (reply.provider === "openrouter") {
    return reasoningDetails(reply, part).map((detail) => ({
      ...(typeof detail.text === "string" ? { reasoning: detail.text } : {}),
      reasoning_details: [detail],
    }))
  }
  return [reasoningField.has(reply.provider ?? "") ? { reasoning: part.text } : { reasoning_content: part.text }]
}

function wantsUsage(reply: WholeReply): boolean {
  const options = reply.request.stream_options
  return isJsonObject(options) && options.include_usage === true
}

function messageOf(reply: WholeReply): JsonObject {
  const calls = reply.parts.flatMap((part) => (part.type === "call" ? [toCall(reply, part)] : []))
  const reasoning = textOfParts(reply, "reasoning")
  const field = reasoningField.has(reply.provider ?? "") ? "reasoning" : "reasoning_content"
  return {
    role: "assistant",
    content: textOfParts(reply, "text"),
    ...(reasoning === "" ? {} : { [field]: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  }
}

export const chatWire: Wire = {
  contentType: "text/event-stream",
  stream: (reply) => ({
    begin: () => chunk(reply, { role: "assistant" }),
    text: (piece) => chunk(reply, { content: piece }),
    part(index) {
      const part = reply.parts[index]
      if (part?.type === "call") return chunk(reply, { tool_calls: [toCall(reply, part)] })
      if (part?.type !== "reasoning") return ""
      return reasoningDeltas(reply, part)
        .map((delta) => chunk(reply, delta))
        .join("")
    },
    end() {
      const own = countsWithFinish.has(reply.provider ?? "")
      const last = chunk(reply, {}, { finish_reason: finishOf(reply), ...(own ? { usage: usageOf(reply) } : {}) })
      const head = { id: reply.id, object: "chat.completion.chunk", created: 1, model: reply.model }
      const count = wantsUsage(reply) && !own ? data({ ...head, choices: [], usage: usageOf(reply) }) : ""
      return `${last}${count}data: [DONE]\n\n`
    },
    error: (type, message) => data(chatError(message, type ?? "server_error")),
  }),
  whole(reply) {
    const choices = [{ index: 0, message: messageOf(reply), finish_reason: finishOf(reply) }]
    const head = { id: reply.id, object: "chat.completion", created: 1, model: reply.model }
    return { ...head, choices, usage: usageOf(reply) }
  },
  error: (message, type) => chatError(message, type),
}

function chatError(message: string, type: string): Json {
  return { error: { message, type, code: type } }
}
