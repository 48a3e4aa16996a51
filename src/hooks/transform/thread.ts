// One thread with one module: calls go in, answers come out, and a call that takes too long ends the thread.
// Calls that had not begun by then are handed back to be made again in a new one.
import { pathToFileURL } from "node:url"
import { Worker } from "node:worker_threads"
import type { Log } from "../../kernel/index.ts"
import type { ModuleFile } from "./confine.ts"
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
  id: number
  started?: true
  json?: string
  error?: string
}

/** A transform shapes one payload: room for that, and little more. */
const resourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 }
/** For the thread itself to come up and begin its first call, which loads the module. */
const startLimitMs = 10_000

export class TransformThread {
  readonly file: ModuleFile
  readonly #options: ThreadOptions
  readonly #worker: Worker
  readonly #calls = new Map<number, Call>()
  #nextId = 1
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

  #receive(answer: Answer): void {
    const call = this.#calls.get(answer.id)
    if (!call) return
    clearTimeout(call.timer)
    if (answer.started) {
      call.begun = true
      call.timer = this.#limit(answer.id, this.#options.timeLimitMs)
      return
    }
    this.#calls.delete(answer.id)
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

  #end(error: string): void {
    if (this.#ended) return
    this.#ended = true
    for (const call of this.#calls.values()) {
      clearTimeout(call.timer)
      call.resolve(call.begun ? { kind: "failed", error } : { kind: "not-begun" })
    }
    this.#calls.clear()
  }
}
