// Reasoning that a provider wants back beside the tool calls it led to (signed, so only as it was sent). It is no
// part of the journal: kept in memory, bounded, and its loss (a restart) costs one step without thinking.
import type { ToolCall } from "../contract.ts"

/** The library's reasoning parts, passed through unread. */
export interface ReasoningPart {
  type: "reasoning"
  text: string
  providerOptions?: Record<string, Record<string, never>>
}

export interface ReasoningMemory {
  remember(model: string, toolCalls: readonly ToolCall[], parts: readonly ReasoningPart[]): void
  recall(model: string, toolCalls: readonly ToolCall[]): readonly ReasoningPart[]
}

const maxEntries = 100
/** Longer reasoning than this is not worth its memory. */
const maxCharacters = 200_000

export function createReasoningMemory(): ReasoningMemory {
  const entries = new Map<string, readonly ReasoningPart[]>()
  return {
    remember(model, toolCalls, parts) {
      const size = parts.reduce((total, part) => total + part.text.length, 0)
      if (toolCalls.length === 0 || parts.length === 0 || size > maxCharacters) return
      entries.set(keyOf(model, toolCalls), parts)
      const oldest = entries.size > maxEntries ? entries.keys().next().value : undefined
      if (oldest !== undefined) entries.delete(oldest)
    },
    recall: (model, toolCalls) => (toolCalls.length === 0 ? [] : (entries.get(keyOf(model, toolCalls)) ?? [])),
  }
}

/** Some servers number their calls from zero in every reply, so that the id alone would name several. */
function keyOf(model: string, toolCalls: readonly ToolCall[]): string {
  return JSON.stringify([model, ...toolCalls.map((call) => [call.id, call.name, call.input])])
}
