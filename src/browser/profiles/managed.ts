// A managed profile: one browser process of our own and its one connection. It is in one state at a time:
//   idle -> adopting | starting -> running -> clearing (it was lost) | stopping -> idle, and from any of them retired.
// Whoever comes in a state that passes waits for its end; whoever ends a state also ends the browser that it brings.
import { AppError, describeError, raceAbort } from "../../kernel/index.ts"
import type { TabsMemory } from "../page/tabs.ts"
import type { BrowserProfile, LiveBrowser, ProfileReach, ProfileState } from "./contract.ts"
import { kindOfProgram } from "./detect/index.ts"
import { endGroup, isGoneWithin } from "./end-process.ts"
import { closeMs, endWaits, type Running, type StartContext, type StarterOptions } from "./starter.ts"

/** Gets the profile its browser; holds nothing of what it has started. */
export interface Starter {
  readonly headless: boolean
  readonly userDataFolder: string
  takeUp(context: StartContext): Promise<Running | undefined>
  launch(context: StartContext): Promise<Running>
  /** Nothing of ours runs in the folder any more. */
  forget(): Promise<undefined>
  clearLock(code?: "browser-start-failed" | "conflict"): Promise<void>
}

export interface ManagedOptions extends Pick<
  StarterOptions,
  "name" | "color" | "folder" | "cdpPort" | "noSandbox" | "log" | "background"
> {
  /** The end of the profile that had this folder before: nothing is started until then. */
  after: Promise<unknown> | undefined
  /** Whether the browser reads and writes the files of this machine; it does when not given. */
  sharesFiles?: boolean
}

type State =
  | { kind: "idle" }
  /** Looks for a browser that an earlier gateway left. */
  | { kind: "adopting"; done: Promise<Running | undefined>; abort: AbortController }
  | { kind: "starting"; done: Promise<Running>; abort: AbortController }
  | { kind: "running"; running: Running }
  /** What is left of a lost browser is being ended. */
  | { kind: "clearing"; done: Promise<void> }
  | { kind: "stopping"; done: Promise<boolean> }
  /** For good. */
  | { kind: "retired"; done: Promise<boolean>; reason: AppError }

export class ManagedProfile implements BrowserProfile {
  readonly kind = "managed" as const
  readonly owned = true
  readonly sharesFiles: boolean
  readonly #options: ManagedOptions
  readonly #starter: Starter
  #state: State = { kind: "idle" }
  /** Of the browser that ran last. */
  #memory: TabsMemory | undefined
  #lastError: string | null = null
  #hasFailed = false

  constructor(options: ManagedOptions, starter: Starter) {
    this.#options = options
    this.#starter = starter
    this.sharesFiles = options.sharesFiles ?? true
  }

  get name(): string {
    return this.#options.name
  }

  get color(): string {
    return this.#options.color()
  }

  get live(): LiveBrowser | undefined {
    return this.#running?.live
  }

