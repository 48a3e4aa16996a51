// From a request's JSON to its parsed form, with errors that name the field and what it must be.
import type { z } from "zod"
import { AppError, isJsonObject, type Json, type JsonObject } from "../../kernel/index.ts"

type Issue = z.core.$ZodIssue

/** The value as the schema has it. Throws `bad-request` naming the field. */
export function parseRequest<Output>(schema: z.ZodType<Output>, value: unknown): Output {
  const result = schema.safeParse(value, { reportInput: true })
  if (result.success) return result.data
  const [issue] = result.error.issues
  if (!issue) throw new AppError("bad-request", "Wrong request")
  const path = issue.path.join(".")
  throw new AppError("bad-request", path === "" ? wordsOf(issue) : `${path}: ${wordsOf(issue)}`)
}

/** A field that is null is one that was left out: many a client writes all the fields that it knows. */
export function withoutNulls(fields: JsonObject): JsonObject {
  const given = Object.entries(fields).filter(([, value]) => value !== null)
  return Object.fromEntries(given.map(([name, value]) => [name, nullsLeftOut(value)]))
}

function nullsLeftOut(value: Json): Json {
  if (Array.isArray(value)) return value.map((each) => nullsLeftOut(each))
  return isJsonObject(value) ? withoutNulls(value) : value
}

/** Our own words where the schema has some; else what the value must be, as a person would say it. */
function wordsOf(issue: Issue): string {
  if (!/^(?:Too (?:small|big)|Invalid)/.test(issue.message)) return issue.message
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined ? "is missing" : `must be ${article(kindOf(issue.expected))}`
    case "too_small":
      return `must be at least ${issue.minimum}${unitOf(issue.origin)}`
    case "too_big":
      return `must be at most ${issue.maximum}${unitOf(issue.origin)}`
    case "invalid_value":
      return `must be one of ${issue.values.join(", ")}`
    case "invalid_key":
      return issue.issues[0] ? wordsOf(issue.issues[0]) : issue.message
    case "invalid_format":
      return issue.format === "url" ? "must be an http or https URL" : issue.message
    case "invalid_union":
      return wordsOfUnion(issue)
    default:
      return issue.message
  }
}

/** What the member says that came closest: it takes values of this type. Else what the first one takes. */
function wordsOfUnion(issue: Extract<Issue, { code: "invalid_union" }>): string {
  if (issue.input === undefined) return "is missing"
  const firsts = issue.errors.flatMap(([first]) => (first ? [first] : []))
  const closest = firsts.find(({ code }) => code !== "invalid_type") ?? firsts[0]
  if (!closest) return issue.message
  const place = closest.path.length === 0 ? "" : `${closest.path.join(".")} `
  return place + wordsOf(closest)
}

function kindOf(type: string): string {
  return type === "record" ? "object" : type
}

function article(type: string): string {
  return /^[aeio]/.test(type) ? `an ${type}` : `a ${type}`
}

function unitOf(origin: string): string {
  if (origin === "string") return " characters long"
  return origin === "array" ? " long" : ""
}
