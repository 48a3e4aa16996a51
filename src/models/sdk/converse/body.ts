// call -> body of Converse: roles alternate, results stand in a message of the user, pictures are bytes, cache points
// are blocks of their own.
import type { Json, JsonObject } from "../../../kernel/index.ts"
import type { ContentPart, ToolResultPart } from "../../contract.ts"
import type { AssistantPart, PreparedMessage, StepCall } from "../../providers/contract.ts"
import { cachePlaces } from "../cache-marks.ts"
import { picturesAbove, picturesOf, resultText, toolPicturesOf } from "../prompt.ts"
import { familyOf, type ConverseFamily } from "./family.ts"
import { modelFields } from "./fields.ts"

const cachePoint = { cachePoint: { type: "default" } }

export async function toConverseBody(call: StepCall): Promise<JsonObject> {
  const family = familyOf(call.target.modelId)
  const quirks = { ...call.settings.quirks, ...call.target.entry.quirks }
  const isMarked = quirks.cacheMarks ?? family.takesCachePoints
  const place = toolPicturesOf(call, family.takesPicturesInResults ? "in-result" : "after-result")
  const marked = isMarked ? cachePlaces(call.messages.map((message) => message.role)) : []
  const messages = call.messages.map((message, index) => {
    const blocks = toBlocks(message, family, place)
    // A message of a cache point alone is refused.
    const isPlace = marked.includes(index) && blocks.length > 0
    return {
      role: message.role === "assistant" ? "assistant" : "user",
      content: isPlace ? [...blocks, cachePoint] : blocks,
    }
  })
  const tools = toTools(call)
  const { maxTokens, temperature, fields } = await modelFields(call, family)
  const inference = {
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(temperature === undefined ? {} : { temperature }),
  }
  return {
    ...(call.system === "" ? {} : { system: [{ text: call.system }, ...(isMarked ? [cachePoint] : [])] }),
    messages: joinRoles(messages),
    ...(tools.length === 0 ? {} : { toolConfig: { tools } }),
    ...(Object.keys(inference).length === 0 ? {} : { inferenceConfig: inference }),
    ...(Object.keys(fields).length === 0 ? {} : { additionalModelRequestFields: fields }),
  }
}

function joinRoles(messages: readonly { role: string; content: JsonObject[] }[]): JsonObject[] {
  const joined: { role: string; content: JsonObject[] }[] = []
  for (const message of messages) {
    if (message.content.length === 0) continue
    const last = joined.at(-1)
    if (last?.role === message.role) last.content.push(...message.content)
    else joined.push({ role: message.role, content: [...message.content] })
  }
  return joined.map((message) => ({ ...message }))
}

function toBlocks(message: PreparedMessage, family: ConverseFamily, place: "in-result" | "after-result"): JsonObject[] {
  switch (message.role) {
    case "user":
      return message.content.map(toBlock)
    case "assistant":
      return message.parts.flatMap(toAssistantBlocks)
    case "tool": {
      const results = message.results.map((result) => toResult(result, family, place))
      const behind = place === "after-result" ? picturesOf(message.results) : []
      return behind.length === 0 ? results : [...results, { text: picturesAbove }, ...behind.map(toBlock)]
    }
  }
}

function toBlock(part: ContentPart): JsonObject {
  if (part.type === "text") return { text: part.text }
  // `image/jpeg` -> `jpeg`
  const format = part.mediaType.slice(part.mediaType.indexOf("/") + 1)
  return { image: { format: format === "jpg" ? "jpeg" : format, source: { bytes: part.data } } }
}

function toAssistantBlocks(part: AssistantPart): JsonObject[] {
  switch (part.type) {
    case "text":
      return [{ text: part.text }]
    case "call":
      return [{ toolUse: { toolUseId: part.id, name: part.name, input: part.input } }]
    case "reasoning":
      return toReasoning(part.text, part.meta)
  }
}

/** Reasoning that nobody has signed is not taken back. */
function toReasoning(text: string, meta: JsonObject | undefined): JsonObject[] {
  const { signature, redactedContent }: Record<string, Json | undefined> = meta ?? {}
  if (signature !== undefined) return [{ reasoningContent: { reasoningText: { text, signature } } }]
  return redactedContent === undefined ? [] : [{ reasoningContent: { redactedContent } }]
}

function toResult(result: ToolResultPart, family: ConverseFamily, place: "in-result" | "after-result"): JsonObject {
  const content = place === "in-result" ? result.content.map(toBlock) : [{ text: resultText(result) }]
  const status = result.isError && family.takesResultStatus ? { status: "error" } : {}
  return { toolResult: { toolUseId: result.callId, content, ...status } }
}

/** A conversation with calls is refused without tools: those that are gone are named. */
function toTools(call: StepCall): JsonObject[] {
  const tools = call.tools.map(({ name, description, inputSchema }) => ({
    toolSpec: { name, ...(description === "" ? {} : { description }), inputSchema: { json: inputSchema } },
  }))
  if (tools.length > 0) return tools
  const parts = call.messages.flatMap((message) => (message.role === "assistant" ? message.parts : []))
  const names = new Set(parts.flatMap((part) => (part.type === "call" ? [part.name] : [])))
  const json = { type: "object", properties: {} }
  return [...names].map((name) => ({ toolSpec: { name, description: "Not available now.", inputSchema: { json } } }))
}
