// One answer to whether the store works, for readiness, status and metrics alike: what it refuses to accept, and what
// could not be written just now.
import type { KeptWrites, Store } from "../store/index.ts"

export interface StoreHealth {
  accepting: boolean
  problem?: string
  /** Results that wait to be written. */
  unwritten?: number
}

export function storeHealth({ store, kept }: { store: Pick<Store, "problem">; kept: KeptWrites }): StoreHealth {
  const failing = kept.problem()
  // What the store says of itself names the damage and the way out; a failed write only what it met.
  const problem = store.problem() ?? failing?.error
  if (problem === undefined) return { accepting: true }
  return { accepting: false, problem, ...(failing ? { unwritten: failing.waiting } : {}) }
}
