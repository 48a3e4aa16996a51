// One of our tools as other programs are shown it: a name, what it is for, a flat schema, and a handler that is given
// arguments of that form. Which tools a caller sees follows from the scopes of its token.
import { AppError, type Json, type JsonObject } from "../../kernel/index.ts"
import type { ContentPart } from "../../models/contract.ts"
import type { Caller, Right } from "../contract.ts"

export interface ServedTool {
  name: string
  description: string
  /** An object with `properties`; flat, as every client and model takes it. */
  schema: JsonObject
  /** One of these is needed to see it. */
  rights: readonly Right[]
  run(input: JsonObject, caller: Caller, signal: AbortSignal): Promise<Answer>
}

export interface Answer {
  content: ContentPart[]
  /** Words of our own, outside the boundary. */
  note?: string
  /** The content may hold words of others: pages, messages, payloads. */
  isForeign: boolean
  isError?: boolean
  /** Pictures in the answer itself, not as resources. */
  inline?: boolean
}

export const text = (description?: string): JsonObject => ({
  type: "string",
  ...(description === undefined ? {} : { description }),
})
export const whole = (description?: string): JsonObject => ({
  type: "integer",
  ...(description === undefined ? {} : { description }),
})
export const flag = (description: string): JsonObject => ({ type: "boolean", description })
export const oneOf = (values: readonly string[], description?: string): JsonObject => ({
  ...text(description),
  enum: [...values],
})

export function json(value: unknown, isForeign: boolean): Answer {
  return { content: [{ type: "text", text: JSON.stringify(value) }], isForeign }
}

/** The field as text; ids may also come as numbers. Throws `bad-request`. */
export function needed(input: JsonObject, name: string): string {
  const value = input[name]
  if (typeof value === "number") return String(value)
  if (typeof value === "string" && value.trim() !== "") return value.trim()
  throw new AppError("bad-request", `action ${String(input["action"])}: ${name} is missing`)
}

/** Those of the fields that were given, as a query. */
export function queryOf(input: JsonObject, ...names: string[]): Record<string, string | number | boolean> {
  const given = names.map((name): [string, Json | undefined] => [name, input[name]])
  return Object.fromEntries(given.filter(([, value]) => isPlain(value))) as Record<string, string | number | boolean>
}

function isPlain(value: Json | undefined): value is string | number | boolean {
  return typeof value === "number" || typeof value === "boolean" || (typeof value === "string" && value !== "")
}

/** The handler of the action that is asked for. Throws `bad-request` for one that there is not. */
export function byAction(actions: Readonly<Record<string, ServedTool["run"]>>): {
  names: string[]
  run: ServedTool["run"]
} {
  const names = Object.keys(actions)
  return {
    names,
    async run(input, caller, signal) {
      const { action } = input
      const run = typeof action === "string" && Object.hasOwn(actions, action) ? actions[action] : undefined
      if (!run) throw new AppError("bad-request", `action must be one of ${names.join(", ")}`)
      return await run(input, caller, signal)
    },
  }
}
