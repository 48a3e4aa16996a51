// Runs jobs: claim -> handler -> one transaction with the results and the end of the job.
// Strict order inside a lane, places by class across lanes: what a person waits for never waits for a machine. A job that
// fails for good never blocks its lane; an end that the disk does not take is kept until it does.
import { AppError, type Background, type Clock, type Log, backoffMs, describeError } from "../kernel/index.ts"
import { type WorkClass, workClasses } from "./ingest.ts"
import {
  type JobChoice,
  JobPostponed,
  cancelJob,
  cancelWaiting,
  claimPlaces,
  endJob,
  maxAttempts,
  nextDues,
  nextPersonIn,
  openJobs,
  releaseJob,
} from "./jobs.ts"
import { ClaimLoop } from "./claim-loop.ts"
import { NotForced } from "./durability.ts"
import { isToolRunning } from "./journal.ts"
import { KeptWrites, isStorageFailure } from "./kept-writes.ts"
import type { JobRow } from "./schema.ts"
import type { Store, Write } from "./store.ts"

/** What a handler hands back: the writes that its job ends with. */
export interface JobEnd {
  state?: "done" | "dead" | "cancelled"
  result?: string
  error?: string
  commit?: (write: Write) => Promise<void>
}

export interface JobHandler {
  run(job: JobRow, signal: AbortSignal): Promise<JobEnd>
  /** The writes that follow when the job is given up after its last attempt. */
  onDead?(job: JobRow, error: string, write: Write): Promise<void>
}

export interface LaneRunnerOptions {
  store: Store
  handlers: Record<string, JobHandler>
  /** Places for what people wait for. */
  maxConcurrent: () => number
  /** Places for runs of webhooks, beside those of people. Default: one. */
  maxHooks?: () => number
  /** Shared with whoever else writes ends; default: its own. */
  kept?: KeptWrites
  /** Whether nothing but urgent jobs may begin, and what runs is to be put back. */
  paused?: () => boolean
  clock: Clock
  log: Log
  background: Background
}

interface RunningJob {
  abort: AbortController
  job: JobRow
  /** Null: takes no place among those that may run at once. */
  workClass: WorkClass | null
  done: Promise<void>
}

/**
 * Why a job is put back: a person's waits behind a machine's, all is paused, or the gateway stops. Its journal lets it go
 * on later.
 */
class JobYielded extends AppError {
  constructor(reason: string) {
    super("not-ready", reason)
  }
}

/** Urgent jobs claimed at once. */
const urgentBatch = 16
/** What the gateway does by itself at times. */
const maxTimers = 1
/** Of a job that could not be gone on with for want of a working disk. */
const storagePauseMs = 2_000
/** How often it is looked whether a tool has ended that a person waits for. */
const yieldLookMs = 50
/** Of a stop: for results that the disk does not take. */
const lastWriteMs = 1_000

const retryPolicy = { attempts: maxAttempts, minDelayMs: 1_000, maxDelayMs: 30_000, jitter: 0.2 }

export class LaneRunner {
  readonly #options: LaneRunnerOptions
  readonly #running = new Map<string, RunningJob>()
  readonly #kept: KeptWrites
  /** No result is waited for any longer. */
  readonly #noMore = new AbortController()
  readonly #loop: ClaimLoop
  readonly #listeners = new Set<(runId: string) => void>()

