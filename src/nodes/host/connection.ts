// The node's connection to its gateway, kept for ever: dial -> wait to be let in -> take calls -> again, after a pause, when it
// is lost. What a person should know is said once for each change, not at every attempt.
import { type Ids, systemIds } from "../../kernel/ids.ts"
import { type RetryPolicy, backoffMs } from "../../kernel/retry.ts"
import { AppError, describeError } from "../../kernel/errors.ts"
import { type Announced, Link } from "../link/link.ts"
import type { PulseTiming } from "../link/pulse.ts"
import { type FileNotice, type Invoke, type Offers, type Refused, longestMessage } from "../protocol.ts"
import { Turned, dial, refusalIn } from "./dial.ts"
import type { Identity } from "./identity.ts"

export interface Command {
  id: number
  command: string
  params: unknown
  files: { field: string; path: string; name: string }[]
  /** Aborted when the gateway does not wait any more. */
  signal: AbortSignal
}

export interface Done {
  status: number
  body: unknown
  /** Sent, and removed afterwards. */
  files: { field: string; path: string; name: string }[]
}

export interface ConnectionOptions {
  address: string
  identity: Identity
  name: string
  version: string
  offers(): Offers
  /** Never rejects: what goes wrong is an answer too. */
  perform(command: Command): Promise<Done>
  /** Where a file of this name is written down. */
  placeFor(name: string): string
  removeFile(path: string): Promise<void>
  say(text: string): void
  ids?: Ids
  pulse?: Partial<PulseTiming>
  pauses?: RetryPolicy
}

const usualPauses: RetryPolicy = { attempts: Infinity, minDelayMs: 500, maxDelayMs: 30_000, jitter: 0.3 }
/** Somebody has to do something first. */
const finalPauseMs = 60_000
/** A connection that has lasted as long was a good one. */
const goodMs = 10_000

export type Ending = "stopped" | "replaced"

export class Connection {
  readonly #options: ConnectionOptions
  readonly #stop = new AbortController()
  readonly #running = new Map<number, AbortController>()
  #link: Link | undefined
  /** The gateway has let this connection in; before, it may say nothing. */
  #isIn = false
  #said = ""

  constructor(options: ConnectionOptions) {
    this.#options = options
  }

  get isBusy(): boolean {
    return this.#running.size > 0 || (this.#link?.transfers.length ?? 0) > 0
  }

