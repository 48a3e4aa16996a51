// Responses: items with ids, each opened and closed. Reasoning is an item whose summary and encrypted content come only
// when they were asked for.
import { isJsonObject, type JsonObject } from "../../../../src/kernel/index.ts"
import { itemId } from "../../provider-rules/index.ts"
import { argumentsOf, event, type WholeReply, type Wire, type WireStream } from "./contract.ts"
import { finishWord } from "./finish.ts"

function responseObject(reply: WholeReply, status: string, more: JsonObject = {}): JsonObject {
  const head = { id: `resp_${reply.id}`, object: "response", created_at: 1, model: reply.model, status }
  return { ...head, service_tier: null, ...more }
}

function usageOf({ usage }: WholeReply): JsonObject {
  return {
    input_tokens: usage.input,
    input_tokens_details: { cached_tokens: usage.cacheRead },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: usage.input + usage.output,
  }
}

/** The item of a part as it is when it is done. */
function itemOf(reply: WholeReply, index: number): JsonObject {
  const part = reply.parts[index]
  const id = itemId(reply, index)
  if (part?.type === "call") {
    const { id: callId, name } = part
    return { type: "function_call", id, call_id: callId, name, arguments: argumentsOf(part), status: "completed" }
  }
  if (part?.type === "reasoning") {
    const summary = wantsSummary(reply) && !part.redacted ? [{ type: "summary_text", text: part.text }] : []
    return { type: "reasoning", id, summary, encrypted_content: wantsEncrypted(reply) ? part.signature : null }
  }
  return messageItem(id, part?.text ?? "")
}

function messageItem(id: string, text: string): JsonObject {
  const content = [{ type: "output_text", text, annotations: [] }]
  return { type: "message", id, role: "assistant", status: "completed", content }
}

function wantsEncrypted({ request }: WholeReply): boolean {
  return Array.isArray(request.include) && request.include.includes("reasoning.encrypted_content")
}

function wantsSummary({ request }: WholeReply): boolean {
  return isJsonObject(request.reasoning) && typeof request.reasoning.summary === "string"
}

/** The last event: completed, or incomplete with its reason. */
function closing(reply: WholeReply): { type: string; response: JsonObject } {
  const output = reply.parts.map((_, index) => itemOf(reply, index))
  const reason = finishWord("responses", reply.finishReason, "completed")
  const usage = usageOf(reply)
  if (reason !== "max_output_tokens" && reason !== "content_filter") {
    return { type: "response.completed", response: responseObject(reply, "completed", { output, usage }) }
  }
  const response = responseObject(reply, "incomplete", { output, usage, incomplete_details: { reason } })
  return { type: "response.incomplete", response }
}

function openStream(reply: WholeReply): WireStream {
  let position = 0
  /** The message item that text is being written to. */
  let open: { id: string; index: number; text: string } | undefined

  function openMessage(): string {
    const index = reply.parts.findIndex((part, at) => at >= position && part.type === "text")
    open = { id: itemId(reply, Math.max(index, 0)), index: position, text: "" }
    const item = { type: "message", id: open.id, role: "assistant", status: "in_progress", content: [] }
    const part = { type: "output_text", text: "", annotations: [] }
    return (
      event({ type: "response.output_item.added", output_index: open.index, item }) +
      event({ type: "response.content_part.added", item_id: open.id, output_index: open.index, content_index: 0, part })
    )
  }

  function closeMessage(): string {
    if (!open) return ""
    const { id, index, text } = open
    open = undefined
    position += 1
    const at = { item_id: id, output_index: index, content_index: 0 }
    return (
      event({ type: "response.output_text.done", ...at, text }) +
      event({ type: "response.output_item.done", output_index: index, item: messageItem(id, text) })
    )
  }

  return {
    begin: () => event({ type: "response.created", response: responseObject(reply, "in_progress") }),
    text(piece) {
      const opening = open ? "" : openMessage()
      const { id, index } = open ?? { id: "", index: 0 }
      if (open) open.text += piece
      const at = { item_id: id, output_index: index, content_index: 0 }
      return opening + event({ type: "response.output_text.delta", ...at, delta: piece })
    },
    part(index) {
      const before = closeMessage()
      const written = itemEvents(reply, index, position)
      position += 1
      return before + written
    },
    end() {
      return closeMessage() + event(closing(reply))
    },
    error(type = "server_error", message) {
      const error = { type, code: type, message, param: null }
      return event({ type: "error", sequence_number: 9, code: type, message, param: null, error })
    },
  }
}

function itemEvents(reply: WholeReply, index: number, outputIndex: number): string {
  const item = itemOf(reply, index)
  const at = { item_id: item.id ?? null, output_index: outputIndex }
  const added = (opened: JsonObject) =>
    event({ type: "response.output_item.added", output_index: outputIndex, item: opened })
  const done = event({ type: "response.output_item.done", output_index: outputIndex, item })
  if (item.type === "function_call") {
    const delta = event({ type: "response.function_call_arguments.delta", ...at, delta: item.arguments ?? "" })
    return added({ ...item, arguments: "", status: "in_progress" }) + delta + done
  }
  const summaries = Array.isArray(item.summary) ? item.summary : []
  const summary = summaries.map((written, position) => {
    const place = { ...at, summary_index: position }
    const text = isJsonObject(written) ? (written.text ?? "") : ""
    const empty = { type: "summary_text", text: "" }
    return (
      event({ type: "response.reasoning_summary_part.added", ...place, part: empty }) +
      event({ type: "response.reasoning_summary_text.delta", ...place, delta: text }) +
      event({ type: "response.reasoning_summary_part.done", ...place, part: written })
    )
  })
  return added({ ...item, summary: [] }) + summary.join("") + done
}

export const responsesWire: Wire = {
  contentType: "text/event-stream",
  stream: openStream,
  whole: (reply) => closing(reply).response,
  error: (message, type) => ({ error: { message, type, code: type } }),
}
