// One WebSocket to one browser, with flat sessions: commands out, answers and events in. Everything the engine says
// to a browser goes through here. It knows nothing of tabs or pages.
import type { Socket } from "node:net"
import { WebSocket } from "ws"
import { AppError, raceAbort } from "../../kernel/index.ts"

export type CdpParams = Record<string, unknown>
type EventHandler = (params: never) => void

export interface SendOptions {
  signal?: AbortSignal | undefined
  /** Limit of the answer; 0 waits for as long as the signal and the connection allow. */
  timeoutMs?: number
}

/** What the engine needs of a session; the browser's own session and a tab's have the same face. */
export interface CdpSession {
  readonly id: string | undefined
  /** Sends a command. Rejects with `browser-lost`, `timeout`, the signal's reason, or a CdpError of the browser. */
  send<Result = CdpParams>(method: string, params?: CdpParams, options?: SendOptions): Promise<Result>
  /** Gives the function that ends the listening. */
  on(method: string, handler: EventHandler): () => void
}

/** The browser's own refusal of a command, for callers that know what it means; others let it become `internal`. */
export class CdpError extends Error {
  readonly method: string

  constructor(method: string, message: string) {
    super(`${method}: ${message}`)
    this.name = "CdpError"
    this.method = method
  }
}

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

interface Pending {
  method: string
  sessionId: string | undefined
  resolve(result: unknown): void
  reject(error: unknown): void
  timer: NodeJS.Timeout | undefined
}

interface Message {
  id?: number
  method?: string
  params?: CdpParams
  result?: unknown
  error?: { message: string }
  sessionId?: string
}

export interface Endpoint {
  url: string
  headers?: Record<string, string>
}

export interface ConnectOptions extends Endpoint {
  timeoutMs: number
  signal?: AbortSignal
}

const defaultTimeoutMs = 15_000
/** Screenshots and big snapshots are large; past this the peer is broken. */
const maxMessageBytes = 256 * 1024 * 1024
/** A ping with every beat; a peer of which four beats bring nothing is gone, which is so noticed within five seconds. */
const beatMs = 900
const silentBeats = 4

export class CdpConnection {
  readonly #socket: WebSocket
  readonly #wire: Socket
  readonly #pending = new Map<number, Pending>()
  readonly #handlers = new Map<string, Map<string, Set<EventHandler>>>()
  readonly #closed = Promise.withResolvers<AppError>()
  readonly #beat: NodeJS.Timeout
  readonly root: CdpSession
  /** Where and with what this connection was made, for a second one to the same browser. Holds secrets. */
  readonly endpoint: Endpoint
  #nextId = 1
  #bytesSeen = 0
  #silent = 0
  #lost: AppError | undefined

  /** Rejects with HandshakeError, or the signal's reason. */
  static async connect(options: ConnectOptions): Promise<CdpConnection> {
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
    return new CdpConnection(socket, wire as Socket, options)
  }

