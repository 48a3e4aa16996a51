// The body of an error, in any of the shapes that providers, proxies and local servers give it -> the words and codes
// of its cause. A router's error holds that of the provider behind it: the innermost words win.
import { isJsonObject, parseJson, type Json, type JsonObject } from "../../kernel/index.ts"
import { oneLine, stripTags } from "./clean.ts"
import { salvageError } from "./salvage.ts"

export interface Cause {
  /** Uncleaned, at most 4,000 characters; empty when it says nothing. */
  words: string
  /** Every code, type, status and reason on the way, in lower case. */
  codes: string[]
  /** The one that tells most, as written. */
  code: string | undefined
  /** An HTTP status that stands in the body; errors inside streams have no other. */
  status: number | undefined
  /** A web page stood there instead of an answer of the interface; the words are its title. */
  isPage: boolean
  /** Tokens of the context, where they have a field of their own. */
  limit: number | undefined
}

const maxBodyCharacters = 64 * 1024
const maxWords = 4000
/** A router's error quotes a provider's, which may quote a server's; deeper than that nobody nests. */
const maxDepth = 6

export function readBody(body: string): Cause {
  const found = emptyCause()
  const text = body.slice(0, maxBodyCharacters).trim()
  found.isPage = /^(?:<!doctype html|<html|<head|<\?xml[^>]{0,100}><!doctype html)/i.test(text)
  found.words = found.isPage ? readPage(text) : readText(text, found, 0)
  return finish(found)
}

export function readReport(report: Json): Cause {
  const found = emptyCause()
  if (typeof report === "string") return readBody(report)
  found.words = read(report, found, 0)
  return finish(found)
}

function emptyCause(): Cause {
  return { words: "", codes: [], code: undefined, status: undefined, isPage: false, limit: undefined }
}

function finish(found: Cause): Cause {
  found.words = found.words.slice(0, maxWords)
  return found
}

function readPage(text: string): string {
  for (const tag of ["title", "h1"]) {
    const open = text.search(new RegExp(`<${tag}[ >]`, "i"))
    const start = open < 0 ? -1 : text.indexOf(">", open)
    const end = start < 0 ? -1 : text.indexOf("</", start)
    const words = end < 0 ? "" : oneLine(stripTags(text.slice(start + 1, end)))
    if (words !== "") return words.slice(0, 120)
  }
  return ""
}

function read(value: Json | undefined, found: Cause, depth: number): string {
  if (value === undefined || value === null || typeof value === "boolean" || depth > maxDepth) return ""
  if (typeof value === "number") return ""
  if (typeof value === "string") return readText(value, found, depth)
  if (Array.isArray(value)) return readList(value, found, depth)
  return readObject(value, found, depth)
}

/** Google wraps its error in a list; FastAPI and others list what is wrong with each field. */
function readList(list: readonly Json[], found: Cause, depth: number): string {
  const said = list
    .slice(0, 3)
    .map((item) => read(item, found, depth + 1))
    .filter((words) => words !== "")
  return said.join("; ")
}

/** Where the error proper may stand, from the usual to the rare. */
const nestedKeys = ["error", "errors", "response", "fault", "Error", "promptFeedback", "data", "body"]
const wordKeys = [
  "message",
  "Message",
  "detail",
  "details",
  "msg",
  "error_description",
  "error_message",
  "errorMessage",
  "faultstring",
  "status_msg",
  "title",
  "description",
]

function readObject(object: JsonObject, found: Cause, depth: number): string {
  note(object, found)
  const behind = isJsonObject(object.metadata) ? readRouter(object.metadata, found, depth) : ""
  if (behind !== "") return behind
  for (const key of nestedKeys) {
    const value = object[key]
    // A name such as "invalid_grant" is a code with its words beside it.
    if (typeof value === "string" && isName(value)) noteCode(value, found)
    else {
      const words = read(value, found, depth + 1)
      if (words !== "") return words
    }
  }
  for (const name of Object.keys(object).slice(0, 5)) {
    // Bedrock's streams: {"internalServerException": {"message": ...}}
    if (!name.endsWith("Exception") || !isJsonObject(object[name])) continue
    noteCode(name, found)
    return read(object[name], found, depth + 1)
  }
  if (isJsonObject(object.base_resp)) {
    // MiniMax; its numbers mean other things than those of others.
    noteCode(`minimax-${String(object.base_resp.status_code)}`, found)
    return read(object.base_resp, found, depth + 1)
  }
  for (const key of wordKeys) {
    const words = read(object[key], found, depth + 1)
    if (words !== "") return withPlace(words, object)
  }
  return typeof object.error === "string" ? object.error : ""
}

