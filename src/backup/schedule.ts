// Backups that the gateway makes by itself. Each is made by the command `svc backup create` in a process of its own with a
// low priority, so that neither the gateway's event loop nor its memory has anything to do with it.
import type { Background, Clock, Log } from "../kernel/index.ts"
import { describeError } from "../kernel/index.ts"

export interface ScheduleOptions {
  /** Asked each time; 0 switches off. */
  everyMs: () => number
  /** When the newest of these backups was made; undefined when there is none. */
  newest: () => Promise<number | undefined>
  /** Makes one; rejects with what a person should know. */
  create: (signal: AbortSignal) => Promise<MadeBackup>
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

  constructor(options: ScheduleOptions) {
    this.#options = options
  }

  start(): void {
    this.#timer = setInterval(() => this.#look(), lookEveryMs)
    this.#timer.unref()
    this.#look()
  }

  state(): ScheduleState | undefined {
    const everyMs = this.#options.everyMs()
    if (everyMs === 0) return undefined
    return { everyMs, running: this.#work !== undefined, last: this.#last, failure: this.#failure }
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    this.#abort.abort(new Error("the gateway is stopping"))
    await this.#work
  }

  #look(): void {
    const everyMs = this.#options.everyMs()
    if (everyMs === 0 || this.#work || this.#abort.signal.aborted) return
    this.#work = this.#createIfDue(everyMs).finally(() => {
      this.#work = undefined
    })
    const work = this.#work
    this.#options.background.run("scheduled backup", () => work)
  }

  async #createIfDue(everyMs: number): Promise<void> {
    try {
      if (!(await this.#isDue(everyMs))) return
      this.#triedAt = this.#options.clock.monotonic()
      const made = await this.#options.create(this.#abort.signal)
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
    const newest = await this.#options.newest()
    if (newest === undefined) return true
    this.#last ??= { createdAt: newest }
    const age = clock.now() - newest
    // One from the future was made before the clock was put back: it says nothing about how old it is.
    return age < 0 || age >= everyMs
  }
}
