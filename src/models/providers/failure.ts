// Anything a provider call throws -> what it means: try again, wait how long, give up, and what to tell the person.
// Keeps no request, no response body and no headers, so that neither prompts nor keys reach a log through it.
import { AppError, describeError, isJsonObject, type Redactor } from "../../kernel/index.ts"

export interface Failure {
  kind: "network" | "busy" | "silent" | "key" | "context" | "refused" | "broken"
  message: string
  status?: number
  /** As the provider asked. */
  retryAfterMs?: number
  /** Whether the same request may succeed a little later. */
  retryable: boolean
  hint?: string
}

const retryableStatuses = new Set([408, 409, 425, 429])
const contextWords =
  /context[ _-]?(?:length|window|size)|maximum context|prompt is too long|too many tokens|input is too long|exceeds? the (?:available )?context|reduce the length/i
const busyWords = /overload|rate[ _-]?limit|server[ _]error|unavailable|timeout|try again/i
const maxMessageLength = 300

export function classifyFailure(error: unknown, context: { now: number; redactor: Redactor }): Failure {
  const failure = classify(error, context.now)
  // Cut only behind what is kept, so that no secret is cut in half before it can be recognised.
  const message = context.redactor.redact(failure.message.replaceAll(/\s+/g, " ").trim().slice(0, 4000))
  return { ...failure, message: message.length > maxMessageLength ? `${message.slice(0, maxMessageLength)}…` : message }
}

function classify(error: unknown, now: number): Failure {
  const own = findOwn(error)
  if (own?.code === "timeout") return { kind: "silent", message: own.message, retryable: false }
  if (own) return withHint({ kind: "broken", message: own.message, retryable: false }, own.hint)
  const shape = readShape(error)
  if (shape.status !== undefined && shape.status >= 400) return classifyStatus(shape.status, shape, now)
  if (shape.isReport) {
    const words = `${shape.type} ${shape.message}`
    if (contextWords.test(words)) return contextFailure(shape.message)
    const isBusy = busyWords.test(words)
    return { kind: isBusy ? "busy" : "refused", message: shape.message, retryable: isBusy }
  }
  if (isNetworkError(error)) return { kind: "network", message: describeError(error), retryable: true }
  return { kind: "broken", message: "The provider sent a reply that could not be read", retryable: false }
}

function classifyStatus(status: number, shape: Shape, now: number): Failure {
  if (status === 401 || status === 403) {
    // The provider's own words often repeat the key, or a good part of it.
    return {
      kind: "key",
      status,
      message: `The provider refused the key (HTTP ${status})`,
      retryable: false,
      hint: "Check the provider's key: it may be wrong, expired, or not allowed to use this model.",
    }
  }
  const message = shape.message === "" ? `HTTP ${status}` : `HTTP ${status}: ${shape.message}`
  if (status === 413 || ((status < 429 || shape.isFinal) && contextWords.test(`${shape.type} ${shape.message}`))) {
    return { ...contextFailure(message), status }
  }
  const isOutOfCredit = /insufficient_quota|billing/i.test(`${shape.type} ${shape.message}`)
  const retryable = (retryableStatuses.has(status) && !isOutOfCredit) || (status >= 500 && !shape.isFinal)
  const retryAfterMs = readRetryAfter(shape.headers, now)
  const failure: Failure = { kind: retryable ? "busy" : "refused", status, message, retryable }
  if (retryAfterMs !== undefined) failure.retryAfterMs = retryAfterMs
  if (status === 404) return withHint(failure, "Check the model's name and the provider's baseUrl.")
  return isOutOfCredit ? withHint(failure, "The account of this key has no credit left.") : failure
}

function contextFailure(message: string): Failure {
  return {
    kind: "context",
    message,
    retryable: false,
    hint: "The conversation is longer than the model takes. Start a new one with /reset, or set the model's contextTokens.",
  }
}

function withHint(failure: Failure, hint: string | undefined): Failure {
  return hint === undefined ? failure : { ...failure, hint }
}

interface Shape {
  status: number | undefined
  message: string
  /** The provider's own error type or code. */
  type: string
  headers: Readonly<Record<string, unknown>>
  /** True when the provider itself reported the error, inside a stream that had begun. */
  isReport: boolean
  /** True when the library says that the same call would fail again. */
  isFinal: boolean
}

/** Reads the library's errors and the error objects of streams by shape: loading the library to ask it would cost more. */
function readShape(error: unknown): Shape {
  if (typeof error === "string")
    return { status: undefined, message: error, type: "", headers: {}, isReport: true, isFinal: false }
  const fields = (typeof error === "object" && error !== null ? error : {}) as Record<string, unknown>
  const data = isJsonObject(fields.data) ? fields.data : fields
  const inner = isJsonObject(data.error) ? data.error : data
  const text = (value: unknown) => (typeof value === "string" || typeof value === "number" ? String(value) : "")
  return {
    status: typeof fields.statusCode === "number" ? fields.statusCode : undefined,
    message: text(inner.message) || text(fields.message),
    type: `${text(inner.type)} ${text(inner.code)}`.trim(),
    headers: isJsonObject(fields.responseHeaders) ? fields.responseHeaders : {},
    isReport: (!(error instanceof Error) && typeof error === "object") || fields.name === "AI_StreamProviderError",
    isFinal: fields.isRetryable === false,
  }
}

/** `retry-after-ms`, or Retry-After as seconds or as a date. */
export function readRetryAfter(headers: Readonly<Record<string, unknown>>, now: number): number | undefined {
  const milliseconds = Number(headers["retry-after-ms"] ?? Number.NaN)
  if (milliseconds >= 0) return milliseconds
  const written = headers["retry-after"]
  if (typeof written !== "string" || written.trim() === "") return undefined
  const seconds = Number(written)
  if (seconds >= 0) return seconds * 1000
  const date = Date.parse(written)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

function causesOf(error: unknown): Error[] {
  const chain: Error[] = []
  for (let current = error; current instanceof Error && chain.length < 6; current = current.cause) chain.push(current)
  return chain
}

function findOwn(error: unknown): AppError | undefined {
  return causesOf(error).find((each) => each instanceof AppError)
}

function isNetworkError(error: unknown): boolean {
  return causesOf(error).some((each) => {
    const code = (each as { code?: unknown }).code
    if (typeof code === "string" && /^(?:E[A-Z]+|UND_ERR_[A-Z_]+)$/.test(code)) return true
    return each instanceof TypeError && /^(?:fetch failed|terminated)$/.test(each.message)
  })
}
