// What single models of Anthropic do not take: more tokens than they write, a temperature, budgets, efforts, prefill.
import { badRequest, messagesOf } from "./anthropic-blocks.ts"
import type { Rule } from "./contract.ts"
import { modelOf, objectOf, textOf } from "./read.ts"

interface ModelFacts {
  fits: RegExp
  maxTokens: number
  /** `budget`: thinking is asked for by `budget_tokens` alone. `adaptive`: never by it. `both`: as one likes. */
  thinking: "none" | "budget" | "both" | "adaptive"
  /** Levels of `output_config.effort`. */
  effort: boolean
  prefill: boolean
  temperature: boolean
}

const older = { thinking: "none", effort: false, prefill: true, temperature: true } as const
const budget = { ...older, thinking: "budget" } as const
const adaptive = { thinking: "adaptive", effort: true, prefill: false, temperature: false } as const

/**
 * "Models overview", "Migration guide" and "What's new in Claude 4.6": first fit counts, and of a model that is not
 * here nothing is known.
 */
const models: readonly ModelFacts[] = [
  { fits: /^claude-3-haiku/, maxTokens: 4096, ...older },
  { fits: /^claude-3-5/, maxTokens: 8192, ...older },
  { fits: /^claude-3-7/, maxTokens: 64_000, ...budget },
  { fits: /^claude-opus-4-5/, maxTokens: 64_000, ...budget, effort: true },
  { fits: /^claude-(sonnet|haiku)-4-5/, maxTokens: 64_000, ...budget },
  { fits: /^claude-opus-4-6/, maxTokens: 128_000, thinking: "both", effort: true, prefill: false, temperature: true },
  { fits: /^claude-sonnet-4-6/, maxTokens: 64_000, thinking: "both", effort: true, prefill: false, temperature: true },
  { fits: /^claude-opus-4-(7|8)(-|$)/, maxTokens: 128_000, ...adaptive },
  { fits: /^claude-opus-4-(1|0|2\d+)(-|$)/, maxTokens: 32_000, ...budget },
  { fits: /^claude-sonnet-4-(0|2\d+)(-|$)/, maxTokens: 64_000, ...budget },
  { fits: /^claude-(opus|sonnet|fable|haiku)-5/, maxTokens: 128_000, ...adaptive },
]

function factsOf(model: string): ModelFacts | undefined {
  return models.find(({ fits }) => fits.test(model))
}

// API reference, "Create a message"; the limits are in "Models overview"
export const maxTokens: Rule = ({ body }) => {
  if (typeof body.max_tokens !== "number") return badRequest("max_tokens: Field required")
  if (body.max_tokens < 1) return badRequest("max_tokens: Input should be greater than or equal to 1")
  const model = modelOf(body)
  const limit = factsOf(model)?.maxTokens
  if (limit === undefined || body.max_tokens <= limit) return undefined
  return badRequest(
    `max_tokens: ${body.max_tokens} > ${limit}, which is the maximum allowed number of output tokens for ${model}`,
  )
}

// SigmaNight/basiliskLLM#1185, code-yeongyu/oh-my-openagent#4616
export const thinkingKind: Rule = ({ body }) => {
  const type = textOf(objectOf(body.thinking).type)
  const kind = factsOf(modelOf(body))?.thinking
  if (type === "enabled" && kind === "adaptive") {
    return badRequest(
      '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
    )
  }
  if (type !== "adaptive" || (kind !== "none" && kind !== "budget")) return undefined
  return badRequest("adaptive thinking is not supported on this model")
}

// github/app#2574, expectedparrot/edsl#2458 (1 is taken), anomalyco/opencode#28930 (both at once)
export const sampling: Rule = ({ body }) => {
  const model = modelOf(body)
  const facts = factsOf(model)
  if (facts?.temperature === false) {
    const field = ["temperature", "top_p", "top_k"].find((key) => body[key] !== undefined && body[key] !== 1)
    return field === undefined ? undefined : badRequest(`\`${field}\` is deprecated for this model.`)
  }
  const both = body.temperature !== undefined && body.top_p !== undefined
  if (!both || !/-4-(1|5|6)(-|$)/.test(model)) return undefined
  return badRequest("`temperature` and `top_p` cannot both be specified for this model. Please use only one.")
}

// agenticloops-ai/agentic-ai-engineering#43
export const prefill: Rule = ({ body }) => {
  const last = messagesOf(body).at(-1)
  if (last?.role !== "assistant" || factsOf(modelOf(body))?.prefill !== false) return undefined
  return badRequest(
    "This model does not support assistant message prefill. The conversation must end with a user message.",
  )
}

// "Effort" guide
export const effort: Rule = ({ body }) => {
  const level = objectOf(body.output_config).effort
  if (level === undefined) return undefined
  if (!["low", "medium", "high", "xhigh", "max"].includes(String(level))) {
    return badRequest("output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'")
  }
  if (factsOf(modelOf(body))?.effort !== false) return undefined
  return badRequest("This model does not support the effort parameter.")
}
