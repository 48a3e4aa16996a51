// One HTTP listener with an owner: start it on a port, stop it within a time. Requests go to a hono app's fetch.
import { createAdaptorServer } from "@hono/node-server"
import type { IncomingMessage, Server } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import type { Duplex } from "node:stream"
import { AppError } from "../errors.ts"

export interface ListenOptions {
  fetch: Parameters<typeof createAdaptorServer>[0]["fetch"]
  host: string
  port: number
  /** What the port is for, as the error names it: "the gateway (gateway.port)". */
  purpose: string
  /** Connections at once, so that strangers never take the handles that our own work needs; further ones are closed. */
  maxConnections?: number | undefined
  /** What to do when the port is taken; default: about gateway.port. */
  hint?: string
  /** How long who connects may say nothing when places are rare. */
  silentMs?: number
  /** Takes WebSockets; without it they are requests like others. */
  upgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
}

export interface Listener {
  server: Server
  port: number
  /** Stops accepting, lets running requests finish for `graceMs`, then cuts what is left. */
  stop(graceMs?: number): Promise<void>
}

/**
 * Longer than proxies keep a connection that nobody uses (nginx 60 s, Caddy 2 minutes): a request never meets the end that
 * the server makes of it. https://nodejs.org/api/http.html#serverkeepalivetimeout
 */
const keepAliveMs = 125_000
/** The part of the connections above which those that wait for nothing are closed. */
const crowded = 0.75
/** All connections are looked through for those that give way: in a crowd not for each that comes. */
const betweenLooksMs = 50
/** Who means to ask has asked by then; the rest gives way in a crowd, long before its headers are too late. */
const defaultSilentMs = 2_000

/** Rejects with `port-in-use` naming port and purpose. */
export async function listen(options: ListenOptions): Promise<Listener> {
  const server = createAdaptorServer({ fetch: options.fetch, overrideGlobalObjects: false }) as Server
  // A client may take its time over a body (read-body has its own limit) but not over the headers.
  server.headersTimeout = 15_000
  server.requestTimeout = 120_000
  server.keepAliveTimeout = keepAliveMs
  if (options.maxConnections !== undefined) server.maxConnections = options.maxConnections
  let isStopping = false
  server.on("request", (_request, response) => {
    // Else a connection that is kept alive would hold the stop up for its grace, with nothing left to finish.
    response.once("close", () => isStopping && setImmediate(() => server.closeIdleConnections()))
  })
  const sockets = new Set<Socket>()
  const silent = new SilentConnections(options.silentMs ?? defaultSilentMs)
  server.on("request", ({ socket }: IncomingMessage) => silent.delete(socket))
  const { upgrade } = options
  if (upgrade) {
    server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      silent.delete(request.socket)
      if (isWebSocket(request)) upgrade(request, socket, head)
      else readAgain(server, request, socket, head)
    })
  }
  // Who only keeps a connection for later, or has asked for nothing yet, gives way to who comes.
  let lastLookAt = -Infinity
  const makeRoom = () => {
    const now = performance.now()
    if (now - lastLookAt < betweenLooksMs) return
    lastLookAt = now
    server.closeIdleConnections()
    silent.end()
  }
  server.on("connection", (socket: Socket) => {
    // It comes once more where a request is read again.
    if (!sockets.has(socket)) {
      sockets.add(socket)
      silent.add(socket)
      socket.on("close", () => {
        sockets.delete(socket)
        silent.delete(socket)
      })
    }
    if (sockets.size > (options.maxConnections ?? Infinity) * crowded) makeRoom()
  })
  server.on("drop", makeRoom)
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(explain(error, options)))
    server.listen({ host: options.host, port: options.port }, resolve)
  })
  return {
    server,
    port: (server.address() as AddressInfo).port,
    async stop(graceMs = 2_000) {
      isStopping = true
      // Ends connections that wait for a request; those that are answered later end by the listener above.
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      const timer = setTimeout(() => {
        for (const socket of sockets) socket.destroy()
      }, graceMs)
      await closed
      clearTimeout(timer)
    },
  }
}

/** Those on which no request has come, in the order in which they came. */
class SilentConnections {
  readonly #since = new Map<Socket, number>()
  readonly #mostMs: number

  constructor(mostMs: number) {
    this.#mostMs = mostMs
  }

  add(socket: Socket): void {
    this.#since.set(socket, performance.now())
  }

  delete(socket: Socket): void {
    this.#since.delete(socket)
  }

  /** Cuts those that have had their time. */
  end(): void {
    const before = performance.now() - this.#mostMs
    for (const [socket, since] of this.#since) {
      if (since > before) return
      socket.destroy()
    }
  }
}

export function isWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === "websocket"
}

/**
 * With a listener for upgrades, Node.js hands over every request that offers one, body unread. Plain senders of webhooks
 * offer `h2c` and mean a usual request: it is put back without the offer, and read as if it had just come.
 */
function readAgain(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const { method = "GET", url = "/", httpVersion, rawHeaders } = request
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = "", value = ""] = rawHeaders.slice(at, at + 2)
    if (/^(?:upgrade|http2-settings)$/i.test(name)) continue
    if (!/^connection$/i.test(name)) lines.push(`${name}: ${value}`)
    else if (/\bclose\b/i.test(value)) lines.push("Connection: close")
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), head]))
  server.emit("connection", socket)
}

function explain(error: NodeJS.ErrnoException, options: ListenOptions): AppError {
  if (error.code === "EADDRINUSE") {
    return new AppError("port-in-use", `Port ${options.port} is in use; it is needed for ${options.purpose}`, {
      cause: error,
      hint:
        options.hint ??
        "Stop the other program, or set gateway.port (or SVC_GATEWAY_PORT) to a free port; the others follow it",
    })
  }
  const address = options.port === 0 ? options.host : `${options.host}:${options.port}`
  return new AppError("internal", `Cannot listen on ${address} for ${options.purpose}`, {
    cause: error,
    hint:
      error.code === "EACCES"
        ? "Ports below 1024 need rights that this user does not have"
        : (options.hint ?? "Check gateway.bind"),
  })
}
