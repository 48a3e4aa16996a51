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

/** Screenshots and big snapshots are large. */
export const maxMessageBytes = 256 * 1024 * 1024
/** The error code, of our own, in place of an answer that was larger. */
export const tooLargeCode = -32_999
/** So many times the limit a peer is broken. */
const brokenTimes = 4
/** Within these stands the number of the command that is answered: `{"id":7,`. */
const startBytes = 64

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
  /** Bytes of one message; of a larger one is said only that it was too large. */
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
  let start: Buffer | undefined
  let unsent = ""
  const flush = () => {
    const text = unsent
    unsent = ""
    if (!isOver) toBrowser.write(text)
  }
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
        partBytes += part.length
        if (partBytes <= limit) return void parts.push(part)
        // It is read to its end and thrown away: the call fails that asked for so much, not all that the browser does.
        start ??= Buffer.concat([...parts, part].map((each) => each.subarray(0, startBytes))).subarray(0, startBytes)
        parts = []
        if (partBytes > limit * brokenTimes) {
          end(new AppError("browser-lost", `The browser sent a message of over ${limit * brokenTimes} bytes`))
        }
      }
      const take = () => {
        const text = start
          ? tooLarge(start)
          : (parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)).toString("utf8")
        parts = []
        partBytes = 0
        start = undefined
        if (text !== undefined) onMessage(text)
      }
      fromBrowser.on("data", (chunk: Buffer) => {
        bytesRead += chunk.length
        let from = 0
        for (let at = chunk.indexOf(0); at !== -1 && !isOver; at = chunk.indexOf(0, from)) {
          keep(chunk.subarray(from, at))
          from = at + 1
          if (isOver) return
          take()
        }
        if (!isOver && from < chunk.length) keep(chunk.subarray(from))
      })
      for (const stream of [toBrowser, fromBrowser])
        stream.on("error", (cause) => end(new AppError("browser-lost", "The browser's pipe failed", { cause })))
      for (const stream of [toBrowser, fromBrowser])
        stream.on("close", () => end(new AppError("browser-lost", "The browser closed its pipe")))
    },
    send(text) {
      if (isOver) return
      // What is said in one turn goes out at once: each write wakes the browser, which costs more than the words.
      if (unsent === "") process.nextTick(flush)
      unsent += `${text}\0`
    },
    ping: () => false,
    isGone: (silentMs) => silentMs >= patienceMs || isStopped(),
    close,
  }
}

/** What an answer stands for that was thrown away; events are nobody's answer, and are left out. */
function tooLarge(start: Buffer): string | undefined {
  const id = /^\s{0,4}\{\s{0,4}"id"\s{0,4}:\s{0,4}(\d{1,15})\b/.exec(start.toString("latin1"))?.[1]
  if (id === undefined) return undefined
  return JSON.stringify({ id: Number(id), error: { code: tooLargeCode, message: "The answer is too large" } })
}
