// Replies of the Messages interface as the package demands them. Proxies leave out counts, send events and blocks of
// their own, and forget the end; the package refuses all of it, so it is mended or dropped here.
import { isJsonObject, type Json, type JsonObject } from "../../../kernel/index.ts"
import type { ReplyForm } from "../transport.ts"
import { createBlocks, textOf } from "./blocks.ts"

const usageNames = ["input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"]

export function createMessagesForm(): ReplyForm {
  const blocks = createBlocks()
  const state = { outputTokens: 0, reason: null as string | null, isStopped: false }

  function startMessage(value: JsonObject): JsonObject[] {
    const message = isJsonObject(value.message) ? value.message : {}
    const usage = { input_tokens: 0, ...numbersOf(message.usage) }
    state.outputTokens = numbersOf(message.usage).output_tokens ?? 0
    return [
      { type: "message_start", message: { id: textOf(message.id), model: textOf(message.model), usage, content: [] } },
    ]
  }

  function changeMessage(value: JsonObject): JsonObject[] {
    const change = isJsonObject(value.delta) ? value.delta : {}
    const { input_tokens, ...counts } = numbersOf(value.usage)
    state.outputTokens = counts.output_tokens ?? state.outputTokens
    // There may be several such events, and a later one that only counts takes the reason of an earlier one away.
    state.reason = textOf(change.stop_reason) ?? state.reason
    const details = isJsonObject(value.usage) ? value.usage.output_tokens_details : undefined
    const usage = {
      ...counts,
      // No prompt takes none: what the beginning has told holds.
      ...(input_tokens ? { input_tokens } : {}),
      output_tokens: state.outputTokens,
      ...(isJsonObject(details) ? { output_tokens_details: details } : {}),
    }
    return [{ type: "message_delta", delta: { stop_reason: state.reason }, usage }]
  }

  function stopMessage(): JsonObject[] {
    if (state.isStopped) return []
    state.isStopped = true
    return [...blocks.stopAll(), { type: "message_stop" }]
  }

  function mend(value: JsonObject, name: string | undefined): JsonObject[] {
    switch (typeof value.type === "string" ? value.type : (name ?? ("error" in value ? "error" : ""))) {
      case "message_start":
        return startMessage(value)
      case "content_block_start":
        return blocks.start(value)
      case "content_block_delta":
        return blocks.change(value)
      case "content_block_stop":
        return blocks.stop(value)
      case "message_delta":
        return changeMessage(value)
      case "message_stop":
        return stopMessage()
      case "error":
        return [errorEvent(value)]
      default:
        // Pings, and events that are to come: "new event types may be added" is the interface's own rule.
        return []
    }
  }

  return {
    mend,
    // A reply with its reason is whole, also when its last event is missing.
    isWhole: () => state.reason !== null,
    end: () => (state.reason === null ? [] : stopMessage()),
    unfold: (reply) => unfoldMessage(reply).flatMap((each) => mend(each, undefined)),
  }
}

function unfoldMessage(reply: JsonObject): JsonObject[] {
  if (!Array.isArray(reply.content)) return []
  return [
    { type: "message_start", message: reply },
    ...reply.content.flatMap((block, index) => [
      { type: "content_block_start", index, content_block: block },
      { type: "content_block_stop", index },
    ]),
    { type: "message_delta", delta: { stop_reason: reply.stop_reason ?? null }, usage: reply.usage ?? {} },
    { type: "message_stop" },
  ]
}

/** `data` comes out of the package as it went in: the error as the provider wrote it. */
function errorEvent(value: JsonObject): JsonObject {
  const error = isJsonObject(value.error) ? value.error : value
  const type = textOf(error.type) ?? "error"
  const message = textOf(error.message) ?? textOf(value.error) ?? "The provider reported an error"
  return { type: "error", error: { type, message, data: value } }
}

function numbersOf(usage: Json | undefined): Record<string, number> {
  if (!isJsonObject(usage)) return {}
  return Object.fromEntries(
    usageNames.flatMap((name) => {
      const value = usage[name]
      return typeof value === "number" ? [[name, value]] : []
    }),
  )
}
