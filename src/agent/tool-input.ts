// The input of a tool call: what the model wrote -> read by the shown schema -> the tool's zod input -> its value, or one
// line that says what is wrong and one that shows the form that was expected.
import type { z } from "zod"
import { type Json, type JsonObject, isJsonObject } from "../kernel/index.ts"
import { neutralize } from "./boundary.ts"
import type { Tool } from "./tool.ts"
import { readArguments } from "./tool-arguments.ts"
import { shownSchema } from "./tool-schema.ts"

export type ToolInput = { kind: "accepted"; value: unknown } | { kind: "refused"; reason: string }

/** Of faults that are told at once; the model mends these first. */
const maxFaults = 5
const maxShape = 800

export function readToolInput(tool: Tool, written: Json): ToolInput {
  const schema = shownSchema(tool)
  const input = readArguments(schema, written)
  const first = tool.input.safeParse(input, { reportInput: true })
  const parsed = first.success ? first : tool.input.safeParse(withoutUnknown(input, first.error), { reportInput: true })
  if (parsed.success) return { kind: "accepted", value: parsed.data }
  return { kind: "refused", reason: neutralize(explain(schema, input, parsed.error)) }
}

/** Fields that a tool does not have are left out, as a person would overlook them. */
function withoutUnknown(input: Json, { issues }: z.ZodError): Json {
  const unknown = new Map<string, ReadonlySet<string>>()
  for (const issue of issues) {
    if (issue.code === "unrecognized_keys") unknown.set(placeOf(issue.path), new Set(issue.keys))
  }
  return unknown.size === 0 ? input : without(input, unknown, [])
}

/** In one pass: a list of thousands may have a fault in each. */
function without(value: Json, unknown: ReadonlyMap<string, ReadonlySet<string>>, path: readonly PropertyKey[]): Json {
  if (Array.isArray(value)) return value.map((each, index) => without(each, unknown, [...path, index]))
  if (!isJsonObject(value)) return value
  const names = unknown.get(placeOf(path))
  const entries = Object.entries(value).filter(([name]) => !names?.has(name))
  return Object.fromEntries(entries.map(([name, each]) => [name, without(each, unknown, [...path, name])]))
}

function placeOf(path: readonly PropertyKey[]): string {
  return JSON.stringify(path)
}

function explain(schema: JsonObject, input: Json, { issues }: z.ZodError): string {
  const action = actionOf(schema, input)
  const faults = issues.slice(0, maxFaults).map(sayFault).join("; ")
  const form = action === undefined ? "" : ` for the action ${action}`
  const shape = shapeOf(schema, { action, issues })
  const expected = shape.length > maxShape ? `${shape.slice(0, maxShape)}...` : shape
  return `The input is not acceptable${form}: ${faults}. Expected: ${expected}`
}

/** Tools with several forms of input tell them apart by `action`. */
function actionOf({ properties }: JsonObject, input: Json): string | undefined {
  const action = isJsonObject(input) ? input["action"] : undefined
  const known = isJsonObject(properties) ? properties["action"] : undefined
  const values = isJsonObject(known) ? known["enum"] : undefined
  return Array.isArray(values) && typeof action === "string" && values.includes(action) ? action : undefined
}

function sayFault(issue: z.core.$ZodIssue): string {
  const place = issue.path.length === 0 ? "it" : issue.path.map(String).join(".")
  return `${place} ${sayWhat(issue)}`
}

function sayWhat(issue: z.core.$ZodIssue): string {
  // Our own words, which zod's never look like.
  if (/^[a-z]/.test(issue.message)) return issue.message
  if (issue.input === undefined) return "is missing"
  switch (issue.code) {
    case "invalid_type":
      return `must be ${/^[aeio]/.test(issue.expected) ? "an" : "a"} ${issue.expected}`
    case "invalid_value":
      return `must be one of ${issue.values.join(", ")}`
    case "invalid_union":
      return sayUnion(issue)
    default:
      return `is not acceptable (${issue.message})`
  }
}

/** What the branch says that came closest: it takes values of this type. */
function sayUnion({ errors }: Extract<z.core.$ZodIssue, { code: "invalid_union" }>): string {
  const firsts = errors.flatMap(([first]) => (first ? [first] : []))
  const closest = firsts.find(({ code }) => code !== "invalid_type" && code !== "invalid_value") ?? firsts.at(-1)
  return closest ? sayWhat(closest) : "is none of the values that are taken"
}

/** In a line. With a `fault` only the required fields and those at fault are shown, and `...` for the others. */
function shapeOf(
  schema: JsonObject,
  fault?: { action: string | undefined; issues: readonly z.core.$ZodIssue[] },
): string {
  const { type, properties, required, items } = schema
  const values = schema["enum"]
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(" | ")
  if (isJsonObject(items)) return `[${shapeOf(items)}]`
  if (!isJsonObject(properties)) return String(type)
  const atFault = (name: string) => fault?.issues.find(({ path }) => path[0] === name)
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name)
  const all = Object.entries(properties)
  const shown = fault ? all.filter(([name]) => isRequired(name) || atFault(name)) : all
  const fields = shown.map(([name, each]) => {
    const issue = atFault(name)
    const mark = isRequired(name) || (issue && sayFault(issue) === `${name} is missing`) ? "" : "?"
    const form = name === "action" && fault?.action ? JSON.stringify(fault.action) : shapeOf(each as JsonObject)
    return `"${name}"${mark}: ${form}`
  })
  if (shown.length < all.length) fields.push("...")
  return `{${fields.join(", ")}}`
}
