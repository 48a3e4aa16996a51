// One way to one browser, with flat sessions: commands out, answers and events in. Everything the engine says to a browser
// goes through here. It knows nothing of tabs or pages.
import { AppError } from "../../kernel/index.ts"
import { type ConnectOptions, type Endpoint, type Transport } from "./transport.ts"
import { maxMessageBytes, openWebSocket, tooLargeCode } from "./transport.ts"

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

interface Pending {
  method: string
  sessionId: string | undefined
  resolve(result: unknown): void
  reject(error: unknown): void
  timer: NodeJS.Timeout | undefined
}

/** As it is on the wire. */
export interface Message {
  id?: number
  method?: string
  params?: CdpParams
  result?: unknown
  error?: { message: string; code?: number; data?: unknown }
  sessionId?: string
}

export type MessageError = NonNullable<Message["error"]>

/** Somebody else who speaks to the browser through this connection, in sessions of its own. */
export interface SecondClient {
  /** Whether the message is for that one: an answer to its command, or an event of its sessions. */
  takes(message: Message): boolean
}

const defaultTimeoutMs = 15_000
/** A question with every beat; a peer of which four beats bring nothing may be gone, which is so noticed within five seconds. */
const beatMs = 900
const silentBeats = 4

export class CdpConnection {
  readonly #transport: Transport
  readonly #explain: ((error: MessageError) => AppError | undefined) | undefined
  readonly #pending = new Map<number, Pending>()
  readonly #handlers = new Map<string, Map<string, Set<EventHandler>>>()
  readonly #clients = new Set<SecondClient>()
  readonly #closed = Promise.withResolvers<AppError>()
  readonly #beat: NodeJS.Timeout
  readonly root: CdpSession
  /** Where a second connection can be made, with what it needs. Holds secrets. None for a browser at the end of a pipe. */
  readonly endpoint: Endpoint | undefined
  #nextId = 1
  #bytesSeen = 0
  #silent = 0
  #lost: AppError | undefined

  /** Rejects with HandshakeError, or the signal's reason. */
  static async connect(options: ConnectOptions): Promise<CdpConnection> {
    const { url, headers } = options
    return new CdpConnection(await openWebSocket(options), { url, ...(headers ? { headers } : {}) })
  }

  /** `explain`: what an error means that is not the browser's; undefined for one that is. */
  constructor(transport: Transport, endpoint?: Endpoint, explain?: (error: MessageError) => AppError | undefined) {
    this.endpoint = endpoint
    this.#explain = explain
    this.#transport = transport
    this.root = this.session(undefined)
    transport.listen({ onMessage: (text) => this.#receive(text), onEnd: (reason) => this.#lose(reason) })
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

  /** Lets somebody else have what is theirs of all that arrives. Gives the function that ends it. */
  join(client: SecondClient): () => void {
    this.#clients.add(client)
    return () => this.#clients.delete(client)
  }

  /** Sends a command of a second client, whose answer that one takes. Gives the number it went out under. */
  forward(message: Omit<Message, "id">): number {
    const id = this.#nextId++
    if (!this.#lost) this.#transport.send(JSON.stringify({ ...message, id }))
    return id
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
    this.#transport.send(JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) }))
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
    for (const client of this.#clients) if (client.takes(message)) return
    if (message.id !== undefined) {
      this.#settle(message.id, (entry) => {
        if (message.error?.code === tooLargeCode) entry.reject(answerTooLarge(entry.method))
        else if (message.error)
          entry.reject(this.#explain?.(message.error) ?? new CdpError(entry.method, message.error.message))
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
    const { bytesRead } = this.#transport
    this.#silent = bytesRead === this.#bytesSeen ? this.#silent + 1 : 0
    this.#bytesSeen = bytesRead
    if (this.#silent >= silentBeats && this.#transport.isGone(this.#silent * beatMs))
      return this.#lose(new AppError("browser-lost", "The browser stopped answering"))
    // A browser without a ping gets the cheapest command there is; nobody waits for its answer.
    if (!this.#transport.ping()) this.forward({ method: "Browser.getVersion" })
  }

  #lose(cause: AppError): void {
    if (this.#lost) return
    const reason = withNextStep(cause)
    this.#lost = reason
    clearInterval(this.#beat)
    this.#transport.close()
    for (const id of this.#pending.keys()) this.#settle(id, (entry) => entry.reject(reason))
    this.#handlers.clear()
    this.#closed.resolve(reason)
  }
}

/** Whoever was in the middle of something learns that nothing has to be mended first. */
function withNextStep(cause: AppError): AppError {
  if (cause.hint !== undefined) return cause
  return new AppError("browser-lost", cause.message, {
    cause,
    hint: "The next call starts it or connects to it again; then open the page once more and take a new snapshot",
  })
}

function answerTooLarge(method: string): AppError {
  const most = maxMessageBytes / 1024 / 1024
  return new AppError("payload-too-large", `The browser's answer to ${method} is larger than ${most} MB`, {
    hint: "Ask for less at once: a part of the page, a smaller picture, a shorter result",
  })
}
