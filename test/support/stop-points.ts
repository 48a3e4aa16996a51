// Stops at every place where a loop waits: the store's writes tell when they begin, when their work is done and when they
// are on the disk, and a test adds places of its own. The first run counts them, then each has a run of its own.
import { setImmediate as nextTurn } from "node:timers/promises"
import type { Store } from "../../src/store/index.ts"

export interface StopPoints {
  /** How many were reached so far. */
  readonly count: number
  reach(): void
  /** Returns the way to leave. */
  watch(store: Store): () => void
}

/** `onPoint` is called when the point of this number (from 1) is reached; 0: never. */
export function stopPoints(number: number, onPoint: () => void): StopPoints {
  let count = 0
  const reach = () => {
    count += 1
    if (count === number) onPoint()
  }
  return {
    get count() {
      return count
    },
    reach,
    watch(store) {
      const { write } = store
      store.write = async (work) => {
        reach()
        const value = await write(async (inside) => {
          const result = await work(inside)
          reach()
          return result
        })
        reach()
        // Whoever waits for the write goes on only then: a stop may come in between.
        await nextTurn()
        reach()
        return value
      }
      return () => void (store.write = write)
    },
  }
}