  get #running(): Running | undefined {
    return this.#state.kind === "running" ? this.#state.running : undefined
  }

  /** Takes up the browser that an earlier gateway left running, if there is one. Never starts one. */
  async adopt(): Promise<void> {
    if (this.#state.kind !== "idle") return
    const abort = new AbortController()
    const done = this.#starter.takeUp({ signal: abort.signal, memory: this.#memory })
    const mine: State = { kind: "adopting", done, abort }
    this.#state = mine
    const running = await done.catch((error: unknown) => {
      if (this.#state === mine) this.#state = { kind: "idle" }
      throw error
    })
    if (this.#state !== mine) return
    if (running) this.#begin(running)
    else this.#state = { kind: "idle" }
  }

  ensure(signal?: AbortSignal): Promise<LiveBrowser> {
    // One caller's giving up does not stop the start that others wait for.
    return signal ? raceAbort(this.#ensure(), signal) : this.#ensure()
  }

  async #ensure(): Promise<LiveBrowser> {
    await this.#options.after
    for (;;) {
      const state = this.#state
      switch (state.kind) {
        case "retired":
          throw state.reason
        case "running":
          if (state.running.live.connection.isOpen) return state.running.live
          // A connection that has just ended may not have been noticed yet by the one who looks after it.
          this.#lose(state.running, await state.running.live.connection.closed)
          break
        case "starting":
          return (await state.done).live
        case "idle":
          return (await this.#start()).live
        default:
          // What became of it is told to who asked for it.
          await state.done.catch(() => undefined)
      }
    }
  }

  get hasFailedToStart(): boolean {
    return this.#hasFailed
  }

  async #start(): Promise<Running> {
    const abort = new AbortController()
    const context = { signal: abort.signal, memory: this.#memory }
    const work = async () => (await this.#starter.takeUp(context)) ?? (await this.#starter.launch(context))
    const done = work().catch((error: unknown) => Promise.reject(this.#explain(error)))
    const mine: State = { kind: "starting", done, abort }
    this.#state = mine
    try {
      const running = await done
      if (this.#state === mine) this.#begin(running)
      return running
    } catch (error) {
      // One that was stopped has not failed: whoever stopped it knows why.
      if (this.#state === mine) {
        this.#lastError = describeError(error)
        this.#hasFailed = true
        this.#state = { kind: "idle" }
      }
      throw error
    }
  }

  /** What the system says of the profile's folder is for whoever asked: rights, a full disk, a file in its place. */
  #explain(error: unknown): unknown {
    if (!(error instanceof Error) || !("syscall" in error)) return error
    return new AppError("browser-start-failed", `The folder of profile ${this.name} cannot be used: ${error.message}`, {
      cause: error,
      hint: `Look at ${this.#options.folder}: it must belong to the gateway's user and take new files`,
    })
  }

  #begin(running: Running): void {
    this.#state = { kind: "running", running }
    this.#lastError = null
    this.#hasFailed = false
    const { connection } = running.live
    this.#options.background.run("browser watch", async () => {
      const reason = await Promise.race([connection.closed, running.exited.then(() => undefined)])
      this.#lose(running, reason)
    })
  }

  /** The browser ended although nobody had ended it; a browser that is there but does not answer would hold the folder. */
  #lose(running: Running, reason: AppError | undefined): void {
    if (this.#running !== running) return
    const { live, record } = running
    live.connection.close()
    this.#memory = live.tabs.memory
    this.#lastError = reason === undefined ? "The browser ended" : describeError(reason)
    this.#options.log.warn({ profile: this.name, pid: record.pid, reason: this.#lastError }, "browser lost")
    const done = endGroup(record.pid, endWaits).then(() => this.#starter.forget())
    this.#pass({ kind: "clearing", done })
    this.#options.background.run("browser remains", () => done)
  }

  /** Enters a state that ends by itself. */
  #pass(state: Extract<State, { kind: "clearing" | "stopping" }>): void {
    this.#state = state
    const leave = () => {
      if (this.#state === state) this.#state = { kind: "idle" }
    }
    state.done.then(leave, leave)
  }

  stop(): Promise<boolean> {
    const state = this.#state
    if (state.kind === "stopping" || state.kind === "retired") return state.done
    const done = this.#end(state)
    this.#pass({ kind: "stopping", done })
    return done
  }

  async retire(reason: AppError): Promise<void> {
    const state = this.#state
    if (state.kind !== "retired") {
      const done = Promise.resolve(this.#options.after).then(() => this.#end(state))
      this.#state = { kind: "retired", reason, done }
      await done
    } else await state.done
  }

  /** Starts wait until the data is away: for them the profile is still stopping. */
  async reset(move: (folder: string) => Promise<string | undefined>) {
    while (this.#state.kind === "stopping") await this.#state.done.catch(() => undefined)
    const state = this.#state
    if (state.kind === "retired") throw state.reason
    const from = this.#starter.userDataFolder
    let to: string | undefined
    const work = async () => {
      const stopped = await this.#end(state)
      await this.#starter.clearLock("conflict")
      to = await move(from)
      return stopped
    }
    const done = work()
    this.#pass({ kind: "stopping", done })
    await done
    return { from, to }
  }

  /** Ends what a state has or brings. False when no browser was running. */
  async #end(state: State): Promise<boolean> {
    switch (state.kind) {
      case "idle":
        return false
      case "running":
        return this.#endBrowser(state.running)
      case "adopting":
      case "starting": {
        state.abort.abort(new AppError("aborted", "The browser was stopped"))
        // It fails by the abort; that failure is its caller's.
        const running = await state.done.catch(() => undefined)
        return running === undefined ? false : this.#endBrowser(running)
      }
      case "clearing":
        await state.done
        return false
      default:
        return state.done
    }
  }

  async #endBrowser({ live, record }: Running): Promise<boolean> {
    const { connection, tabs } = live
    const { pid } = record
    const { log } = this.#options
    // The way to it often goes before the answer: what counts is whether the process ends.
    const asked = connection.root.send("Browser.close", {}, { timeoutMs: closeMs }).catch((error: unknown) => {
      log.debug({ profile: this.name, reason: describeError(error) }, "browser close unanswered")
    })
    await isGoneWithin(pid, closeMs)
    connection.close()
    await asked
    this.#memory = tabs.memory
    await endGroup(pid, endWaits)
    await this.#starter.forget()
    log.info({ profile: this.name, pid }, "browser stopped")
    return true
  }

  async probe(): Promise<ProfileReach> {
    const running = this.#running
    const isThere = running !== undefined
    // Nobody is asked: whether there is a port to ask at is all there is to know.
    const http = running?.record.door !== undefined
    return { http, ready: isThere, tabCount: running?.live.tabs.list.length ?? 0, reason: null }
  }

  state(): ProfileState {
    const record = this.#running?.record
    const port = record === undefined ? this.#options.cdpPort : record.door?.port
    return {
      running: record !== undefined,
      pid: record?.pid ?? null,
      cdpPort: port ?? null,
      cdpUrl: record?.door ? `http://127.0.0.1:${record.door.port}` : null,
      chosenBrowser: record ? kindOfProgram(record.path) : null,
      executablePath: record?.path ?? null,
      userDataDir: this.#starter.userDataFolder,
      headless: record?.headless ?? this.#starter.headless,
      noSandbox: this.#options.noSandbox,
      lastError: this.#lastError,
    }
  }
}
