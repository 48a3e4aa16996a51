// Hosted services on OpenAI's interface that have few rules of their own: xAI, OpenRouter, Together.
import type { JsonObject } from "../../../src/kernel/index.ts"
import {
  callIds,
  callNames,
  commonMessageRules,
  contentIsNotNull,
  isBlank,
  messagesOf,
  pictureTypes,
  streamOptionsNeedStream,
} from "./chat-messages.ts"
import type { Dialect, Fault, Rule } from "./contract.ts"
import { openrouterKey, togetherKey, xaiKey } from "./credentials.ts"
import { openaiErrorBody } from "./openai-models.ts"
import { commonToolRules, promptCacheKey, toolNamesUnique } from "./openai-tools.ts"
import { firstFault, modelOf, objectOf, objectsOf } from "./read.ts"

const common: readonly Rule[] = [
  ...commonMessageRules,
  callNames,
  contentIsNotNull,
  streamOptionsNeedStream,
  toolNamesUnique,
  ...commonToolRules,
]

// NousResearch/hermes-agent#23435: measured for each model
const grokEffort: Rule = ({ body }) => {
  const model = modelOf(body)
  const effort = body.reasoning_effort ?? objectOf(body.reasoning).effort
  if (effort === undefined || /^grok-(3-mini|4\.3|4\.20-multi-agent)/.test(model)) return undefined
  if (!model.startsWith("grok-")) return undefined
  return { message: `Model ${model} does not support parameter reasoningEffort.` }
}

// "Reasoning" guide: what reasoning models do not take
const grokSampling: Rule = ({ body }) => {
  const model = modelOf(body)
  if (!/^grok-(3-mini|4)/.test(model)) return undefined
  const names = { presence_penalty: "presencePenalty", frequency_penalty: "frequencyPenalty", stop: "stop" }
  const found = Object.entries(names).find(([field]) => body[field] !== undefined)
  return found && { message: `Model ${model} does not support parameter ${found[1]}.` }
}

// API reference; chenyme/grok2api#222 has the same check
const messagesHaveContent: Rule = ({ body }) =>
  messagesOf(body).some((message) => callIds(message).length === 0 && message.role !== "tool" && isBlank(message))
    ? { message: "Each message must have at least one content element." }
    : undefined

// decolua/9router#2539
const grokTools: Rule = ({ body }) => {
  const count = Array.isArray(body.tools) ? body.tools.length : 0
  if (count <= 200) return undefined
  return { message: `Maximum tools limit reached. ${count} tools have been provided but the maximum is 200.` }
}

export const xai: Dialect = {
  rules: [...common, messagesHaveContent, grokTools, grokEffort, grokSampling],
  credentials: xaiKey,
  errorBody: (fault) => ({ code: fault.code ?? "Client specified an invalid argument", error: fault.message }),
}

// musistudio/claude-code-router#1215 and #1229, earendil-works/pi#4316
const mandatoryReasoning: Rule = ({ body }) => {
  const { enabled, effort } = objectOf(body.reasoning)
  const isOff = enabled === false || effort === "none" || body.include_reasoning === false
  if (!isOff || !/^(minimax\/minimax-m2|stepfun\/|openai\/gpt-5|deepseek\/deepseek-r1)/.test(modelOf(body))) {
    return undefined
  }
  return { message: "Reasoning is mandatory for this endpoint and cannot be disabled." }
}

// "Reasoning tokens" guide
const oneWayToReason: Rule = ({ body }) => {
  const { effort, max_tokens: tokens } = objectOf(body.reasoning)
  if (effort === undefined || tokens === undefined) return undefined
  return { message: 'Only one of "reasoning.effort" and "reasoning.max_tokens" can be specified' }
}

// "Reasoning tokens" guide: the blocks of a reply go back as they were, in their order. The models behind refuse the
// rest: OpenHands/software-agent-sdk#1500
const detailsAreUnchanged: Rule = ({ body }, issued) =>
  firstFault(messagesOf(body), (message, index) => {
    const [id] = callIds(message)
    const reply = id === undefined ? undefined : issued.byCall(id)
    if (!reply || message.reasoning_details === undefined) return undefined
    const went = reply.parts.flatMap((part) =>
      part.type === "reasoning" ? [part.redacted ? [part.signature] : [part.text, part.signature]] : [],
    )
    const came = objectsOf(message.reasoning_details).map(proofOf)
    if (JSON.stringify(came) === JSON.stringify(went)) return undefined
    const words = `messages.${index}.content.0: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.`
    return { message: "Provider returned error", detail: { raw: words, provider_name: "Anthropic" } }
  })

function proofOf(detail: JsonObject) {
  return detail.type === "reasoning.encrypted" ? [detail.data] : [detail.text, detail.signature]
}

export const openrouter: Dialect = {
  rules: [...common, pictureTypes, promptCacheKey, mandatoryReasoning, oneWayToReason, detailsAreUnchanged],
  credentials: openrouterKey,
  errorBody(fault: Fault, status: number) {
    const metadata = fault.detail === undefined ? {} : { metadata: fault.detail }
    return { error: { message: fault.message, code: status, ...metadata } }
  },
}

export const together: Dialect = { rules: common, credentials: togetherKey, errorBody: openaiErrorBody }
