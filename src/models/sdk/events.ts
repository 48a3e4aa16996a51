// The packages' stream of parts -> step events: text and reasoning by block, whole calls, one finish.
import type { LanguageModelV4StreamPart, SharedV4ProviderMetadata } from "@ai-sdk/provider"
import { type Json, type JsonObject, parseJson } from "../../kernel/index.ts"
import { ProviderReport, type StepEvent, StreamCut } from "../providers/contract.ts"
import { toStreamError } from "./errors.ts"
import { toFinishReason } from "./finish.ts"
import { type MetaRules, pickMeta } from "./meta.ts"
import { toUsage } from "./usage.ts"

type Part = LanguageModelV4StreamPart
type Finish = Extract<Part, { type: "finish" }>

export async function* toStepEvents(stream: ReadableStream<Part>, meta: MetaRules): AsyncGenerator<StepEvent> {
  let hasCalls = false
  for await (const part of stream) {
    if (part.type === "error") throw toStreamError(part.error)
    if (part.type === "finish") {
      yield finishEvent(part, hasCalls)
      return
    }
    const event = toStepEvent(part, meta)
    if (event === undefined) continue
    hasCalls ||= event.type === "call"
    yield event
  }
  throw new StreamCut()
}

function toStepEvent(part: Part, meta: MetaRules): StepEvent | undefined {
  switch (part.type) {
    case "text-start":
    case "text-end":
      return blockEvent("text", part.id, "", pickMeta(part.providerMetadata, meta.key, meta.text))
    case "text-delta":
      return blockEvent("text", part.id, part.delta, pickMeta(part.providerMetadata, meta.key, meta.text))
    case "reasoning-start": {
      const fields = meta.reasoningStart ?? meta.reasoning
      return blockEvent("reasoning", part.id, "", pickMeta(part.providerMetadata, meta.key, fields))
    }
    case "reasoning-end":
      return blockEvent("reasoning", part.id, "", pickMeta(part.providerMetadata, meta.key, meta.reasoning))
    case "reasoning-delta":
      return blockEvent("reasoning", part.id, part.delta, pickMeta(part.providerMetadata, meta.key, meta.reasoning))
    case "tool-input-delta":
      return { type: "call-input", text: part.delta }
    case "tool-call":
      // Tools that a provider runs itself are never asked for.
      return part.providerExecuted ? undefined : callEvent(part, part.providerMetadata, meta)
    default:
      // Marks of beginnings and ends, ids of the reply, sources and files: nothing of it is part of a step.
      return undefined
  }
}

function blockEvent(
  type: "text" | "reasoning",
  block: string,
  text: string,
  meta: JsonObject | undefined,
): StepEvent | undefined {
  if (meta === undefined) return text === "" ? undefined : { type, block, text }
  return { type, block, text, meta }
}

function callEvent(
  part: { toolCallId: string; toolName: string; input: string },
  metadata: SharedV4ProviderMetadata | undefined,
  rules: MetaRules,
): StepEvent {
  const meta = pickMeta(metadata, rules.key, rules.call)
  const event = { type: "call", id: part.toolCallId, name: part.toolName, input: readInput(part.input) } as const
  return meta === undefined ? event : { ...event, meta }
}

/** No input at all is the input of a tool without parameters. */
export function readInput(written: string): Json {
  if (written.trim() === "") return {}
  try {
    return parseJson(written)
  } catch {
    return written
  }
}

function finishEvent({ finishReason, usage }: Finish, hasCalls: boolean): StepEvent {
  const { unified, raw } = finishReason
  if (unified === "interrupted") throw new StreamCut()
  if (unified === "error" && (raw === undefined || raw === "error")) {
    throw new ProviderReport("The reply failed, and the provider gave no reason")
  }
  return { type: "finish", reason: toFinishReason(finishReason, hasCalls), rawReason: raw, usage: toUsage(usage) }
}
