// Updates arrive side by side, the intake takes one batch at a time: what comes while a batch is written makes the next.

export class UpdateCollector<Update> {
  readonly #take: (batch: readonly Update[]) => Promise<void>
  #batch: Update[] = []
  #next: Promise<void> | undefined
  /** Settles with the batch that is being written; never rejects. */
  #last: Promise<void> = Promise.resolve()

  constructor(take: (batch: readonly Update[]) => Promise<void>) {
    this.#take = take
  }

  /** Resolves when the update is durable, rejects with what kept its batch from it. */
  add(update: Update): Promise<void> {
    this.#batch.push(update)
    if (this.#next === undefined) {
      this.#next = this.#runAfter(this.#last)
      this.#last = this.#next.catch(() => undefined)
    }
    return this.#next
  }

  /** Resolves when everything that was added has settled. */
  idle(): Promise<void> {
    return this.#last
  }

  async #runAfter(previous: Promise<void>): Promise<void> {
    await previous
    const batch = this.#batch
    this.#batch = []
    this.#next = undefined
    await this.#take(batch)
  }
}
