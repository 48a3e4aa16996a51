// What the samples of a run mean: whether memory and handles grow, whether anything stood still, was lost or came twice.
import type { MixedRun, Sample } from "./mixed.ts"
import type { Row } from "./table.ts"

/** Caches fill and code is compiled: before that nothing is said about growth. */
const warmUpShare = 0.25
const leastWarmUpSeconds = 60
/** A slope over less than this is noise: of five megabytes in ten minutes come thirty in an hour. */
const leastJudgedSeconds = 900
/** In each of so many parts the least value counts, because garbage is collected in waves of a minute or so. */
const parts = 12
const maxGrowthMbPerHour = 30
const maxMoreHandles = 15
const maxHealthP99Ms = 50
const maxStretchMs = 50
/** From here on the machine was busy with others: a thread that waits for a processor waits long at times. */
const busyShare = 0.02
const maxStuckSeconds = 60
const maxIdleMb = 160

export function judge(run: MixedRun): Row[] {
  const { found, samples, drainSeconds, browserFailures } = run
  const name = `${run.minutes} minutes, ${run.people} people, webhooks and a browser`
  const ends: Row = {
    what: `${name}: what was acknowledged`,
    target: "0 lost, 0 doubled, every chat in order",
    measured: `${found.acknowledged} acknowledged (${found.photos} with photos): ${found.lost.length} lost, ${found.doubled.length} doubled, ${found.disordered.length} chats out of order`,
    met: found.lost.length + found.doubled.length + found.disordered.length === 0 && found.acknowledged > 0,
    details: [...found.lost, ...found.doubled, ...found.disordered],
  }
  return [
    ends,
    judgeMemory(samples),
    judgeIdle(run),
    judgeHandles(samples),
    judgeHealth(samples),
    ...judgeLoop(run),
    judgeLanes(samples, drainSeconds),
    judgeBrowser(samples, browserFailures),
  ]
}

/** Samples after the warm-up. */
export function warm(samples: readonly Sample[]): readonly Sample[] {
  const end = samples.at(-1)?.seconds ?? 0
  return samples.filter(({ seconds }) => seconds >= Math.max(end * warmUpShare, leastWarmUpSeconds))
}

function judgeMemory(samples: readonly Sample[]): Row {
  const judged = warm(samples)
  const [first, last] = [judged[0], judged.at(-1)]
  const highest = Math.max(0, ...samples.map(({ memoryMb }) => memoryMb))
  const target = `at most ${maxGrowthMbPerHour} MB more an hour, after warming up`
  const row = { what: "the same: memory of the gateway", target }
  if (!first || !last || last.seconds - first.seconds < leastJudgedSeconds) {
    return { ...row, measured: `highest ${round(highest)} MB; too short a run for a slope`, met: true }
  }
  const perHour = slopePerSecond(leastOfParts(judged.map(({ seconds, memoryMb }) => [seconds, memoryMb]))) * 3600
  return {
    ...row,
    measured: `${round(perHour)} MB an hour, highest ${round(highest)} MB${describeHeap(judged)}`,
    met: perHour <= maxGrowthMbPerHour,
  }
}

/** What lives of the heap: its least in the first and in the last third. A leak in our own code shows there. */
function describeHeap(judged: readonly Sample[]): string {
  const heap = judged.flatMap(({ loop }) => (loop ? [loop.heapMb] : []))
  const third = Math.floor(heap.length / 3)
  if (third === 0) return ""
  const [before, after] = [Math.min(...heap.slice(0, third)), Math.min(...heap.slice(-third))]
  return `; of the heap live ${round(before)}, then ${round(after)} MB`
}

function judgeHandles(samples: readonly Sample[]): Row {
  const judged = warm(samples)
  const counts = (judged.length < 8 ? samples : judged).map(({ handles }) => handles)
  const quarter = Math.max(1, Math.floor(counts.length / 4))
  const [before, after] = [Math.max(0, ...counts.slice(0, quarter)), Math.max(0, ...counts.slice(-quarter))]
  return {
    what: "the same: open handles",
    target: `at most ${maxMoreHandles} more in the last quarter than in the first`,
    measured: `${before}, then ${after}`,
    met: after - before <= maxMoreHandles,
  }
}

