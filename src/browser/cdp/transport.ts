// The two ways to a browser: a pipe to one that we started, which nobody else can speak through, and a WebSocket to any
// other. Both carry whole messages and say when they end; what the messages mean is the connection's affair.
import type { Socket } from "node:net"
import type { Readable, Writable } from "node:stream"
import { WebSocket } from "ws"
import { AppError, raceAbort } from "../../kernel/index.ts"

export interface TransportEvents {
  onMessage(text: string): void
  /** Called at most once, and not after `close`. */
  onEnd(reason: AppError): void
}

export interface Transport {
  /** Everything that has come so far: a large answer on a slow line is a sign of life before it is complete. */
  readonly bytesRead: number
  /** Begins to read. Called once, before anything is sent. */
  listen(events: TransportEvents): void
  send(text: string): void
  /** Asks the other end for a sign of life. False where the way itself has no question for that. */
  ping(): boolean
  /** Whether a silence of so long means that the other end is gone. */
  isGone(silentMs: number): boolean
  close(): void
}

/** Screenshots and big snapshots are large; past this the peer is broken. */
export const maxMessageBytes = 256 * 1024 * 1024

/** The WebSocket could not be opened. */
export class HandshakeError extends Error {
  /** HTTP status of the answer, when there was one. */
  readonly status: number | undefined

  constructor(message: string, options: { status?: number; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = "HandshakeError"
    this.status = options.status
  }
}

export interface Endpoint {
  url: string
  headers?: Record<string, string>
}

export interface ConnectOptions extends Endpoint {
  timeoutMs: number
  signal?: AbortSignal
}

/** Rejects with HandshakeError, or the signal's reason. */
export async function openWebSocket(options: ConnectOptions): Promise<Transport> {
  const socket = new WebSocket(options.url, {
    perMessageDeflate: false,
    maxPayload: maxMessageBytes,
    handshakeTimeout: options.timeoutMs,
    followRedirects: false,
    ...(options.headers ? { headers: options.headers } : {}),
  })
  let wire: Socket | undefined
  const opened = new Promise<void>((resolve, reject) => {
    socket.once("upgrade", (response) => (wire = response.socket))
    socket.once("open", () => resolve())
    socket.once("error", (cause) => reject(new HandshakeError(`The WebSocket failed: ${cause.message}`, { cause })))
    socket.once("unexpected-response", (_request, { statusCode: status }) =>
      reject(new HandshakeError(`The WebSocket was answered with HTTP ${status}`, status ? { status } : {})),
    )
  })
  try {
    await (options.signal ? raceAbort(opened, options.signal) : opened)
  } catch (error) {
    socket.on("error", () => undefined)
    socket.terminate()
    throw error
  }
  return overWebSocket(socket, wire as Socket)
}

function overWebSocket(socket: WebSocket, wire: Socket): Transport {
  return {
    get bytesRead() {
      return wire.bytesRead
    },
    listen({ onMessage, onEnd }) {
      socket.on("message", (data) => onMessage(String(data)))
      socket.on("error", (cause) => onEnd(new AppError("browser-lost", "The browser's socket failed", { cause })))
      socket.on("close", () => onEnd(new AppError("browser-lost", "The browser closed its socket")))
    },
    send: (text) => socket.send(text),
    ping() {
      socket.ping()
      return true
    },
    // A ping is answered by a thread of its own, however busy the browser is.
    isGone: () => true,
    close: () => socket.terminate(),
  }
}

export interface PipeOptions {
  /** Whether the process at the other end has been stopped from outside. */
  isStopped?: () => boolean
  /** Bytes of one message. */
  limit?: number
}

/** On a pipe the one thread that answers is also the one that is busy with a huge page or picture. */
const patienceMs = 30_000

/**
 * The pipe of `--remote-debugging-pipe`: JSON in both directions, a zero byte behind each message. Streams keep the order
 * and hold what the browser has not read yet; messages are put together from bytes, since any of them may be cut anywhere.
 */
export function overPipe(toBrowser: Writable, fromBrowser: Readable, options: PipeOptions = {}): Transport {
  const { isStopped = () => false, limit = maxMessageBytes } = options
  let bytesRead = 0
  let isOver = false
  let parts: Buffer[] = []
  let partBytes = 0
  const close = () => {
    isOver = true
    parts = []
    toBrowser.destroy()
    fromBrowser.destroy()
  }
  return {
    get bytesRead() {
      return bytesRead
    },
    listen({ onMessage, onEnd }) {
      const end = (reason: AppError) => {
        if (isOver) return
        close()
        onEnd(reason)
      }
      const keep = (part: Buffer) => {
        parts.push(part)
        partBytes += part.length
        if (partBytes > limit) end(new AppError("browser-lost", `The browser sent a message of over ${limit} bytes`))
      }
      fromBrowser.on("data", (chunk: Buffer) => {
        bytesRead += chunk.length
        let from = 0
        for (let at = chunk.indexOf(0); at !== -1 && !isOver; at = chunk.indexOf(0, from)) {
          keep(chunk.subarray(from, at))
          from = at + 1
          if (isOver) return
          const text = (parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)).toString("utf8")
          parts = []
          partBytes = 0
          onMessage(text)
        }
        if (!isOver && from < chunk.length) keep(chunk.subarray(from))
      })
      for (const stream of [toBrowser, fromBrowser])
        stream.on("error", (cause) => end(new AppError("browser-lost", "The browser's pipe failed", { cause })))
      for (const stream of [toBrowser, fromBrowser])
        stream.on("close", () => end(new AppError("browser-lost", "The browser closed its pipe")))
    },
    send(text) {
      if (!isOver) toBrowser.write(`${text}\0`)
    },
    ping: () => false,
    isGone: (silentMs) => silentMs >= patienceMs || isStopped(),
    close,
  }
}
