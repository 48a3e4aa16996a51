// What validation found, in words for a person: schema issue -> message with place, nearest key, shortened value.
// Never the value of a secret, and never a value that a placeholder was replaced by: values are shown as written.
import type { z } from "zod"
import { isJsonObject } from "../kernel/json.ts"
import type { Json } from "../kernel/json.ts"
import type { ConfigIssue } from "./document.ts"
import type { ConfigPath } from "./path.ts"
import { isShowable, knownKeys } from "./schema-walk.ts"
import { findNode, issueAt } from "./source-tree.ts"
import type { SourceNode } from "./source-tree.ts"

type SchemaIssue = z.core.$ZodIssue

const maxShownCharacters = 60
const maxListedKeys = 16

/** Messages of issues for which the schema has no words of its own; passed to the parse call. */
export const describeSchemaIssue: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined
        ? "is required"
        : `must be ${typeName(issue.expected)}, not ${kindOf(issue.input)}`
    case "invalid_value":
      return `must be ${oneOf(issue.values.map((value) => JSON.stringify(value)))}${meant(issue.input, issue.values)}`
    case "too_small":
      return tooSmall(issue.origin, Number(issue.minimum), issue.inclusive !== false)
    case "too_big":
      return tooBig(issue.origin, Number(issue.maximum))
    case "invalid_format":
      return issue.format === "url" ? "must be a URL" : `must match ${String(issue["pattern"] ?? issue.format)}`
    default:
      return undefined
  }
}

function meant(written: unknown, values: readonly unknown[]): string {
  const names = values.filter((value) => typeof value === "string")
  const near = typeof written === "string" ? nearestName(written, names) : undefined
  return near === undefined ? "" : `; did you mean "${near}"?`
}

/** What of a text or a list is counted. */
const counted: Record<string, string> = { string: "characters", array: "entries" }

function tooSmall(origin: string, minimum: number, isInclusive: boolean): string {
  const what = counted[origin]
  if (what === undefined) return `must be ${isInclusive ? "at least" : "more than"} ${minimum}`
  return minimum === 1 ? "must not be empty" : `must have at least ${minimum} ${what}`
}

function tooBig(origin: string, maximum: number): string {
  const what = counted[origin]
  return what === undefined ? `must be at most ${maximum}` : `must have at most ${maximum} ${what}`
}

export function toConfigIssues(options: {
  schema: z.core.$ZodType
  root: SourceNode
  /** As written, before substitution. */
  source: Json
  found: readonly SchemaIssue[]
}): ConfigIssue[] {
  const issues = options.found
    .flatMap((issue) => flatten(issue))
    .flatMap((issue) => describe(options, issue))
    .map((issue) => ({ key: `${issue.path}\n${issue.message}`, issue }))
  return [...new Map(issues.map(({ key, issue }) => [key, issue])).values()]
}

interface FlatIssue {
  path: ConfigPath
  message: string
  unknownKeys?: string[]
}

/** Unions become the issues of the one branch that was meant, or one sentence about what is allowed. */
function flatten(issue: SchemaIssue, prefix: ConfigPath = []): FlatIssue[] {
  const path = [...prefix, ...(issue.path as (string | number)[])]
  if (issue.code === "unrecognized_keys") return [{ path, message: "", unknownKeys: issue.keys }]
  if (issue.code === "invalid_key") {
    return [{ path, message: `is not a valid name: it ${issue.issues.map((inner) => inner.message).join("; ")}` }]
  }
  if (issue.code !== "invalid_union") return [{ path, message: issue.message }]
  const branches = (issue.errors as SchemaIssue[][]).map((branch) => branch.flatMap((inner) => flatten(inner, path)))
  const meant = branches.filter((branch) => branch.every((inner) => isInside(inner, path)))
  if (meant.length === 1 && meant[0]) return meant[0]
  const allowed = branches.flat().filter((inner) => !isInside(inner, path))
  const texts = [...new Set(allowed.map((inner) => inner.message.replace(/^must be /, "").split(", not ", 1)[0]))]
  return [{ path, message: texts.length === 0 ? "has a wrong value" : `must be ${texts.join(", or ")}` }]
}

/** Whether the issue shows that the branch took the value's kind and only something inside it is wrong. */
function isInside(issue: FlatIssue, path: ConfigPath): boolean {
  return issue.path.length > path.length || issue.unknownKeys !== undefined
}

function describe(
  { schema, root, source }: { schema: z.core.$ZodType; root: SourceNode; source: Json },
  issue: FlatIssue,
): ConfigIssue[] {
  const place = (path: ConfigPath) => findNode(root, path).node
  if (issue.unknownKeys) {
    const known = knownKeys(schema, issue.path)
    return issue.unknownKeys.map((name) => {
      const path = [...issue.path, name]
      return issueAt(place(path), path, unknownKeyText(name, known))
    })
  }
  const found = issueAt(place(issue.path), issue.path, issue.message)
  const value = valueAt(source, issue.path)
  if (value === undefined || typeof value === "object" || !isShowable(schema, issue.path)) return [found]
  return [{ ...found, value: shorten(value) }]
}

function unknownKeyText(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known)
  if (nearest !== undefined) return `this key is not known; did you mean "${nearest}"?`
  if (known.length === 0 || known.length > maxListedKeys) return "this key is not known"
  return `this key is not known; known here: ${known.join(", ")}`
}

/** The known name that was probably meant: at most a third of its letters differ or stand in the wrong order. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  let best: { name: string; distance: number } | undefined
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (distance <= Math.max(1, Math.floor(candidate.length / 3)) && distance < (best?.distance ?? Infinity)) {
      best = { name: candidate, distance }
    }
  }
  return best?.name
}

/** Letters that differ, are missing, or stand in the wrong order. */
export function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  let before = row
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swap = swapped ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY
      next.push(Math.min(change, swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    before = row
    row = next
  }
  return row[b.length] ?? 0
}

function valueAt(source: Json, path: ConfigPath): Json | undefined {
  let value: Json | undefined = source
  for (const segment of path) {
    if (Array.isArray(value)) value = value[Number(segment)]
    else if (isJsonObject(value)) value = value[String(segment)]
    else return undefined
  }
  return value
}

function shorten(value: Json): string {
  const text = JSON.stringify(value)
  return text.length <= maxShownCharacters ? text : `${text.slice(0, maxShownCharacters)}…`
}

function oneOf(values: readonly string[]): string {
  return values.length === 1 ? String(values[0]) : `one of ${values.join(", ")}`
}

const typeNames: Record<string, string> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
}

function typeName(expected: string): string {
  return typeNames[expected] ?? expected
}

function kindOf(value: unknown): string {
  if (value === null) return "null"
  if (Array.isArray(value)) return "a list"
  if (typeof value === "number") return Number.isInteger(value) ? "a number" : "a fraction"
  return typeNames[typeof value] ?? typeof value
}
