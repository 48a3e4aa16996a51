// Arguments as a model wrote them -> as it must have meant them, by the schema that it was shown. Small models and some
// servers write numbers and flags as words, objects as JSON text, and fill in what they do not use. Only what can be read
// in one way is changed; the rest stays as it is, for the tool's zod input to refuse.
import { type Json, type JsonObject, isJsonObject } from "../kernel/index.ts"

const words: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["yes", true],
  ["1", true],
  ["false", false],
  ["no", false],
  ["0", false],
])

export function readArguments(schema: JsonObject, written: Json): Json {
  // A call without arguments comes as nothing at all from some servers.
  if (written === null || isBlank(written)) return {}
  return read(schema, written)
}

function read(schema: JsonObject, value: Json): Json {
  switch (schema["type"]) {
    case "object":
      return readObject(schema, value)
    case "array":
      return readList(schema, value)
    case "string":
      return readText(schema, value)
    case "integer":
    case "number":
      return readNumber(value, schema["type"] === "integer")
    case "boolean":
      return readFlag(value)
    default:
      return value
  }
}

/** Fields that the schema does not name stay: whether they are taken is the tool's own matter. */
function readObject(schema: JsonObject, value: Json): Json {
  const object = typeof value === "string" ? parsed(value) : value
  const { properties, required } = schema
  if (!isJsonObject(object) || !isJsonObject(properties)) return value
  const entries = Object.entries(object).flatMap(([name, field]): [string, Json][] => {
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (!isJsonObject(known)) return [[name, field]]
    const isOptional = !Array.isArray(required) || !required.includes(name)
    return isOptional && saysNothing(known, field) ? [] : [[name, read(known, field)]]
  })
  return Object.fromEntries(entries)
}

/** An optional field filled in with nothing. An empty text may mean something where any text is taken. */
function saysNothing(schema: JsonObject, value: Json): boolean {
  if (value === null) return true
  const isFreeText = schema["type"] === "string" && schema["enum"] === undefined
  return !isFreeText && (isBlank(value) || (typeof value === "string" && value.trim().toLowerCase() === "null"))
}

function readList(schema: JsonObject, value: Json): Json {
  const { items } = schema
  if (!isJsonObject(items)) return value
  const list = typeof value === "string" ? (parsed(value) ?? value) : value
  if (!Array.isArray(list)) return [read(items, list)]
  // Several single values where lists are wanted may be one list or several.
  const isUnclear = items["type"] === "array" && list.length > 1
  return list.map((each) => (isUnclear && !Array.isArray(each) ? each : read(items, each)))
}

function readText(schema: JsonObject, value: Json): Json {
  // A whole number that long has lost its last digits already: as a text it would name something else.
  if (typeof value === "number") return Number.isInteger(value) && !Number.isSafeInteger(value) ? value : String(value)
  if (typeof value === "boolean") return String(value)
  const values = schema["enum"]
  if (typeof value !== "string" || !Array.isArray(values) || values.includes(value)) return value
  const plain = value.trim().toLowerCase()
  const meant = values.filter((each) => typeof each === "string" && each.toLowerCase() === plain)
  return meant.length === 1 ? (meant[0] as string) : value
}

function readNumber(value: Json, isWhole: boolean): Json {
  if (typeof value !== "string" || !/^-?\d{1,20}(\.\d{1,20})?$/.test(value.trim())) return value
  const number = Number(value)
  // Longer ones lose their last digits: that would be another number.
  if (isWhole ? !Number.isSafeInteger(number) : Math.abs(number) > Number.MAX_SAFE_INTEGER) return value
  return number
}

function readFlag(value: Json): Json {
  if (typeof value !== "string" && typeof value !== "number") return value
  return words.get(String(value).trim().toLowerCase()) ?? value
}

function isBlank(value: Json): boolean {
  return typeof value === "string" && value.trim() === ""
}

/** An object or a list written as JSON text; undefined for every other text. */
function parsed(text: string): Json | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    return JSON.parse(text) as Json
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
