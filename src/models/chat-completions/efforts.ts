// Which words of `reasoning_effort` each service takes, by model. What the configuration or the table of known models
// says of a model's levels goes before `taken`; the words hold in any case.
import type { Level } from "../levels.ts"

export interface EffortRule {
  /** Whether a level is sent to a model of which nothing else is known. */
  taken: boolean
  /** The service's word for each level that it has. */
  words: Readonly<Partial<Record<Level, string>>>
  /** The word that switches thinking off. */
  off?: string
  /** Thinking cannot be switched off; `off` becomes the lowest level. */
  locked?: boolean
}

export type EffortRules = (modelId: string) => EffortRule

const allLevels = { minimal: "minimal", low: "low", medium: "medium", high: "high" } as const
const threeLevels = { low: "low", medium: "medium", high: "high" } as const
/** gpt-oss thinks at three levels and always (its model card), wherever it runs. */
const gptOss: EffortRule = { taken: true, words: threeLevels, locked: true }
const nothing: EffortRule = { taken: false, words: threeLevels }

export function isGptOss(modelId: string): boolean {
  return modelId.toLowerCase().includes("gpt-oss")
}

export const plainEfforts: EffortRules = (modelId) => (isGptOss(modelId) ? gptOss : { taken: true, words: allLevels })

/** Servers that know three levels and no word for off. */
export const localEfforts: EffortRules = (modelId) => (isGptOss(modelId) ? gptOss : { taken: true, words: threeLevels })

/** openai/openai.go: `none` switches thinking off and is taken for models that do not think at all as well. */
export const ollamaEfforts: EffortRules = (modelId) =>
  isGptOss(modelId) ? gptOss : { taken: true, words: threeLevels, off: "none" }

/** console.groq.com/docs/reasoning: qwen takes `none` and `default`; models that do not think refuse the field. */
export const groqEfforts: EffortRules = (modelId) => {
  if (isGptOss(modelId)) return gptOss
  if (!/qwen-?3/i.test(modelId)) return nothing
  return {
    taken: true,
    words: { minimal: "default", low: "default", medium: "default", high: "default" },
    off: "none",
  }
}

/** Its `thinking` object says all; the field would be `high` or `max`. */
export const deepSeekEfforts: EffortRules = () => nothing

/**
 * Small 4 (2603) and Medium 3.5 (2604) take `none` and `high`; Magistral always thinks and takes nothing; `prompt_mode`
 * is of the older Magistral and stays unset (vercel/ai mistral, models.dev, mistralai/client-python).
 */
export const mistralEfforts: EffortRules = (modelId) => {
  const adjustable = /mistral-small-(?:latest|2603)|mistral-medium-(?:3$|3\.5|2604)/.test(modelId)
  return { taken: adjustable, words: { high: "high" }, off: "none" }
}

/**
 * docs.x.ai: grok-3-mini low and high; grok-4.3 and the multi-agent grok-4.20 none to high; the other grok-4 refuse the
 * field with any value (vercel/ai xai, opencode-oci-provider v0.2.3).
 */
export const xaiEfforts: EffortRules = (modelId) => {
  if (modelId.includes("grok-3-mini")) return { taken: true, words: { low: "low", high: "high" }, locked: true }
  if (/grok-(?:4\.3|latest)/.test(modelId)) return { taken: true, words: threeLevels, off: "none" }
  if (/grok-4\.20.{0,100}multi-agent/.test(modelId)) return { taken: true, words: threeLevels, locked: true }
  return nothing
}

/** GLM thinks unless told `none` and has no levels (models.dev, from inference-docs.cerebras.ai). */
export const cerebrasEfforts: EffortRules = (modelId) => {
  if (isGptOss(modelId)) return gptOss
  return modelId.includes("glm") ? { taken: true, words: {}, off: "none" } : nothing
}

/** ai.google.dev/gemini-api/docs/openai: only the 2.5 Flash models can be switched off. */
export const googleEfforts: EffortRules = (modelId) => {
  if (modelId.includes("gemini-2.5-flash")) return { taken: true, words: threeLevels, off: "none" }
  if (modelId.includes("gemini-2.5-pro")) return { taken: true, words: threeLevels, locked: true }
  if (/gemini-3.{0,100}pro/.test(modelId)) return { taken: true, words: { low: "low", high: "high" }, locked: true }
  if (modelId.includes("gemini-3")) return { taken: true, words: allLevels, locked: true }
  return nothing
}
