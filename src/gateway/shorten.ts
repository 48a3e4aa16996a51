// Long values of the store (page text, pictures as base64) made short enough to be looked at.
import type { Json } from "../kernel/index.ts"

const defaultCharacters = 4_000

export function shorten(text: string, characters = defaultCharacters): string {
  return text.length <= characters ? text : `${text.slice(0, characters)}… (${text.length} characters)`
}

/** JSON text of the store as a value, every long string in it shortened. */
export function parseShortened(text: string): Json {
  return JSON.parse(text, (_key, value: Json) => (typeof value === "string" ? shorten(value) : value)) as Json
}
