// The words of a prompt, whatever the interface: what tests look for in requests.
import { isJsonObject, type JsonObject } from "../../../src/kernel/index.ts"

/** Where prompts stand in requests, in the order in which they are read. */
const places = ["system", "instructions", "systemInstruction", "messages", "input", "contents"] as const

/** Keys that hold words; pictures, ids and names are not words. */
const keys = [
  "content",
  "text",
  "output",
  "arguments",
  "input",
  "parts",
  "functionCall",
  "functionResponse",
  "args",
  "response",
  "toolUse",
  "toolResult",
]

export function promptWords(body: JsonObject): string {
  return wordsOf(places.map((place) => body[place]))
}

/** Every string under the keys that hold words, in order. */
function wordsOf(value: unknown): string {
  if (typeof value === "string") return value
  if (Array.isArray(value)) return value.map(wordsOf).filter(Boolean).join("\n")
  if (!isJsonObject(value)) return ""
  return keys
    .map((key) => wordsOf(value[key]))
    .filter(Boolean)
    .join("\n")
}
