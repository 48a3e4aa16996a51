// Anthropic's rules about tools and their calls. Texts: "Tool use" guide, and the issues named at each rule.
import type { JsonObject } from "../../../src/kernel/index.ts"
import { badRequest, blocksOf, messageBlocks, messagesOf, toolUseIds } from "./anthropic-blocks.ts"
import type { Fault, Rule } from "./contract.ts"
import { firstFault, firstRepeated, objectOf, objectsOf, textOf } from "./read.ts"
import { isJsonObject } from "../../../src/kernel/index.ts"

/** Tools that the client runs; the provider's own have a type of their own. */
function ownTools(body: JsonObject): { tool: JsonObject; at: string }[] {
  return objectsOf(body.tools).flatMap((tool, index) =>
    tool.type === undefined || tool.type === "custom" ? [{ tool, at: `tools.${index}.custom` }] : [],
  )
}

function nameFault(name: string, at: string): Fault | undefined {
  if (name.length > 128) return badRequest(`${at}: String should have at most 128 characters`)
  if (/^[a-zA-Z0-9_-]+$/.test(name)) return undefined
  return badRequest(`${at}: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`)
}

// home-assistant/core#147760, anthropics/claude-code#96152
export const toolNames: Rule = ({ body }) =>
  firstFault(ownTools(body), ({ tool, at }) => nameFault(textOf(tool.name), `${at}.name`))

// danny-avila/LibreChat#13162
export const toolNamesUnique: Rule = ({ body }) => {
  const repeated = firstRepeated(objectsOf(body.tools).map((tool) => textOf(tool.name)))
  return repeated === undefined ? undefined : badRequest("tools: Tool names must be unique.")
}

// anthropics/claude-code#5973, marianfoo/mcp-sap-docs#51
export const toolSchemas: Rule = ({ body }) =>
  firstFault(ownTools(body), ({ tool, at }) => {
    if (!isJsonObject(tool.input_schema)) return badRequest(`${at}.input_schema: Field required`)
    const schema = tool.input_schema
    if (schema.type === undefined) return badRequest(`${at}.input_schema.type: Field required`)
    if (schema.type !== "object") return badRequest(`${at}.input_schema.type: Input should be 'object'`)
    if (!["oneOf", "anyOf", "allOf"].some((key) => key in schema)) return undefined
    return badRequest(`${at}.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`)
  })

// anthropics/claude-code#8210; results stand first in their message: "Handle tool calls"
export const callsHaveResults: Rule = ({ body }) => {
  const messages = messagesOf(body)
  return firstFault(messages, (message, index) => {
    const results = leadingResults(messages[index + 1])
    const open = toolUseIds(message).filter((id) => !results.includes(id))
    // Calls of the last message are being answered by nobody yet; that is refused as well.
    if (open.length === 0) return undefined
    return badRequest(
      `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
    )
  })
}

function leadingResults(message: JsonObject | undefined): string[] {
  if (message?.role !== "user") return []
  const blocks = blocksOf(message.content)
  const end = blocks.findIndex((block) => block.type !== "tool_result")
  return (end === -1 ? blocks : blocks.slice(0, end)).map((block) => textOf(block.tool_use_id))
}

// anthropics/claude-code#18947
export const resultsFollowCalls: Rule = ({ body }) => {
  const messages = messagesOf(body)
  return firstFault(messages, (message, index) => {
    const called = toolUseIds(messages[index - 1])
    return firstFault(blocksOf(message.content), (block, position) => {
      const id = textOf(block.tool_use_id)
      if (block.type !== "tool_result" || called.includes(id)) return undefined
      return badRequest(
        `messages.${index}.content.${position}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
      )
    })
  })
}

// "Handle tool calls": one result for each call
export const resultsAreSingle: Rule = ({ body }) =>
  firstFault(messagesOf(body), (message, index) => {
    const results = blocksOf(message.content).filter((block) => block.type === "tool_result")
    const id = firstRepeated(results.map((block) => textOf(block.tool_use_id)))
    if (id === undefined) return undefined
    return badRequest(
      `messages.${index}.content: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`,
    )
  })

export const callIdsAreUnique: Rule = ({ body }) => {
  const repeated = firstRepeated(messagesOf(body).flatMap(toolUseIds))
  return repeated === undefined ? undefined : badRequest("messages: `tool_use` ids must be unique")
}

// RooCodeInc/Roo-Code#10649, maximhq/bifrost#5097
export const callIdForm: Rule = ({ body }) =>
  firstFault(messageBlocks(body), ({ block, type, at }) => {
    const field = type === "tool_use" ? "id" : type === "tool_result" ? "tool_use_id" : undefined
    if (field === undefined || /^[a-zA-Z0-9_-]+$/.test(textOf(block[field]))) return undefined
    return badRequest(`${at}.${type}.${field}: String should match pattern '^[a-zA-Z0-9_-]+$'`)
  })

export const callNames: Rule = ({ body }) =>
  firstFault(messageBlocks(body), ({ block, type, at }) =>
    type === "tool_use" ? nameFault(textOf(block.name), `${at}.tool_use.name`) : undefined,
  )

// anthropics/anthropic-sdk-typescript#648
export const callInputs: Rule = ({ body }) =>
  firstFault(messageBlocks(body), ({ block, type, at }) =>
    type === "tool_use" && !isJsonObject(block.input)
      ? badRequest(`${at}.tool_use.input: Input should be a valid dictionary`)
      : undefined,
  )

// "Extended thinking" guide: with thinking on, a tool cannot be forced
export const forcedTools: Rule = ({ body }) => {
  const choice = textOf(objectOf(body.tool_choice).type)
  const thinking = textOf(objectOf(body.thinking).type)
  if (!["any", "tool"].includes(choice) || !["enabled", "adaptive"].includes(thinking)) return undefined
  return badRequest("Thinking may not be enabled when tool_choice forces tool use.")
}
