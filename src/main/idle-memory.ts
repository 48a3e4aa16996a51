// Keeps memory small. V8 collects when it needs room, so a process that has become quiet keeps what its last busy minute
// took. One collection in the background starts what V8 does by itself from there on: it shrinks the heap in small steps
// while nothing else happens. Under a load V8 doubles the room for young objects up to 128 MB, all of which it touches
// again and again; a quarter of that serves a gateway as well.
import { performance } from "node:perf_hooks"
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import type { Log } from "../kernel/index.ts"

type Collect = (options: { type: "major"; execution: "async" }) => Promise<void>

export interface IdleMemoryOptions {
  log: Log
  everyMs?: number
  /** Part of the time since the last call that the main thread worked. */
  utilization?: () => number
  /** Told of each collection; for tests. */
  onCollected?: () => void
}

/** Part of the time that the main thread works, from which on it counts as busy. */
const busyFrom = 0.1
/** Looks in a row that found it quiet; the second collection takes what the first has made free. */
const collectAt = [3, 6]

export function watchIdleMemory(options: IdleMemoryOptions): { stop(): void } {
  const collect = exposeCollection()
  const utilization = options.utilization ?? createUtilization()
  // A start is work too.
  let hasWorked = true
  let quiet = 0
  let isCapped = false
  const timer = setInterval(() => {
    if (!isCapped && youngBytes() >= enoughYoungBytes) {
      isCapped = true
      setFlagsFromString("--semi-space-growth-factor=1")
    }
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
  return {
    stop() {
      clearInterval(timer)
      // Compiled code that is kept for the next start counts only under the flags that it was made with.
      if (isCapped) setFlagsFromString(`--semi-space-growth-factor=${usualGrowth}`)
    },
  }
}

/** From here on the room for young objects grows no more. */
const enoughYoungBytes = 32 * 1024 * 1024
/** V8's own. */
const usualGrowth = 2

function youngBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space")?.space_size ?? 0
}

/** By the processor's time where Node tells it: on a busy machine the event loop also seems busy while it waits for its turn. */
function createUtilization(): () => number {
  // Since Node 23.9.
  if (typeof process.threadCpuUsage === "function") return createCpuShare()
  let before = performance.eventLoopUtilization()
  return () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    return utilization
  }
}

function createCpuShare(): () => number {
  let cpu = process.threadCpuUsage()
  let at = performance.now()
  return () => {
    const { user, system } = process.threadCpuUsage(cpu)
    const ms = performance.now() - at
    cpu = process.threadCpuUsage()
    at = performance.now()
    return (user + system) / 1000 / ms
  }
}

/** V8 has the function only for who asks with a flag; it is not left to other code. */
function exposeCollection(): Collect {
  setFlagsFromString("--expose-gc")
  const collect = runInNewContext("gc") as Collect
  setFlagsFromString("--no-expose-gc")
  return collect
}
