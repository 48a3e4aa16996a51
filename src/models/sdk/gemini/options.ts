// Thinking of Gemini: a level from generation 3 on, a budget of tokens before, nothing for models that do not think.
import { getGoogleLanguageModelEntry } from "@ai-sdk/google/internal"
import type { JsonObject } from "../../../kernel/index.ts"
import type { StepCall } from "../../providers/contract.ts"
import { type Level, lowestLevel, nearestLevel } from "../../levels.ts"

export interface GeminiOptions {
  maxOutputTokens: number | undefined
  thinkingConfig: JsonObject | undefined
}

/** As Google's own compatible interface maps the levels. */
const budgets: Readonly<Record<Level, number>> = { minimal: 1024, low: 1024, medium: 8192, high: 24_576 }

export function geminiOptions(call: StepCall): GeminiOptions {
  const limit = Math.min(call.maxOutputTokens ?? Infinity, call.target.maxOutputTokens ?? Infinity)
  const maxOutputTokens = call.maxOutputTokens === undefined ? undefined : limit
  return { maxOutputTokens, thinkingConfig: thinkingConfig(call, maxOutputTokens) }
}

/** Older generations take text only; their pictures stand in a message of the user. */
export function takesPicturesInResults(modelId: string): boolean {
  return getGoogleLanguageModelEntry(modelId).capabilities.language.tools.functionResponseParts
}

function thinkingConfig(call: StepCall, limit: number | undefined): JsonObject | undefined {
  const { thinking: wanted, target } = call
  if (wanted === undefined || target.reasoning?.length === 0) return undefined
  const { capabilities, requestConfig } = getGoogleLanguageModelEntry(target.modelId)
  const { efforts, minBudget, maxBudget } = capabilities.language.reasoning
  if (requestConfig.language.thinkingFormat === "level") {
    const taken = target.reasoning ?? levelsOf(efforts)
    if (wanted === "off") return { thinkingLevel: lowestLevel(taken) ?? "low" }
    return { thinkingLevel: nearestLevel(wanted, taken), includeThoughts: true }
  }
  // Generations before 2.5 refuse the field.
  if (target.reasoning === undefined && !target.modelId.includes("gemini-2.5")) return undefined
  if (wanted === "off") return { thinkingBudget: target.canBeOff === false ? Math.max(minBudget, 128) : minBudget }
  const budget = budgets[target.reasoning ? nearestLevel(wanted, target.reasoning) : wanted]
  // Thoughts count as part of the reply: half of it is left for the answer.
  const room = limit === undefined ? maxBudget : Math.min(maxBudget, Math.floor(limit / 2))
  const thinkingBudget = Math.max(minBudget, Math.min(budget, room))
  return { thinkingBudget, includeThoughts: true }
}

function levelsOf(efforts: readonly string[] | undefined): Level[] {
  const all: readonly Level[] = ["minimal", "low", "medium", "high"]
  return all.filter((level) => efforts?.includes(level) ?? level !== "minimal")
}
