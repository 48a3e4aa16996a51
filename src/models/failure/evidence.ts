// Anything that a provider call throws -> what is known of it: an answer of the provider, a broken connection, or a
// fault on our side. The SDK's errors are recognised by their shape; loading it to ask would cost more.
import { AppError, isJsonObject, type Json } from "../../kernel/index.ts"
import { ProviderRefusal, ProviderReport } from "../providers/contract.ts"
import { readBody, readReport, type Cause } from "./cause.ts"
import { causesOf, readNetwork, type NetworkCause } from "./network.ts"

/** What the provider said, with the status of its answer or the one that its error names. */
export interface ProviderAnswer {
  status: number | undefined
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>
  /** For what it says about waiting. */
  body: string
  cause: Cause
}

export type Evidence =
  | { source: "own"; error: AppError }
  | { source: "provider"; answer: ProviderAnswer }
  | { source: "network"; network: NetworkCause }
  | { source: "silence" }
  /** No key, no such setting, or a request that the interface cannot express. */
  | { source: "request"; kind: "key" | "form" | "unknown-model"; words: string }
  | { source: "redirect" }
  | { source: "empty" }
  | { source: "unreadable"; words: string; mayPass: boolean }

export function gather(error: unknown): Evidence {
  const chain = causesOf(error)
  const own = chain.find((each) => each instanceof AppError)
  if (own) return { source: "own", error: own }
  const answer = readAnswer(error, chain)
  if (answer) return { source: "provider", answer }
  if (chain.some((each) => /unexpected redirect/i.test(each.message))) return { source: "redirect" }
  if (chain.some(isSilence)) return { source: "silence" }
  const network = readNetwork(chain)
  if (network) return { source: "network", network }
  return readLibraryError(chain[0])
}

/** Undici's own timers, and `AbortSignal.timeout`. */
function isSilence(error: Error): boolean {
  return error.name === "TimeoutError" || /^UND_ERR_(?:HEADERS|BODY)_TIMEOUT$/.test(String(field(error, "code")))
}

function readAnswer(error: unknown, chain: readonly Error[]): ProviderAnswer | undefined {
  for (const each of chain) {
    if (each instanceof ProviderRefusal) return answerOf(each.status, each.headers, each.body)
    if (each instanceof ProviderReport) return reportOf(each.report)
    const answer = readShape(each)
    if (answer) return answer
  }
  if (error instanceof Error) return undefined
  if (typeof error === "string") return reportOf(error)
  return isJsonObject(error) ? reportOf(error) : undefined
}

/** The SDK's `APICallError`, its error of a stream, and a chunk that did not fit its schema because it was an error. */
function readShape(error: Error): ProviderAnswer | undefined {
  const status = field(error, "statusCode")
  if (typeof status === "number" && status >= 300) {
    const body = field(error, "responseBody")
    const headers = field(error, "responseHeaders")
    const answer = answerOf(status, isJsonObject(headers) ? headers : {}, typeof body === "string" ? body : "")
    if (answer.cause.words === "" && !answer.cause.isPage) answer.cause.words = error.message
    return answer
  }
  if (error.name === "AI_StreamProviderError") {
    return reportOf(toJson(field(error, "data")) ?? error.message)
  }
  const body = field(error, "responseBody")
  const value = toJson(field(error, "value")) ?? (typeof body === "string" ? body : undefined)
  return value !== undefined && holdsError(value) ? reportOf(value) : undefined
}

function holdsError(value: Json): boolean {
  if (typeof value === "string") {
    const cause = readBody(value)
    return /^\s*[{[]/.test(value) && /"error"\s?:/.test(value.slice(0, 4000)) && cause.words !== ""
  }
  return isJsonObject(value) && value.error !== undefined && value.error !== null
}

function answerOf(status: number, headers: Readonly<Record<string, unknown>>, body: string): ProviderAnswer {
  const lower: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === "string" || typeof value === "number") lower[name.toLowerCase()] = String(value)
  }
  const cause = readBody(body)
  const amazon = lower["x-amzn-errortype"]
  const type = amazon?.split(":")[0]?.split("#").at(-1)
  if (type !== undefined && /^\w{1,80}$/.test(type)) {
    cause.code ??= type
    cause.codes.push(type.toLowerCase())
  }
  return { status, headers: lower, body, cause }
}

function reportOf(report: Json): ProviderAnswer {
  const cause = readReport(report)
  const named = isJsonObject(report) && typeof report.statusCode === "number" ? report.statusCode : undefined
  const body = typeof report === "string" ? report : JSON.stringify(report)
  return { status: named ?? cause.status, headers: {}, body, cause }
}

/** Errors of the SDK that are no answer of a provider, by name. */
function readLibraryError(error: Error | undefined): Evidence {
  const words = error?.message ?? ""
  switch (error?.name) {
    case "AI_LoadAPIKeyError":
    case "AI_LoadSettingError":
      return { source: "request", kind: "key", words }
    case "AI_InvalidPromptError":
    case "AI_InvalidArgumentError":
    case "AI_UnsupportedFunctionalityError":
      return { source: "request", kind: "form", words }
    case "AI_NoSuchModelError":
      return { source: "request", kind: "unknown-model", words }
    case "AI_EmptyResponseBodyError":
    case "AI_NoContentGeneratedError":
      return { source: "empty" }
    // A frame that was damaged on its way, or a server in trouble: the next reply may well be whole.
    case "AI_JSONParseError":
    case "AI_TypeValidationError":
    case "AI_InvalidResponseDataError":
    case "AI_APICallError":
    case "SyntaxError":
      return { source: "unreadable", words: "", mayPass: true }
    case undefined:
      return { source: "unreadable", words: "", mayPass: false }
    default:
      return { source: "unreadable", words, mayPass: false }
  }
}

function field(error: Error, name: string): unknown {
  return (error as unknown as Record<string, unknown>)[name]
}

function toJson(value: unknown): Json | undefined {
  if (typeof value === "string") return value
  return isJsonObject(value) || Array.isArray(value) ? (value as Json) : undefined
}
