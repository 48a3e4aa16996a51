// When the wall clock is set: what was put off keeps its remaining time, in one transaction, and from then on the process
// tells the new time. Until that is written everything goes on by the old one.
import { type Write, followClock } from "../store/index.ts"
import type { Core } from "./core.ts"

/** Moves times of its own, in the transaction and in memory. Returns how to move those in memory back. */
export type ClockFollower = (write: Write, stepMs: number) => () => void

/** Returns the way to end it. */
export function followWallClock(
  { clock, store, log }: Pick<Core, "clock" | "store" | "log">,
  followers: readonly ClockFollower[],
): () => void {
  return clock.watch(async () => {
    const undo: (() => void)[] = []
    let stepMs = 0
    try {
      await store.write(async (write) => {
        stepMs = clock.takeStep()
        undo.push(() => clock.undoStep(stepMs))
        followClock(store, write, stepMs)
        for (const follow of followers) undo.push(follow(write, stepMs))
      })
      log.warn({ stepMs }, "wall clock was set: what waits keeps its remaining time")
    } catch (error) {
      for (const back of undo) back()
      log.error({ err: error, stepMs }, "wall clock was set, and the store could not follow: tried again")
    }
  })
}
