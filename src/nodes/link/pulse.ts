// Whether the other side is still there. Anything that comes counts as a sign of life; where nothing comes, it is asked,
// and a question without an answer ends the connection: a link that was cut half open looks like one that is quiet.
export interface PulseOptions {
  ping(): void
  onDead(): void
  /** Whether somebody waits for something of the other side. */
  isBusy(): boolean
  timing?: Partial<PulseTiming>
}

export interface PulseTiming {
  /** Between two questions while somebody waits, and while nobody does. */
  busyMs: number
  idleMs: number
  /** For an answer. */
  answerMs: number
}

const usual: PulseTiming = { busyMs: 1_500, idleMs: 20_000, answerMs: 3_500 }

export class Pulse {
  readonly #options: PulseOptions
  readonly #timing: PulseTiming
  #timer: NodeJS.Timeout | undefined
  #heardAt = performance.now()
  #askedAt: number | undefined
  #isStopped = false

  constructor(options: PulseOptions) {
    this.#options = options
    this.#timing = { ...usual, ...options.timing }
    this.#wait()
  }

  /** Something came. */
  heard(): void {
    this.#heardAt = performance.now()
    this.#askedAt = undefined
  }

  /** Somebody waits from now on: asks at once, unless something has just come. */
  hurry(): void {
    if (this.#isStopped || this.#askedAt !== undefined) return
    if (performance.now() - this.#heardAt < this.#timing.busyMs) return this.#wait()
    this.#ask()
  }

  #wait(): void {
    if (this.#isStopped) return
    clearTimeout(this.#timer)
    const { busyMs, idleMs } = this.#timing
    this.#timer = setTimeout(() => this.#ask(), this.#options.isBusy() ? busyMs : idleMs)
    this.#timer.unref()
  }

  #ask(): void {
    if (this.#isStopped) return
    clearTimeout(this.#timer)
    this.#askedAt ??= performance.now()
    this.#options.ping()
    // What came while this process was busy is read after its timers: it is looked once more.
    const timer = setTimeout(() => setImmediate(() => this.#judge(timer)), this.#timing.answerMs)
    this.#timer = timer
    timer.unref()
  }

  #judge(timer: NodeJS.Timeout): void {
    // It may have been asked anew between the two: that question has its own time.
    if (this.#isStopped || this.#timer !== timer) return
    if (this.#askedAt === undefined) return this.#wait()
    this.stop()
    this.#options.onDead()
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
  }
}
