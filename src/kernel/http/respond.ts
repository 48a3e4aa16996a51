// Errors as responses: every surface answers the same body, with the status from the one error table.
import type { Context } from "hono"
import { type AppError, toAppError, toErrorBody } from "../errors.ts"
import type { Log } from "../log.ts"
import type { Redactor } from "../redact.ts"

export interface ErrorResponder {
  log: Log
  redactor: Redactor
}

/** The handler for `app.onError`: logs what is ours to mend, never shows a stack or a secret. */
export function errorHandler(responder: ErrorResponder): (thrown: Error, context: Context) => Response {
  return (thrown, context) => {
    const error = toAppError(thrown)
    if (error.status >= 500) {
      responder.log.error({ err: thrown, method: context.req.method, path: context.req.path }, "request failed")
    }
    return errorResponse(error, responder.redactor)
  }
}

export function errorResponse(error: AppError, redactor: Redactor): Response {
  const headers: Record<string, string> = {
    "content-type": "application/json; charset=utf-8",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  }
  const retryAfter = error.retryAfterSeconds ?? (error.status === 503 ? 5 : undefined)
  if (retryAfter !== undefined) headers["retry-after"] = String(retryAfter)
  // The rest of an oversized or late body may still be on its way: the connection cannot be used again.
  if (error.status === 413 || error.status === 408) headers.connection = "close"
  return new Response(redactor.redact(JSON.stringify(toErrorBody(error))), { status: error.status, headers })
}

export function jsonResponse(body: unknown, status = 200): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" },
  })
}
