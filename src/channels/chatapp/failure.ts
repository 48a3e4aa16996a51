// What a failed call means, in the only terms that matter here: did the platform answer, and if not, can the request
// have arrived? The texts carry no token and no payload.
import { describeError } from "../../kernel/index.ts"
import { TransportError } from "./transport.ts"

export type CallFailure =
  /** The platform said no, in its own form. */
  | { kind: "refused"; code: number; description: string; retryAfterSeconds?: number; migratedTo?: string }
  /** A web page or something else that is not the platform's form. */
  | { kind: "page"; status: number; retryAfterSeconds?: number }
  /** It cannot have arrived. */
  | { kind: "unsent"; reason: string; isOutOfHandles?: true }
  /** It may have arrived. */
  | { kind: "lost"; reason: string }

/** As the client library throws it: the platform's answer spread over an error, or a wrapped network failure. */
interface LibraryError {
  error_code?: number
  description?: string
  parameters?: { retry_after?: unknown; migrate_to_chat_id?: unknown } | null
  error?: unknown
}

/** Longer than a timer can wait would be no wait at all. */
const longestPauseSeconds = 86_400

export function explainFailure(thrown: unknown): CallFailure {
  const { error_code: code, description, parameters, error } = thrown as LibraryError
  if (code !== undefined) {
    return {
      kind: "refused",
      code,
      description: description ?? "",
      ...pauseOf(parameters?.retry_after),
      ...chatOf(parameters?.migrate_to_chat_id),
    }
  }
  if (error instanceof TransportError) {
    if (error.stage === "page") return { kind: "page", status: error.status ?? 0 }
    if (error.stage === "lost") return { kind: "lost", reason: error.message }
    return { kind: "unsent", reason: error.message, ...(error.isOutOfHandles ? { isOutOfHandles: true } : {}) }
  }
  return { kind: "lost", reason: describeError(error ?? thrown) }
}

/** What is asked to be waited. Nothing that is not a time: then the caller's own patience has to do. */
export function pauseOf(seconds: unknown): { retryAfterSeconds?: number } {
  if (typeof seconds !== "number" || !(seconds > 0)) return {}
  return { retryAfterSeconds: Math.min(seconds, longestPauseSeconds) }
}

function chatOf(id: unknown): { migratedTo?: string } {
  return Number.isSafeInteger(id) ? { migratedTo: String(id) } : {}
}

/** The platform does not know the bot, or not at this address: nothing changes that but a person. */
export function isTokenRefused(failure: CallFailure): boolean {
  return failure.kind === "refused" && [401, 404, 421].includes(failure.code)
}

export function describeFailure(failure: CallFailure): string {
  switch (failure.kind) {
    case "refused":
      return `${failure.code} ${failure.description}`
    case "page":
      return `HTTP ${failure.status} from something that is not the platform`
    case "unsent":
      return `could not be sent: ${failure.reason}`
    case "lost":
      return `no answer: ${failure.reason}`
  }
}
