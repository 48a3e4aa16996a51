// `/bot<token>/<method>` and `/file/bot<token>/<path>`: who calls, what is called, injected faults, the answer.
import type { IncomingMessage, ServerResponse } from "node:http"
import type { CallLog } from "./control/call-log.ts"
import type { CallRecord } from "./control/call-record.ts"
import { type Fault, type Faults, downloadName } from "./control/faults.ts"
import { errorAnswer, type Answer, type Dispatcher } from "./dispatcher.ts"
import { ApiError, tooManyRequests } from "./errors.ts"
import type { NamedMethod } from "./methods/index.ts"
import type { Arguments } from "./wire/arguments.ts"
import { readArguments } from "./wire/read-request.ts"
import type { Bot } from "./world/bot.ts"
import type { World } from "./world/world.ts"

export class BotEndpoint {
  readonly #world: World
  readonly #dispatcher: Dispatcher
  readonly #log: CallLog
  readonly #faults: Faults

  constructor(parts: { world: World; dispatcher: Dispatcher; log: CallLog; faults: Faults }) {
    this.#world = parts.world
    this.#dispatcher = parts.dispatcher
    this.#log = parts.log
    this.#faults = parts.faults
  }

  /** Handles a path that starts with /bot. */
  async call(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    try {
      await this.#call(request, response, url)
    } catch (error) {
      send(response, errorAnswer(error))
    }
  }

  /** Handles a path that starts with /file/bot: the bytes of a file whose link is still valid. */
  download(request: IncomingMessage, response: ServerResponse, url: URL): void {
    request.resume()
    const [, token = "", path = ""] = /^\/file\/bot([^/]*)\/(.*)$/.exec(decodePath(url.pathname)) ?? []
    const bot = this.#world.bots.get(token)
    const file = bot && !bot.revoked ? this.#world.files.download(path) : undefined
    if (!file) {
      const error = bot && !bot.revoked ? new ApiError(404, "Not Found") : new ApiError(401, "Unauthorized")
      send(response, errorAnswer(error))
      return
    }
    this.#hand(response, file.bytes, this.#faults.take(downloadName, ""))
  }

  /** The bytes, or what a fault that names `download` as its method makes of them. */
  #hand(response: ServerResponse, bytes: Buffer, fault: Fault | undefined): void {
    const head = { "Content-Type": "application/octet-stream", "Content-Length": bytes.length }
    switch (fault?.kind) {
      case "hang":
        return
      case "429":
        return send(response, errorAnswer(tooManyRequests(fault.retryAfter ?? 1)))
      case "status":
      case "html":
        return send(response, errorAnswer(new ApiError(fault.status ?? 502, fault.description ?? "Bad Gateway")))
      case "cut":
      case "cut-after-accept":
        return void response.destroy()
      case "cut-body":
        response.writeHead(200, head).write(bytes.subarray(0, bytes.length / 2), () => response.destroy())
        return
      case "slow":
        this.#world.clock.after(fault.delayMs ?? 1000, () => response.writeHead(200, head).end(bytes))
        return
      case undefined:
        response.writeHead(200, head).end(bytes)
    }
  }

  async #call(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const path = decodePath(url.pathname).slice("/bot".length)
    const slash = path.indexOf("/")
    const token = slash < 0 ? path : path.slice(0, slash)
    const rest = slash < 0 ? "" : path.slice(slash + 1).replace(/^test\//, "")
    const source = await readArguments(request, url.searchParams)
    const bot = this.#authorize(token)
    const name = rest === "" ? source.text("method") : rest
    const method = this.#dispatcher.find(name)
    const fault = this.#faults.take(name, source.text("chat_id"))
    const record = this.#log.start({
      botId: bot.id,
      method: method?.name ?? name,
      via: "http",
      source,
      connection: response.socket?.remotePort,
      ...(fault ? { fault: fault.kind } : {}),
    })
    await new Exchange({ response, log: this.#log, record, clock: this.#world.clock }).answer(fault, (signal) =>
      this.#run(bot, method, source, record, signal),
    )
  }

  async #run(
    bot: Bot,
    method: NamedMethod | undefined,
    source: Arguments,
    record: CallRecord,
    signal: AbortSignal,
  ): Promise<Answer> {
    if (method && !bot.loggedOut) return this.#dispatcher.run(bot, method, source, record, signal)
    const error = bot.loggedOut ? new ApiError(400, "Logged out") : new ApiError(404, "Not Found: method not found")
    this.#log.finish(record, { status: error.status, ok: false, error: error.message })
    return errorAnswer(error)
  }

  #authorize(token: string): Bot {
    const isMalformed = !token.includes(":") || token.startsWith("0") || token.length > 80
    if (isMalformed) throw new ApiError(401, "Unauthorized: invalid token specified")
    if (!/^\d+:/.test(token)) throw new ApiError(421, "Misdirected Request: unallowed token specified")
    const bot = this.#world.bots.get(token)
    if (!bot || bot.revoked) throw new ApiError(401, "Unauthorized")
    return bot
  }
}

