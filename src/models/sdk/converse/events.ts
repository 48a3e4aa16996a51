// Frames of Converse -> step events.
import { isJsonObject, type Json, type JsonObject } from "../../../kernel/index.ts"
import type { Usage } from "../../contract.ts"
import { ProviderReport, type StepEvent, StreamCut } from "../../providers/contract.ts"
import { readInput } from "../events.ts"
import { toFinishReason } from "../finish.ts"
import type { Frame } from "./frames.ts"

interface OpenCall {
  id: string
  name: string
  input: string[]
}

interface State {
  calls: Map<string, OpenCall>
  /** Reasoning that is hidden comes as bytes, perhaps in pieces. */
  hidden: Map<string, Buffer[]>
  hasCalls: boolean
  stopReason: string | undefined
  usage: JsonObject
}

export async function* readConverse(frames: AsyncIterable<Frame>): AsyncGenerator<StepEvent> {
  const state: State = { calls: new Map(), hidden: new Map(), hasCalls: false, stopReason: undefined, usage: {} }
  for await (const { kind, name, payload } of upToBreak(frames, state)) {
    if (kind !== "event") throw new ProviderReport({ type: name, ...payload })
    yield* readEvent(name, payload, state)
  }
  const { stopReason, usage } = state
  if (stopReason === undefined) throw new StreamCut()
  const reason = toFinishReason({ unified: "other", raw: stopReason }, state.hasCalls)
  yield { type: "finish", reason, rawReason: stopReason, usage: toUsage(usage) }
}

/** A connection that breaks behind the reason of the reply takes nothing but counts away from it. */
async function* upToBreak(frames: AsyncIterable<Frame>, state: State): AsyncGenerator<Frame> {
  try {
    yield* frames
  } catch (error) {
    if (state.stopReason === undefined) throw error
  }
}

function readEvent(name: string, payload: JsonObject, state: State): StepEvent[] {
  const block = String(payload.contentBlockIndex ?? 0)
  switch (name) {
    case "contentBlockStart": {
      const call = objectAt(objectAt(payload, "start"), "toolUse")
      if (call.toolUseId !== undefined || call.name !== undefined) {
        state.calls.set(block, { id: text(call.toolUseId), name: text(call.name), input: [] })
      }
      return []
    }
    case "contentBlockDelta":
      return readDelta(block, objectAt(payload, "delta"), state)
    case "contentBlockStop":
      return closeBlock(block, state)
    case "messageStop":
      state.stopReason = text(payload.stopReason)
      return []
    case "metadata":
      state.usage = objectAt(payload, "usage")
      return []
    default:
      // The beginning of the message, and what is to come.
      return []
  }
}

function readDelta(block: string, delta: JsonObject, state: State): StepEvent[] {
  if (typeof delta.text === "string") return delta.text === "" ? [] : [{ type: "text", block, text: delta.text }]
  const input = objectAt(delta, "toolUse").input
  if (typeof input === "string") {
    state.calls.get(block)?.input.push(input)
    return [{ type: "call-input", text: input }]
  }
  const reasoning = objectAt(delta, "reasoningContent")
  if (typeof reasoning.text === "string") return [{ type: "reasoning", block, text: reasoning.text }]
  if (typeof reasoning.signature === "string") {
    return [{ type: "reasoning", block, text: "", meta: { signature: reasoning.signature } }]
  }
  if (typeof reasoning.redactedContent === "string") {
    const pieces = state.hidden.get(block) ?? []
    pieces.push(Buffer.from(reasoning.redactedContent, "base64"))
    state.hidden.set(block, pieces)
    return [{ type: "call-input", text: reasoning.redactedContent }]
  }
  return []
}

function closeBlock(block: string, state: State): StepEvent[] {
  const hidden = state.hidden.get(block)
  if (hidden) {
    state.hidden.delete(block)
    const redactedContent = Buffer.concat(hidden).toString("base64")
    return [{ type: "reasoning", block, text: "", meta: { redactedContent } }]
  }
  const call = state.calls.get(block)
  if (!call) return []
  state.calls.delete(block)
  state.hasCalls = true
  return [{ type: "call", id: call.id, name: call.name, input: readInput(call.input.join("")) }]
}

/** `inputTokens` are those that were neither read from the cache nor written to it. */
function toUsage(usage: JsonObject): Usage {
  const read = count(usage.cacheReadInputTokens)
  const write = count(usage.cacheWriteInputTokens)
  const plain = count(usage.inputTokens)
  return {
    inputTokens: plain === undefined ? undefined : plain + (read ?? 0) + (write ?? 0),
    outputTokens: count(usage.outputTokens),
    cacheReadTokens: read,
    cacheWriteTokens: write,
    reasoningTokens: undefined,
  }
}

const count = (value: Json | undefined) => (typeof value === "number" ? value : undefined)
const text = (value: Json | undefined) => (typeof value === "string" ? value : "")

function objectAt(value: JsonObject, name: string): JsonObject {
  const found = value[name]
  return isJsonObject(found) ? found : {}
}
