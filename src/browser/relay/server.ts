// The relay's listener on loopback: `/extension` for the extension, which proves the shared secret, and `/json/*` and `/cdp`
// for CDP clients, which have the gateway's token. Nothing else is answered, and nothing to a web page.
import { createServer, type IncomingMessage, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import type { Duplex } from "node:stream"
import { type WebSocket, WebSocketServer } from "ws"
import {
  AppError,
  type Background,
  type Ids,
  type Log,
  type Secret,
  toAppError,
  toErrorBody,
} from "../../kernel/index.ts"
import { type Admit, bearerToken, checkOrigin, type FailureThrottle, refuse } from "../../kernel/http/index.ts"
import { maxMessageBytes } from "../cdp/transport.ts"
import { RelayClient } from "./client.ts"
import { type Closing, extensionOrigin } from "./contract.ts"
import { type Acceptance, welcome } from "./handshake.ts"
import { type ExtensionLink, type Hub, notConnected } from "./hub.ts"
import { readMessage } from "./messages.ts"
import type { Pairing } from "./pairing.ts"

export interface RelayServerOptions {
  hub: Hub
  pairing: Pairing
  /** 0 takes any free port. */
  port: number
  /** Of this run of the gateway. */
  boot: string
  token: Secret
  admit: Admit | undefined
  throttle: FailureThrottle
  /** Whether the profile lets commands open tabs. */
  newTabs(): boolean
  checkOpen(url: string): Promise<string>
  maxConnections: number | undefined
  ids: Ids
  log: Log
  background: Background
}

/** More than hello and proof take: whoever has not proven itself fills no memory. */
const greetingBytes = 16 * 1024
/** How often it is looked whether the token of a client is good still. */
const askEveryMs = 1_000

export class RelayServer {
  readonly #options: RelayServerOptions
  readonly #server: Server
  readonly #sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: maxMessageBytes })
  readonly #clients = new Set<RelayClient>()
  #extension: { socket: WebSocket; link: ExtensionLink } | undefined
  #port: number | undefined

  private constructor(options: RelayServerOptions) {
    this.#options = options
    this.#server = createServer((request, response) => {
      const { status, body } = this.#answer(request)
      response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" })
      response.end(JSON.stringify(body))
      request.resume()
    })
    this.#server.headersTimeout = 15_000
    this.#server.requestTimeout = 15_000
    if (options.maxConnections !== undefined) this.#server.maxConnections = options.maxConnections
    this.#server.on("upgrade", (request, socket, head) => this.#upgrade(request, socket, head))
  }

  /** Rejects with `port-in-use`. */
  static async start(options: RelayServerOptions): Promise<RelayServer> {
    const relay = new RelayServer(options)
    await new Promise<void>((resolve, reject) => {
      relay.#server.once("error", (cause) => reject(portInUse(options.port, cause)))
      relay.#server.listen({ host: "127.0.0.1", port: options.port }, resolve)
    })
    relay.#port = (relay.#server.address() as AddressInfo).port
    return relay
  }

  get port(): number {
    return this.#port ?? this.#options.port
  }

  #answer(request: IncomingMessage): { status: number; body: unknown } {
    try {
      this.#checkClient(request)
      return { status: 200, body: this.#json(request) }
    } catch (error) {
      const known = toAppError(error)
      if (known.code === "internal") this.#options.log.error({ err: error }, "relay request failed")
      return { status: known.status, body: toErrorBody(known) }
    }
  }

  #json(request: IncomingMessage): unknown {
    const { pathname } = new URL(request.url ?? "/", "http://relay")
    const path = pathname.replace(/\/$/, "")
    if (request.method !== "GET" && request.method !== "HEAD" && request.method !== "PUT")
      throw new AppError("method-not-allowed", "The relay answers to GET")
    const { hub } = this.#options
    // Never from the Host header, which is the caller's.
    const socket = `ws://127.0.0.1:${this.port}/cdp`
    if (path === "/json/version") {
      const { userAgent = "" } = hub.link ?? {}
      const address = hub.link ? { webSocketDebuggerUrl: socket } : {}
      return { Browser: "svc relay", "Protocol-Version": "1.3", "User-Agent": userAgent, ...address }
    }
    if (path === "/json" || path === "/json/list") {
      const tabs = hub.tabs.map(({ targetId: id, title, url }) => ({ id, type: "page", title, url }))
      return tabs.map((tab) => ({ ...tab, description: "", webSocketDebuggerUrl: socket }))
    }
    throw new AppError("not-found", "There is no such route", { hint: "/json/version, /json/list and /cdp are there" })
  }

  /**
   * A program of this machine with the token; in a query too, where a client can send no header. Gives what says whether the
   * token is good still.
   */
  #checkClient(request: IncomingMessage): () => boolean {
    checkOrigin(request.headers, { port: this.port })
    const { token, admit, throttle } = this.#options
    const url = new URL(request.url ?? "/", "http://relay")
    const inQuery = url.searchParams.get("token")
    if (inQuery !== null && request.headers.authorization === undefined)
      request.headers.authorization = `Bearer ${inQuery}`
    // The same right as that to drive browsers through the control service.
    if (admit) {
      const visit = admit(request, "/")
      visit.end(200)
      return () => visit.holds()
    }
    const given = bearerToken(request.headers.authorization)
    if (given !== undefined && token.matches(given)) return () => true
    refuse(throttle, request.socket.remoteAddress ?? "", {
      message: "A token is needed",
      hint: "Send the header 'Authorization: Bearer <gateway token>'",
    })
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on("error", () => socket.destroy())
    try {
      const { pathname } = new URL(request.url ?? "/", "http://relay")
      if (pathname === "/extension") {
        this.#checkExtension(request)
        this.#sockets.handleUpgrade(request, socket, head, (open) =>
          this.#options.background.run("browser extension", () => this.#greet(open, socket)),
        )
        return
      }
      const holds = this.#checkClient(request)
      if (pathname !== "/cdp") throw new AppError("not-found", "There is no such route")
      if (!this.#options.hub.link) throw notConnected()
      this.#sockets.handleUpgrade(request, socket, head, (open) => this.#serve(open, holds))
    } catch (error) {
      const { status, message } = toAppError(error)
      const body = `${message}\n`
      socket.end(
        `HTTP/1.1 ${status} Refused\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
      )
    }
  }

  /** Browsers send their origin with every WebSocket, and no page can send this one. */
  #checkExtension({ headers }: IncomingMessage): void {
    if (headers.origin !== extensionOrigin) {
      const { log } = this.#options
      log.warn({ origin: String(headers.origin).slice(0, 80) }, "relay refused a stranger")
      throw new AppError("forbidden-origin", "Only the svc extension may connect here")
    }
    const { origin: _known, "sec-fetch-site": _site, ...rest } = headers
    checkOrigin(rest, { port: this.port })
  }

  async #greet(socket: WebSocket, wire: Duplex): Promise<void> {
    socket.on("error", () => socket.terminate())
    const freed = holdTo(greetingBytes, wire)
    const { pairing, boot, newTabs, background } = this.#options
    const accepted = await welcome(socket, {
      pairing,
      port: this.port,
      nonce: this.#options.ids.token(32),
      isTaken: (instance) => this.#extension !== undefined && this.#extension.link.instance !== instance,
      welcome() {
        freed()
        return { type: "welcome", boot, newTabs: newTabs() }
      },
      onWrongSecret: () => this.#options.log.warn("the browser extension does not have the secret of the pairing"),
      onRightSecret: () => background.run("relay pairing", () => pairing.keepProven()),
    })
    if (accepted && !accepted.check) this.#take(socket, accepted)
  }

  #take(socket: WebSocket, { instance, userAgent, version, listen }: Acceptance): void {
    const { hub, log } = this.#options
    const link: ExtensionLink = {
      instance,
      userAgent,
      version,
      send: (message) => socket.send(JSON.stringify(message)),
    }
    // The same browser again means that its old connection is dead; another one was asked for by a click there.
    if (this.#extension)
      end(this.#extension.socket, instance === this.#extension.link.instance ? undefined : "replaced")
    this.#extension = { socket, link }
    hub.connect(link)
    log.info({ version }, "browser extension connected")
    socket.on("close", () => {
      if (this.#extension?.socket === socket) this.#extension = undefined
      hub.disconnect(link)
      log.info("browser extension disconnected")
    })
    listen((said) => this.#hear(socket, link, said))
  }

  /** Whatever it sends ends at most its connection. */
  #hear(socket: WebSocket, link: ExtensionLink, said: object): void {
    try {
      this.#options.hub.receive(link, readMessage(said))
    } catch (error) {
      this.#options.log.warn({ err: error }, "the browser extension said what makes no sense")
      socket.terminate()
    }
  }

  /** As long as the token is good. */
  #serve(socket: WebSocket, holds: () => boolean): void {
    socket.on("error", () => socket.terminate())
    const mayGoOn = () => holds() || (socket.terminate(), false)
    const timer = setInterval(mayGoOn, askEveryMs)
    timer.unref()
    const client = new RelayClient({
      hub: this.#options.hub,
      deliver: (message) => socket.send(JSON.stringify(message)),
      newSession: () => this.#options.ids.token(16),
      checkOpen: this.#options.checkOpen,
    })
    this.#clients.add(client)
    socket.on("message", (data) => {
      if (mayGoOn()) client.receive(String(data))
    })
    socket.on("close", () => {
      clearInterval(timer)
      this.#clients.delete(client)
      client.close()
    })
  }

  /** Tells the extension why, and ends its connection. */
  dismiss(reason: Closing): void {
    if (this.#extension) end(this.#extension.socket, reason)
    this.#extension = undefined
  }

  async stop(reason: Closing): Promise<void> {
    this.dismiss(reason)
    for (const client of this.#sockets.clients) client.close(1001)
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    this.#server.closeAllConnections()
    const cut = setTimeout(() => {
      for (const client of this.#sockets.clients) client.terminate()
    }, 500)
    await closed
    clearTimeout(cut)
  }
}

/** Cuts the connection when more than this comes on it. Gives the function that ends the watch. */
function holdTo(bytes: number, wire: Duplex): () => void {
  let left = bytes
  const count = (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) wire.destroy()
  }
  wire.on("data", count)
  return () => wire.off("data", count)
}

function end(socket: WebSocket, reason: Closing | undefined): void {
  if (reason === undefined) return socket.terminate()
  socket.send(JSON.stringify({ type: "closing", reason }))
  socket.close()
}

function portInUse(port: number, cause: Error): AppError {
  return new AppError("port-in-use", `Port ${port} is in use; it is needed for the relay (gateway.port + 3)`, {
    cause,
    hint: "Stop the other program; the relay is tried again when it is used",
  })
}
