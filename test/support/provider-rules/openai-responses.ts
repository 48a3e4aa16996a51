// OpenAI on Responses: items, their ids and their order, reasoning that came encrypted.
import type { Json, JsonObject } from "../../../src/kernel/index.ts"
import { pictureFault } from "./chat-messages.ts"
import type { Dialect, Fault, Rule } from "./contract.ts"
import { azureKey, openaiKey } from "./credentials.ts"
import { itemId } from "./issued.ts"
import {
  isPlainModel,
  isReasoningModel,
  openaiErrorBody,
  responsesEffort,
  unsupportedParameter,
} from "./openai-models.ts"
import { commonToolRules, nameFault, promptCacheKey, strictTools, stringTooLong, toolCount } from "./openai-tools.ts"
import { firstFault, firstRepeated, modelOf, objectsOf, textOf, unknownKeys } from "./read.ts"

const badRequest = "invalid_request_error"

function itemsOf(body: JsonObject): JsonObject[] {
  return objectsOf(body.input)
}

/** An item without a type is a message. */
function typeOf(item: JsonObject): string {
  return typeof item.type === "string" ? item.type : "message"
}

function inputFault(message: string): Fault {
  return { message, type: badRequest, param: "input" }
}

/** API reference, "Create a model response". */
const known: ReadonlySet<string> = new Set(
  (
    "model input instructions stream stream_options store include reasoning text tools tool_choice parallel_tool_calls " +
    "max_output_tokens max_tool_calls temperature top_p top_logprobs truncation metadata user previous_response_id " +
    "conversation background prompt service_tier safety_identifier prompt_cache_key prompt_cache_retention"
  ).split(" "),
)

const knownParameters: Rule = ({ body }) => {
  const [unknown] = unknownKeys(body, known)
  if (unknown === undefined) return undefined
  const message = `Unknown parameter: '${unknown}'.`
  return { message, type: badRequest, param: unknown, code: "unknown_parameter" }
}

const hasInput: Rule = ({ body }) => {
  if (textOf(body.input) !== "" || itemsOf(body).length > 0) return undefined
  const message = "Missing required parameter: 'input'."
  return { message, type: badRequest, param: "input", code: "missing_required_parameter" }
}

const idPrefixes: Readonly<Record<string, string>> = { function_call: "fc", message: "msg", reasoning: "rs" }

// Wei-Shaw/sub2api#3785 and #3981 (prefixes), earendil-works/pi#1022 (signs), anomalyco/opencode#25065 (reasoning
// without an id)
const itemIds: Rule = ({ body }) =>
  firstFault(itemsOf(body), (item, index) => {
    const param = `input[${index}].id`
    const type = typeOf(item)
    if (item.id === undefined && type !== "reasoning") return undefined
    const id = textOf(item.id)
    if (!/^[a-zA-Z0-9_-]+$/.test(id)) {
      const words = `Invalid '${param}': '${id}'. Expected an ID that contains letters, numbers, underscores, or dashes, but this value contained additional characters.`
      return { message: words, type: badRequest, param, code: "invalid_value" }
    }
    if (id.length > 64) return stringTooLong(param, id, 64)
    const prefix = idPrefixes[type]
    if (prefix === undefined || id.startsWith(prefix)) return undefined
    const words = `Invalid '${param}': '${id}'. Expected an ID that begins with '${prefix}'.`
    return { message: words, type: badRequest, param, code: "invalid_value" }
  })

// earendil-works/pi#5149
const itemsAreSingle: Rule = ({ body }) => {
  const ids = itemsOf(body).flatMap((item) => (typeof item.id === "string" ? [item.id] : []))
  const id = firstRepeated(ids)
  if (id === undefined) return undefined
  return inputFault(`Duplicate item found with id ${id}. Remove duplicate items from your input and try again.`)
}

// AnswerDotAI/fastllm#45
const callIdLength: Rule = ({ body }) =>
  firstFault(itemsOf(body), (item, index) => {
    const id = textOf(item.call_id)
    return id.length > 64 ? stringTooLong(`input[${index}].call_id`, id, 64) : undefined
  })

const callNames: Rule = ({ body }) =>
  firstFault(itemsOf(body), (item, index) =>
    typeOf(item) === "function_call" ? nameFault(textOf(item.name), `input[${index}].name`) : undefined,
  )

// continuedev/continue#11785
const outputsFollowCalls: Rule = ({ body }) => {
  const called = new Set<string>()
  return firstFault(itemsOf(body), (item) => {
    const id = textOf(item.call_id)
    if (typeOf(item) === "function_call") called.add(id)
    if (typeOf(item) !== "function_call_output" || called.has(id)) return undefined
    return inputFault(`No tool call found for function call output with call_id ${id}.`)
  })
}

// lace-ai/gai#49
const callsHaveOutputs: Rule = ({ body }) => {
  const items = itemsOf(body)
  const outputs = new Set(items.filter((item) => typeOf(item) === "function_call_output").map((item) => item.call_id))
  return firstFault(items, (item) => {
    if (typeOf(item) !== "function_call" || outputs.has(item.call_id)) return undefined
    return inputFault(`No tool output found for function call ${textOf(item.call_id)}.`)
  })
}

