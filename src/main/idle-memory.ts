// Keeps memory small. V8 collects when it needs room, so a process that has become quiet keeps what its last busy minute
// took; and what a collection frees stays in V8's own pool of pages until a collection that is meant to reduce memory,
// which V8 makes by itself only where next to nothing is allocated any more: somebody who asks for /healthz is too much.
// So while the process is quiet V8 is told to prefer size. Then it collects in small steps, twice, and gives the pages back.
//
// Under a load V8 doubles the room for young objects up to 128 MB, all of which it touches again and again, and lets a heap
// of which 40 MB live grow to 115 MB before it looks through it; an eighth and a half of that serve a gateway as well.
import { performance } from "node:perf_hooks"
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8"

export interface IdleMemoryOptions {
  everyMs?: number
  /** Part of the time since the last call that the main thread worked. */
  utilization?: () => number
  /** Called each time that the process has become quiet: what others keep for their next piece of work can go as well. */
  onQuiet?: () => void
  /** How V8 is told; for tests. */
  setFlag?: (flag: string) => void
}

/**
 * Part of the time that the main thread works, from which on it counts as busy: somebody waits for it then, and a collection
 * that reduces memory may take 40 ms at its end. Who asks for /healthz twenty times a second takes two percent.
 */
const busyFrom = 0.05
/** Looks in a row that found it quiet. */
const quietAfter = 3
/** From here on the room for young objects grows no more. It doubles within a second, so that is looked at more often. */
const enoughYoungBytes = 16 * 1024 * 1024
const youngEveryMs = 250
/** By so much of what lives the heap grows before it is collected. */
const growthPercent = 60
const capped = ["--semi-space-growth-factor=1", `--heap-growing-percent=${growthPercent}`]
/** V8's own. */
const usual = ["--semi-space-growth-factor=2", "--heap-growing-percent=0"]

export function watchIdleMemory(options: IdleMemoryOptions = {}): { stop(): void } {
  const { everyMs = 5_000, utilization = createUtilization(), setFlag = setFlagsFromString, onQuiet } = options
  let quiet = 0
  let isCapped = false
  const prefersSize = () => quiet >= quietAfter
  const young = setInterval(() => {
    if (youngBytes() < enoughYoungBytes) return
    isCapped = true
    clearInterval(young)
    for (const flag of capped) setFlag(flag)
  }, youngEveryMs).unref()
  const timer = setInterval(() => {
    const before = prefersSize()
    quiet = utilization() > busyFrom ? 0 : quiet + 1
    if (prefersSize() === before) return
    setFlag(prefersSize() ? "--optimize-for-size" : "--no-optimize-for-size")
    if (prefersSize()) onQuiet?.()
  }, everyMs).unref()
  return {
    stop() {
      clearInterval(young)
      clearInterval(timer)
      // Compiled code that is kept for the next start counts only under the flags that it was made with.
      for (const flag of isCapped ? usual : []) setFlag(flag)
      if (prefersSize()) setFlag("--no-optimize-for-size")
    },
  }
}

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
