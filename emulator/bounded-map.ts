// A Map that forgets its oldest entries, so that an emulator which runs for weeks keeps a bounded memory.

export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #maximum: number

  constructor(maximum: number) {
    super()
    this.#maximum = maximum
  }

  /** Writing a key makes it the newest. */
  override set(key: Key, value: Value): this {
    super.delete(key)
    super.set(key, value)
    for (const oldest of super.keys()) {
      if (this.size <= this.#maximum) break
      super.delete(oldest)
    }
    return this
  }
}