interface ExchangeParts {
  response: ServerResponse
  log: CallLog
  record: CallRecord
  clock: World["clock"]
}

/** One call's way out: the honest answer, or whatever an injected fault makes of it. */
class Exchange {
  readonly #parts: ExchangeParts
  readonly #closed = new AbortController()

  constructor(parts: ExchangeParts) {
    this.#parts = parts
    parts.response.once("close", () => {
      this.#closed.abort()
      parts.log.finish(parts.record, { status: 0, ok: false, error: "the client closed the connection" })
    })
  }

  async answer(fault: Fault | undefined, run: (signal: AbortSignal) => Promise<Answer>): Promise<void> {
    const { response } = this.#parts
    switch (fault?.kind) {
      case "status":
        return this.#refuse(new ApiError(fault.status ?? 500, fault.description ?? "Internal Server Error"))
      case "429":
        return this.#refuse(tooManyRequests(fault.retryAfter ?? 1))
      case "html":
        return this.#sendHtml(fault.status ?? 502)
      case "hang":
        return
      case "cut":
        response.destroy()
        return
      case "cut-after-accept":
        await run(this.#closed.signal)
        response.destroy()
        return
      case "cut-body":
        return this.#sendHalf(await run(this.#closed.signal))
      case "slow":
        await new Promise<void>((resolve) => this.#parts.clock.after(fault.delayMs ?? 1000, resolve))
        return send(response, await run(this.#closed.signal))
      case undefined:
        return send(response, await run(this.#closed.signal))
    }
  }

  #refuse(error: ApiError): void {
    this.#parts.log.finish(this.#parts.record, { status: error.status, ok: false, error: error.message })
    send(this.#parts.response, errorAnswer(error))
  }

  /** What a proxy in front of the platform answers when it has a bad day. */
  #sendHtml(status: number): void {
    const { log, record, response } = this.#parts
    log.finish(record, { status, ok: false, error: "HTML body" })
    const body = `<html>\r\n<head><title>${status}</title></head>\r\n<body><center><h1>${status}</h1></center></body>\r\n</html>\r\n`
    response.writeHead(status, { "Content-Type": "text/html", "Content-Length": Buffer.byteLength(body) })
    response.end(body)
  }

  #sendHalf(answer: Answer): void {
    const { response } = this.#parts
    const body = Buffer.from(answer.body)
    response.writeHead(answer.status, { "Content-Type": "application/json", "Content-Length": body.length })
    response.write(body.subarray(0, Math.floor(body.length / 2)), () => response.destroy())
  }
}

function send(response: ServerResponse, answer: Answer): void {
  if (response.destroyed || response.headersSent) return
  response.writeHead(answer.status, {
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(answer.body),
    ...(answer.retryAfterSeconds ? { "Retry-After": String(answer.retryAfterSeconds) } : {}),
  })
  response.end(answer.body)
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch (error) {
    if (error instanceof URIError) return path
    throw error
  }
}
