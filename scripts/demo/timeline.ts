// Prints what happened and when, one line a step.

/** A step that found something missing: the message says what. */
export class NotObserved extends Error {}

export class Timeline {
  readonly #started = performance.now()
  readonly #print: (text: string) => void

  constructor(print: (text: string) => void) {
    this.#print = print
  }

  /** True when the step was observed; what it returns is printed below it. */
  async run(title: string, work: () => Promise<string[]>): Promise<boolean> {
    const before = performance.now()
    try {
      const details = await work()
      this.#line("ok  ", title, before)
      for (const detail of details) this.#print(`                    ${detail}\n`)
      return true
    } catch (error) {
      this.#line("FAIL", title, before)
      const text = error instanceof NotObserved ? error.message : ((error as Error).stack ?? String(error))
      this.#print(`                    ${text.replaceAll("\n", "\n                    ")}\n`)
      return false
    }
  }

  #line(mark: string, title: string, before: number): void {
    const now = performance.now()
    const at = ((now - this.#started) / 1000).toFixed(2).padStart(6)
    this.#print(`${at} s  ${mark}  ${title} (${Math.round(now - before)} ms)\n`)
  }
}