function judgeHealth(samples: readonly Sample[]): Row {
  const times = samples.flatMap(({ health }) => health.times).toSorted((a, b) => a - b)
  const p99 = times[Math.floor(times.length * 0.99)] ?? 0
  const failed = samples.reduce((sum, { health }) => sum + health.failed, 0)
  const longest = Math.max(0, ...samples.map(({ health }) => health.max))
  return {
    what: "the same: `/healthz`, asked from another thread 20 times a second",
    target: `p99 at most ${maxHealthP99Ms} ms, always answered`,
    measured: `p99 ${round(p99)} ms, longest ${round(longest)} ms, ${failed} unanswered`,
    met: p99 <= maxHealthP99Ms && failed === 0,
  }
}

/** No row where the gateway does not tell. */
function judgeLoop({ samples, hangs }: MixedRun): Row[] {
  const last = samples.findLast(({ loop }) => loop !== undefined)
  if (!last?.loop) return []
  const { maxMs, over50, work } = last.loop
  const stolenShare = last.stolenSeconds / last.seconds
  const own = `of its own work longest ${round(work.maxMs)} ms, ${work.over50} above`
  const stolen = `other programs had the processors for ${round(100 * stolenShare)} % of the time while it could have run`
  const measured = `longest ${round(maxMs)} ms, ${over50} above ${maxStretchMs} ms; ${own}; ${stolen}`
  const target = `none above ${maxStretchMs} ms; on a busy machine none of its own work`
  const what = "the same: stretches of the event loop, by `/metrics`"
  const met = work.over50 === 0 && (over50 === 0 || stolenShare > busyShare)
  return [{ what, target, measured, met, details: hangs }]
}

function judgeIdle({ idleMb }: MixedRun): Row {
  return {
    what: "the same: memory a minute after the load",
    target: `at most ${maxIdleMb} MB`,
    measured: `${round(idleMb)} MB`,
    met: idleMb <= maxIdleMb,
  }
}

function judgeLanes(samples: readonly Sample[], drainSeconds: number): Row {
  const longest = Math.max(0, ...samples.map(({ oldestSeconds }) => oldestSeconds))
  const slowest = Math.max(0, ...samples.map(({ answerP99 }) => answerP99)) / 1000
  return {
    what: "the same: oldest open work at any time, and the end",
    target: `at most ${maxStuckSeconds} s; nothing left open`,
    measured: `${round(longest)} s, slowest answer ${round(slowest)} s; nothing open ${round(drainSeconds)} s after the load`,
    met: longest <= maxStuckSeconds,
  }
}

function judgeBrowser(samples: readonly Sample[], failures: readonly string[]): Row {
  const actions = samples.reduce((sum, { browserActions }) => sum + browserActions, 0)
  return {
    what: "the same: actions in the browser",
    target: "none failed",
    measured: `${actions} done, ${failures.length} failed`,
    met: failures.length === 0 && actions > 0,
    details: failures,
  }
}

/** The least value of each stretch of time, at its own moment. */
export function leastOfParts(points: readonly (readonly [number, number])[]): (readonly [number, number])[] {
  const size = Math.max(1, Math.ceil(points.length / parts))
  const stretches = Array.from({ length: Math.ceil(points.length / size) }, (_, n) =>
    points.slice(n * size, (n + 1) * size),
  )
  return stretches.map((stretch) => stretch.reduce((least, point) => (point[1] < least[1] ? point : least)))
}

/** The middle one of the slopes between any two points: one that lies apart changes nothing. */
export function slopePerSecond(points: readonly (readonly [number, number])[]): number {
  const slopes = points.flatMap(([x, y], index) =>
    points.slice(index + 1).flatMap(([laterX, laterY]) => (laterX > x ? [(laterY - y) / (laterX - x)] : [])),
  )
  const sorted = slopes.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const [below = 0, above = 0] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[middle]]
  return (below + above) / 2
}

function round(value: number): string {
  return value >= 10 ? value.toFixed(0) : value.toFixed(1)
}
