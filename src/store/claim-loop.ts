// Claims what is due: one claim at a time, once more when something came meanwhile, and by itself when a time comes.
import type { Background } from "../kernel/index.ts"
import { isStorageFailure } from "./kept-writes.ts"

export interface ClaimLoopOptions {
  /** In the log. */
  name: string
  background: Background
  /** Takes what may begin now. */
  claim: () => Promise<void>
  /** Milliseconds until something is due by its time; Infinity: nothing is until the loop is woken. Reads the store. */
  untilDue: () => number
}

/** After a claim that failed. */
const pauseMs = 500
/** A timer that is late by a step of the clock is soon right again. */
const longestWaitMs = 60_000

/** Stopped until it is started. */
export class ClaimLoop {
  readonly #options: ClaimLoopOptions
  #isStopped = true
  #claiming: Promise<void> | undefined
  #again = false
  #timer: NodeJS.Timeout | undefined

  constructor(options: ClaimLoopOptions) {
    this.#options = options
  }

  get isStopped(): boolean {
    return this.#isStopped
  }

  start(): void {
    this.#isStopped = false
    this.wake()
  }

  /** Begins no further claim, and waits for one under way. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#claiming
  }

  /** Something may be there to be claimed. */
  wake(): void {
    if (this.#isStopped) return
    if (this.#claiming) {
      this.#again = true
      return
    }
    const { name, background, claim } = this.#options
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#claiming = promise
    background.run(name, async () => {
      let isDone = false
      try {
        do {
          this.#again = false
          await claim()
        } while (this.#again && !this.#isStopped)
        isDone = true
      } catch (error) {
        // Said once by those who keep the writes.
        if (!isStorageFailure(error)) throw error
      } finally {
        this.#claiming = undefined
        resolve()
        this.#schedule(isDone ? 1 : pauseMs)
      }
    })
  }

  /** When not even what is due can be read, it is looked for again: nobody else may ever ask. */
  #schedule(leastMs: number): void {
    if (this.#isStopped) return
    let waitMs = pauseMs
    try {
      waitMs = Math.max(this.#options.untilDue(), leastMs)
    } catch (error) {
      if (!isStorageFailure(error)) throw error
    } finally {
      clearTimeout(this.#timer)
      if (waitMs !== Infinity) this.#timer = setTimeout(() => this.wake(), Math.min(waitMs, longestWaitMs)).unref()
    }
  }
}
