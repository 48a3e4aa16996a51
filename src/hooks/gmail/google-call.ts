// One call of a Google API: time limit, bounded answer, retries of what may pass by itself, and errors that carry the
// service's own word but never an address with a token in it.
import {
  AppError,
  type Clock,
  type RetryPolicy,
  type RetryVerdict,
  describeError,
  isJsonObject,
  retry,
  runWithTimeout,
} from "../../kernel/index.ts"

export interface GoogleRequest {
  method: "GET" | "POST" | "PUT" | "DELETE"
  url: string
  /** Sent as JSON, or as a form when it is URLSearchParams. */
  body?: object | undefined
  /** Bearer token. */
  accessToken?: string | undefined
  signal?: AbortSignal | undefined
}

/** How a call leaves this process: over the network, or onto the screen for `--dry-run`. */
export type Transport = (url: string, init: RequestInit) => Promise<Response>

export interface GoogleCaller {
  /** The answer's JSON. Throws GoogleError for a refusal, AppError for what did not arrive. */
  call<Answer>(request: GoogleRequest): Promise<Answer>
}

/** A service understood the call and refused it. */
export class GoogleError extends Error {
  readonly status: number
  /** `invalid_grant`, `NOT_FOUND`, ... */
  readonly reason: string
  readonly retryAfterMs: number | undefined

  constructor(what: string, status: number, reason: string, message: string, retryAfterMs?: number) {
    super(`${what}: ${status} ${reason}${message === "" ? "" : `: ${message}`}`)
    this.name = "GoogleError"
    this.status = status
    this.reason = reason
    this.retryAfterMs = retryAfterMs
  }
}

const callTimeoutMs = 20_000
/** A mail with its inline parts; attachments are not in it. */
const maxAnswerBytes = 12 * 1024 * 1024
const maxRetryAfterMs = 60_000
const defaultPolicy: RetryPolicy = { attempts: 4, minDelayMs: 500, maxDelayMs: 8_000, jitter: 0.3 }

export function createGoogleCaller(options: {
  clock: Clock
  transport: Transport
  policy?: RetryPolicy
}): GoogleCaller {
  return {
    call: <Answer>(request: GoogleRequest) =>
      retry(
        {
          policy: options.policy ?? defaultPolicy,
          clock: options.clock,
          judge,
          ...(request.signal ? { signal: request.signal } : {}),
        },
        () => callOnce<Answer>(options.transport, request),
      ),
  }
}

/** All calls may be repeated: they read, or set something to a value. An authorization code is checked by its owner. */
function judge(error: unknown): RetryVerdict {
  if (error instanceof GoogleError) {
    if (error.status !== 429 && error.status < 500 && error.reason !== "rateLimitExceeded") return { kind: "give-up" }
    return error.retryAfterMs === undefined ? { kind: "retry" } : { kind: "retry", delayMs: error.retryAfterMs }
  }
  const passing = error instanceof AppError && (error.code === "platform-unreachable" || error.code === "timeout")
  return { kind: passing ? "retry" : "give-up" }
}

async function callOnce<Answer>(transport: Transport, request: GoogleRequest): Promise<Answer> {
  const what = describeCall(request)
  const { status, retryAfter, text } = await runWithTimeout(
    callTimeoutMs,
    what,
    async (signal) => {
      const response = await send(transport, request, what, signal)
      return {
        status: response.status,
        retryAfter: response.headers.get("retry-after"),
        text: await readText(response, what),
      }
    },
    request.signal,
  )
  if (status < 200 || status >= 300) throw refusal(what, status, retryAfter, text)
  return parse(text, what) as Answer
}

async function send(transport: Transport, request: GoogleRequest, what: string, signal: AbortSignal) {
  const headers: Record<string, string> = { accept: "application/json" }
  if (request.accessToken !== undefined) headers["authorization"] = `Bearer ${request.accessToken}`
  if (request.body && !(request.body instanceof URLSearchParams)) headers["content-type"] = "application/json"
  const body = request.body instanceof URLSearchParams ? request.body : JSON.stringify(request.body)
  try {
    return await transport(request.url, {
      method: request.method,
      headers,
      redirect: "error",
      signal,
      ...(request.body ? { body } : {}),
    })
  } catch (error) {
    if (signal.aborted) throw signal.reason
    throw new AppError("platform-unreachable", `${what}: ${describeError(error)}`, { cause: error })
  }
}

async function readText(response: Response, what: string): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of response.body ?? []) {
      size += chunk.byteLength
      if (size > maxAnswerBytes) throw new AppError("payload-too-large", `${what}: the answer is too large`)
      chunks.push(chunk)
    }
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new AppError("platform-unreachable", `${what}: the answer was cut`, { cause: error })
  }
  return Buffer.concat(chunks).toString("utf8")
}

/** Two forms: `{error: {status, message}}` of the APIs, `{error: "invalid_grant", error_description}` of OAuth. */
function refusal(what: string, status: number, retryAfter: string | null, text: string): GoogleError {
  const answer = tryParse(text)
  const error = isJsonObject(answer) ? answer["error"] : undefined
  const seconds = Number(retryAfter ?? Number.NaN)
  const retryAfterMs = seconds >= 0 ? Math.min(maxRetryAfterMs, seconds * 1000) : undefined
  if (typeof error === "string") {
    const description = isJsonObject(answer) ? answer["error_description"] : ""
    return new GoogleError(what, status, error, typeof description === "string" ? description : "", retryAfterMs)
  }
  const { status: name, message, errors } = isJsonObject(error) ? error : {}
  const first = Array.isArray(errors) && isJsonObject(errors[0]) ? errors[0]["reason"] : undefined
  const reason = typeof first === "string" ? first : typeof name === "string" ? name : "refused"
  return new GoogleError(what, status, reason, typeof message === "string" ? message.slice(0, 500) : "", retryAfterMs)
}

function parse(text: string, what: string): unknown {
  const answer = text.trim() === "" ? {} : tryParse(text)
  if (answer === undefined) throw new AppError("platform-unreachable", `${what}: the answer is not JSON`)
  return answer
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** `GET gmail.googleapis.com/gmail/v1/users/me/history`: without the query. */
function describeCall({ method, url }: GoogleRequest): string {
  const { host, pathname } = new URL(url)
  return `${method} ${host}${pathname}`
}
