// Gives memory back after a load. V8 collects when it needs room, so a process that has become quiet keeps what its
// last busy minute took. One collection in the background starts what V8 does by itself from there on: it shrinks the
// heap in small steps while nothing else happens.
import { performance } from "node:perf_hooks"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import type { Log } from "../kernel/index.ts"

type Collect = (options: { type: "major"; execution: "async" }) => Promise<void>

export interface IdleMemoryOptions {
  log: Log
  everyMs?: number
  /** Part of the time since the last call that the event loop worked. */
  utilization?: () => number
  /** Told of each collection; for tests. */
  onCollected?: () => void
}

/** Part of the time that the event loop works, from which on it counts as busy. */
const busyFrom = 0.1
/** Looks in a row that found it quiet; the second collection takes what the first has made free. */
const collectAt = [3, 6]

export function watchIdleMemory(options: IdleMemoryOptions): { stop(): void } {
  const collect = exposeCollection()
  const utilization = options.utilization ?? createUtilization()
  // A start is work too.
  let hasWorked = true
  let quiet = 0
  const timer = setInterval(() => {
    if (utilization() > busyFrom) {
      hasWorked = true
      quiet = 0
      return
    }
    quiet += 1
    if (!hasWorked || !collectAt.includes(quiet)) return
    if (quiet === collectAt.at(-1)) hasWorked = false
    collect({ type: "major", execution: "async" })
      .then(() => options.onCollected?.())
      .catch((error: unknown) => options.log.warn({ err: error }, "idle memory could not be given back"))
  }, options.everyMs ?? 5_000)
  timer.unref()
  return { stop: () => clearInterval(timer) }
}

function createUtilization(): () => number {
  let before = performance.eventLoopUtilization()
  return () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    return utilization
  }
}

/** V8 has the function only for who asks with a flag; it is not left to other code. */
function exposeCollection(): Collect {
  setFlagsFromString("--expose-gc")
  const collect = runInNewContext("gc") as Collect
  setFlagsFromString("--no-expose-gc")
  return collect
}
