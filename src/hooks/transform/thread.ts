// One thread with one module: calls go in, answers come out, and a call that takes too long ends the thread.
// Calls that had not begun by then are handed back to be made again in a new one.
import { pathToFileURL } from "node:url"
import { Worker } from "node:worker_threads"
import type { Log } from "../../kernel/index.ts"
import { type ModuleFile, fileVersion } from "./confine.ts"
import type { TransformInput } from "./contract.ts"
import { workerSource } from "./worker-source.ts"

export type CallOutcome =
  | { kind: "json"; json: string }
  /** It threw, took too long, or took the thread down. */
  | { kind: "failed"; error: string }
  /** The thread ended before the call began: nothing of it has happened. */
  | { kind: "not-begun" }

export interface ThreadOptions {
  file: ModuleFile
  timeLimitMs: number
  log: Log
}

interface Call {
  begun: boolean
  timer: NodeJS.Timeout | undefined
  resolve: (outcome: CallOutcome) => void
}

interface Answer {
  /** A file that the module has imported. */
  imported?: string
  version?: string
  id: number
  started?: true
  json?: string
  error?: string
  /** The module could not be loaded, and never will be in this thread: Node keeps its failure. */
  broken?: true
}

/** A transform shapes one payload: room for that, and little more. */
const resourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 }
/** Heap and what lies outside it, such as Buffers, which no limit of the thread counts. */
const maxMemoryBytes = 128 * 1024 * 1024
/**
 * What no heap counts (memory of native code) is seen only in the size of the process, which all its threads share. So
 * much more than at the beginning of the calls under way, what the gateway's own thread holds left out, ends them;
 * so much more than at the thread's own beginning, whoever's it is, lets a new one take the next call.
 */
const maxResidentBytes = 512 * 1024 * 1024
/** How often a thread at work is looked at: memory can be filled at some gigabytes a second. */
const memoryEveryMs = 50
/** For the thread itself to come up and begin its first call, which loads the module. */
const startLimitMs = 10_000

export class TransformThread {
  readonly file: ModuleFile
  readonly #options: ThreadOptions
  readonly #worker: Worker
  readonly #calls = new Map<number, Call>()
  readonly #imported = new Map<string, string>()
  #nextId = 1
  #watch: NodeJS.Timeout | undefined
  readonly #residentAtStart = residentBytes()
  /** When the calls under way began. */
  #residentBefore = 0
  #ended = false
  #retired = false

