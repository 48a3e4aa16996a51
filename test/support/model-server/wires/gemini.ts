// Gemini: parts of one candidate. Thoughts are parts of their own; the proof of them stands on the first call, or on an
// empty text at the end.
import type { JsonObject } from "../../../../src/kernel/index.ts"
import { data, textOfParts, type WholeReply, type Wire } from "./contract.ts"
import { finishWord } from "./finish.ts"

function usageOf({ usage }: WholeReply): JsonObject {
  return {
    promptTokenCount: usage.input,
    cachedContentTokenCount: usage.cacheRead,
    candidatesTokenCount: usage.output - usage.reasoning,
    thoughtsTokenCount: usage.reasoning,
    totalTokenCount: usage.input + usage.output,
  }
}

function chunk(reply: WholeReply, parts: JsonObject[], finish: JsonObject = {}): string {
  const candidates = [{ content: { parts, role: "model" }, ...finish, index: 0 }]
  return data({ candidates, usageMetadata: usageOf(reply), modelVersion: reply.model, responseId: reply.id })
}

function partOf(reply: WholeReply, index: number): JsonObject[] {
  const part = reply.parts[index]
  if (part?.type === "reasoning") return part.redacted ? [] : [{ text: part.text, thought: true }]
  if (part?.type !== "call") return []
  const signature = part.signature === undefined ? {} : { thoughtSignature: part.signature }
  return [{ functionCall: { name: part.name, args: part.input }, ...signature }]
}

/** Of a reply without calls the proof comes last. */
function lastParts(reply: WholeReply): JsonObject[] {
  const proof = reply.parts.findLast((part) => part.type === "reasoning")
  const isSigned = reply.parts.some((part) => part.type === "call" && part.signature !== undefined)
  return [proof && !isSigned ? { text: "", thoughtSignature: proof.signature } : { text: "" }]
}

export const geminiWire: Wire = {
  contentType: "text/event-stream",
  stream: (reply) => ({
    begin: () => "",
    text: (piece) => chunk(reply, [{ text: piece }]),
    part(index) {
      const parts = partOf(reply, index)
      return parts.length === 0 ? "" : chunk(reply, parts)
    },
    end() {
      const finishReason = finishWord("gemini", reply.finishReason, "STOP")
      const isBlocked = finishReason === "SAFETY" && textOfParts(reply, "text") === ""
      return chunk(reply, isBlocked ? [] : lastParts(reply), { finishReason })
    },
    error: (type = "UNAVAILABLE", message) => data({ error: { code: 503, message, status: type } }),
  }),
  error: (message, type, status) => ({ error: { code: status, message, status: type } }),
}
