// `/activation` of sessions, for the hot path: which groups are answered without being asked. Read once, kept in step by
// whoever changes a setting; only sessions that have one are held.
import type { Store } from "../store/index.ts"

export type Activation = "always" | "mention"

export class Activations {
  readonly #store: Store
  #known: Map<string, Activation> | undefined

  constructor(store: Store) {
    this.#store = store
  }

  of(sessionKey: string): Activation | undefined {
    this.#known ??= this.#read()
    return this.#known.get(sessionKey)
  }

  /** After the commit that changed settings of sessions, or their keys. */
  refresh(): void {
    this.#known = undefined
  }

  #read(): Map<string, Activation> {
    const rows = this.#store.handle
      .prepare(
        `select key, json_extract(settings, '$.activation') as activation from session
         where json_extract(settings, '$.activation') in ('always', 'mention')`,
      )
      .all() as { key: string; activation: Activation }[]
    return new Map(rows.map((row) => [row.key, row.activation]))
  }
}
