// What was filled into the pages of a tab that they must not show again.

/** Of one tab. Fields are remembered in the page, beside them; here, whether it is worth asking. */
export class Concealment {
  /** Values by the origin that they were filled into. */
  readonly #values = new Map<string, Set<string>>()
  isUsed = false
  /** Worlds of documents in which what is typed is concealed. */
  readonly watched = new WeakSet<object>()
  /** Frames that did not answer when they were asked last. */
  readonly silent = new WeakSet<object>()

  add(origin: string, value: string): void {
    this.isUsed = true
    const values = this.#values.get(origin) ?? new Set()
    this.#values.set(origin, values.add(value))
  }

  get hasValues(): boolean {
    return this.#values.size > 0
  }

  valuesFor(origin: string): string[] {
    return [...(this.#values.get(origin) ?? [])]
  }
}
