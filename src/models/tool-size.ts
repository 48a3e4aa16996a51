// How long the descriptions of tools are as JSON. Each step asks several times, and a schema is the same object at each of
// them, so its length is remembered by it.
import type { JsonObject } from "../kernel/index.ts"
import type { ToolSchema } from "./contract.ts"

interface Size {
  characters: number
  bytes: number
}

const schemaSizes = new WeakMap<JsonObject, Size>()

export function toolSize({ name, description, inputSchema }: ToolSchema): Size {
  const schema = schemaSizes.get(inputSchema) ?? sizeOf(JSON.stringify(inputSchema))
  schemaSizes.set(inputSchema, schema)
  const frame = sizeOf(JSON.stringify({ name, description, inputSchema: "" }))
  return { characters: frame.characters + schema.characters, bytes: frame.bytes + schema.bytes }
}

function sizeOf(text: string): Size {
  return { characters: text.length, bytes: Buffer.byteLength(text) }
}
