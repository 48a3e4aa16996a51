// Backups that the gateway makes by itself. Each is made by the command `svc backup create` in a process of its own with a
// low priority, so that neither the gateway's event loop nor its memory has anything to do with it.
import type { Background, Clock, Log } from "../kernel/index.ts"
import { AppError, describeError } from "../kernel/index.ts"

export interface ScheduleOptions {
  /** Asked each time; 0 switches off. */
  everyMs: () => number
  /** When the newest of these backups was made; undefined when there is none. */
  newest: () => Promise<number | undefined>
  /** Makes one; rejects with what a person should know. `byHand`: none is removed for it. */
  create: (signal: AbortSignal, byHand: boolean) => Promise<MadeBackup>
  clock: Clock
  log: Log
  background: Background
}

export interface MadeBackup {
  archive: string
  bytes: number
  createdAt: number
}

/** For the status: times in milliseconds since the epoch. */
export interface ScheduleState {
  everyMs: number
  running: boolean
  last: { createdAt: number; archive?: string; bytes?: number } | null
  failure: { at: number; error: string } | null
}

export interface BackupSchedule {
  start(): void
  /** Undefined while it is switched off. */
  state(): ScheduleState | undefined
  /** The same, whether it is switched on or not; then `everyMs` is 0. */
  progress(): ScheduleState
  /** Makes one now, behind the caller's back. Throws `conflict` while one is being made. */
  begin(): void
  /** Ends a backup that is being made; what it has left is removed by the next. */
  stop(): Promise<void>
}

const lookEveryMs = 30_000
/** After a failure, unless backups are to be made more often anyway. */
const retryMs = 15 * 60_000

export function createBackupSchedule(options: ScheduleOptions): BackupSchedule {
  return new Schedule(options)
}

class Schedule implements BackupSchedule {
  readonly #options: ScheduleOptions
  readonly #abort = new AbortController()
  #timer: NodeJS.Timeout | undefined
  #work: Promise<void> | undefined
  #last: ScheduleState["last"] = null
  #failure: ScheduleState["failure"] = null
  /** Of the last try, on the clock that does not jump. */
  #triedAt: number | undefined
  /** When the folder could not be looked into, on the same clock; undefined once it could. */
  #blindAt: number | undefined

  constructor(options: ScheduleOptions) {
    this.#options = options
  }

  start(): void {
    this.#timer = setInterval(() => this.#look(), lookEveryMs)
    this.#timer.unref()
    this.#look()
  }

  state(): ScheduleState | undefined {
    return this.#options.everyMs() === 0 ? undefined : this.progress()
  }

  progress(): ScheduleState {
    const everyMs = this.#options.everyMs()
    return { everyMs, running: this.#work !== undefined, last: this.#last, failure: this.#failure }
  }

  begin(): void {
    if (this.#work) throw new AppError("conflict", "A backup is being made already")
    if (this.#abort.signal.aborted) throw new AppError("not-ready", "The gateway is stopping")
    this.#keep(this.#create(true, async () => true))
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    this.#abort.abort(new Error("the gateway is stopping"))
    await this.#work
  }

  #look(): void {
    const everyMs = this.#options.everyMs()
    if (everyMs === 0 || this.#work || this.#abort.signal.aborted) return
    this.#keep(this.#create(false, () => this.#isDue(everyMs)))
  }

  #keep(making: Promise<void>): void {
    const work = making.finally(() => {
      this.#work = undefined
    })
    this.#work = work
    this.#options.background.run("backup", () => work)
  }

  async #create(byHand: boolean, isDue: () => Promise<boolean>): Promise<void> {
    try {
      if (!(await isDue())) return
      if (!byHand) this.#triedAt = this.#options.clock.monotonic()
      const made = await this.#options.create(this.#abort.signal, byHand)
      this.#last = made
      this.#failure = null
      this.#options.log.info({ archive: made.archive, bytes: made.bytes }, "backup made")
    } catch (error) {
      if (this.#abort.signal.aborted) return
      this.#failure = { at: this.#options.clock.now(), error: describeError(error) }
      this.#options.log.error({ err: error }, "backup failed")
    }
  }

  /** The first time by the archives that lie there, which outlive this process; from then on by the steady clock. */
  async #isDue(everyMs: number): Promise<boolean> {
    const { clock } = this.#options
    if (this.#triedAt !== undefined) {
      const wait = this.#failure ? Math.min(everyMs, retryMs) : everyMs
      return clock.monotonic() - this.#triedAt >= wait
    }
    if (this.#blindAt !== undefined && clock.monotonic() - this.#blindAt < Math.min(everyMs, retryMs)) return false
    const newest = await this.#findNewest()
    if (newest === undefined) return true
    this.#last ??= { createdAt: newest }
    const age = clock.now() - newest
    // One from the future was made before the clock was put back: it says nothing about how old it is.
    return age < 0 || age >= everyMs
  }

  async #findNewest(): Promise<number | undefined> {
    const { newest, clock } = this.#options
    try {
      const found = await newest()
      if (this.#blindAt !== undefined) this.#failure = null
      this.#blindAt = undefined
      return found
    } catch (error) {
      this.#blindAt = clock.monotonic()
      throw error
    }
  }
}
