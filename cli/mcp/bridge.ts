// `svc mcp`: standard input -> one request to the gateway's `/mcp` for each message -> standard output. It knows nothing of
// tools; what a client may do follows from the token. The gateway is looked up anew for each message, so that one that was
// restarted meanwhile is found.
import type { Readable } from "node:stream"
import { AppError, describeError } from "../../src/kernel/errors.ts"
import { readEvents } from "./events.ts"

export interface BridgeOptions {
  input: Readable
  write(line: string): void
  /** Where the gateway is, and the secret for it. Throws AppError when none runs. */
  find(): { url: string; token: string }
}

type Id = string | number
interface Message {
  id?: Id
  method?: string
  params?: Record<string, unknown>
  result?: Record<string, unknown>
}

/** Of one message; a client that sends more is broken. */
const maxLineChars = 8 * 1024 * 1024
/** Of what is under way when the input has ended. */
const graceMs = 5_000
const versionKey = "io.modelcontextprotocol/protocolVersion"
const codes = { parse: -32700, request: -32600, internal: -32603 }

/** Resolves when the input has ended and what was asked is answered. */
export async function runBridge(options: BridgeOptions): Promise<void> {
  const bridge = new Bridge(options)
  let rest = ""
  options.input.setEncoding("utf8")
  for await (const chunk of options.input as AsyncIterable<string>) {
    const lines = (rest + chunk).split("\n")
    rest = lines.pop() ?? ""
    if (rest.length > maxLineChars) throw new AppError("payload-too-large", "A message on standard input is too large")
    for (const line of lines) bridge.take(line.trim())
  }
  bridge.take(rest.trim())
  await bridge.end()
}

class Bridge {
  readonly #options: BridgeOptions
  readonly #running = new Map<AbortController, Promise<void>>()
  readonly #byId = new Map<Id, AbortController>()
  /** Of a client of the revisions with a handshake. */
  #version: string | undefined

  constructor(options: BridgeOptions) {
    this.#options = options
  }

  take(line: string): void {
    if (line === "") return
    const message = parse(line)
    if (!message) return this.#fail(null, codes.parse, "The line is no JSON-RPC message")
    const { id, method, params } = message
    if (method === "notifications/cancelled") {
      this.#byId.get(params?.["requestId"] as Id)?.abort()
      return
    }
    const stop = new AbortController()
    if (id !== undefined && method !== undefined) this.#byId.set(id, stop)
    const work = this.#forward(line, message, stop.signal).finally(() => {
      this.#running.delete(stop)
      if (id !== undefined && this.#byId.get(id) === stop) this.#byId.delete(id)
    })
    this.#running.set(stop, work)
  }

  async end(): Promise<void> {
    const timer = setTimeout(() => {
      for (const stop of this.#running.keys()) stop.abort()
    }, graceMs)
    await Promise.all(this.#running.values())
    clearTimeout(timer)
  }

  async #forward(line: string, message: Message, signal: AbortSignal): Promise<void> {
    const id = message.id ?? null
    try {
      const { url, token } = this.#options.find()
      const headers = { ...headersOf(message, this.#version), authorization: `Bearer ${token}` }
      const response = await fetch(url, { method: "POST", headers, body: line, signal, redirect: "error" })
      const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false
      if (isStream && response.body) for await (const data of readEvents(response.body)) this.#give(message, data)
      else this.#answer(message, await response.text(), response.status)
    } catch (error) {
      if (signal.aborted) return
      const { message: text, hint } = readable(error)
      if (message.method !== undefined && message.id !== undefined)
        this.#fail(id, codes.internal, hint === undefined ? text : `${text} (${hint})`)
    }
  }

  #answer(message: Message, text: string, status: number): void {
    if (text.trim() === "") return
    const body = parse(text) as
      | (Message & { jsonrpc?: string; error?: { message?: string; hint?: string } })
      | undefined
    if (body?.jsonrpc !== undefined) return this.#give(message, text)
    // An answer of the gateway itself: it never came to the protocol.
    const { message: reason = `The gateway answered ${status}`, hint } = body?.error ?? {}
    if (message.id !== undefined)
      this.#fail(message.id, codes.request, hint === undefined ? reason : `${reason} (${hint})`)
  }

  #give(asked: Message, text: string): void {
    const message = parse(text)
    if (!message) return
    if (asked.method === "initialize" && message.id === asked.id) {
      const version = message.result?.["protocolVersion"]
      if (typeof version === "string") this.#version = version
    }
    this.#options.write(JSON.stringify(message))
  }

  #fail(id: Id | null, code: number, message: string): void {
    this.#options.write(JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } }))
  }
}

function parse(text: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Message) : undefined
  } catch {
    return undefined
  }
}

/** What the newest revision wants said once more in the headers, so that nobody on the way must read the body. */
function headersOf({ method, params }: Message, negotiated: string | undefined): Record<string, string> {
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" }
  const meta = params?.["_meta"] as Record<string, unknown> | undefined
  const version = meta?.[versionKey]
  if (typeof version !== "string" || method === undefined)
    return negotiated === undefined ? headers : { ...headers, "mcp-protocol-version": negotiated }
  const name = params?.["name"] ?? params?.["uri"]
  return {
    ...headers,
    "mcp-protocol-version": plain(version),
    "mcp-method": plain(method),
    ...(typeof name === "string" ? { "mcp-name": plain(name) } : {}),
  }
}

/** Headers take visible ASCII; all else is wrapped as the revision says. */
function plain(text: string): string {
  if (/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith("=?base64?")) return text
  return `=?base64?${Buffer.from(text).toString("base64")}?=`
}

function readable(error: unknown): { message: string; hint?: string | undefined } {
  if (error instanceof AppError) return { message: error.message, hint: error.hint }
  const cause = error instanceof Error && error.cause !== undefined ? `: ${describeError(error.cause)}` : ""
  return { message: `The gateway cannot be reached${cause}`, hint: "start it with: svc gateway" }
}
