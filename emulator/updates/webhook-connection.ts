// One webhook address: posts an update over a kept-alive connection and reads the answer. It never rejects: whatever
// goes wrong is an answer with an `error`, worded as getWebhookInfo shows it.
import * as http from "node:http"
import * as https from "node:https"
import { ApiError } from "../errors.ts"
import type { Arguments } from "../wire/arguments.ts"
import { readArguments } from "../wire/read-request.ts"

export interface WebhookAnswer {
  /** HTTP status, 0 without an answer. */
  status: number
  error?: string
  retryAfterSeconds?: number
  /** A method call that came as the answer's body. */
  call?: Arguments
}

const timeoutMs = 60_000

export class WebhookConnection {
  readonly #url: URL
  readonly #options: http.RequestOptions
  readonly #agent: http.Agent
  readonly #abort = new AbortController()

  constructor(settings: { url: string; secretToken: string; maxConnections: number; certificate: Buffer | undefined }) {
    this.#url = new URL(settings.url)
    const agentOptions = { keepAlive: true, maxSockets: settings.maxConnections }
    const isSecure = this.#url.protocol === "https:"
    const authority = settings.certificate ? { ca: settings.certificate } : {}
    this.#agent = isSecure ? new https.Agent({ ...agentOptions, ...authority }) : new http.Agent(agentOptions)
    const { username, password } = this.#url
    this.#options = {
      method: "POST",
      agent: this.#agent,
      ...(username || password ? { auth: `${decodeURIComponent(username)}:${decodeURIComponent(password)}` } : {}),
      headers: {
        "Content-Type": "application/json",
        ...(settings.secretToken ? { "X-Telegram-Bot-Api-Secret-Token": settings.secretToken } : {}),
      },
    }
  }

  async post(json: string): Promise<WebhookAnswer> {
    const signal = AbortSignal.any([this.#abort.signal, AbortSignal.timeout(timeoutMs)])
    try {
      const response = await this.#send(Buffer.from(json), signal)
      return await interpret(response)
    } catch (error) {
      return { status: 0, error: connectionError(error) }
    }
  }

  stop(): void {
    this.#abort.abort()
    this.#agent.destroy()
  }

  #send(body: Buffer, signal: AbortSignal): Promise<http.IncomingMessage> {
    const { request } = this.#url.protocol === "https:" ? https : http
    return new Promise((resolve, reject) => {
      const headers = { ...this.#options.headers, "Content-Length": body.length }
      const outgoing = request(this.#url, { ...this.#options, headers, signal }, resolve)
      outgoing.on("error", reject)
      outgoing.end(body)
    })
  }
}

async function interpret(response: http.IncomingMessage): Promise<WebhookAnswer> {
  const status = response.statusCode ?? 0
  let body: Arguments | undefined
  try {
    body = await readArguments(response, new URLSearchParams())
  } catch (error) {
    // An answer that is no method call is fine: only its status counts.
    if (!(error instanceof ApiError)) throw error
  }
  if (status >= 200 && status < 300) return { status, ...(body && isCall(body) ? { call: body } : {}) }
  const retryAfter = Number.parseInt(response.headers["retry-after"] ?? "", 10)
  return {
    status,
    error: `Wrong response from the webhook: ${status} ${response.statusMessage ?? ""}`.trimEnd(),
    ...(Number.isNaN(retryAfter) ? {} : { retryAfterSeconds: Math.max(0, retryAfter) }),
  }
}

/** Methods whose answer would matter, or which would change the webhook itself, are not run this way. */
function isCall(body: Arguments): boolean {
  const method = body.text("method").toLowerCase()
  return method !== "" && !/^(?:get.*|setwebhook|deletewebhook|close|logout)$/.test(method)
}

function connectionError(error: unknown): string {
  if (!(error instanceof Error)) return "Webhook connection closed"
  const code = "code" in error ? String(error.code) : ""
  if (error.name === "TimeoutError") return "Read timeout expired"
  if (code === "ECONNREFUSED") return "Connection refused"
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return "Failed to resolve host: Name or service not known"
  if (/CERT|SSL|TLS|SELF_SIGNED/.test(code)) return `SSL error {${code}}`
  return "Webhook connection closed"
}
