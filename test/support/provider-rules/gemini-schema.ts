// The part of JSON Schema that Gemini's `parameters` know, and the words with which the rest is refused.
import { isJsonObject, type Json, type JsonObject } from "../../../src/kernel/index.ts"
import { textOf } from "./read.ts"

/** "Function calling" guide and the API reference, `Schema`. */
const known: ReadonlySet<string> = new Set(
  (
    "type format title description nullable enum maxItems minItems properties required minProperties maxProperties " +
    "minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum " +
    "max_items min_items min_properties max_properties min_length max_length any_of property_ordering"
  ).split(" "),
)

/** All faults at once, a line each, as the service reports them: ahmadrosid/nakama#292, zed-industries/zed#44875. */
export function unknownNames(schema: JsonObject, at: string): string[] {
  const own = Object.keys(schema)
    .filter((key) => !known.has(key))
    .map((key) => `Invalid JSON payload received. Unknown name "${key}" at '${at}': Cannot find field.`)
  const list = Array.isArray(schema.type)
    ? [
        `Invalid JSON payload received. Unknown name "type" at '${at}': Proto field is not repeating, cannot start list.`,
      ]
    : []
  return [...own, ...list, ...childrenOf(schema, at).flatMap((child) => unknownNames(child.node, child.at))]
}

/** Maps are lists of pairs to the parser, hence `properties[0].value`. */
function childrenOf(schema: JsonObject, at: string): { node: JsonObject; at: string }[] {
  const properties = isJsonObject(schema.properties) ? Object.values(schema.properties) : []
  const choices = Array.isArray(schema.anyOf) ? schema.anyOf : []
  const children = [
    ...properties.map((node, index) => ({ node, at: `${at}.properties[${index}].value` })),
    ...choices.map((node, index) => ({ node, at: `${at}.any_of[${index}]` })),
    { node: schema.items, at: `${at}.items` },
  ]
  return children.filter((child): child is { node: JsonObject; at: string } => isJsonObject(child.node))
}

/**
 * What is wrong with a schema of known fields: AstrBotDevs/AstrBot#6029 (items), agno-agi/agno#2113 (no properties),
 * googleapis/python-genai and "Function calling" (required, enum).
 */
export function badSchemas(schema: JsonObject, at: string): string[] {
  const type = textOf(schema.type).toUpperCase()
  const properties = isJsonObject(schema.properties) ? schema.properties : {}
  const faults: string[] = []
  if (type === "ARRAY" && schema.items === undefined) faults.push(`${at}.items: missing field.`)
  if (Array.isArray(schema.enum) && type !== "STRING") faults.push(`${at}.enum: only allowed for STRING type`)
  if (type === "OBJECT" && Array.isArray(schema.required)) {
    const missing = schema.required.findIndex((name: Json) => !Object.hasOwn(properties, String(name)))
    if (missing !== -1) faults.push(`${at}.required[${missing}]: property is not defined`)
  }
  const named = Object.entries(properties).map(([name, node]) => ({ node, at: `${at}.properties[${name}]` }))
  const choices = (Array.isArray(schema.anyOf) ? schema.anyOf : []).map((node, index) => ({
    node,
    at: `${at}.any_of[${index}]`,
  }))
  const children = [...named, ...choices, { node: schema.items, at: `${at}.items` }]
  return [...faults, ...children.flatMap((child) => (isJsonObject(child.node) ? badSchemas(child.node, child.at) : []))]
}
