// Keeps the connection for as long as tabs are attached: tries again with growing pauses, holds what happens meanwhile, and
// says how it stands. Only a click of the person takes the place of another browser.
import type { Closing, FromExtension, FromRelay } from "../../src/browser/relay/contract.ts"
import { connectRelay, type Connection, LinkProblem } from "./connect.ts"
import type { Settings } from "./settings.ts"

export type LinkState = { kind: "off" } | { kind: "connecting" } | { kind: "on" } | { kind: "problem"; reason: string }

export interface KeeperOptions {
  settings(): Promise<Settings>
  /** Whether there is anything to be connected for. */
  isWanted(): boolean
  /** Makes what is attached fit the run of the gateway, before it is told of. Rejects never. */
  prepare(boot: string, hasLostEvents: boolean): Promise<void>
  announcement(): FromExtension
  onMessage(message: FromRelay): void
  onState(state: LinkState): void
  /** Another browser has our place, or the pairing was made anew. */
  onReplaced(reason: string): void
  /** Nobody has been there for a while. */
  onAlone(): void
}

const firstPauseMs = 250
const longestPauseMs = 3_000
/** Shorter than a page's patience. */
const aloneMs = 3_000
/** Some seconds of a busy page. */
const heldEvents = 5_000

/** The connection was over before anything was told on it. */
class OverAlready extends Error {
  constructor() {
    super("The gateway went away again")
  }
}

export class Keeper {
  readonly #options: KeeperOptions
  #state: LinkState = { kind: "off" }
  #connection: Connection | undefined
  #connecting: Promise<void> | undefined
  #isAnnounced = false
  #pauseMs = firstPauseMs
  #retry: ReturnType<typeof setTimeout> | undefined
  #alone: ReturnType<typeof setTimeout> | undefined
  #held: FromExtension[] = []
  #hasLost = false
  /** What the gateway said when it went. */
  #closing: Closing | undefined

  constructor(options: KeeperOptions) {
    this.#options = options
  }

  get state(): LinkState {
    return this.#state
  }

  get newTabs(): boolean {
    return this.#connection?.newTabs ?? false
  }

  get boot(): string {
    return this.#connection?.boot ?? ""
  }

  /** Connects if there is no connection. Rejects with words for the person. */
  async connect(takeover = false): Promise<void> {
    if (this.#connection) return
    this.#connecting ??= this.#open(takeover).finally(() => (this.#connecting = undefined))
    return this.#connecting
  }

  /** The same by itself, where it is wanted; tries again later where it fails. */
  wake(): void {
    if (this.#connection || this.#connecting || !this.#options.isWanted()) return
    clearTimeout(this.#retry)
    this.connect().catch(() => undefined)
  }

  async #open(takeover: boolean): Promise<void> {
    clearTimeout(this.#retry)
    if (this.#state.kind !== "problem") this.#set({ kind: "connecting" })
    try {
      const connection = await connectRelay({
        settings: await this.#options.settings(),
        takeover,
        onMessage: (message) => this.#receive(message),
        onClose: () => this.#closed(),
      })
      this.#connection = connection
      this.#closing = undefined
      clearTimeout(this.#alone)
      this.#alone = undefined
      await this.#options.prepare(connection.boot, this.#hasLost)
      // What is held must not go into one that has ended meanwhile.
      if (this.#connection !== connection) throw new OverAlready()
      this.#announce(connection)
    } catch (error) {
      if (!(error instanceof OverAlready)) this.#failed(error)
      // Its end has been told; the next try may have found this one still under way.
      else if (this.#state.kind === "connecting") this.#later()
      throw error
    }
  }

  #announce(connection: Connection): void {
    connection.send(this.#options.announcement())
    this.#isAnnounced = true
    for (const message of this.#held.splice(0)) connection.send(message)
    this.#hasLost = false
    this.#pauseMs = firstPauseMs
    this.#set({ kind: "on" })
  }

  #failed(error: unknown): void {
    if (error instanceof LinkProblem && error.kind === "taken" && this.#options.isWanted()) {
      this.#options.onReplaced(error.message)
      return
    }
    const off = "Browser control is switched off in the gateway"
    const reason = this.#closing === "browser-off" ? off : error instanceof Error ? error.message : String(error)
    this.#set({ kind: "problem", reason })
    this.#later()
  }

  #later(): void {
    this.#alone ??= setTimeout(() => this.#options.onAlone(), aloneMs)
    if (!this.#options.isWanted()) return
    clearTimeout(this.#retry)
    this.#retry = setTimeout(() => this.wake(), this.#pauseMs)
    this.#pauseMs = Math.min(this.#pauseMs * 2, longestPauseMs)
  }

  #closed(): void {
    this.#connection = undefined
    this.#isAnnounced = false
    if (this.#closing === "replaced" || this.#closing === "paired-anew") {
      const words = { replaced: "Another browser is connected now", "paired-anew": "The gateway was paired anew" }
      this.#options.onReplaced(words[this.#closing])
      this.#set({ kind: "off" })
      return
    }
    if (!this.#options.isWanted()) return this.#set({ kind: "off" })
    this.#set({ kind: "connecting" })
    this.#later()
  }

  #receive(message: FromRelay): void {
    if ("type" in message && message.type === "closing") this.#closing = message.reason
    else this.#options.onMessage(message)
  }

  /** Answers are for the connection that asked; everything else waits for the next one. */
  send(message: FromExtension): void {
    if (this.#connection && (this.#isAnnounced || "id" in message || "got" in message)) this.#connection.send(message)
    else if ("method" in message && this.#held.length < heldEvents) this.#held.push(message)
    else if ("method" in message) this.#hasLost = true
  }

  /** When nothing is attached any more. */
  rest(): void {
    clearTimeout(this.#retry)
    clearTimeout(this.#alone)
    this.#alone = undefined
    this.#held = []
    this.#hasLost = false
    this.#connection?.close()
    if (!this.#connection) this.#set({ kind: "off" })
  }

  #set(state: LinkState): void {
    this.#state = state
    this.#options.onState(state)
  }
}
