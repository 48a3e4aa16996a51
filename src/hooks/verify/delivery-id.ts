// Where a delivery's id comes from: the place that the mapping names, else the sender's usual one.
// Payloads are foreign: only own properties are looked at.
import { createHash } from "node:crypto"
import { AppError, type Json, isJsonObject } from "../../kernel/index.ts"
import { type TemplatePath, compilePath } from "../template.ts"
import type { DeliveryId } from "./contract.ts"

/** Longer ids are hashed: the id is a key of the store. */
const maxCharacters = 200

export type IdSource = { kind: "header"; name: string } | { kind: "payload"; path: (string | number)[] }

/** `headers.x-delivery` or `payload.data[0].id`, written as in templates; undefined for anything else. */
export function parseIdSource(text: string): IdSource | undefined {
  const [root, ...path] = readPath(text)
  const [first] = path
  if (root === "headers" && path.length === 1 && typeof first === "string") {
    return { kind: "header", name: first.toLowerCase() }
  }
  return root === "payload" && path.length > 0 ? { kind: "payload", path } : undefined
}

function readPath(text: string): TemplatePath {
  try {
    return compilePath(text)
  } catch (error) {
    if (error instanceof AppError && error.code === "config-invalid") return []
    throw error
  }
}

/** Strings and numbers of the payload; anything else is undefined. */
export function textAt(json: Json | undefined, ...path: (string | number)[]): string | undefined {
  let value: Json | undefined = json
  for (const segment of path) {
    if (typeof segment === "number") value = Array.isArray(value) ? value[segment] : undefined
    else value = isJsonObject(value) && Object.hasOwn(value, segment) ? value[segment] : undefined
  }
  if (typeof value === "number") return String(value)
  return typeof value === "string" && value !== "" ? value : undefined
}

/** An id, or undefined when the sender gave none. */
export function deliveryId(value: string | undefined, signed: boolean): DeliveryId | undefined {
  if (value === undefined || value === "") return undefined
  const short = value.length <= maxCharacters ? value : createHash("sha256").update(value).digest("hex")
  return { value: short, signed }
}
