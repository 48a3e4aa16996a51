// Converse of Amazon Bedrock: numbered blocks in binary frames, the count of tokens behind the end.
import type { IssuedPart } from "../../provider-rules/index.ts"
import type { JsonObject } from "../../../../src/kernel/index.ts"
import { argumentsOf, hasCalls, type WholeReply, type Wire, type WireStream } from "./contract.ts"
import { eventFrame, exceptionFrame } from "./event-stream.ts"
import { finishWord } from "./finish.ts"

function usageOf({ usage }: WholeReply): JsonObject {
  const uncached = usage.input - usage.cacheRead - usage.cacheWrite
  return {
    inputTokens: uncached,
    outputTokens: usage.output,
    totalTokens: usage.input + usage.output,
    cacheReadInputTokens: usage.cacheRead,
    cacheWriteInputTokens: usage.cacheWrite,
  }
}

function deltasOf(part: IssuedPart): JsonObject[] {
  if (part.type === "call") return [{ toolUse: { input: argumentsOf(part) } }]
  if (part.type === "text") return [{ text: part.text }]
  if (part.redacted) return [{ reasoningContent: { redactedContent: part.signature } }]
  return [{ reasoningContent: { text: part.text } }, { reasoningContent: { signature: part.signature } }]
}

function openStream(reply: WholeReply): WireStream {
  let contentBlockIndex = 0
  let textIsOpen = false

  function closeText(): Buffer {
    if (!textIsOpen) return Buffer.alloc(0)
    textIsOpen = false
    const closed = eventFrame("contentBlockStop", { contentBlockIndex })
    contentBlockIndex += 1
    return closed
  }

  return {
    begin: () => eventFrame("messageStart", { role: "assistant" }),
    text(piece) {
      textIsOpen = true
      return eventFrame("contentBlockDelta", { contentBlockIndex, delta: { text: piece } })
    },
    part(index) {
      const before = closeText()
      const part = reply.parts[index]
      if (!part) return before
      const start =
        part.type === "call"
          ? [eventFrame("contentBlockStart", { contentBlockIndex, start: { toolUse: toolUse(part) } })]
          : []
      const deltas = deltasOf(part).map((delta) => eventFrame("contentBlockDelta", { contentBlockIndex, delta }))
      const stop = eventFrame("contentBlockStop", { contentBlockIndex })
      contentBlockIndex += 1
      return Buffer.concat([before, ...start, ...deltas, stop])
    },
    end() {
      const stopReason = finishWord("converse", reply.finishReason, hasCalls(reply) ? "tool_use" : "end_turn")
      return Buffer.concat([
        closeText(),
        eventFrame("messageStop", { stopReason }),
        eventFrame("metadata", { usage: usageOf(reply), metrics: { latencyMs: 1 } }),
      ])
    },
    error: (type = "throttlingException", message) => exceptionFrame(type, { message }),
  }
}

function toolUse(part: Extract<IssuedPart, { type: "call" }>): JsonObject {
  return { toolUseId: part.id, name: part.name }
}

export const converseWire: Wire = {
  contentType: "application/vnd.amazon.eventstream",
  stream: openStream,
  error: (message) => ({ message }),
}
