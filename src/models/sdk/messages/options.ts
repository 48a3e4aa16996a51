// Claude's thinking and the longest reply, wherever the model runs. Thinking counts as part of the reply: the two share
// `max_tokens`, which the interface demands.
import { getModelCapabilities } from "@ai-sdk/anthropic/internal"
import type { PreparedMessage, StepCall } from "../../providers/contract.ts"
import { type Level, nearestLevel } from "../../levels.ts"

export type Thinking =
  | { type: "adaptive"; display: "summarized" }
  | { type: "enabled"; budgetTokens: number }
  | { type: "disabled" }
  | { type: "between_tools" }

export interface ClaudeOptions {
  thinking: Thinking | undefined
  effort: "low" | "medium" | "high" | undefined
  /** Of the answer alone: the package adds the budget of thinking to it. */
  maxOutputTokens: number
}

/** Every Claude but the oldest takes this much, and so do the models of others behind this interface. */
const unknownLimit = 8192
/** A reply is seldom longer; what is asked for here is taken from the room for the prompt. */
const usualLimit = 32_000
/** The interface refuses less. */
const smallestBudget = 1024
const budgets: Readonly<Record<Level, number>> = { minimal: 1024, low: 4096, medium: 12_288, high: 24_576 }

type Capabilities = ReturnType<typeof getModelCapabilities>

export function claudeOptions(call: StepCall): ClaudeOptions {
  const capabilities = getModelCapabilities(call.target.modelId)
  const known = capabilities.isKnownModel ? capabilities.maxOutputTokens : undefined
  const limit = call.target.maxOutputTokens ?? known ?? unknownLimit
  const total = Math.min(call.maxOutputTokens ?? usualLimit, limit)
  const { thinking, effort } = thinkingFor(call, capabilities, total)
  const budget = thinking?.type === "enabled" ? thinking.budgetTokens : 0
  return { thinking, effort, maxOutputTokens: total - budget }
}

type ThinkingChoice = Omit<ClaudeOptions, "maxOutputTokens">
const nothing: ThinkingChoice = { thinking: undefined, effort: undefined }

function thinkingFor(call: StepCall, capabilities: Capabilities, total: number): ThinkingChoice {
  const { reasoning } = call.target
  if (call.thinking === undefined || reasoning?.length === 0) return nothing
  if (call.thinking === "off") return thinkingOff(call, capabilities)
  const level = nearestLevel(call.thinking, reasoning ?? ["minimal", "low", "medium", "high"])
  if (capabilities.supportsAdaptiveThinking) {
    const effort = level === "minimal" ? "low" : level
    return { thinking: { type: "adaptive", display: "summarized" }, effort }
  }
  if (lacksThinking(call.messages)) return nothing
  const budgetTokens = Math.min(budgets[level], total - answerRoom(total))
  return budgetTokens < smallestBudget ? nothing : { thinking: { type: "enabled", budgetTokens }, effort: undefined }
}

/** Half of a short reply, and no more than a long answer needs. */
const answerRoom = (total: number) => Math.min(Math.ceil(total / 2), unknownLimit)

/** Models with budgets are off unless told; those that adapt may be on, and some of them cannot be off. */
function thinkingOff(call: StepCall, capabilities: Capabilities): ThinkingChoice {
  const isKnownToThink = call.target.reasoning !== undefined || call.target.canBeOff === true
  if (!capabilities.supportsAdaptiveThinking) {
    const isClaude = call.target.modelId.includes("claude-")
    return isClaude || !isKnownToThink ? nothing : { thinking: { type: "disabled" }, effort: undefined }
  }
  if (capabilities.supportsBetweenToolsThinking) return { thinking: { type: "between_tools" }, effort: undefined }
  if (capabilities.rejectsThinkingDisabled || call.target.canBeOff === false) {
    return { thinking: undefined, effort: "low" }
  }
  return { thinking: { type: "disabled" }, effort: undefined }
}

/** With a budget, the last reply of a running tool loop must begin with its thinking; another model's has none. */
function lacksThinking(messages: readonly PreparedMessage[]): boolean {
  const place = messages.findLastIndex((message) => message.role === "assistant")
  const reply = messages[place]
  if (reply?.role !== "assistant" || messages[place + 1]?.role !== "tool") return false
  const first = reply.parts[0]
  return first?.type !== "reasoning" || first.meta === undefined
}