  private constructor(socket: WebSocket, wire: Socket, { url, headers }: Endpoint) {
    this.endpoint = { url, ...(headers ? { headers } : {}) }
    this.#socket = socket
    this.#wire = wire
    this.root = this.session(undefined)
    socket.on("message", (data) => this.#receive(String(data)))
    socket.on("error", (error) =>
      this.#lose(new AppError("browser-lost", "The browser's socket failed", { cause: error })),
    )
    socket.on("close", () => this.#lose(new AppError("browser-lost", "The browser closed its socket")))
    // What arrived while this process was busy is read first: it counts.
    this.#beat = setInterval(() => setImmediate(() => this.#checkAlive()), beatMs)
    this.#beat.unref()
  }

  /** Resolves with the reason once the connection has ended, whoever ended it. */
  get closed(): Promise<AppError> {
    return this.#closed.promise
  }

  get isOpen(): boolean {
    return this.#lost === undefined
  }

  session(sessionId: string | undefined): CdpSession {
    return {
      id: sessionId,
      send: <Result>(method: string, params?: CdpParams, options?: SendOptions) =>
        this.#send(method, params ?? {}, sessionId, options ?? {}) as Promise<Result>,
      on: (method, handler) => this.#listen(sessionId ?? "", method, handler),
    }
  }

  /** Forgets the handlers of a session and rejects what still waits for an answer of it. */
  endSession(sessionId: string, reason: AppError): void {
    this.#handlers.delete(sessionId)
    for (const [id, pending] of this.#pending) {
      if (pending.sessionId === sessionId) this.#settle(id, (entry) => entry.reject(reason))
    }
  }

  close(): void {
    this.#lose(new AppError("browser-lost", "The connection to the browser was closed"))
  }

  async #send(method: string, params: CdpParams, sessionId: string | undefined, options: SendOptions) {
    if (this.#lost) throw this.#lost
    options.signal?.throwIfAborted()
    const id = this.#nextId++
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const timeoutMs = options.timeoutMs ?? defaultTimeoutMs
    const timer = timeoutMs > 0 ? setTimeout(() => this.#expire(id, timeoutMs), timeoutMs) : undefined
    this.#pending.set(id, { method, sessionId, resolve, reject, timer })
    const onAbort = () => this.#settle(id, (entry) => entry.reject(options.signal?.reason))
    options.signal?.addEventListener("abort", onAbort, { once: true })
    this.#socket.send(JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) }))
    try {
      return await promise
    } finally {
      options.signal?.removeEventListener("abort", onAbort)
    }
  }

  #expire(id: number, timeoutMs: number): void {
    this.#settle(id, (entry) =>
      entry.reject(new AppError("timeout", `The browser did not answer ${entry.method} within ${timeoutMs} ms`)),
    )
  }

  #settle(id: number, how: (entry: Pending) => void): void {
    const entry = this.#pending.get(id)
    if (!entry) return
    this.#pending.delete(id)
    clearTimeout(entry.timer)
    how(entry)
  }

  /** Whoever is at the other end: what it sends ends at most the connection to it. */
  #receive(text: string): void {
    try {
      this.#take(JSON.parse(text) as Message)
    } catch (cause) {
      this.#lose(new AppError("browser-lost", "The browser sent something that is not CDP", { cause }))
    }
  }

  #take(message: Message): void {
    if (message.id !== undefined) {
      this.#settle(message.id, (entry) => {
        if (message.error) entry.reject(new CdpError(entry.method, message.error.message))
        else entry.resolve(message.result ?? {})
      })
    } else if (message.method !== undefined) {
      const handlers = this.#handlers.get(message.sessionId ?? "")?.get(message.method)
      for (const handler of handlers ?? []) handler((message.params ?? {}) as never)
    }
  }

  #listen(key: string, method: string, handler: EventHandler): () => void {
    const methods = this.#handlers.get(key) ?? new Map<string, Set<EventHandler>>()
    this.#handlers.set(key, methods)
    const handlers = methods.get(method) ?? new Set()
    methods.set(method, handlers.add(handler))
    return () => handlers.delete(handler)
  }

  /** Bytes count, not messages: a large answer on a slow line is a sign of life before it is complete. */
  #checkAlive(): void {
    if (this.#lost) return
    const { bytesRead } = this.#wire
    this.#silent = bytesRead === this.#bytesSeen ? this.#silent + 1 : 0
    this.#bytesSeen = bytesRead
    if (this.#silent >= silentBeats) return this.#lose(new AppError("browser-lost", "The browser stopped answering"))
    this.#socket.ping()
  }

  #lose(reason: AppError): void {
    if (this.#lost) return
    this.#lost = reason
    clearInterval(this.#beat)
    this.#socket.terminate()
    for (const id of this.#pending.keys()) this.#settle(id, (entry) => entry.reject(reason))
    this.#handlers.clear()
    this.#closed.resolve(reason)
  }
}
