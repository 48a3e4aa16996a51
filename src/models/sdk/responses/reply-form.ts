// Replies of the Responses interface as the package demands them: servers that imitate it leave fields out. Errors are
// reported from here: the package refuses those that lack a field, and with them their words.
import { isJsonObject, type Json, type JsonObject } from "../../../kernel/index.ts"
import { ProviderReport } from "../../providers/contract.ts"
import type { ReplyForm } from "../transport.ts"

export function createResponsesForm(): ReplyForm {
  let isOver = false
  return {
    mend(value, name) {
      const event = typeof value.type === "string" || name === undefined ? value : { ...value, type: name }
      isOver ||= event.type === "response.completed" || event.type === "response.incomplete"
      return mend(event)
    },
    isOver: () => isOver,
    unfold: (reply) => (Array.isArray(reply.output) ? unfoldResponse(reply, reply.output.filter(isJsonObject)) : []),
  }
}

function mend(value: JsonObject): JsonObject[] {
  switch (value.type) {
    case "response.created":
    case "response.in_progress":
      return [{ ...value, response: { created_at: 0, id: "", model: "", ...objectOf(value.response) } }]
    case "response.completed":
    case "response.incomplete":
      return [{ ...value, response: withSafeUsage(objectOf(value.response)) }]
    case "response.failed":
    case "error":
      throw new ProviderReport(reportOf(value))
    case "response.output_item.added":
    case "response.output_item.done":
      return mendItem(value)
    case "response.reasoning_text.delta":
      // Local servers tell the thinking itself, under a name that the package does not read.
      return [{ item_id: itemId(value), ...value, type: "response.reasoning_summary_text.delta", summary_index: 0 }]
    case "response.output_text.delta":
    case "response.refusal.delta":
    case "response.reasoning_summary_text.delta":
      return [{ summary_index: 0, item_id: itemId(value), ...value }]
    default:
      // An error of a proxy in the middle of a stream has no type.
      if (value.type === undefined && value.error !== undefined && value.error !== null) throw new ProviderReport(value)
      return [value]
  }
}

/** The error where it stands in the response; else the event as it came. */
function reportOf(value: JsonObject): Json {
  const { error } = objectOf(value.response)
  return error === undefined || error === null ? value : { error }
}

/** Items of kinds that nobody asked for are left out. */
function mendItem(value: JsonObject): JsonObject[] {
  const item = { id: itemId(value), ...objectOf(value.item) }
  switch ((item as JsonObject).type) {
    case "message":
    case "reasoning":
      return [{ ...value, item }]
    case "function_call": {
      const { arguments: written = "" } = item as JsonObject
      const text = typeof written === "string" ? written : JSON.stringify(written)
      return [{ ...value, item: { call_id: item.id, name: "", status: "completed", ...item, arguments: text } }]
    }
    default:
      return []
  }
}

function itemId(value: JsonObject): string {
  return `item-${typeof value.output_index === "number" ? value.output_index : 0}`
}

/** Counts are worth less than the reply. */
function withSafeUsage(response: JsonObject): JsonObject {
  const usage = objectOf(response.usage)
  const isWhole = typeof usage.input_tokens === "number" && typeof usage.output_tokens === "number"
  return isWhole ? response : { ...response, usage: null }
}

function unfoldResponse(reply: JsonObject, output: readonly JsonObject[]): JsonObject[] {
  const items = output.flatMap((item, index): JsonObject[] => {
    const common = { output_index: index, item: { id: `item-${index}`, ...item } }
    const texts = item.type === "reasoning" ? summaries(item, index) : words(item, index)
    return [
      { type: "response.output_item.added", ...common },
      ...texts,
      { type: "response.output_item.done", ...common },
    ]
  })
  const status = reply.status === "incomplete" || reply.status === "failed" ? reply.status : "completed"
  return [
    { type: "response.created", response: reply },
    ...items,
    { type: `response.${status}`, response: reply },
  ].flatMap(mend)
}

function summaries(item: JsonObject, output_index: number): JsonObject[] {
  return listOf(item.summary).flatMap((part, summary_index): JsonObject[] => {
    const common = { item_id: item.id ?? `item-${output_index}`, output_index, summary_index }
    return [
      { type: "response.reasoning_summary_part.added", ...common },
      { type: "response.reasoning_summary_text.delta", ...common, delta: part.text ?? "" },
    ]
  })
}

function words(item: JsonObject, output_index: number): JsonObject[] {
  return listOf(item.content).flatMap((part): JsonObject[] => {
    const common = { item_id: item.id ?? `item-${output_index}`, output_index }
    if (typeof part.text === "string") return [{ type: "response.output_text.delta", ...common, delta: part.text }]
    if (typeof part.refusal === "string") return [{ type: "response.refusal.delta", ...common, delta: part.refusal }]
    return []
  })
}

const objectOf = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {})
const listOf = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isJsonObject) : [])
