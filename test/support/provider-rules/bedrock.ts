// Amazon Bedrock on Converse: its own checks come before the model's. Texts: "ConverseStream" in the API reference,
// and the issues named at each rule.
import { isJsonObject, type JsonObject } from "../../../src/kernel/index.ts"
import type { Dialect, Fault, Rule } from "./contract.ts"
import { bedrockKey } from "./credentials.ts"
import { firstFault, objectOf, objectsOf, textOf, unknownKeys } from "./read.ts"

const known: ReadonlySet<string> = new Set(
  (
    "messages system inferenceConfig toolConfig guardrailConfig additionalModelRequestFields promptVariables " +
    "additionalModelResponseFieldPaths requestMetadata performanceConfig serviceTier outputConfig"
  ).split(" "),
)

interface Placed {
  block: JsonObject
  at: string
  /** As the checks of the service's own model name it. */
  member: string
}

function messagesOf(body: JsonObject): JsonObject[] {
  return objectsOf(body.messages)
}

function blocksOf(body: JsonObject): Placed[] {
  return messagesOf(body).flatMap((message, index) =>
    objectsOf(message.content).map((block, position) => ({
      block,
      at: `messages.${index}.content.${position}`,
      member: `messages.${index + 1}.member.content.${position + 1}.member`,
    })),
  )
}

function idsOf(message: JsonObject | undefined, key: "toolUse" | "toolResult"): string[] {
  return objectsOf(message?.content).flatMap((block) =>
    isJsonObject(block[key]) ? [textOf(block[key].toolUseId)] : [],
  )
}

function constraint(value: string, member: string, wanted: string): Fault {
  const message = `1 validation error detected: Value '${value}' at '${member}' failed to satisfy constraint: Member must ${wanted}`
  return { message }
}

const fields: Rule = ({ body }) => {
  const [unknown] = unknownKeys(body, known)
  return unknown === undefined
    ? undefined
    : { message: `The model returned the following errors: ${unknown}: Extra inputs are not permitted` }
}

const startsWithUser: Rule = ({ body }) => {
  const first = messagesOf(body)[0]
  if (!first) return constraint("null", "messages", "not be null")
  if (first.role === "user") return undefined
  const message =
    "A conversation must start with a user message. Try again with a conversation that starts with a user message."
  return { message }
}

// microsoft/semantic-kernel#10281
const rolesAlternate: Rule = ({ body }) => {
  const messages = messagesOf(body)
  const repeats = messages.some((message, index) => index > 0 && message.role === messages[index - 1]?.role)
  if (!repeats) return undefined
  const message =
    "A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again."
  return { message }
}

const contentIsNotEmpty: Rule = ({ body }) =>
  firstFault(messagesOf(body), (message, index) => {
    if (objectsOf(message.content).length > 0) return undefined
    const words = `The content field in the Message object at messages.${index} is empty. Add a ContentBlock object to the content field and try again.`
    return { message: words }
  })

// aws-samples/bedrock-engineer#8
const textIsNotBlank: Rule = ({ body }) => {
  const hint = "is blank. Add text to the text field, and try again."
  const inSystem = firstFault(objectsOf(body.system), (block, index) =>
    "text" in block && textOf(block.text).trim() === ""
      ? { message: `The text field in the SystemContentBlock object at system.${index} ${hint}` }
      : undefined,
  )
  if (inSystem) return inSystem
  return firstFault(blocksOf(body), ({ block, at }) =>
    "text" in block && textOf(block.text).trim() === ""
      ? { message: `The text field in the ContentBlock object at ${at} ${hint}` }
      : undefined,
  )
}

// vxcontrol/pentagi#196
const toolConfigIsThere: Rule = ({ body }) => {
  const hasTools = blocksOf(body).some(({ block }) => "toolUse" in block || "toolResult" in block)
  if (!hasTools || isJsonObject(body.toolConfig)) return undefined
  return { message: "The toolConfig field must be defined when using toolUse and toolResult content blocks." }
}

const toolsAreNotNone: Rule = ({ body }) =>
  isJsonObject(body.toolConfig) && objectsOf(body.toolConfig.tools).length === 0
    ? constraint("[]", "toolConfig.tools", "have length greater than or equal to 1")
    : undefined

// API reference, "ToolSpecification"
const toolSpecs: Rule = ({ body }) =>
  firstFault(objectsOf(objectOf(body.toolConfig).tools), (tool, index) => {
    if (!isJsonObject(tool.toolSpec)) return undefined
    const name = textOf(tool.toolSpec.name)
    const member = `toolConfig.tools.${index + 1}.member.toolSpec.name`
    if (!/^[a-zA-Z0-9_-]+$/.test(name)) {
      return constraint(name, member, "satisfy regular expression pattern: [a-zA-Z0-9_-]+")
    }
    if (name.length > 64) return constraint(name, member, "have length less than or equal to 64")
    if (tool.toolSpec.description === "") {
      const place = `toolConfig.tools.${index + 1}.member.toolSpec.description`
      return constraint("", place, "have length greater than or equal to 1")
    }
    if (objectOf(objectOf(tool.toolSpec.inputSchema).json).type === "object") return undefined
    const place = `toolConfig.tools.${index}.toolSpec.inputSchema.json.type`
    return { message: `The value at ${place} must be one of the following: object.` }
  })