// vercel/ai#7099, langchain-ai/langchainjs#9938
const reasoningIsFollowed: Rule = ({ body }) => {
  const items = itemsOf(body)
  return firstFault(items, (item, index) => {
    if (typeOf(item) !== "reasoning") return undefined
    const next = items[index + 1]
    const own = next && (["function_call", "reasoning"].includes(typeOf(next)) || next.role === "assistant")
    if (own) return undefined
    return inputFault(`Item '${textOf(item.id)}' of type 'reasoning' was provided without its required following item.`)
  })
}

// TanStack/ai#1212: an item that goes back with its id wants the reasoning it came with in front of it
const itemsKeepTheirReasoning: Rule = ({ body }, issued) => {
  const items = itemsOf(body)
  return firstFault(items, (item, index) => {
    const reply = issued.byCall(textOf(item.call_id))
    if (typeOf(item) !== "function_call" || item.id === undefined || !reply) return undefined
    const position = reply.parts.findIndex((part) => part.type === "call" && part.id === item.call_id)
    const before = position - 1
    if (reply.parts[before]?.type !== "reasoning") return undefined
    const wanted = itemId(reply, before)
    if (items[index - 1]?.id === wanted) return undefined
    return inputFault(
      `Item '${textOf(item.id)}' of type 'function_call' was provided without its required 'reasoning' item: '${wanted}'.`,
    )
  })
}

// can1357/oh-my-pi#41, anomalyco/opencode#7724
const itemsAreStored: Rule = ({ body }) =>
  firstFault(itemsOf(body), (item) => {
    const type = typeOf(item)
    const isBare = type === "reasoning" && textOf(item.encrypted_content) === ""
    if (type !== "item_reference" && !isBare) return undefined
    const words = `Item with id '${textOf(item.id)}' not found.`
    const hint =
      " Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input."
    return { ...inputFault(body.store === false ? words + hint : words), status: 404 }
  })

// "Reasoning models" guide, encrypted reasoning items: they come back as they were
const encryptedContentIsOurs: Rule = ({ body }, issued) =>
  firstFault(itemsOf(body), (item) => {
    const content = textOf(item.encrypted_content)
    if (typeOf(item) !== "reasoning" || !issued.hasSignatures() || issued.knowsSignature(content)) return undefined
    const message = `The encrypted content ${content.slice(0, 4)}...${content.slice(-4)} could not be verified. Reason: Encrypted content could not be decrypted or parsed.`
    return { message, type: badRequest, code: "invalid_encrypted_content" }
  })

// API reference: what a user sends is input, what the model wrote is output
const contentTypes: Rule = ({ body }) =>
  firstFault(itemsOf(body), (item, index) => {
    if (typeOf(item) !== "message") return undefined
    const taken = item.role === "assistant" ? ["output_text", "refusal"] : ["input_text", "input_image", "input_file"]
    return firstFault(objectsOf(item.content), (part, position) => {
      if (taken.includes(textOf(part.type))) return undefined
      const supported = taken.map((type) => `'${type}'`).join(" and ")
      const message = `Invalid value: '${textOf(part.type)}'. Supported values are: ${supported}.`
      return { message, type: badRequest, param: `input[${index}].content[${position}]`, code: "invalid_value" }
    })
  })

const pictureTypes: Rule = ({ body }) =>
  firstFault(itemsOf(body), (item) =>
    firstFault([...partsOf(item.content), ...partsOf(item.output)], (part) => pictureFault(textOf(part.image_url))),
  )

function partsOf(content: Json | undefined): JsonObject[] {
  return objectsOf(content)
}

// experientiallabs/experiential#799 speaks of the floor of 16
const outputTokens: Rule = ({ body }) => {
  const limit = body.max_output_tokens
  if (typeof limit !== "number" || limit >= 16) return undefined
  const message = `Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got ${limit} instead.`
  return { message, type: badRequest, param: "max_output_tokens", code: "integer_below_min_value" }
}

const temperature: Rule = ({ body }) =>
  body.temperature === undefined || !isReasoningModel(modelOf(body)) ? undefined : unsupportedParameter("temperature")

// "Reasoning models" guide
const includes: Rule = ({ body }) => {
  const wanted = Array.isArray(body.include) && body.include.includes("reasoning.encrypted_content")
  if (!wanted || !isPlainModel(modelOf(body))) return undefined
  return { message: "Encrypted content is not supported with this model.", type: badRequest, param: "include" }
}

const rules: readonly Rule[] = [
  hasInput,
  knownParameters,
  itemIds,
  itemsAreSingle,
  callIdLength,
  callNames,
  outputsFollowCalls,
  callsHaveOutputs,
  itemsAreStored,
  encryptedContentIsOurs,
  reasoningIsFollowed,
  itemsKeepTheirReasoning,
  contentTypes,
  pictureTypes,
  outputTokens,
  toolCount,
  ...commonToolRules,
  strictTools,
  promptCacheKey,
  responsesEffort,
  temperature,
  includes,
]

export const openaiResponses: Dialect = { rules, credentials: openaiKey, errorBody: openaiErrorBody }

export const azureResponses: Dialect = { rules, credentials: azureKey, errorBody: openaiErrorBody }
