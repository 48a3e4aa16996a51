// What a test's context is for the parts of the tests: whatever they start is ended, the youngest first.

export class Ends {
  readonly #ends: (() => unknown)[] = []

  after(end: unknown): void {
    this.#ends.push(end as () => unknown)
  }

  static async run<T>(work: (ends: Ends) => Promise<T>): Promise<T> {
    const ends = new Ends()
    try {
      return await work(ends)
    } finally {
      for (const end of ends.#ends.reverse()) await end()
    }
  }
}
