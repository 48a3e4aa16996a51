// Emulator time: what the clock says, and every timer of the emulator.
// All timers run through here, so that a test can move time forward (`advance`) and everything due fires in order.

export interface TimeSource {
  /** Milliseconds since the epoch. */
  now(): number
}

/** Cancels the timer; calling it twice, or after it fired, does nothing. */
export type CancelTimer = () => void

interface PendingTimer {
  dueAt: number
  run: () => void
}

/** Node fires a timer at once when its delay does not fit in 31 bits. */
const longestNodeTimerMs = 2 ** 31 - 1

export class Clock {
  readonly #source: TimeSource
  readonly #timers = new Set<PendingTimer>()
  #offsetMs = 0
  #wake: NodeJS.Timeout | undefined
  #stopped = false

  constructor(source: TimeSource) {
    this.#source = source
  }

  now(): number {
    return this.#source.now() + this.#offsetMs
  }

  /** Whole seconds since the epoch, the platform's unit for dates. */
  seconds(): number {
    return Math.floor(this.now() / 1000)
  }

  after(delayMs: number, run: () => void): CancelTimer {
    if (this.#stopped) return () => undefined
    const timer = { dueAt: this.now() + delayMs, run }
    this.#timers.add(timer)
    this.#arm()
    return () => {
      this.#timers.delete(timer)
    }
  }

  /** Moves time forward and fires, in order of their due time, all timers that this makes due. */
  advance(durationMs: number): void {
    const target = this.now() + durationMs
    for (let next = this.#earliest(); next && next.dueAt <= target; next = this.#earliest()) {
      this.#offsetMs += Math.max(0, next.dueAt - this.now())
      this.#timers.delete(next)
      next.run()
    }
    this.#offsetMs += Math.max(0, target - this.now())
    this.#arm()
  }

  stop(): void {
    this.#stopped = true
    this.#timers.clear()
    clearTimeout(this.#wake)
  }

  #earliest(): PendingTimer | undefined {
    let earliest: PendingTimer | undefined
    for (const timer of this.#timers) if (!earliest || timer.dueAt < earliest.dueAt) earliest = timer
    return earliest
  }

  #arm(): void {
    clearTimeout(this.#wake)
    const next = this.#earliest()
    if (!next) return
    const delayMs = Math.min(Math.max(next.dueAt - this.now(), 0), longestNodeTimerMs)
    this.#wake = setTimeout(() => this.#fireDue(), Math.ceil(delayMs))
  }

  #fireDue(): void {
    const due = [...this.#timers].filter((timer) => timer.dueAt <= this.now()).sort((a, b) => a.dueAt - b.dueAt)
    for (const timer of due) if (this.#timers.delete(timer)) timer.run()
    this.#arm()
  }
}
