// The disk of a store, as the test wants it: slow, failing, or the real one.
import { fdatasync } from "node:fs"
import { promisify } from "node:util"
import type { StoreOptions } from "../../src/store/index.ts"

type SyncFile = NonNullable<StoreOptions["sync"]>

export const syncForReal = promisify(fdatasync)

/** A disk that takes what is written when the test says so. */
export function slowDisk() {
  const waiting: PromiseWithResolvers<void>[] = []
  let isSlow = false
  let failure: NodeJS.ErrnoException | undefined
  let begun = Promise.withResolvers<void>()
  const counts = { syncs: 0, refused: 0 }
  const sync: SyncFile = async (file) => {
    counts.syncs += 1
    if (isSlow) {
      const gate = Promise.withResolvers<void>()
      waiting.push(gate)
      begun.resolve()
      await gate.promise
    }
    if (failure) {
      counts.refused += 1
      begun.resolve()
      throw failure
    }
    await syncForReal(file)
  }
  return {
    sync,
    counts,
    slow: () => {
      isSlow = true
      begun = Promise.withResolvers()
    },
    fail(code: string | undefined) {
      failure = code === undefined ? undefined : Object.assign(new Error(code), { code })
      begun = Promise.withResolvers()
    },
    /** Resolves when a sync has begun, or was refused, since `slow` or `fail`. */
    begun: () => begun.promise,
    goOn() {
      isSlow = false
      for (const gate of waiting.splice(0)) gate.resolve()
    },
  }
}
