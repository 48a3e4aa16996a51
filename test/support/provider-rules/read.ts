// Reading of foreign JSON for the rules: every reader takes what is there and never throws.
import { isJsonObject, type Json, type JsonObject } from "../../../src/kernel/index.ts"
import type { Fault } from "./contract.ts"

/** The objects of a list; what is not an object stands as an empty one, so that positions stay right. */
export function objectsOf(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.map((item) => (isJsonObject(item) ? item : {})) : []
}

export function objectOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {}
}

export function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : ""
}

export function firstFault<Item>(
  items: readonly Item[],
  find: (item: Item, index: number) => Fault | undefined,
): Fault | undefined {
  for (const [index, item] of items.entries()) {
    const fault = find(item, index)
    if (fault) return fault
  }
  return undefined
}

/** The first value that stands twice. */
export function firstRepeated(values: readonly string[]): string | undefined {
  return values.find((value, index) => values.indexOf(value) < index)
}

export function unknownKeys(object: JsonObject, known: ReadonlySet<string>): string[] {
  return Object.keys(object).filter((key) => !known.has(key))
}

export function modelOf(body: JsonObject): string {
  return textOf(body.model)
}

/** The path without its query. */
export function pathOf(path: string): string {
  const query = path.indexOf("?")
  return query === -1 ? path : path.slice(0, query)
}
