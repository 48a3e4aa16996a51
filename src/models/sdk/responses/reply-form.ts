// Replies of the Responses interface as the package demands them: servers that imitate it leave fields out.
import { isJsonObject, type JsonObject } from "../../../kernel/index.ts"
import type { ReplyForm } from "../transport.ts"

export function createResponsesForm(): ReplyForm {
  return {
    mend: (value, name) => [mend(typeof value.type === "string" ? value : named(value, name))],
    unfold: (reply) => (Array.isArray(reply.output) ? unfoldResponse(reply, reply.output.filter(isJsonObject)) : []),
  }
}

/** An error of a proxy in the middle of a stream has no type. */
function named(value: JsonObject, name: string | undefined): JsonObject {
  if (name !== undefined) return { ...value, type: name }
  return "error" in value ? { ...value, type: "error" } : value
}

function mend(value: JsonObject): JsonObject {
  const { type, response } = value
  if (type === "error") return errorEvent(value)
  if (!isJsonObject(response)) return value
  if (type === "response.created" || type === "response.in_progress") {
    return { ...value, response: { created_at: 0, id: "", model: "", ...response } }
  }
  if (type === "response.failed") return failedEvent(value, response)
  return value
}

/** Flat or nested, and with words in any case: the package hands the event on as it stands here. */
function errorEvent(value: JsonObject): JsonObject {
  const error = isJsonObject(value.error) ? value.error : value
  if (typeof error.message === "string") return value
  const message = typeof value.error === "string" ? value.error : JSON.stringify(value.error ?? value)
  return { ...value, error: { message, code: null, type: null } }
}

function failedEvent(value: JsonObject, response: JsonObject): JsonObject {
  const error = isJsonObject(response.error) ? response.error : {}
  const message = typeof error.message === "string" ? error.message : "The reply failed"
  return { sequence_number: 0, ...value, response: { ...response, error: { ...error, message } } }
}

function unfoldResponse(reply: JsonObject, output: readonly JsonObject[]): JsonObject[] {
  const items = output.flatMap((item, index): JsonObject[] => {
    const whole = { id: `item-${index}`, ...item }
    const event = (type: string) => ({ type, output_index: index, item: whole })
    return [event("response.output_item.added"), ...texts(whole, index), event("response.output_item.done")]
  })
  const status = reply.status === "incomplete" || reply.status === "failed" ? reply.status : "completed"
  return [{ type: "response.created", response: reply }, ...items, { type: `response.${status}`, response: reply }].map(
    mend,
  )
}

function texts(item: JsonObject, index: number): JsonObject[] {
  const parts = Array.isArray(item.type === "reasoning" ? item.summary : item.content)
    ? ((item.type === "reasoning" ? item.summary : item.content) as JsonObject[])
    : []
  return parts.flatMap((part, place): JsonObject[] => {
    const common = { item_id: item.id ?? "", output_index: index }
    if (item.type === "reasoning") {
      const delta = { type: "response.reasoning_summary_text.delta", summary_index: place, delta: part.text ?? "" }
      const added = { type: "response.reasoning_summary_part.added", summary_index: place }
      return [
        { ...added, ...common },
        { ...delta, ...common },
      ]
    }
    if (typeof part.text === "string") return [{ type: "response.output_text.delta", ...common, delta: part.text }]
    if (typeof part.refusal === "string") return [{ type: "response.refusal.delta", ...common, delta: part.refusal }]
    return []
  })
}
