// The three interfaces the server speaks, each as: the frames of a stream, the whole body, and the body of an error.
import type { Json, JsonObject } from "../../../src/kernel/index.ts"
import type { ScriptedCall } from "./reply.ts"

export interface WholeReply {
  id: string
  model: string
  text: string
  reasoning: string
  calls: ScriptedCall[]
  finishReason: string | undefined
}

export interface Wire {
  opening(reply: WholeReply): string
  textDelta(reply: WholeReply, piece: string): string
  /** Reasoning, tool calls and the end, after or without text. */
  closing(reply: WholeReply): string
  whole(reply: WholeReply): Json
  error(message: string, type: string): Json
}

const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 }
const argumentsOf = (call: ScriptedCall) => call.rawInput ?? JSON.stringify(call.input)
const data = (value: Json) => `data: ${JSON.stringify(value)}\n\n`
const event = (value: JsonObject) => `event: ${String(value.type)}\n${data(value)}`

function chatChunk(reply: WholeReply, delta: JsonObject, finishReason: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finishReason }]
  return data({ id: reply.id, object: "chat.completion.chunk", created: 1, model: reply.model, choices })
}

function chatCalls(reply: WholeReply): JsonObject[] {
  return reply.calls.map((call, index) => ({
    index,
    id: `${reply.id}-call-${index}`,
    type: "function",
    function: { name: call.name, arguments: argumentsOf(call) },
  }))
}

const chatFinish = (reply: WholeReply) => reply.finishReason ?? (reply.calls.length > 0 ? "tool_calls" : "stop")

/** Chat Completions. */
export const chatWire: Wire = {
  opening: (reply) =>
    chatChunk(reply, { role: "assistant", ...(reply.reasoning === "" ? {} : { reasoning_content: reply.reasoning }) }),
  textDelta: (reply, piece) => chatChunk(reply, { content: piece }),
  closing: (reply) =>
    chatCalls(reply)
      .map((call) => chatChunk(reply, { tool_calls: [call] }))
      .join("") +
    chatChunk(reply, {}, chatFinish(reply)) +
    data({ id: reply.id, object: "chat.completion.chunk", created: 1, model: reply.model, choices: [], usage }) +
    "data: [DONE]\n\n",
  whole: (reply) => {
    const calls = reply.calls.length > 0 ? { tool_calls: chatCalls(reply) } : {}
    const message = { role: "assistant", content: reply.text, ...calls }
    const choices = [{ index: 0, message, finish_reason: chatFinish(reply) }]
    return { id: reply.id, object: "chat.completion", created: 1, model: reply.model, choices, usage }
  },
  error: (message, type) => ({ error: { message, type, code: type } }),
}

const responsesUsage = { input_tokens: 11, output_tokens: 7, total_tokens: 18 }

function responseObject(reply: WholeReply, status: string): JsonObject {
  return { id: reply.id, object: "response", created_at: 1, model: reply.model, status, service_tier: null }
}

function functionCalls(reply: WholeReply): JsonObject[] {
  return reply.calls.map((call, index) => ({
    type: "function_call",
    id: `${reply.id}-item-${index}`,
    call_id: `${reply.id}-call-${index}`,
    name: call.name,
    arguments: argumentsOf(call),
    status: "completed",
  }))
}

/** Responses: only the events that a client of one step needs. */
export const responsesWire: Wire = {
  opening: (reply) =>
    event({ type: "response.created", response: responseObject(reply, "in_progress") }) +
    event({ type: "response.output_item.added", output_index: 0, item: { type: "message", id: `${reply.id}-text` } }),
  textDelta: (reply, piece) => event({ type: "response.output_text.delta", item_id: `${reply.id}-text`, delta: piece }),
  closing: (reply) =>
    event({ type: "response.output_item.done", output_index: 0, item: { type: "message", id: `${reply.id}-text` } }) +
    functionCalls(reply)
      .map((item, index) => {
        const added = { type: "response.output_item.added", output_index: index + 1, item: { ...item, arguments: "" } }
        return event(added) + event({ type: "response.output_item.done", output_index: index + 1, item })
      })
      .join("") +
    event({ type: "response.completed", response: { ...responseObject(reply, "completed"), usage: responsesUsage } }),
  whole: (reply) => {
    const content = [{ type: "output_text", text: reply.text, annotations: [] }]
    const message = { type: "message", id: `${reply.id}-text`, role: "assistant", content }
    const output = [message, ...functionCalls(reply)]
    return { ...responseObject(reply, "completed"), output, usage: responsesUsage }
  },
  error: (message, type) => ({ error: { message, type, code: type } }),
}

const messagesUsage = { input_tokens: 11, output_tokens: 7 }
const messagesStop = (reply: WholeReply) => reply.finishReason ?? (reply.calls.length > 0 ? "tool_use" : "end_turn")

function thinkingBlock(reply: WholeReply): string {
  if (reply.reasoning === "") return ""
  const delta = (value: JsonObject) => event({ type: "content_block_delta", index: 0, delta: value })
  return (
    event({ type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "", signature: "" } }) +
    delta({ type: "thinking_delta", thinking: reply.reasoning }) +
    delta({ type: "signature_delta", signature: `signed-${reply.id}` }) +
    event({ type: "content_block_stop", index: 0 })
  )
}

/** Messages. Block 0 is thinking, 1 the text, 2 and up the tool calls. */
export const messagesWire: Wire = {
  opening: (reply) => {
    const empty = { content: [], stop_reason: null, stop_sequence: null, usage: messagesUsage }
    const message = { id: reply.id, type: "message", role: "assistant", model: reply.model, ...empty }
    return (
      event({ type: "message_start", message }) +
      thinkingBlock(reply) +
      event({ type: "content_block_start", index: 1, content_block: { type: "text", text: "" } })
    )
  },
  textDelta: (_, piece) => event({ type: "content_block_delta", index: 1, delta: { type: "text_delta", text: piece } }),
  closing: (reply) =>
    event({ type: "content_block_stop", index: 1 }) +
    reply.calls
      .map((call, position) => {
        const index = position + 2
        const block = { type: "tool_use", id: `${reply.id}-call-${position}`, name: call.name, input: {} }
        const delta = { type: "input_json_delta", partial_json: argumentsOf(call) }
        return (
          event({ type: "content_block_start", index, content_block: block }) +
          event({ type: "content_block_delta", index, delta }) +
          event({ type: "content_block_stop", index })
        )
      })
      .join("") +
    event({
      type: "message_delta",
      delta: { stop_reason: messagesStop(reply), stop_sequence: null },
      usage: messagesUsage,
    }) +
    event({ type: "message_stop" }),
  whole: (reply) => {
    const calls = reply.calls.map((call, index) => ({
      type: "tool_use",
      id: `${reply.id}-call-${index}`,
      name: call.name,
      input: call.input,
    }))
    const content = [{ type: "text", text: reply.text }, ...calls]
    const head = { id: reply.id, type: "message", role: "assistant", model: reply.model }
    return { ...head, content, stop_reason: messagesStop(reply), stop_sequence: null, usage: messagesUsage }
  },
  error: (message, type) => ({ type: "error", error: { type, message } }),
}

/** By the end of the path, so that any prefix serves as base address. */
export function wireOf(path: string): Wire | undefined {
  if (path.endsWith("/chat/completions")) return chatWire
  if (path.endsWith("/responses")) return responsesWire
  return path.endsWith("/messages") ? messagesWire : undefined
}
