// `extraBody` of the configuration over a request of ours, for every interface alike.
import { type JsonObject, isJsonObject } from "../../kernel/index.ts"

/** Objects are joined field by field, so that one more field of `reasoning` leaves the others; all else replaces. */
export function overlay(base: JsonObject, over: JsonObject): JsonObject {
  const joined: JsonObject = { ...base }
  for (const [name, value] of Object.entries(over)) {
    const before = Object.hasOwn(base, name) ? base[name] : undefined
    joined[name] = isJsonObject(before) && isJsonObject(value) ? overlay(before, value) : value
  }
  return joined
}
