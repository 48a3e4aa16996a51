// Watches the event loop: how long it keeps others waiting (a histogram), and when it hangs, where. A thread beside it
// notices that the beats have stopped, asks the main thread for its stack, and from a second on keeps in
// `<folder>/hanging.json` what was being worked on, so that a process that is killed while it hangs leaves word of it.
import { readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { Worker } from "node:worker_threads"
import { type WatchData, hangFileName, slotBytes, slots, watchProgram } from "./event-loop-thread.ts"
import type { Hang } from "./hang.ts"
import type { Log } from "./log.ts"

export interface Delays {
  /** At most so many seconds, cumulative as Prometheus has them. */
  buckets: { seconds: number; count: number }[]
  count: number
  sumSeconds: number
  maxSeconds: number
}

export interface EventLoopFigures {
  /** How long the loop kept a timer waiting. */
  delays: Delays
  /**
   * As much of that as the thread itself computed: the rest is a processor that others had, or a disk. Undefined where Node
   * does not tell the processor's time of a thread (before 23.9).
   */
  work: Delays | undefined
  /** Stretches of more than a quarter of a second. */
  hangs: number
}

export interface EventLoopWatch {
  /**
   * Says that work on this id has begun, until the returned function is called. Should the process be killed while it
   * hangs, the id stands in the next process's `lastHang`.
   */
  beginWork(id: string): () => void
  /** What an earlier process left that was killed while it hung; until `forgetHang`. */
  lastHang(): Hang | undefined
  /** To be called when what follows from `lastHang` is durable. */
  forgetHang(): void
  figures(): EventLoopFigures
  /** The figures begin anew: what a start takes keeps nobody waiting. */
  begin(): void
  stop(): Promise<void>
}

export interface EventLoopOptions {
  /** Where `hanging.json` is kept. */
  folder: string
  bootId: string
  log: Log
}

const beatMs = 20
const bounds = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export function watchEventLoop({ folder, bootId, log }: EventLoopOptions): EventLoopWatch {
  const beats = new Int32Array(new SharedArrayBuffer(4))
  const open = new OpenWork()
  let delays = new Histogram()
  let work = typeof process.threadCpuUsage === "function" ? new Histogram() : undefined
  let hangs = 0
  let left = readHang(folder)
  let due = performance.now() + beatMs
  let used = work ? cpuUsed() : 0
  const timer = setInterval(() => {
    Atomics.add(beats, 0, 1)
    const now = performance.now()
    const seconds = Math.max(now - due, 0) / 1000
    due = now + beatMs
    delays.add(seconds)
    if (!work) return
    const { user, system } = process.threadCpuUsage()
    work.add(Math.min(seconds, (user + system - used) / 1e6))
    used = user + system
  }, beatMs)
  timer.unref()
  const thread = startThread({ folder, bootId, beats, work: open.bytes }, (hang) => {
    hangs += 1
    log.warn({ ms: hang.ms, stack: hang.stack, work: hang.work }, "event loop blocked")
  })
  return {
    beginWork: (id) => open.begin(id),
    lastHang: () => left,
    forgetHang() {
      if (left) rmSync(join(folder, hangFileName), { force: true })
      left = undefined
    },
    begin() {
      delays = new Histogram()
      work &&= new Histogram()
      hangs = 0
    },
    figures: () => ({ delays: delays.read(), work: work?.read(), hangs }),
    async stop() {
      clearInterval(timer)
      await thread.terminate()
    },
  }
}

/** Microseconds of a processor that this thread has had. */
function cpuUsed(): number {
  const { user, system } = process.threadCpuUsage()
  return user + system
}

/** What is worked on, in memory that the thread beside reads: telling it by messages would wake it at every job. */
class OpenWork {
  readonly bytes = new Uint8Array(new SharedArrayBuffer(slots * slotBytes))
  readonly #free = Array.from({ length: slots }, (_, slot) => slot * slotBytes)

  /** Where more is under way than there are slots, the rest is not told. */
  begin(id: string): () => void {
    let at = this.#free.pop()
    if (at === undefined) return () => undefined
    const { written } = encoder.encodeInto(id, this.bytes.subarray(at + 1, at + slotBytes))
    this.bytes[at] = written
    return () => {
      if (at === undefined) return
      this.bytes[at] = 0
      this.#free.push(at)
      at = undefined
    }
  }
}

const encoder = new TextEncoder()

class Histogram {
  readonly #counts = bounds.map(() => 0)
  #count = 0
  #sumSeconds = 0
  #maxSeconds = 0

  add(seconds: number): void {
    this.#count += 1
    this.#sumSeconds += seconds
    this.#maxSeconds = Math.max(this.#maxSeconds, seconds)
    const bucket = bounds.findIndex((bound) => seconds <= bound)
    if (bucket >= 0) this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1
  }

  read(): Delays {
    let below = 0
    const buckets = bounds.map((seconds, index) => ({ seconds, count: (below += this.#counts[index] ?? 0) }))
    return { buckets, count: this.#count, sumSeconds: this.#sumSeconds, maxSeconds: this.#maxSeconds }
  }
}

function startThread(
  { folder, ...data }: { folder: string } & Pick<WatchData, "bootId" | "beats" | "work">,
  onHang: (hang: Hang) => void,
): Worker {
  const worker = new Worker(watchProgram(), {
    eval: true,
    env: {},
    execArgv: [],
    name: "event loop watch",
    workerData: { ...data, slotBytes, file: join(folder, hangFileName) } satisfies WatchData,
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1 },
  })
  worker.unref()
  worker.on("message", onHang)
  // Without the thread everything works as before; only hangs are not seen.
  worker.on("error", () => undefined)
  return worker
}

function readHang(folder: string): Hang | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, hangFileName), "utf8")) as Hang
  } catch {
    // None, or one that was cut: nothing follows from it then.
    return undefined
  }
}
