// Rules about tools as OpenAI has them, for Chat Completions (`tools[0].function.name`) and Responses
// (`tools[0].name`) alike. Texts: "Function calling" guide, and the issues named at each rule.
import { isJsonObject, type Json, type JsonObject } from "../../../src/kernel/index.ts"
import type { Fault, Rule } from "./contract.ts"
import { firstFault, firstRepeated, objectOf, objectsOf, textOf } from "./read.ts"
import { hasType, printedType, walkSchema, type SchemaPath } from "./schema.ts"

interface Tool {
  name: string
  description: string
  parameters: Json | undefined
  strict: boolean
  /** The way to its fields, as `tools[0].function`. */
  at: string
}

const badRequest = "invalid_request_error"
const maxTools = 128

export function toolsOf(body: JsonObject): Tool[] {
  return objectsOf(body.tools).flatMap((tool, index) => {
    if (tool.type !== "function") return []
    const nested = isJsonObject(tool.function)
    const fields = nested ? objectOf(tool.function) : tool
    return [
      {
        name: textOf(fields.name),
        description: textOf(fields.description),
        parameters: fields.parameters,
        strict: fields.strict === true,
        at: nested ? `tools[${index}].function` : `tools[${index}]`,
      },
    ]
  })
}

// gsd-build/gsd-2#4376 names the same limit at Groq; OpenAI: "Function calling", at most 128 tools.
export const toolCount: Rule = ({ body }) => {
  const count = Array.isArray(body.tools) ? body.tools.length : 0
  if (count <= maxTools) return undefined
  const message = `Invalid 'tools': array too long. Expected an array with maximum length ${maxTools}, but got an array with length ${count} instead.`
  return { message, type: badRequest, param: "tools", code: "array_above_max_length" }
}

// brekkylab/ailoy#109, continuedev/continue#11645 (empty), and 64 characters by the API reference.
export const toolNames: Rule = ({ body }) =>
  firstFault(toolsOf(body), (tool) => nameFault(tool.name, `${tool.at}.name`))

export function nameFault(name: string, param: string): Fault | undefined {
  if (name === "") return emptyString(param)
  if (name.length > 64) return stringTooLong(param, name, 64)
  if (/^[a-zA-Z0-9_-]+$/.test(name)) return undefined
  const message = `Invalid '${param}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`
  return { message, type: badRequest, param, code: "invalid_value" }
}

export function stringTooLong(param: string, value: string, limit: number): Fault {
  const message = `Invalid '${param}': string too long. Expected a string with maximum length ${limit}, but got a string with length ${value.length} instead.`
  return { message, type: badRequest, param, code: "string_above_max_length" }
}

function emptyString(param: string): Fault {
  const message = `Invalid '${param}': empty string. Expected a string with minimum length 1, but got an empty string instead.`
  return { message, type: badRequest, param, code: "empty_string" }
}

// getsentry/sentry-mcp#106
export const toolDescriptions: Rule = ({ body }) =>
  firstFault(toolsOf(body), (tool) =>
    tool.description.length > 1024 ? stringTooLong(`${tool.at}.description`, tool.description, 1024) : undefined,
  )

// Not OpenAI, which takes them (danny-avila/LibreChat#13162), but others on its interface: dataelement/Clawith#251.
export const toolNamesUnique: Rule = ({ body }) => {
  const repeated = firstRepeated(toolsOf(body).map((tool) => tool.name))
  return repeated === undefined
    ? undefined
    : { message: "Tool names must be unique.", type: badRequest, code: badRequest }
}

// vercel/ai#1485, chatanywhere/GPT_API_free#403
export const toolSchemaIsObject: Rule = ({ body }) =>
  firstFault(toolsOf(body), (tool) => {
    if (tool.parameters === undefined) return undefined
    const type = objectOf(tool.parameters).type
    if (type === "object") return undefined
    return schemaFault(tool, `schema must be a JSON Schema of 'type: "object"', got 'type: "${printedType(type)}"'.`)
  })

// nspady/google-calendar-mcp#39, langchain-ai/langchainjs#9804
export const toolSchemaHasNoUnionOnTop: Rule = ({ body }) =>
  firstFault(toolsOf(body), (tool) => {
    const schema = objectOf(tool.parameters)
    if (!["oneOf", "anyOf", "allOf", "enum", "not"].some((key) => key in schema)) return undefined
    const words = "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level."
    return schemaFault(tool, words)
  })

// modelscope/ms-agent#610; a list of types with "array" in it counts: campfirein/byterover-cli#42
export const toolArraysHaveItems: Rule = ({ body }) =>
  firstFault(toolsOf(body), (tool) =>
    walkSchema(objectOf(tool.parameters), (node, path) =>
      hasType(node, "array") && !("items" in node)
        ? schemaFault(tool, `In context=${context(path)}, array schema missing items.`)
        : undefined,
    ),
  )

// "Structured outputs" guide; lastmile-ai/openai-agents-mcp#2, kevinwatt/mysql-mcp#5
export const strictTools: Rule = ({ body }) =>
  firstFault(
    toolsOf(body).filter((tool) => tool.strict),
    (tool) =>
      walkSchema(objectOf(tool.parameters), (node, path) => {
        const words = strictFault(node)
        return words === undefined ? undefined : schemaFault(tool, `In context=${context(path)}, ${words}`)
      }),
  )

function strictFault(node: JsonObject): string | undefined {
  for (const key of ["oneOf", "allOf", "not"]) if (key in node) return `'${key}' is not permitted.`
  if (!hasType(node, "object")) return undefined
  if (node.additionalProperties !== false) return "'additionalProperties' is required to be supplied and to be false."
  const required = Array.isArray(node.required) ? node.required : []
  const missing = Object.keys(objectOf(node.properties)).find((key) => !required.includes(key))
  if (missing === undefined) return undefined
  return `'required' is required to be supplied and to be an array including every key in properties. Missing '${missing}'.`
}

function schemaFault(tool: Tool, words: string): Fault {
  const message = `Invalid schema for function '${tool.name}': ${words}`
  return { message, type: badRequest, param: `${tool.at}.parameters`, code: "invalid_function_parameters" }
}

/** As Python prints a tuple: `()`, `('items',)`, `('properties', 'paths')`. */
function context(path: SchemaPath): string {
  const quoted = path.map((step) => `'${step}'`)
  return quoted.length === 1 ? `(${quoted[0]},)` : `(${quoted.join(", ")})`
}

/** What OpenAI and nearly everybody on its interfaces wants of tools. */
export const commonToolRules: readonly Rule[] = [
  toolNames,
  toolSchemaIsObject,
  toolSchemaHasNoUnionOnTop,
  toolArraysHaveItems,
]

// OpenAI caps its prompt cache key: theopenco/llmgateway#3110
export const promptCacheKey: Rule = ({ body }) => {
  const key = textOf(body.prompt_cache_key)
  return key.length > 64 ? stringTooLong("prompt_cache_key", key, 64) : undefined
}
