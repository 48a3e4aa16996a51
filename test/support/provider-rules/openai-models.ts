// What OpenAI's reasoning models do not take: the old name of the token limit, a temperature, levels of effort.
import type { JsonObject } from "../../../src/kernel/index.ts"
import type { Fault, Rule } from "./contract.ts"
import { modelOf, objectOf } from "./read.ts"

const badRequest = "invalid_request_error"

const plainModels = /^(gpt-3|gpt-4|chatgpt-4|gpt-5-chat|gpt-5\.\d+-chat)/
const reasoningModels = /^(o\d|gpt-[5-9])/

export function isReasoningModel(model: string): boolean {
  return reasoningModels.test(model) && !plainModels.test(model)
}

/** A model that is known not to reason; of an unknown one nothing is said. */
export function isPlainModel(model: string): boolean {
  return plainModels.test(model)
}

// devnullvoid/dms-ai-assistant#12
export const maxTokensField: Rule = ({ body }) => {
  if (body.max_tokens === undefined || !isReasoningModel(modelOf(body))) return undefined
  const message =
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
  return { message, type: badRequest, param: "max_tokens", code: "unsupported_parameter" }
}

// npiv/chatblade#100 (o-series: no such parameter), johny-b/llmcomp#69 (gpt-5: the default value alone)
export const temperature: Rule = ({ body }) => {
  const model = modelOf(body)
  if (body.temperature === undefined || !isReasoningModel(model)) return undefined
  if (model.startsWith("o")) {
    const message = "Unsupported parameter: 'temperature' is not supported with this model."
    return { message, type: badRequest, param: "temperature", code: "unsupported_parameter" }
  }
  if (body.temperature === 1) return undefined
  const message = `Unsupported value: 'temperature' does not support ${JSON.stringify(body.temperature)} with this model. Only the default (1) value is supported.`
  return { message, type: badRequest, param: "temperature", code: "unsupported_value" }
}

/** Model page of each; first fit counts. */
const efforts: readonly [RegExp, readonly string[]][] = [
  [/^o\d/, ["low", "medium", "high"]],
  [/^gpt-5-pro/, ["high"]],
  [/^gpt-5-codex/, ["low", "medium", "high"]],
  [/^gpt-5(-|$)/, ["minimal", "low", "medium", "high"]],
  [/^gpt-5\.1-codex-max/, ["none", "low", "medium", "high", "xhigh"]],
  [/^gpt-5\.1/, ["none", "low", "medium", "high"]],
  [/^gpt-5\.\d+-pro/, ["medium", "high", "xhigh"]],
  [/^gpt-5\.\d+/, ["none", "low", "medium", "high", "xhigh"]],
]

function effortsOf(model: string): readonly string[] | undefined {
  return efforts.find(([pattern]) => pattern.test(model))?.[1]
}

// yaroslavyaroslav/OpenAI-sublime-text#146; Kilo-Org/cloud#3807 has the words on levels
export const chatEffort: Rule = ({ body }) => {
  const effort = body.reasoning_effort
  if (effort === undefined || effort === null) return undefined
  const model = modelOf(body)
  if (isPlainModel(model)) {
    return { message: "Unrecognized request argument supplied: reasoning_effort", type: badRequest }
  }
  const levels = effortsOf(model)
  if (!levels || levels.includes(String(effort))) return undefined
  const message = `Unsupported value: 'reasoning_effort' does not support '${String(effort)}' with this model. Supported values are: ${listed(levels)}.`
  return { message, type: badRequest, param: "reasoning_effort", code: "unsupported_value" }
}

// anomalyco/opencode#4451
export const responsesEffort: Rule = ({ body }) => {
  const effort = objectOf(body.reasoning).effort
  if (effort === undefined || effort === null) return undefined
  const model = modelOf(body)
  if (isPlainModel(model)) return unsupportedParameter("reasoning.effort")
  const levels = effortsOf(model)
  if (!levels || levels.includes(String(effort))) return undefined
  const message = `Unsupported value: '${String(effort)}' is not supported with the '${model}' model. Supported values are: ${listed(levels)}.`
  return { message, type: badRequest, param: "reasoning.effort", code: "unsupported_value" }
}

export function unsupportedParameter(param: string): Fault {
  const message = `Unsupported parameter: '${param}' is not supported with this model.`
  return { message, type: badRequest, param, code: "unsupported_parameter" }
}

/** `'low', 'medium', and 'high'` */
function listed(levels: readonly string[]): string {
  const quoted = levels.map((level) => `'${level}'`)
  const last = quoted.at(-1) ?? ""
  return quoted.length < 2 ? last : `${quoted.slice(0, -1).join(", ")}, and ${last}`
}

/** The shape of OpenAI's errors, and of most who copy it. */
export function openaiErrorBody(fault: Fault): JsonObject {
  const { message, type = badRequest, param = null, code = null } = fault
  return { error: { message, type, param, code } }
}
