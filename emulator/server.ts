// The HTTP server: one port for the Bot API, the files, the control API and the chat page.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout } from "node:timers/promises"
import type { BotEndpoint } from "./bot-endpoint.ts"
import type { ControlEndpoint } from "./control/http.ts"
import { sendJson } from "./control/http.ts"
import { errorAnswer } from "./dispatcher.ts"
import { ApiError } from "./errors.ts"
import { servePage } from "./page/serve.ts"

export interface ServerParts {
  host: string
  port: number
  bots: BotEndpoint
  control: ControlEndpoint
}

const loopbackHost = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/i

export class EmulatorServer {
  readonly #parts: ServerParts
  #server: Server
  #port = 0
  readonly #stopped = new AbortController()

  constructor(parts: ServerParts) {
    this.#parts = parts
    this.#server = this.#create()
  }

  get port(): number {
    return this.#port
  }

  async listen(): Promise<void> {
    const { host, port } = this.#parts
    const wanted = this.#port || port
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject)
      this.#server.listen(wanted, host, () => {
        this.#server.off("error", reject)
        resolve()
      })
    })
    this.#port = (this.#server.address() as AddressInfo).port
  }

  /** For good: a restart that is under way does not bring it back. */
  async stop(): Promise<void> {
    this.#stopped.abort()
    await this.#close()
  }

  async #close(): Promise<void> {
    const server = this.#server
    await new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  }

  /** Cuts everything, after what was just answered has left, and comes back at the same port. */
  async restart(downMs: number): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    await this.#close()
    const { signal } = this.#stopped
    await setTimeout(downMs, undefined, { signal }).catch((error: unknown) => {
      if (!signal.aborted) throw error
    })
    if (signal.aborted) return
    this.#server = this.#create()
    await this.listen()
  }

  #create(): Server {
    const server = createServer((request, response) => {
      void this.#handle(request, response)
    })
    server.keepAliveTimeout = 60_000
    // Long polls and injected hangs have no upper limit of their own.
    server.requestTimeout = 0
    return server
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { bots, control } = this.#parts
    const url = URL.parse(request.url ?? "/", "http://emulator")
    try {
      if (!url) throw new ApiError(400, "Bad Request")
      if (url.pathname.startsWith("/bot")) return await bots.call(request, response, url)
      if (url.pathname.startsWith("/file/bot")) return bots.download(request, response, url)
      // A web page may know this port, but it cannot give the address a name of its own.
      if (!loopbackHost.test(request.headers.host ?? "")) return sendJson(response, 403, forbiddenHost)
      if (url.pathname.startsWith("/_emulator/")) return await control.handle(request, response, url)
      if (request.method === "GET" && (await servePage(response, url.pathname))) return
      throw new ApiError(404, "Not Found")
    } catch (error) {
      request.resume()
      const answer = errorAnswer(error)
      if (!response.headersSent) sendJson(response, answer.status, JSON.parse(answer.body))
    }
  }
}

const forbiddenHost = { ok: false, error: { code: "forbidden", message: "use a loopback address" } }
