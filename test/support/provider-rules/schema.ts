// A walk through a JSON schema, with the way to each node, for rules about tools.
import { isJsonObject, type Json, type JsonObject } from "../../../src/kernel/index.ts"
import type { Fault } from "./contract.ts"

/** Keys and positions from the top to a node, as `["properties", "paths", "items"]`. */
export type SchemaPath = readonly string[]

/** Top first; ends at the first fault. */
export function walkSchema(
  schema: JsonObject,
  visit: (node: JsonObject, path: SchemaPath) => Fault | undefined,
  path: SchemaPath = [],
): Fault | undefined {
  const own = visit(schema, path)
  if (own) return own
  for (const { node, step } of childrenOf(schema)) {
    const fault = walkSchema(node, visit, [...path, ...step])
    if (fault) return fault
  }
  return undefined
}

interface Child {
  node: JsonObject
  step: string[]
}

function childrenOf(schema: JsonObject): Child[] {
  const named = ["properties", "$defs", "definitions"].flatMap((key) => {
    const value = schema[key]
    return isJsonObject(value) ? Object.entries(value).map(([name, node]) => ({ node, step: [key, name] })) : []
  })
  const listed = ["anyOf", "oneOf", "allOf", "prefixItems"].flatMap((key) => {
    const value = schema[key]
    return Array.isArray(value) ? value.map((node, index) => ({ node, step: [key, String(index)] })) : []
  })
  const single = ["items", "additionalProperties", "not"].map((key) => ({ node: schema[key], step: [key] }))
  return [...named, ...listed, ...single].filter((child): child is Child => isJsonObject(child.node))
}

export function hasType(schema: JsonObject, type: string): boolean {
  const written = schema.type
  return written === type || (Array.isArray(written) && written.includes(type))
}

/** The type as the messages of errors print it. */
export function printedType(type: Json | undefined): string {
  return typeof type === "string" ? type : type === undefined || type === null ? "None" : JSON.stringify(type)
}