  /** Resolves when it was stopped, or when another process has taken this node's place. */
  async run(): Promise<Ending> {
    const { pauses = usualPauses } = this.#options
    for (let attempt = 1; ; attempt += 1) {
      const begun = performance.now()
      const end = await this.#once()
      if (this.#stop.signal.aborted) return "stopped"
      if (end?.code === "replaced") return "replaced"
      if (performance.now() - begun >= goodMs) attempt = 1
      const pause = end?.final
        ? Math.min(finalPauseMs, 2 * pauses.maxDelayMs)
        : backoffMs(pauses, Math.min(attempt, 20))
      await this.#rest(pause)
      if (this.#stop.signal.aborted) return "stopped"
    }
  }

  /** One connection from beginning to end; what the gateway has said at the end, if anything. */
  async #once(): Promise<Omit<Refused, "type"> | undefined> {
    const { address, identity, name, version, offers, ids = systemIds } = this.#options
    const { signal } = this.#stop
    try {
      const options = { address, identity, name, version, nonce: ids.token(24), offers: offers(), signal }
      const { socket, key } = await dial(options)
      return await this.#serve(socket, key)
    } catch (error) {
      if (signal.aborted) return undefined
      if (error instanceof Turned) {
        this.#tellRefusal(error.refusal)
        return error.refusal
      }
      const hint = error instanceof AppError && error.hint !== undefined ? ` (${error.hint})` : ""
      this.#tell(`${describeError(error)}${hint}; trying again`)
      return undefined
    }
  }

  #serve(socket: ConstructorParameters<typeof Link>[0]["socket"], key: string) {
    const { promise, resolve } = Promise.withResolvers<Omit<Refused, "type"> | undefined>()
    let refusal: Omit<Refused, "type"> | undefined
    const link = new Link({
      socket,
      onMessage: (message) => {
        if (message["type"] === "refused") {
          refusal = refusalIn(message)
          link.close(refusal.message)
        } else if (message["type"] === "welcome") {
          this.#isIn = true
          this.#welcomed(link, key, message)
        } else this.#receive(link, message)
      },
      onClose: (why) => {
        this.#link = undefined
        this.#isIn = false
        for (const controller of this.#running.values()) controller.abort()
        this.#running.clear()
        if (refusal) this.#tellRefusal(refusal)
        else if (!this.#stop.signal.aborted)
          this.#tell(`connection lost${why === undefined ? "" : `: ${why}`}; trying again`)
        resolve(refusal)
      },
      isBusy: () => this.#running.size > 0,
      longest: () => longestMessage,
      ...(this.#options.pulse ? { pulse: this.#options.pulse } : {}),
    })
    this.#link = link
    if (this.#stop.signal.aborted) link.close("stopped")
    return promise
  }

  #welcomed(link: Link, key: string, message: Record<string, unknown>): void {
    const { address, identity, offers } = this.#options
    identity.remember(address, key)
    this.#tell(`connected to ${address} as ${plain(message["name"])} (id ${plain(message["id"])})`)
    // They may have changed while it waited to be let in.
    link.send({ type: "offers", offers: offers() })
  }

  #receive(link: Link, message: Record<string, unknown>): void {
    if (message["type"] === "pending") {
      const code = plain(message["code"])
      this.#tell(
        `waiting to be let in: on the gateway, run  svc nodes approve ${code}\n` +
          `(or touch the button below the message that shows the code ${code}; the key of this node: ${this.#options.identity.fingerprint})`,
      )
    } else if (message["type"] === "cancel") this.#running.get(Number(message["id"]))?.abort()
    else if (message["type"] === "invoke" && this.#isIn) void this.#perform(link, invokeIn(message))
    // What a newer gateway may say besides is not for this node.
  }

  async #perform(link: Link, invoke: Invoke): Promise<void> {
    const { id, command, params } = invoke
    const controller = new AbortController()
    this.#running.set(id, controller)
    const { signal } = controller
    let done: Done
    try {
      const files = await Promise.all(invoke.files.map((notice) => this.#take(link, notice, { id, signal })))
      signal.throwIfAborted()
      done = await this.#options.perform({ id, command, params, files, signal })
    } catch (error) {
      done = { status: 502, body: failure(error), files: [] }
    }
    // The next connection counts its calls from one again: another may be under way with this number.
    if (this.#running.get(id) === controller) this.#running.delete(id)
    await this.#answer(link, id, signal.aborted ? { ...done, status: 499, body: failure(undefined) } : done)
  }

  async #take(link: Link, notice: FileNotice, { id, signal }: Pick<Command, "id" | "signal">) {
    const path = this.#options.placeFor(notice.name)
    const refuse = () => link.refuse(notice.file, "nobody waits for it")
    signal.addEventListener("abort", refuse, { once: true })
    await link.accept(notice, path, id).finally(() => signal.removeEventListener("abort", refuse))
    return { field: notice.field, path, name: notice.name }
  }

  async #answer(link: Link, id: number, { status, body, files }: Done): Promise<void> {
    try {
      const isWanted = status !== 499
      const announced = isWanted ? this.#announce(link, id, files) : []
      if (announced instanceof AppError) {
        return link.send({ type: "result", id, status: 502, body: failure(announced), files: [] })
      }
      link.send({ type: "result", id, status, body, files: announced.map(({ notice }) => notice) })
      await Promise.all(announced.map((file) => file.start()))
    } catch (error) {
      // The gateway is told by the end of the file, or is gone.
      if (link.isOpen && !(error instanceof AppError)) throw error
    } finally {
      for (const { path } of files) await this.#options.removeFile(path)
    }
  }

  /** Or why one of them cannot be sent: too large, or gone. */
  #announce(link: Link, call: number, files: Done["files"]): Announced[] | AppError {
    try {
      return files.map((file) => link.announce(file.path, { ...file, call }))
    } catch (error) {
      if (error instanceof AppError) return error
      throw error
    }
  }

  offersChanged(): void {
    if (this.#isIn) this.#link?.send({ type: "offers", offers: this.#options.offers() })
  }

  #tellRefusal({ message, hint, code, final }: Omit<Refused, "type">): void {
    if (code === "stopping") return this.#tell("the gateway has stopped; waiting for it")
    const next = final && code !== "replaced" ? "; it is asked again every minute" : ""
    this.#tell(`the gateway says: ${message}${next}${hint === undefined ? "" : `\nhint: ${hint}`}`)
  }

  #tell(text: string): void {
    if (text === this.#said) return
    this.#said = text
    this.#options.say(text)
  }

  async #rest(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const { signal } = this.#stop
    const end = () => resolve()
    const timer = setTimeout(end, ms)
    signal.addEventListener("abort", end, { once: true })
    await promise
    clearTimeout(timer)
    signal.removeEventListener("abort", end)
  }

  stop(): void {
    this.#stop.abort()
    this.#link?.close("stopped")
  }
}

function plain(value: unknown): string {
  return String(value)
    .replace(/[\p{Cc}\p{Cf}]/gu, " ")
    .slice(0, 80)
}

/** Throws for what makes no sense, which ends the connection. */
function invokeIn({ id, command, params, files }: Record<string, unknown>): Invoke {
  if (!Number.isSafeInteger(id) || typeof command !== "string" || !Array.isArray(files))
    throw new Error("a call is cut")
  return { type: "invoke", id: id as number, command, params, files: files.map(noticeIn) }
}

function noticeIn(value: unknown): FileNotice {
  const { file, field, name, bytes } = (value ?? {}) as Partial<FileNotice>
  const isRight = Number.isSafeInteger(file) && Number.isSafeInteger(bytes) && (bytes as number) >= 0
  if (!isRight || typeof field !== "string" || typeof name !== "string") throw new Error("a file is announced wrongly")
  return { file: file as number, field, name, bytes: bytes as number }
}

function failure(error: unknown) {
  const known = error instanceof AppError ? error : new AppError("aborted", "The operation was stopped by its caller")
  return { ok: false, error: { code: known.code, message: known.message } }
}