/** OpenRouter: what the provider behind it said. `flagged_input` beside it is the user's own text and stays out. */
function readRouter(metadata: JsonObject, found: Cause, depth: number): string {
  if (metadata.flagged_input !== undefined) noteCode("moderation", found)
  noteCode(metadata.error_type, found)
  return read(metadata.raw, found, depth + 1)
}

function withPlace(words: string, object: JsonObject): string {
  if (Array.isArray(object.loc)) return `${object.loc.slice(0, 8).map(String).join(".")}: ${words}`
  // Some say what is wrong in `param` and only that something is wrong in the message.
  const { param } = object
  return typeof param === "string" && param.trim().includes(" ") && !words.includes(param)
    ? `${words}: ${param}`
    : words
}

const codeKeys = ["code", "type", "status", "__type", "Code", "error_type", "errorType", "error_code", "reason"]

function note(object: JsonObject, found: Cause): void {
  for (const key of codeKeys) noteCode(object[key], found)
  for (const inner of [object.innererror, object.provider_specific_fields, object.incomplete_details]) {
    if (!isJsonObject(inner)) continue
    note(inner, found)
  }
  noteCode(object.blockReason, found)
  if (typeof object.n_ctx === "number") found.limit = object.n_ctx
  if (Array.isArray(object.details)) for (const detail of object.details.slice(0, 10)) noteGoogle(detail, found)
}

/** Reasons, and which quota was used up: that of a minute comes back, that of a day does not. */
function noteGoogle(detail: Json, found: Cause): void {
  if (!isJsonObject(detail)) return
  noteCode(detail.reason, found)
  if (!Array.isArray(detail.violations)) return
  for (const violation of detail.violations.slice(0, 10)) {
    if (isJsonObject(violation)) noteCode(violation.quotaId, found)
  }
}

const emptyNames = new Set(["error", "null", "none", "failed", "response.failed"])

function noteCode(value: Json | undefined, found: Cause): void {
  if (typeof value !== "string" && typeof value !== "number") return
  // AWS: "com.amazon.coral.service#ThrottlingException", and with an address behind a colon in its header.
  const name = String(value).split("#").at(-1)?.split(":")[0]?.trim() ?? ""
  if (!isName(name)) return
  const number = Number(name)
  if (number >= 400 && number <= 599) {
    found.status ??= number
    found.code ??= name
    return
  }
  const code = name.toLowerCase()
  if (emptyNames.has(code) || number === 200) return
  if (!found.codes.includes(code) && found.codes.length < 30) found.codes.push(code)
  // Outside in, and `code` before `type`: the innermost object's code is read last but tells most only when it is named.
  if (found.code === undefined || !Number.isNaN(Number(found.code)) || vague.has(found.code.toLowerCase()))
    found.code = name
}

/** Types that say no more than the status does. */
const vague = new Set(["invalid_request_error", "badrequesterror", "api_error", "new_api_error", "invalid_argument"])

function isName(text: string): boolean {
  return text.length <= 80 && /^[A-Za-z0-9_.:-]+$/.test(text)
}

function readText(text: string, found: Cause, depth: number): string {
  const trimmed = text.trim()
  const nested = depth < maxDepth ? readNested(trimmed, found, depth) : ""
  return nested === "" ? trimmed : nested
}

/** Words before quoted JSON that say it is somebody's input, not an error. */
const quotesInput = /argument|parameter|value|input|content|tool/i

/** JSON in a text: a body that was not parsed, or an error that a proxy quotes behind words of its own. */
function readNested(text: string, found: Cause, depth: number): string {
  const start = text.search(/[{[]/)
  if (start < 0 || start > 300 || quotesInput.test(text.slice(0, start))) return ""
  const end = Math.max(text.lastIndexOf("}"), text.lastIndexOf("]"))
  const piece = text.slice(start, end + 1)
  const json = parseOrUndefined(piece)
  if (json !== undefined) {
    const isError = start === 0 || looksLikeError(json)
    return isError && typeof json === "object" ? read(json, found, depth + 1) : ""
  }
  const salvaged = salvageError(text.slice(start))
  if (!salvaged) return ""
  for (const code of salvaged.codes) noteCode(code, found)
  return salvaged.words
}

function parseOrUndefined(text: string): Json | undefined {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}

function looksLikeError(json: Json): boolean {
  const object = Array.isArray(json) ? json[0] : json
  if (!isJsonObject(object)) return false
  if (object.error !== undefined || object.detail !== undefined) return true
  return object.message !== undefined && (object.code ?? object.type ?? object.status ?? object.object) !== undefined
}