  constructor(options: ThreadOptions) {
    this.file = options.file
    this.#options = options
    // No environment: the gateway's holds secrets. Output goes to the log.
    this.#worker = new Worker(workerSource, {
      eval: true,
      env: {},
      execArgv: [],
      stdout: true,
      stderr: true,
      resourceLimits,
      workerData: { root: options.file.root },
      name: "hook transform",
    })
    this.#worker.unref()
    const print = (chunk: Buffer) =>
      options.log.info({ module: options.file.path, text: chunk.toString().slice(0, 2_000) }, "hook transform output")
    this.#worker.stdout.on("data", print)
    this.#worker.stderr.on("data", print)
    this.#worker.on("message", (answer: Answer) => this.#receive(answer))
    this.#worker.on("error", (error) => this.#end(`the thread failed: ${error.message}`))
    this.#worker.on("exit", (code) => this.#end(`the thread ended with code ${code}`))
  }

  get ended(): boolean {
    return this.#ended
  }

  get takesCalls(): boolean {
    return !this.#ended && !this.#retired
  }

  /** Whether the module and all that it has imported are still what was read. */
  get isCurrent(): boolean {
    return [...this.#imported].every(([path, version]) => fileVersion(path) === version)
  }

  get busy(): boolean {
    return this.#calls.size > 0
  }

  call(exportName: string | undefined, input: TransformInput): Promise<CallOutcome> {
    return new Promise((resolve) => {
      if (this.#ended) return resolve({ kind: "not-begun" })
      const id = this.#nextId
      this.#nextId += 1
      const timer = this.#calls.size === 0 ? this.#limit(id, startLimitMs) : undefined
      this.#calls.set(id, { begun: false, timer, resolve })
      if (!this.#watch) {
        this.#residentBefore = residentBytes()
        this.#watch = setInterval(() => void this.#checkMemory(), memoryEveryMs).unref()
      }
      this.#worker.postMessage({ id, module: pathToFileURL(this.file.path).href, exportName, input })
    })
  }

  /** Takes no more calls, finishes those it has, then ends. */
  retire(): void {
    this.#retired = true
    this.#endWhenIdle()
  }

  /** Calls under way end as failed. */
  async stop(): Promise<void> {
    this.#end("the gateway is stopping")
    await this.#worker.terminate()
  }

  /** Ends the thread when it holds too much; looks once more after the last call. */
  async #checkMemory(): Promise<void> {
    if (!this.busy) {
      clearInterval(this.#watch)
      this.#watch = undefined
    }
    const since = this.busy ? this.#residentBefore : this.#residentAtStart
    if (residentBytes() - since > maxResidentBytes) {
      this.#end(`the process grew by more than ${maxResidentBytes / 1024 ** 2} MB while it ran`)
      await this.#worker.terminate()
      return
    }
    // A thread that has ended meanwhile holds nothing.
    const statistics = await this.#worker.getHeapStatistics().catch(() => undefined)
    if (!statistics || this.#ended) return
    const bytes = statistics.used_heap_size + statistics.external_memory
    if (bytes <= maxMemoryBytes) return
    this.#end(`it held more than ${maxMemoryBytes / 1024 ** 2} MB of memory`)
    await this.#worker.terminate()
  }

  #receive(answer: Answer): void {
    if (answer.imported !== undefined) {
      this.#imported.set(answer.imported, answer.version ?? "")
      return
    }
    const call = this.#calls.get(answer.id)
    if (!call) return
    clearTimeout(call.timer)
    if (answer.started) {
      call.begun = true
      call.timer = this.#limit(answer.id, this.#options.timeLimitMs)
      return
    }
    this.#calls.delete(answer.id)
    if (answer.broken) this.#retired = true
    this.#limitNext()
    this.#endWhenIdle()
    call.resolve(
      answer.json === undefined
        ? { kind: "failed", error: answer.error ?? "no answer" }
        : { kind: "json", json: answer.json },
    )
  }

  #endWhenIdle(): void {
    if (!this.#retired || this.busy || this.#ended) return
    this.#end("it was replaced")
    void this.#worker.terminate()
  }

  #limit(id: number, timeLimitMs: number): NodeJS.Timeout {
    return setTimeout(() => {
      // Whatever does not begin within the limit has this thread's fault, not its own; it counts as begun all the same,
      // so that a module that hangs while it is loaded is not tried for ever.
      const call = this.#calls.get(id)
      if (call) call.begun = true
      this.#end(`it took longer than ${timeLimitMs} ms`)
      void this.#worker.terminate()
    }, timeLimitMs)
  }

  /**
   * What a call leaves behind may keep the thread busy for ever, and nothing that is under way limits it: then those that
   * wait are handed back.
   */
  #limitNext(): void {
    const [next] = this.#calls.values()
    if (!next || next.timer) return
    const { timeLimitMs } = this.#options
    next.timer = setTimeout(() => {
      this.#end(`it took up no call for ${timeLimitMs} ms`)
      void this.#worker.terminate()
    }, timeLimitMs)
  }

  #end(error: string): void {
    if (this.#ended) return
    this.#ended = true
    clearInterval(this.#watch)
    for (const call of this.#calls.values()) {
      clearTimeout(call.timer)
      call.resolve(call.begun ? { kind: "failed", error } : { kind: "not-begun" })
    }
    this.#calls.clear()
  }
}

/** Of the process, without the heap of this thread and what hangs on it. */
function residentBytes(): number {
  const { rss, heapTotal, external } = process.memoryUsage()
  return rss - heapTotal - external
}
