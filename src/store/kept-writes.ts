// Ends of jobs and of deliveries that the disk did not take: kept in memory, in their order, and written when it works
// again. Whoever waits for such a write keeps the place it works in, so there are never more of them than places.
// Also the one to know whether the store works: every write that is watched says so.
import { AppError, type Clock, type Log } from "../kernel/index.ts"
import { NotForced } from "./durability.ts"
import { describeRefusal } from "./sqlite.ts"
import type { Store } from "./store.ts"

const firstPauseMs = 100
const longestPauseMs = 1_000

export interface StorageProblem {
  error: string
  /** Results that wait to be written. */
  waiting: number
}

interface Kept {
  work: () => Promise<unknown>
  resolve: (value: never) => void
  reject: (error: unknown) => void
}

export interface KeptWritesOptions {
  clock: Clock
  log: Log
}

/** A full disk, a failed or refused write: no fault of what was to be written. */
export function isStorageFailure(error: unknown): error is AppError {
  return error instanceof AppError && error.code.startsWith("storage-")
}

export class KeptWrites {
  readonly #options: KeptWritesOptions
  readonly #waiting: Kept[] = []
  readonly #listeners = new Set<() => void>()
  #failure: AppError | undefined
  #probe: (() => Promise<unknown>) | undefined
  #trying = false
  #stopped = new AbortController()

  constructor(options: KeptWritesOptions) {
    this.#options = options
  }

  /** What keeps the store from being written; undefined while it works. */
  problem(): StorageProblem | undefined {
    if (!this.#failure) return undefined
    return { error: describeRefusal(this.#failure), waiting: this.#waiting.length }
  }

  /** Called when writing works again. */
  onRecovered(listener: () => void): void {
    this.#listeners.add(listener)
  }

  /** The store, with each of its writes watched; while they fail a small one is tried again and again. */
  observe(store: Store): Store {
    const write: Store["write"] = (work, options) => this.#watch(() => store.write(work, options))
    this.#probe = () => write(async ({ prepare }) => prepare(sqlProbe).run(String(store.clock.now())))
    return {
      ...store,
      write,
      // What the store refuses by itself was not tried: it says so where it is asked, and nothing is to be tried again.
      ingest: (entry) => (store.accepting() ? this.#watch(() => store.ingest(entry)) : store.ingest(entry)),
      ingestBatch: (entries, also) =>
        store.accepting() ? this.#watch(() => store.ingestBatch(entries, also)) : store.ingestBatch(entries, also),
    }
  }

  /** Resolves when it is written, however long the disk fails; rejects with the signal's reason when that aborts first. */
  async write<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (this.#waiting.length === 0 || signal.aborted) {
      try {
        return await this.#watch(work)
      } catch (error) {
        if (!isStorageFailure(error) || error instanceof NotForced || signal.aborted) throw error
      }
    }
    return await new Promise<T>((resolve, reject) => {
      const kept: Kept = { work, resolve, reject }
      const onAbort = () => {
        this.#forget(kept)
        reject(signal.reason)
      }
      signal.addEventListener("abort", onAbort, { once: true })
      this.#waiting.push(kept)
      this.#retry()
    })
  }

  stop(): void {
    this.#stopped.abort()
  }

  async #watch<T>(work: () => Promise<T>): Promise<T> {
    try {
      const value = await work()
      this.#recovered()
      return value
    } catch (error) {
      if (isStorageFailure(error)) this.#failed(error)
      throw error
    }
  }

  #failed(error: AppError): void {
    if (!this.#failure) this.#options.log.error({ err: error, hint: error.hint }, "store cannot be written")
    this.#failure = error
    this.#retry()
  }

  #recovered(): void {
    if (!this.#failure || this.#waiting.length > 0) return
    this.#failure = undefined
    this.#options.log.info("store can be written again")
    for (const listener of this.#listeners) listener()
  }

  #retry(): void {
    if (this.#trying || this.#stopped.signal.aborted) return
    this.#trying = true
    void this.#retryUntilWritten()
  }

  /** The oldest first, and nothing else until it is written: what follows from one may build on it. */
  async #retryUntilWritten(): Promise<void> {
    let pauseMs = firstPauseMs
    while (!this.#stopped.signal.aborted && (this.#waiting.length > 0 || (this.#failure && this.#probe))) {
      try {
        await this.#options.clock.sleep(pauseMs, this.#stopped.signal)
      } catch {
        break
      }
      const isWritten = await this.#tryNext()
      pauseMs = isWritten ? 0 : Math.min(pauseMs * 2 + 1, longestPauseMs)
    }
    // In the same moment that nothing was found: what comes later begins anew.
    this.#trying = false
  }

  async #tryNext(): Promise<boolean> {
    const kept = this.#waiting[0]
    const work = kept?.work ?? this.#probe
    if (!work) return true
    try {
      const value = await work()
      this.#forget(kept)
      kept?.resolve(value as never)
      this.#recovered()
    } catch (error) {
      if (isStorageFailure(error)) this.#failure = error
      if (isStorageFailure(error) && !(error instanceof NotForced)) return false
      this.#forget(kept)
      kept?.reject(error)
    }
    return true
  }

  /** Nothing but this one: meanwhile it may have been given up, and others may have come. */
  #forget(kept: Kept | undefined): void {
    const index = kept === undefined ? -1 : this.#waiting.indexOf(kept)
    if (index >= 0) this.#waiting.splice(index, 1)
  }
}

const sqlProbe = `insert into meta (key, value) values ('storage-probe', ?)
  on conflict (key) do update set value = excluded.value`
