// The JSON schema of a tool as the model is shown it: zod schema, or one written by hand -> a flat object schema that
// every provider takes. A provider that refuses one schema refuses the whole request, so there is one form for all.
import { z } from "zod"
import { type Json, type JsonObject, isJsonObject } from "../kernel/index.ts"
import type { Tool } from "./tool.ts"

/** Remembered by what it is made from: each turn asks, and making it takes a quarter of a step. */
const made = new WeakMap<object, JsonObject>()

/** What the model is shown of a tool's input. */
export function shownSchema(tool: Pick<Tool, "input" | "inputSchema">): JsonObject {
  return tool.inputSchema === undefined ? inputSchemaOf(tool.input) : remembered(tool.inputSchema, tool.inputSchema)
}

export function inputSchemaOf(input: z.ZodType): JsonObject {
  return made.get(input) ?? remembered(input, z.toJSONSchema(input, { io: "input" }) as JsonObject)
}

function remembered(source: object, schema: JsonObject): JsonObject {
  const flat = made.get(source) ?? flatSchema(schema)
  made.set(source, flat)
  return flat
}

/**
 * Keeps `type`, `description`, `properties`, `required`, `items` and `enum`. The rules, and who refuses a request that
 * breaks them:
 * - the top is an object, and no `oneOf`, `anyOf`, `allOf` there: OpenAI and Anthropic (twentyhq/twenty#22284,
 *   MoonshotAI/kimi-code#2328). None further down: Moonshot wants a type in each branch (openclaw/openclaw#113130), and
 *   Gemini knew none until 2025-11 (typia's IGeminiSchema).
 * - each node has one `type`: Moonshot "type is not defined" (earendil-works/pi#5822); a list of types is refused by
 *   Gemini (BerriAI/litellm#12031) and misread by llama.cpp (ggml-org/llama.cpp#21327).
 * - no `additionalProperties`, `$schema`, `$ref`, `const`, `default`, `exclusiveMinimum`, `multipleOf`,
 *   `propertyNames`: Gemini "Cannot find field" (openswarm-ai/openswarm#24, nanbingxyz/5ire#42, decolua/9router#2309).
 * - no `minLength`, `maxLength`, `minItems`, `maxItems`, `pattern`: they become repetitions of a grammar, on which
 *   llama.cpp and whatever stands on it give up (ggml-org/llama.cpp#25746, #27087).
 * - names of tools have letters, digits, `_` and `-`, 64 at most, no digit in front (Google); their descriptions at most
 *   1,024 characters (OpenAI and Azure, rusiaaman/wcgw#51, langchain-ai/open_deep_research#80).
 * - `enum` holds strings, none of them empty: Gemini (NousResearch/hermes-agent#15082, anomalyco/opencode#46676).
 * - `required` names properties of the same object: Gemini (Kilo-Org/kilocode#11955), Moonshot (vercel/ai#18921).
 * - an object has properties: Gemini (agno-agi/agno#2112), llama.cpp (#25923); an array has `items`: OpenAI
 *   (sigoden/aichat#1049).
 *
 * Limits that are left out here are still held by the tool's zod input. Throws for what has no such form.
 */
export function flatSchema(schema: JsonObject): JsonObject {
  const flat = reduce(schema, "the input")
  if (flat["type"] !== "object") throw unshowable("the input")
  return flat
}

function reduce(node: Json | undefined, at: string): JsonObject {
  if (!isJsonObject(node)) throw unshowable(at)
  const { type, description, properties, items } = node
  const about: JsonObject = typeof description === "string" ? { description } : {}
  const union = branchesOf(node)
  if (union)
    return {
      ...unite(
        union.map((branch) => reduce(branch, at)),
        at,
      ),
      ...about,
    }
  switch (type) {
    case "object": {
      if (!isJsonObject(properties)) throw unshowable(at)
      const entries = Object.entries(properties)
      const flat = Object.fromEntries(entries.map(([name, each]) => [name, reduce(each, `${at}.${name}`)]))
      return { type, ...about, properties: flat, ...requiredOf(node, flat) }
    }
    case "array":
      return { type, ...about, items: reduce(items, `${at}[]`) }
    case "string":
      return { type, ...about, ...enumOf(node) }
    case "integer":
    case "number":
    case "boolean":
      return { type, ...about }
    default:
      throw unshowable(at)
  }
}

/** Without `null`: who leaves a field out says the same. */
function branchesOf(node: JsonObject): Json[] | undefined {
  const { type } = node
  const union =
    node["anyOf"] ?? node["oneOf"] ?? (Array.isArray(type) ? type.map((each) => ({ ...node, type: each })) : [])
  if (!Array.isArray(union) || union.length === 0) return undefined
  return union.filter((branch) => !isJsonObject(branch) || branch["type"] !== "null")
}

function requiredOf({ required }: JsonObject, properties: JsonObject): JsonObject {
  if (!Array.isArray(required)) return {}
  const names = required.filter((name) => typeof name === "string" && Object.hasOwn(properties, name))
  return names.length === 0 ? {} : { required: names }
}

function enumOf(node: JsonObject): JsonObject {
  const values = node["const"] === undefined ? node["enum"] : [node["const"]]
  return Array.isArray(values) ? { enum: values.filter((value) => typeof value === "string" && value !== "") } : {}
}

/** One schema that describes what all branches take; what they take beside that is read by `readArguments`. */
function unite(branches: readonly JsonObject[], at: string): JsonObject {
  const [first] = branches
  if (!first) throw unshowable(at)
  const of = (type: string) => branches.filter((branch) => branch["type"] === type)
  const about = branches.find(({ description }) => description !== undefined)?.["description"]
  const described: JsonObject = about === undefined ? {} : { description: about }
  if (of("object").length === branches.length) return { ...uniteObjects(branches, at), ...described }
  const strings = of("string")
  if (strings.length > 0) return { type: "string", ...described, ...uniteEnums(strings, branches.length) }
  const [list] = of("array")
  if (list) return { ...list, ...described }
  if (of("number").length + of("integer").length === branches.length) {
    return { type: of("number").length > 0 ? "number" : "integer", ...described }
  }
  if (of("boolean").length === branches.length) return { type: "boolean", ...described }
  throw unshowable(at)
}

/** Values are named only where nothing else is taken. */
function uniteEnums(strings: readonly JsonObject[], branches: number): JsonObject {
  const lists = strings.flatMap((branch) => (Array.isArray(branch["enum"]) ? [branch["enum"]] : []))
  // A branch whose only value was "" says that the field may be left blank.
  if (lists.length < branches || lists.some((list) => list.length === 0)) return {}
  return { enum: [...new Set(lists.flat())] }
}

/** All fields of all branches; required are those that every branch requires. */
function uniteObjects(branches: readonly JsonObject[], at: string): JsonObject {
  const found = new Map<string, JsonObject[]>()
  for (const { properties } of branches) {
    for (const [name, each] of Object.entries(properties as JsonObject)) {
      found.set(name, [...(found.get(name) ?? []), each as JsonObject])
    }
  }
  const properties = Object.fromEntries([...found].map(([name, each]) => [name, unite(each, `${at}.${name}`)]))
  const isRequired = (name: string) =>
    branches.every(({ required }) => Array.isArray(required) && required.includes(name))
  const required = [...found.keys()].filter(isRequired)
  return { type: "object", properties, ...(required.length === 0 ? {} : { required }) }
}

/** A mistake in a tool, found by the test that walks all of them. */
function unshowable(at: string): Error {
  return new TypeError(`The schema of ${at} has no form that every provider takes: write inputSchema by hand`)
}
