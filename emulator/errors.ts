// Errors that a bot sees, composed by the platform's rule: prefix of the status, then the message with its first letter
// lowered, unless the message is a server code such as BUTTON_DATA_INVALID.

export interface ErrorParameters {
  retry_after?: number
  migrate_to_chat_id?: number
}

/** An answer `{"ok": false, "error_code", "description"}`; `description` is complete, with its prefix. */
export class ApiError extends Error {
  readonly status: number
  readonly parameters: ErrorParameters | undefined

  constructor(status: number, description: string, parameters?: ErrorParameters) {
    super(description)
    this.name = "ApiError"
    this.status = status
    this.parameters = parameters
  }
}

const prefixes: Record<number, string> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  409: "Conflict",
  500: "Internal Server Error",
}

/** Builds the error from the message as the platform's library words it. */
export function apiError(status: number, message: string, parameters?: ErrorParameters): ApiError {
  const prefix = prefixes[status]
  if (prefix === undefined) return new ApiError(status, message, parameters)
  return new ApiError(status, `${prefix}: ${lowerFirst(message)}`, parameters)
}

export function badRequest(message: string, parameters?: ErrorParameters): ApiError {
  return apiError(400, message, parameters)
}

export function forbidden(message: string): ApiError {
  return apiError(403, message)
}

export function tooManyRequests(retryAfterSeconds: number): ApiError {
  const seconds = Math.max(1, Math.ceil(retryAfterSeconds))
  return new ApiError(429, `Too Many Requests: retry after ${seconds}`, { retry_after: seconds })
}

function lowerFirst(message: string): string {
  if (/^.[_A-Z]/.test(message)) return message
  return message.charAt(0).toLowerCase() + message.slice(1)
}