// API reference, "ToolUseBlock"
const callIds: Rule = ({ body }) =>
  firstFault(blocksOf(body), ({ block, member }) => {
    const key = ["toolUse", "toolResult"].find((name) => name in block)
    if (key === undefined) return undefined
    const id = textOf(objectOf(block[key]).toolUseId)
    const place = `${member}.${key}.toolUseId`
    if (id.length > 64) return constraint(id, place, "have length less than or equal to 64")
    if (/^[a-zA-Z0-9_-]+$/.test(id)) return undefined
    return constraint(id, place, "satisfy regular expression pattern: [a-zA-Z0-9_-]+")
  })

const callInputs: Rule = ({ body }) =>
  firstFault(blocksOf(body), ({ block, at }) => {
    if (!isJsonObject(block.toolUse) || isJsonObject(block.toolUse.input)) return undefined
    const words = `The format of the value at ${at}.toolUse.input is invalid. Provide a json object for the field and try again.`
    return { message: words }
  })

// aws-samples/sample-multi-agent-orchestration-chat-on-agentcore#15, sigoden/aichat#1550, NousResearch/hermes-agent#55092
const results: Rule = ({ body }) =>
  firstFault(blocksOf(body), ({ block, at }) => {
    if (!isJsonObject(block.toolResult)) return undefined
    const content = objectsOf(block.toolResult.content)
    if (content.length === 0 && block.toolResult.status === "error") {
      return { message: `The content field at ${at}.toolResult cannot be empty when status value is error.` }
    }
    return firstFault(content, (part, index) => {
      if ("json" in part && !isJsonObject(part.json)) {
        const place = `${at}.toolResult.content.${index}.json`
        const words = `The format of the value at ${place} is invalid. Provide a json object for the field and try again.`
        return { message: words }
      }
      if (!("text" in part) || textOf(part.text).trim() !== "") return undefined
      return { message: "The model returned the following errors: messages: text content blocks must be non-empty" }
    })
  })

const callsHaveResults: Rule = ({ body }) => {
  const messages = messagesOf(body)
  return firstFault(messages, (message, index) => {
    const given = idsOf(messages[index + 1], "toolResult")
    const open = idsOf(message, "toolUse").filter((id) => !given.includes(id))
    if (open.length === 0) return undefined
    const words = `Expected toolResult blocks at messages.${index + 1}.content for the following Ids: ${open.join(", ")}`
    return { message: words }
  })
}

const resultsFollowCalls: Rule = ({ body }) => {
  const messages = messagesOf(body)
  return firstFault(messages, (message, index) => {
    const called = idsOf(messages[index - 1], "toolUse")
    const given = idsOf(message, "toolResult")
    if (given.length <= called.length && given.every((id) => called.includes(id))) return undefined
    const words = `The number of toolResult blocks at messages.${index}.content exceeds the number of toolUse blocks of previous turn.`
    return { message: words }
  })
}

// API reference, "ImageBlock"
const pictures: Rule = ({ body }) =>
  firstFault(blocksOf(body), ({ block, member }) => {
    if (!isJsonObject(block.image)) return undefined
    const format = textOf(block.image.format)
    if (["gif", "jpeg", "png", "webp"].includes(format)) return undefined
    return constraint(format, `${member}.image.format`, "satisfy enum value set: [gif, jpeg, png, webp]")
  })

// "Extended thinking" in the user guide: signed reasoning goes back as it came
const reasoningIsUnchanged: Rule = ({ body }, issued) =>
  firstFault(blocksOf(body), ({ block, at }) => {
    if (!isJsonObject(block.reasoningContent) || !issued.hasSignatures()) return undefined
    const text = objectOf(block.reasoningContent.reasoningText)
    const signature = textOf(text.signature) || redactedOf(block.reasoningContent)
    if (!issued.knowsSignature(signature)) {
      return modelFault(`${at}: Invalid \`signature\` in \`thinking\` block`)
    }
    const part = issued.bySignature(signature)
    if (!part || part.redacted || part.text === text.text) return undefined
    return modelFault(
      `${at}: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.`,
    )
  })

/** The service has it as `redactedContent`; clients of JSON send the same bytes in an object. */
function redactedOf(content: JsonObject): string {
  return textOf(content.redactedContent) || textOf(objectOf(content.redactedReasoning).data)
}

function modelFault(words: string): Fault {
  return { message: `The model returned the following errors: ${words}` }
}

const rules: readonly Rule[] = [
  fields,
  startsWithUser,
  rolesAlternate,
  contentIsNotEmpty,
  textIsNotBlank,
  toolConfigIsThere,
  toolsAreNotNone,
  toolSpecs,
  callIds,
  callInputs,
  results,
  resultsFollowCalls,
  callsHaveResults,
  pictures,
  reasoningIsUnchanged,
]

export const bedrock: Dialect = {
  rules,
  credentials: bedrockKey,
  errorBody: (fault) => ({ message: fault.message }),
  errorHeaders: { "x-amzn-errortype": "ValidationException" },
}
