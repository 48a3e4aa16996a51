// Thinking and limits on Bedrock: common fields of Converse, and those that only a maker's models read.
import type { JsonObject } from "../../../kernel/index.ts"
import type { StepCall } from "../../providers/contract.ts"
import { lowestLevel, nearestLevel } from "../../levels.ts"
import type { ConverseFamily } from "./family.ts"

interface ModelFields {
  maxTokens: number | undefined
  temperature: number | undefined
  /** `additionalModelRequestFields` */
  fields: JsonObject
}

export async function modelFields(call: StepCall, family: ConverseFamily): Promise<ModelFields> {
  const { temperature } = call.target.entry
  if (family.maker === "claude") return await claudeFields(call, temperature)
  const limit = Math.min(call.maxOutputTokens ?? Infinity, call.target.maxOutputTokens ?? Infinity)
  const maxTokens = call.maxOutputTokens === undefined ? undefined : limit
  const level = levelOf(call)
  switch (family.maker) {
    case "openai":
      return { maxTokens, ...openaiFields(call, level) }
    case "nova":
      return novaFields(call, maxTokens, level)
    case "other":
      return { maxTokens, temperature, fields: {} }
  }
}

/** Open-weight models of the maker take the effort flat; its others take it nested, and no temperature. */
function openaiFields({ target }: StepCall, level: string | undefined): Omit<ModelFields, "maxTokens"> {
  if (target.modelId.includes("gpt-oss")) {
    return { temperature: target.entry.temperature, fields: level === undefined ? {} : { reasoning_effort: level } }
  }
  return { temperature: undefined, fields: level === undefined ? {} : { reasoning: { effort: level } } }
}

/** Only the second generation thinks; with the highest effort it refuses limit and temperature. */
function novaFields({ target }: StepCall, maxTokens: number | undefined, level: string | undefined): ModelFields {
  const { temperature } = target.entry
  if (level === undefined || !target.modelId.includes("nova-2")) return { maxTokens, temperature, fields: {} }
  const fields = { reasoningConfig: { type: "enabled", maxReasoningEffort: level } }
  return level === "high"
    ? { maxTokens: undefined, temperature: undefined, fields }
    : { maxTokens, temperature, fields }
}

async function claudeFields(call: StepCall, temperature: number | undefined): Promise<ModelFields> {
  const [{ claudeOptions }, { getModelCapabilities }] = await Promise.all([
    import("../messages/options.ts"),
    import("@ai-sdk/anthropic/internal"),
  ])
  const { thinking, effort, maxOutputTokens } = claudeOptions(call)
  const budget = thinking?.type === "enabled" ? thinking.budgetTokens : 0
  const isThinking = thinking !== undefined && thinking.type !== "disabled"
  const { rejectsSamplingParameters } = getModelCapabilities(call.target.modelId)
  const wire = thinking?.type === "enabled" ? { type: "enabled", budget_tokens: budget } : thinking
  return {
    maxTokens: maxOutputTokens + budget,
    temperature: isThinking || rejectsSamplingParameters ? undefined : temperature,
    fields: {
      ...(wire === undefined ? {} : { thinking: wire }),
      ...(effort === undefined ? {} : { output_config: { effort } }),
    },
  }
}

/** Undefined: nothing is sent. Off is the state of Nova, and the lowest level of models that always think. */
function levelOf({ thinking, target }: StepCall): "minimal" | "low" | "medium" | "high" | undefined {
  const taken = target.reasoning ?? ["low", "medium", "high"]
  if (thinking === undefined || taken.length === 0) return undefined
  if (thinking !== "off") return nearestLevel(thinking, taken)
  return target.modelId.includes("amazon.nova") || target.canBeOff === true ? undefined : lowestLevel(taken)
}
