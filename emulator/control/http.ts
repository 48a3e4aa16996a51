// The control API over HTTP: POST /_emulator/<method> with a JSON body, guarded by a secret, the Host check and no CORS.
import { createHash, timingSafeEqual } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"
import { ZodError } from "zod"
import { ApiError } from "../errors.ts"
import { readBody } from "../wire/read-request.ts"
import type { Control } from "./control.ts"
import { ControlError } from "./control-error.ts"
import { requests } from "./requests.ts"

const maxBodyBytes = 64 * 1024 * 1024

export class ControlEndpoint {
  readonly #control: Control
  readonly #token: string

  constructor({ control, token }: { control: Control; token: string }) {
    this.#control = control
    this.#token = token
  }

  async handle(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const closed = new AbortController()
    response.once("close", () => closed.abort())
    try {
      if (!this.isAuthorized(request)) throw new ControlError("unauthorized", "the control token is missing or wrong")
      const path = url.pathname.slice("/_emulator/".length)
      if (request.method === "GET" && path.startsWith("file/"))
        return this.#sendFile(response, path.slice("file/".length))
      if (request.method !== "POST") throw new ControlError("invalid-request", "use POST")
      const body = await readBody(request, maxBodyBytes)
      const result = await this.#call(path, body.length === 0 ? {} : JSON.parse(body.toString("utf8")), closed.signal)
      sendJson(response, 200, { ok: true, result: result ?? true })
    } catch (error) {
      if (closed.signal.aborted) return
      request.resume()
      const { status, code, message } = describe(error)
      sendJson(response, status, { ok: false, error: { code, message } })
    }
  }

  /** The secret comes as a bearer token; it is compared in constant time. */
  isAuthorized(request: IncomingMessage): boolean {
    const given = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1] ?? ""
    const digest = (text: string) => createHash("sha256").update(text).digest()
    return timingSafeEqual(digest(given), digest(this.#token))
  }

  async #call(name: string, body: unknown, signal: AbortSignal): Promise<unknown> {
    if (!Object.hasOwn(requests, name)) throw new ControlError("not-found", `there is no control method ${name}`)
    const method = name as keyof typeof requests
    const request: unknown = requests[method].parse(body)
    const timeoutMs = (request as { timeoutMs?: number }).timeoutMs
    const run = this.#control[method].bind(this.#control) as (request: unknown, options: object) => unknown
    return run(request, { timeoutMs, signal })
  }

  #sendFile(response: ServerResponse, fileId: string): void {
    const file = this.#control.file(decodeURIComponent(fileId))
    // Bytes that a bot or a user sent are never to be run by the browser that shows the chat page.
    response.writeHead(200, {
      "Content-Type":
        file.mimeType.startsWith("image/") && file.mimeType !== "image/svg+xml"
          ? file.mimeType
          : "application/octet-stream",
      "Content-Length": file.bytes.length,
      "X-Content-Type-Options": "nosniff",
      "Content-Security-Policy": "sandbox",
      "Cache-Control": "private, max-age=3600",
    })
    response.end(file.bytes)
  }
}

export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  const body = JSON.stringify(value)
  response.writeHead(status, {
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(body),
    "Cache-Control": "no-store",
  })
  response.end(body)
}

function describe(error: unknown): { status: number; code: string; message: string } {
  if (error instanceof ControlError) return error
  if (error instanceof ZodError) {
    const issues = error.issues.map((issue) => `${issue.path.join(".") || "body"}: ${issue.message}`)
    return { status: 400, code: "invalid-request", message: issues.join("; ") }
  }
  if (error instanceof SyntaxError || error instanceof URIError) {
    return { status: 400, code: "invalid-request", message: "the body is not JSON, or the address is malformed" }
  }
  if (error instanceof ApiError) return { status: error.status, code: "invalid-request", message: error.message }
  return { status: 500, code: "internal", message: String(error) }
}
