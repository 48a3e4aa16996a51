// Runs jobs: claim -> handler -> one transaction with the results and the end of the job.
// Strict order inside a lane, a cap across lanes; a job that fails for good never blocks its lane.
import { AppError, type Background, type Clock, type Log, backoffMs, describeError } from "../kernel/index.ts"
import {
  JobPostponed,
  cancelWaiting,
  claimJobs,
  endJob,
  maxAttempts,
  nextDue,
  nextUrgentDue,
  openJobs,
  releaseJob,
} from "./jobs.ts"
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
  maxConcurrent: () => number
  clock: Clock
  log: Log
  background: Background
}

interface RunningJob {
  abort: AbortController
  laneKey: string
  /** Takes no place among those that may run at once. */
  urgent: boolean
  done: Promise<void>
}

/** Urgent jobs claimed at once. */
const urgentBatch = 16

const retryPolicy = { attempts: maxAttempts, minDelayMs: 1_000, maxDelayMs: 30_000, jitter: 0.2 }

export class LaneRunner {
  readonly #options: LaneRunnerOptions
  readonly #running = new Map<string, RunningJob>()
  #claiming = false
  #again = false
  #stopped = true
  #timer: NodeJS.Timeout | undefined
  readonly #listeners = new Set<(runId: string) => void>()

  constructor(options: LaneRunnerOptions) {
    this.#options = options
    options.store.onAdded(({ jobs }) => {
      if (jobs) this.#claim()
    })
  }

  start(): void {
    this.#stopped = false
    this.#claim()
  }

  /** Aborts running jobs of a lane; each ends as its handler decides. Returns how many. */
  abortLane(laneKey: string, reason: Error): number {
    const jobs = [...this.#running.values()].filter((job) => job.laneKey === laneKey)
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
    const { cancelled, running } = await store.write(async (write) => ({
      cancelled: cancelWaiting(store, write, laneKey, matches),
      running: openJobs(store, laneKey).find((job) => job.state === "running" && matches(job)),
    }))
    // What was claimed in the same commit is launched right after it.
    await new Promise((resolve) => setImmediate(resolve))
    const isAborted = running !== undefined && this.abortRun(running.run_id, reason)
    return { running: isAborted ? 1 : 0, waiting: cancelled.length }
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
    return [...this.#running.values()].some((job) => job.laneKey === laneKey)
  }

  /** Claims nothing more, gives running jobs `graceMs`, then stops them; their journal lets them go on later. */
  async stop(graceMs: number): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    const all = () => Promise.all([...this.#running.values()].map((job) => job.done))
    const grace = new AbortController()
    const timeUp = this.#options.clock.sleep(graceMs, grace.signal).catch(() => undefined)
    await Promise.race([all(), timeUp])
    grace.abort()
    for (const job of this.#running.values()) job.abort.abort(new AppError("not-ready", "The gateway is stopping"))
    await all()
  }

  #claim(): void {
    if (this.#stopped) return
    if (this.#claiming) {
      this.#again = true
      return
    }
    this.#claiming = true
    this.#options.background.run("claim jobs", async () => {
      try {
        do {
          this.#again = false
          await this.#claimOnce()
        } while (this.#again)
      } finally {
        this.#claiming = false
        this.#schedule()
      }
    })
  }

  async #claimOnce(): Promise<void> {
    if (this.#stopped) return
    const now = this.#options.clock.now()
    const urgent = nextUrgentDue(this.#options.store)
    if (urgent !== undefined && urgent <= now) {
      for (const job of await claimJobs(this.#options.store, urgentBatch, "urgent")) this.#launch(job)
    }
    const free = this.#free()
    if (free <= 0) return
    const due = nextDue(this.#options.store)
    if (due === undefined || due > now) return
    const jobs = await claimJobs(this.#options.store, free)
    for (const job of jobs) this.#launch(job)
  }

  #free(): number {
    const counted = [...this.#running.values()].filter((job) => !job.urgent).length
    return this.#options.maxConcurrent() - counted
  }

  /** For jobs whose time comes later (retries after a failure). */
  #schedule(): void {
    clearTimeout(this.#timer)
    if (this.#stopped) return
    const { store } = this.#options
    const due = this.#free() > 0 ? nextDue(store) : nextUrgentDue(store)
    if (due === undefined) return
    const wait = Math.min(Math.max(due - this.#options.clock.now(), 1), 60_000)
    this.#timer = setTimeout(() => this.#claim(), wait)
    this.#timer.unref()
  }

  #launch(job: JobRow): void {
    const abort = new AbortController()
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#running.set(job.run_id, { abort, laneKey: job.lane_key, urgent: job.urgent === 1, done: promise })
    this.#options.background.run(`job ${job.kind}`, async () => {
      try {
        await this.#run(job, abort.signal)
      } finally {
        this.#running.delete(job.run_id)
        resolve()
        this.#claim()
        for (const listener of this.#listeners) listener(job.run_id)
      }
    })
  }

  async #run(job: JobRow, signal: AbortSignal): Promise<void> {
    const handler = this.#options.handlers[job.kind]
    try {
      if (!handler) throw new AppError("internal", `No handler for jobs of kind ${job.kind}`)
      const end = await handler.run(job, signal)
      await this.#end(job, end)
    } catch (error) {
      await this.#fail(job, handler, error, signal)
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
    const { store, log, clock } = this.#options
    const message = describeError(error)
    const stopping = this.#stopped && signal.aborted
    // A full disk is not the job's fault: it waits for space however long that takes.
    const storage = error instanceof AppError && error.code.startsWith("storage-")
    if (stopping || storage) {
      const runAt = stopping ? 0 : clock.now() + 2_000
      await store.write(async () => releaseJob(store, job, { runAt, error: message, countAttempt: false }))
      log.info({ run: job.run_id, reason: message }, "job put back")
      return
    }
    if (error instanceof JobPostponed) {
      const { runAt } = error
      await store.write(async () => releaseJob(store, job, { runAt, error: message, countAttempt: false }))
      log.debug({ run: job.run_id, reason: message }, "job postponed")
      return
    }
    if (job.attempts < maxAttempts) {
      const runAt = clock.now() + backoffMs(retryPolicy, job.attempts)
      log.warn({ run: job.run_id, attempt: job.attempts, err: error }, "job failed, will be tried again")
      await store.write(async () => releaseJob(store, job, { runAt, error: message, countAttempt: true }))
      return
    }
    log.error({ run: job.run_id, lane: job.lane_key, err: error }, "job given up")
    const end = (onDead?: JobHandler["onDead"]) =>
      store.write(async (write) => {
        await onDead?.(job, message, write)
        endJob(store, write, job, { state: "dead", error: message })
      })
    try {
      await end(handler?.onDead)
    } catch (cause) {
      // A handler that fails even here must not keep its lane waiting for ever.
      log.error({ run: job.run_id, lane: job.lane_key, err: cause }, "job given up without its last writes")
      await end()
    }
  }
}