  constructor(options: LaneRunnerOptions) {
    this.#options = options
    this.#kept = options.kept ?? new KeptWrites(options)
    this.#loop = new ClaimLoop({
      name: "claim jobs",
      background: options.background,
      claim: () => this.#claim(),
      untilDue: () => this.#untilDue(),
    })
    this.#kept.onRecovered(() => this.#loop.wake())
    options.store.onAdded(({ jobs }) => {
      if (jobs) this.#loop.wake()
    })
  }

  start(): void {
    this.#loop.start()
  }

  /** Something may run that no commit has told of: jobs were opened again, or a pause has ended. */
  wake(): void {
    this.#loop.wake()
  }

  /** Aborts running jobs of a lane; each ends as its handler decides. Returns how many. */
  abortLane(laneKey: string, reason: Error): number {
    const jobs = [...this.#running.values()].filter(({ job }) => job.lane_key === laneKey)
    for (const job of jobs) job.abort.abort(reason)
    return jobs.length
  }

  abortRun(runId: string, reason: Error): boolean {
    const job = this.#running.get(runId)
    job?.abort.abort(reason)
    return job !== undefined
  }

  /**
   * Ends what a lane does and what waits in it, as far as it matches: waiting jobs are cancelled, running ones aborted
   * with the reason; how they end is their handlers' part. Tells how many of each.
   */
  async stopLane(
    laneKey: string,
    reason: Error,
    matches: (job: JobRow) => boolean,
  ): Promise<{ running: number; waiting: number }> {
    const { store } = this.#options
    const { cancelled, running, wasAborted } = await store.write(async (write) => {
      const found = openJobs(store, laneKey).find((job) => job.state === "running" && matches(job))
      // Within the transaction: one that is about to be put back, by one behind it, is to know of it there.
      const isAborted = found !== undefined && this.abortRun(found.run_id, reason)
      return { cancelled: cancelWaiting(store, write, laneKey, matches), running: found, wasAborted: isAborted }
    })
    // What was claimed in the same commit is launched right after it.
    await new Promise((resolve) => setImmediate(resolve))
    const isAborted = running !== undefined && this.abortRun(running.run_id, reason)
    return { running: isAborted || wasAborted ? 1 : 0, waiting: cancelled.length }
  }

  /**
   * Calls the listener whenever a job stops running here: it has ended, or was put back; its row says which.
   * Returns the way to leave.
   */
  onStopped(listener: (runId: string) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  get running(): number {
    return this.#running.size
  }

  isLaneBusy(laneKey: string): boolean {
    return [...this.#running.values()].some(({ job }) => job.lane_key === laneKey)
  }

  /**
   * Claims nothing more, waits for a claim under way and gives back what of it has not begun, gives running jobs
   * `graceMs`, then stops them; their journal lets them go on later.
   */
  async stop(graceMs: number): Promise<void> {
    await this.#loop.stop()
    const all = () => Promise.all([...this.#running.values()].map((job) => job.done))
    const grace = new AbortController()
    const timeUp = this.#options.clock.sleep(graceMs, grace.signal).catch(() => undefined)
    await Promise.race([all(), timeUp])
    grace.abort()
    const reason = new JobYielded("The gateway is stopping")
    for (const job of this.#running.values()) job.abort.abort(reason)
    const last = setTimeout(() => this.#noMore.abort(reason), lastWriteMs)
    await all()
    clearTimeout(last)
  }

  #isPaused(): boolean {
    return this.#options.paused?.() ?? false
  }

  async #claim(): Promise<void> {
    const { store } = this.#options
    const now = store.clock.now()
    const dues = nextDues(store)
    const places = this.#places().filter(([choice, free]) => free > 0 && dues[choice] <= now)
    if (places.length > 0) {
      const jobs = await claimPlaces(store, places)
      // A stop has come while it was under way.
      if (this.#loop.isStopped) await this.#giveBack(jobs)
      else for (const job of jobs) this.#launch(job)
    }
    this.#letPeopleGoFirst()
  }

  async #giveBack(jobs: readonly JobRow[]): Promise<void> {
    const { store } = this.#options
    await store.write(async () => {
      for (const job of jobs) releaseJob(store, job, { delayMs: 0, countAttempt: false })
    })
  }

  /** How many more may begin, people's first. */
  #places(): [JobChoice, number][] {
    const { maxConcurrent, maxHooks = () => 1 } = this.#options
    const free = (workClass: WorkClass, places: number) =>
      places - [...this.#running.values()].filter((job) => job.workClass === workClass).length
    if (this.#isPaused()) return [["urgent", urgentBatch]]
    return [
      ["urgent", urgentBatch],
      ["people", free("people", maxConcurrent())],
      ["hooks", free("hooks", maxHooks())],
      ["timers", free("timers", maxTimers)],
    ]
  }

  /**
   * Puts a machine's job back when a person's waits in its lane. Not in the middle of a tool call: cut there, nobody
   * would know what it has done. Returns when to look again, on the monotonic clock's terms.
   */
  #letPeopleGoFirst(): number {
    const { store, log } = this.#options
    const isPaused = this.#isPaused()
    const reason = isPaused ? "everything is paused" : "a person's message goes first"
    let lookAgainMs = Infinity
    for (const { job, workClass, abort } of this.#running.values()) {
      if (workClass === null || abort.signal.aborted) continue
      const due = isPaused ? 0 : workClass === "people" ? undefined : nextPersonIn(store, job.lane_key)
      if (due === undefined) continue
      const waitMs = due - store.clock.now()
      if (waitMs > 0 || isToolRunning(store, job.id)) {
        lookAgainMs = Math.min(lookAgainMs, Math.max(waitMs, yieldLookMs))
        continue
      }
      log.info({ run: job.run_id, lane: job.lane_key, reason }, "job put back between two steps")
      abort.abort(new JobYielded(reason))
    }
    return lookAgainMs
  }

  /** For jobs whose time comes later (retries after a failure), and for a person behind a tool that runs. */
  #untilDue(): number {
    const { store } = this.#options
    const now = store.clock.now()
    const waiting = nextDues(store)
    const dues = this.#places().map(([choice, free]) => (free > 0 ? waiting[choice] - now : Infinity))
    return Math.min(...dues, this.#letPeopleGoFirst())
  }

  #launch(job: JobRow): void {
    const abort = new AbortController()
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#running.set(job.run_id, { abort, job, workClass: job.urgent === 1 ? null : classOf(job), done: promise })
    this.#options.background.run(`job ${job.kind}`, async () => {
      try {
        await this.#run(job, abort.signal)
      } finally {
        // Put back, it may run anew before the disk has told this run so.
        if (this.#running.get(job.run_id)?.done === promise) this.#running.delete(job.run_id)
        resolve()
        this.#loop.wake()
        for (const listener of this.#listeners) listener(job.run_id)
      }
    })
  }

  async #run(job: JobRow, signal: AbortSignal): Promise<void> {
    const handler = this.#options.handlers[job.kind]
    let isOver = false
    try {
      if (!handler) throw new AppError("internal", `No handler for jobs of kind ${job.kind}`)
      const end = await handler.run(job, signal)
      isOver = true
      await this.#kept.write(() => this.#end(job, end), this.#noMore.signal)
    } catch (error) {
      // Not written before the stop, or not forced: the next start takes it up where its journal ends, if it has not ended.
      if (this.#noMore.signal.aborted || (isOver && error instanceof NotForced)) {
        this.#options.log.warn({ run: job.run_id, err: error }, "job not recorded before the stop")
        return
      }
      await this.#fail(job, handler, error, signal)
    }
  }

  /** Whoever stops it meanwhile has stopped what it would go on with: it ends. */
  async #release(job: JobRow, signal: AbortSignal, options: Parameters<typeof releaseJob>[2]): Promise<void> {
    const { store } = this.#options
    const isStopped = () => signal.aborted && !(signal.reason instanceof JobYielded)
    const release = async (write: Write) => {
      const isCancelled = isStopped()
      if (isCancelled) cancelJob(store, write, job, "running")
      else releaseJob(store, job, options)
      return isCancelled
    }
    try {
      const isCancelled = await this.#kept.write(() => store.write(release), this.#noMore.signal)
      if (isCancelled || !isStopped()) return
      const cancel = () => store.write(async (write) => cancelJob(store, write, job, "ready"))
      await this.#kept.write(cancel, this.#noMore.signal)
    } catch (error) {
      // It is back in the queue all the same, for the next start.
      if (!(error instanceof NotForced)) throw error
    }
  }

  async #end(job: JobRow, end: JobEnd): Promise<void> {
    const { store } = this.#options
    await store.write(async (write) => {
      await end.commit?.(write)
      endJob(store, write, job, {
        state: end.state ?? "done",
        ...(end.error === undefined ? {} : { error: end.error }),
        ...(end.result === undefined ? {} : { result: end.result }),
      })
      store.crashPoint("turn.beforeCommit")
    })
  }

  async #fail(job: JobRow, handler: JobHandler | undefined, error: unknown, signal: AbortSignal): Promise<void> {
    const { log, clock } = this.#options
    const message = describeError(error)
    const isYielded = signal.reason instanceof JobYielded
    // A full disk is not the job's fault: it waits for space however long that takes.
    const storage = isStorageFailure(error)
    if (isYielded || storage) {
      await this.#release(job, signal, { delayMs: storage ? storagePauseMs : 0, error: message, countAttempt: false })
      log.info({ run: job.run_id, reason: message }, "job put back")
      return
    }
    if (error instanceof JobPostponed) {
      // Behind what others wait with, however short it is.
      const delayMs = Math.max(1, error.runAt - clock.now())
      await this.#release(job, signal, { delayMs, error: message, countAttempt: false })
      log.debug({ run: job.run_id, reason: message }, "job postponed")
      return
    }
    if (job.attempts < maxAttempts) {
      const delayMs = backoffMs(retryPolicy, job.attempts)
      log.warn({ run: job.run_id, attempt: job.attempts, err: error }, "job failed, will be tried again")
      await this.#release(job, signal, { delayMs, error: message, countAttempt: true })
      return
    }
    log.error({ run: job.run_id, lane: job.lane_key, err: error }, "job given up")
    await this.#giveUp(job, handler, message)
  }

  async #giveUp(job: JobRow, handler: JobHandler | undefined, message: string): Promise<void> {
    const { store, log } = this.#options
    const end = (onDead?: JobHandler["onDead"]) => {
      const write = () =>
        store.write(async (write) => {
          await onDead?.(job, message, write)
          endJob(store, write, job, { state: "dead", error: message })
        })
      return this.#kept.write(write, this.#noMore.signal)
    }
    try {
      await end(handler?.onDead)
    } catch (cause) {
      if (this.#noMore.signal.aborted || cause instanceof NotForced) throw cause
      // A handler that fails even here must not keep its lane waiting for ever.
      log.error({ run: job.run_id, lane: job.lane_key, err: cause }, "job given up without its last writes")
      await end()
    }
  }
}

function classOf(job: JobRow): WorkClass {
  const known = Object.entries(workClasses) as [WorkClass, number][]
  return known.find(([, number]) => number === job.class)?.[0] ?? "people"
}
