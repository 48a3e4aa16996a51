// How long the descriptions of tools are as JSON. Each step asks several times, and a schema is the same object at each of
// them, so the length is remembered by it.
import type { JsonObject } from "../kernel/index.ts"
import type { ToolSchema } from "./contract.ts"

interface Size {
  characters: number
  bytes: number
}

interface Known extends Size {
  name: string
  description: string
}

const known = new WeakMap<JsonObject, Known>()

export function toolSize({ name, description, inputSchema }: ToolSchema): Size {
  const found = known.get(inputSchema)
  if (found?.name === name && found.description === description) return found
  const size = { name, description, ...sizeOf(JSON.stringify({ name, description, inputSchema })) }
  known.set(inputSchema, size)
  return size
}

function sizeOf(text: string): Size {
  return { characters: text.length, bytes: Buffer.byteLength(text) }
}
