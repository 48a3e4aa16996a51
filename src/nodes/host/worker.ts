// The process on the node that has the configuration and the browsers, started when there is something to do and ended when it
// has had nothing to do for a while: a node that waits is the connection alone.
import { type ChildProcess, fork } from "node:child_process"
import { watchFile, unwatchFile } from "node:fs"
import { AppError } from "../../kernel/errors.ts"
import type { Offers } from "../protocol.ts"
import type { Command, Done } from "./connection.ts"

/** What goes to the worker, and what comes from it. */
export type ToWorker =
  | { kind: "run"; id: number; params: unknown; files: Command["files"] }
  | { kind: "cancel"; id: number }
  | { kind: "stop" }

export type FromWorker =
  | { kind: "ready"; facts: WorkerFacts }
  /** What it has told at its start is different now. */
  | { kind: "facts"; facts: WorkerFacts }
  | { kind: "done"; id: number; done: Done }
  | { kind: "failed"; message: string; hint?: string }

export interface WorkerFacts {
  offers: Offers
  /** Files of the configuration. */
  files: string[]
  /** Something that somebody uses would end with it. */
  isInUse: boolean
}

export interface WorkerOptions {
  /** Its program. */
  program: string
  environment: NodeJS.ProcessEnv
  /** On this machine, where the gateway is reached there: no page may go to it. */
  gatewayPort: number | undefined
  onOffers(): void
  say(text: string): void
  /** Without anything to do. */
  restMs?: number
}

/** A start reads the configuration, and may have to wait for a busy machine. */
const startMs = 60_000
const stopMs = 10_000
const usualRestMs = 60_000
const lookMs = 3_000

interface Running {
  child: ChildProcess
  ready: Promise<void>
  /** Its calls that are not answered: one that is ending ends none of its successor. */
  waiting: Map<number, (done: Done) => void>
}

export class Worker {
  readonly #options: WorkerOptions
  #running: Running | undefined
  #facts: WorkerFacts = { offers: { commands: [] }, files: [], isInUse: false }
  #rest: NodeJS.Timeout | undefined
  #watched: string[] = []
  #isStopped = false
  #last = 0

  constructor(options: WorkerOptions) {
    this.#options = options
  }

  get offers(): Offers {
    return this.#facts.offers
  }

  /** Reads the configuration, as it is now. Rejects with `config-invalid` and such. */
  async describe(): Promise<void> {
    await this.#start()
    this.#settle()
  }

  async perform({ params, files, signal }: Command): Promise<Done> {
    await this.#start()
    // A start takes its time.
    signal.throwIfAborted()
    const running = this.#running
    if (!running) throw new AppError("node-lost", "Browser control on the node has ended")
    const { child, waiting } = running
    const id = ++this.#last
    const { promise, resolve } = Promise.withResolvers<Done>()
    waiting.set(id, resolve)
    // What it has told at its start may have set it: nobody was waiting then.
    clearTimeout(this.#rest)
    const cancel = () => send(child, { kind: "cancel", id })
    signal.addEventListener("abort", cancel, { once: true })
    send(child, { kind: "run", id, params, files })
    try {
      return await promise
    } finally {
      signal.removeEventListener("abort", cancel)
      waiting.delete(id)
      this.#settle()
    }
  }

  async #start(): Promise<void> {
    clearTimeout(this.#rest)
    this.#running ??= this.#fork()
    await this.#running.ready
  }

  #fork(): Running {
    const { program, environment, gatewayPort } = this.#options
    const child = fork(program, gatewayPort === undefined ? [] : [`--gateway-port=${gatewayPort}`], {
      env: environment,
      execArgv: ["--disable-warning=ExperimentalWarning"],
      serialization: "json",
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    })
    const { promise: ready, resolve, reject } = Promise.withResolvers<void>()
    const running: Running = { child, ready, waiting: new Map() }
    const timer = setTimeout(() => {
      reject(new AppError("not-ready", "Browser control on the node did not start in time"))
      child.kill("SIGKILL")
    }, startMs)
    child.on("message", (message: FromWorker) => {
      if (message.kind === "failed") {
        const { hint } = message
        reject(new AppError("config-invalid", message.message, hint === undefined ? {} : { hint }))
      } else if (message.kind === "done") running.waiting.get(message.id)?.(message.done)
      else if (this.#running === running) {
        this.#learn(message.facts)
        if (message.kind === "ready") resolve()
      }
    })
    const gone = (why: string) => {
      clearTimeout(timer)
      reject(new AppError("not-ready", `Browser control on the node has ended (${why})`))
      this.#lose(running)
    }
    // One that could not be started at all says this alone.
    child.on("error", (error) => {
      if (child.pid === undefined) gone(error.message)
    })
    child.once("exit", (code, signal) => gone(String(signal ?? code)))
    // Whoever asks next is told; the first is as well.
    ready.then(() => clearTimeout(timer)).catch(() => clearTimeout(timer))
    return running
  }

  #learn(facts: WorkerFacts): void {
    const before = JSON.stringify(this.#facts.offers)
    this.#facts = facts
    if (JSON.stringify(facts.offers) !== before) this.#options.onOffers()
    this.#watch(facts.files)
    this.#settle()
  }

  /** Calls of a worker that has gone are answered: their work may have been done. */
  #lose(running: Running): void {
    for (const resolve of running.waiting.values()) {
      const error = { code: "node-lost", message: "Browser control on the node has ended during the operation" }
      resolve({ status: 503, body: { ok: false, error }, files: [] })
    }
    running.waiting.clear()
    if (this.#running !== running) return
    this.#running = undefined
    if (this.#facts.isInUse && !this.#isStopped) {
      this.#options.say("browser control has ended by itself; it starts again with the next call")
      this.#facts = { ...this.#facts, isInUse: false }
    }
  }

  #settle(): void {
    clearTimeout(this.#rest)
    if (!this.#running || this.#running.waiting.size > 0 || this.#facts.isInUse || this.#isStopped) return
    this.#rest = setTimeout(() => void this.#end(), this.#options.restMs ?? usualRestMs)
    this.#rest.unref()
  }

  /** A worker that runs looks after the configuration itself; while there is none, this does. */
  #watch(files: readonly string[]): void {
    if (files.join("\0") === this.#watched.join("\0")) return
    this.#unwatch()
    this.#watched = [...files]
    for (const file of files) watchFile(file, { interval: lookMs, persistent: false }, () => this.#changed())
  }

  #changed(): void {
    if (this.#running || this.#isStopped) return
    this.describe().catch((error: unknown) => {
      this.#options.say(error instanceof AppError ? error.message : String(error))
    })
  }

  #unwatch(): void {
    for (const file of this.#watched) unwatchFile(file)
    this.#watched = []
  }

  async #end(): Promise<void> {
    const child = this.#running?.child
    this.#running = undefined
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const { promise: gone, resolve } = Promise.withResolvers<void>()
    child.once("exit", () => resolve())
    send(child, { kind: "stop" })
    const kill = setTimeout(() => child.kill("SIGKILL"), stopMs)
    await gone
    clearTimeout(kill)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#rest)
    this.#unwatch()
    await this.#end()
  }
}

function send(child: ChildProcess, message: ToWorker): void {
  // One that has gone is told by its exit.
  if (child.connected) child.send(message, () => undefined)
}
