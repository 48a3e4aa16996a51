// Thinking, limits and caching of the Responses interface.
import { createHash } from "node:crypto"
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider"
import type { JsonObject } from "../../../kernel/index.ts"
import type { StepCall } from "../../providers/contract.ts"
import { lowestLevel, nearestLevel } from "../../levels.ts"

type Options = Pick<LanguageModelV4CallOptions, "maxOutputTokens" | "temperature" | "reasoning" | "providerOptions">

/** The interface refuses less. */
const smallestLimit = 16
const longestCacheKey = 64

export function responsesOptions(call: StepCall): Options {
  const { target, cacheKey } = call
  const { reasoning, effort } = thinking(call)
  const limit = Math.min(call.maxOutputTokens ?? Infinity, target.maxOutputTokens ?? Infinity)
  const openai: JsonObject = {
    store: false,
    // Accounts that are not verified are refused for a summary; `extraBody: {reasoning: {summary: "auto"}}` asks for it.
    reasoningSummary: null,
    ...(cacheKey === undefined ? {} : { promptCacheKey: shortKey(cacheKey) }),
    ...(effort === undefined ? {} : { reasoningEffort: effort }),
    // A deployment or a model newer than the package has a name that says nothing.
    ...(target.reasoning === undefined ? {} : { forceReasoning: target.reasoning.length > 0 }),
  }
  return {
    // Only what the caller asks for: the model's own limit holds by itself.
    ...(call.maxOutputTokens === undefined ? {} : { maxOutputTokens: Math.max(limit, smallestLimit) }),
    ...(target.entry.temperature === undefined ? {} : { temperature: target.entry.temperature }),
    ...(reasoning === undefined ? {} : { reasoning }),
    providerOptions: { openai },
  }
}

interface ThinkingChoice {
  /** For models that the package knows: it takes the nearest effort of the model. */
  reasoning?: NonNullable<LanguageModelV4CallOptions["reasoning"]>
  /** Sent as it is. */
  effort?: string
}

function thinking({ thinking: wanted, target }: StepCall): ThinkingChoice {
  const { reasoning, canBeOff } = target
  if (wanted === undefined || reasoning?.length === 0) return {}
  if (wanted !== "off") {
    if (reasoning) return { effort: nearestLevel(wanted, reasoning) }
    return isUnlisted(target.modelId) ? unlistedEffort(target.modelId, wanted) : { reasoning: wanted }
  }
  if (canBeOff === true) return { effort: "none" }
  const lowest = lowestLevel(reasoning ?? [])
  if (lowest !== undefined) return { effort: lowest }
  return isUnlisted(target.modelId) ? unlistedEffort(target.modelId, "low") : { reasoning: "none" }
}

/** Families whose efforts the package does not list: it would send any level. */
const isUnlisted = (modelId: string) => /^o\d|codex|-pro|-chat/.test(modelId)

/** Those with `pro` and `chat` take one effort only, each its own. */
function unlistedEffort(modelId: string, wanted: "minimal" | "low" | "medium" | "high"): ThinkingChoice {
  if (/-pro|-chat/.test(modelId)) return {}
  return { effort: wanted === "minimal" ? "low" : wanted }
}

function shortKey(key: string): string {
  return key.length <= longestCacheKey ? key : createHash("sha256").update(key).digest("hex")
}
