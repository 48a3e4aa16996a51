// JSON values as types, and a parse that names what is wrong and bounds how deep it may nest.
import { AppError } from "./errors.ts"

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
export type JsonObject = { [key: string]: Json }

/** 64 levels: far more than any real payload, far less than what makes later recursive walks overflow. */
const maxDepth = 64

/**
 * Parses JSON from outside. Throws AppError `bad-json` for bad syntax or too deep nesting.
 * With `bigIntegers: "text"` an integer beyond 2^53, which a number would round, becomes a text of its digits.
 * `__proto__` keys become ordinary own properties (JSON.parse defines, never assigns) and pollute nothing.
 */
export function parseJson(text: string, options: { bigIntegers?: "text" } = {}): Json {
  checkDepth(text)
  try {
    // Looked for first: most texts have none, and each value would be looked at.
    const keeps = options.bigIntegers === "text" && /\d{16}/.test(text)
    return (keeps ? JSON.parse(text, withDigits) : JSON.parse(text)) as Json
  } catch (error) {
    throw new AppError("bad-json", `The body is not valid JSON: ${(error as Error).message}`, { cause: error })
  }
}

/** Every supported Node gives a reviver the source of the value; the language's types do not know it yet. */
function withDigits(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value
  const source = context?.source
  return source !== undefined && /^-?\d+$/.test(source) ? source : value
}

function checkDepth(text: string): void {
  let depth = 0
  let inString = false
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (inString) {
      if (code === 0x5c) index += 1
      else if (code === 0x22) inString = false
    } else if (code === 0x22) inString = true
    else if (code === 0x7b || code === 0x5b) {
      depth += 1
      if (depth > maxDepth) throw new AppError("bad-json", `The JSON is nested deeper than ${maxDepth} levels`)
    } else if (code === 0x7d || code === 0x5d) depth -= 1
  }
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
