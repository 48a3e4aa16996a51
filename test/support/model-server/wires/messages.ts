// Messages: numbered blocks, each opened and closed; thinking is signed, or hidden and only proven.
import type { JsonObject } from "../../../../src/kernel/index.ts"
import type { IssuedPart } from "../../provider-rules/index.ts"
import { argumentsOf, event, hasCalls, type WholeReply, type Wire, type WireStream } from "./contract.ts"
import { finishWord } from "./finish.ts"

const stopOf = (reply: WholeReply) =>
  finishWord("messages", reply.finishReason, hasCalls(reply) ? "tool_use" : "end_turn")

function usageOf({ usage }: WholeReply): JsonObject {
  return {
    input_tokens: usage.input - usage.cacheRead - usage.cacheWrite,
    cache_creation_input_tokens: usage.cacheWrite,
    cache_read_input_tokens: usage.cacheRead,
    output_tokens: usage.output,
  }
}

function blockOf(part: IssuedPart): JsonObject {
  if (part.type === "text") return { type: "text", text: part.text }
  if (part.type === "call") return { type: "tool_use", id: part.id, name: part.name, input: part.input }
  if (part.redacted) return { type: "redacted_thinking", data: part.signature }
  return { type: "thinking", thinking: part.text, signature: part.signature }
}

function headOf(reply: WholeReply): JsonObject {
  return { id: `msg_${reply.id}`, type: "message", role: "assistant", model: reply.model }
}

/** A block as it opens, and what is then added to it. */
function openingOf(part: IssuedPart): { block: JsonObject; deltas: JsonObject[] } {
  const block = blockOf(part)
  if (part.type === "call") {
    return { block: { ...block, input: {} }, deltas: [{ type: "input_json_delta", partial_json: argumentsOf(part) }] }
  }
  if (part.type === "text" || part.redacted) return { block, deltas: [] }
  return {
    block: { ...block, thinking: "", signature: "" },
    deltas: [
      { type: "thinking_delta", thinking: part.text },
      { type: "signature_delta", signature: part.signature },
    ],
  }
}

function openStream(reply: WholeReply): WireStream {
  let index = 0
  let textIsOpen = false

  function closeText(): string {
    if (!textIsOpen) return ""
    textIsOpen = false
    const closed = event({ type: "content_block_stop", index })
    index += 1
    return closed
  }

  return {
    begin() {
      const usage = { ...usageOf(reply), output_tokens: 1 }
      const message = { ...headOf(reply), content: [], stop_reason: null, stop_sequence: null, usage }
      return event({ type: "message_start", message }) + event({ type: "ping" })
    },
    text(piece) {
      const opening = textIsOpen
        ? ""
        : event({ type: "content_block_start", index, content_block: { type: "text", text: "" } })
      textIsOpen = true
      return opening + event({ type: "content_block_delta", index, delta: { type: "text_delta", text: piece } })
    },
    part(at) {
      const before = closeText()
      const part = reply.parts[at]
      if (!part) return before
      const { block, deltas } = openingOf(part)
      const written = [
        event({ type: "content_block_start", index, content_block: block }),
        ...deltas.map((delta) => event({ type: "content_block_delta", index, delta })),
        event({ type: "content_block_stop", index }),
      ]
      index += 1
      return before + written.join("")
    },
    end() {
      const delta = { stop_reason: stopOf(reply), stop_sequence: null }
      const closed = closeText()
      return closed + event({ type: "message_delta", delta, usage: usageOf(reply) }) + event({ type: "message_stop" })
    },
    error: (type = "overloaded_error", message) => event({ type: "error", error: { type, message } }),
  }
}

export const messagesWire: Wire = {
  contentType: "text/event-stream",
  stream: openStream,
  whole(reply) {
    const content = reply.parts.map(blockOf)
    return { ...headOf(reply), content, stop_reason: stopOf(reply), stop_sequence: null, usage: usageOf(reply) }
  },
  error: (message, type) => ({ type: "error", error: { type, message } }),
}
