import assert from "node:assert/strict"
import { test } from "node:test"
import { parseLoop } from "../../test/support/endurance/event-loop.ts"
import { judge, leastOfParts, slopePerSecond } from "./judge.ts"
import type { MixedRun, Sample } from "./mixed.ts"
import { renderPage } from "./page.ts"
import { renderTable } from "./table.ts"

/** Half an hour, a sample every two seconds, with what is changed. */
function run(
  change: (sample: Sample) => Partial<Sample> = () => ({}),
  found: Partial<MixedRun["found"]> = {},
): MixedRun {
  const samples = Array.from({ length: 900 }, (_, index) => {
    const sample: Sample = {
      seconds: index * 2,
      // Garbage comes and goes.
      memoryMb: 150 + (index % 20),
      handles: 50 + (index % 7),
      threads: 11,
      cpuSeconds: index,
      stolenSeconds: 0,
      health: { p50: 1, p99: 8, max: 40, failed: 0, times: [1, 8] },
      databaseMb: index / 100,
      logMb: 1,
      filesMb: 1,
      openWork: 3,
      oldestSeconds: 2,
      answerP99: 900,
      browserActions: 4,
    }
    return { ...sample, ...change(sample) }
  })
  const clean = { acknowledged: 5_000, photos: 10, lost: [], doubled: [], disordered: [], inDoubt: 0 }
  const rest = { drainSeconds: 1, browserFailures: [], idleMb: 120, hangs: [] }
  return { minutes: 30, people: 200, samples, found: { ...clean, ...found }, ...rest }
}

const missed = (of: MixedRun) => judge(of).flatMap((row, index) => (row.met ? [] : [index]))

test("a quiet run is met in everything", () => {
  assert.deepEqual(missed(run()), [])
})

test("each fault is seen, and no other", () => {
  assert.deepEqual(missed(run(() => ({}), { lost: ["one"] })), [0])
  assert.deepEqual(missed(run(() => ({}), { acknowledged: 0 })), [0])
  assert.deepEqual(missed(run(({ seconds, memoryMb }) => ({ memoryMb: memoryMb + seconds / 60 }))), [1])
  assert.deepEqual(missed(run(({ seconds }) => ({ handles: 50 + seconds / 60 }))), [3])
  assert.deepEqual(missed(run(() => ({ health: { p50: 1, p99: 80, max: 90, failed: 0, times: [1, 80] } }))), [4])
  assert.deepEqual(missed(run(({ seconds }) => (seconds === 600 ? { oldestSeconds: 90 } : {}))), [5])
  assert.deepEqual(missed({ ...run(), browserFailures: ["no"] }), [6])
  assert.deepEqual(missed({ ...run(), idleMb: 161 }), [2])
})

test("a gateway that tells of its event loop is judged by that too", () => {
  const told = (over50: number, ofWork = over50, stolenSeconds = 0) =>
    run(() => ({ loop: { maxMs: 60, over50, work: { maxMs: 60, over50: ofWork }, heapMb: 40 }, stolenSeconds }))
  assert.deepEqual([missed(told(0)), missed(told(2))], [[], [5]])
  assert.deepEqual(missed(told(2, 0)), [5], "nobody else had the processors")
  assert.deepEqual([missed(told(2, 0, 300)), missed(told(2, 1, 300))], [[], [5]])
  const text = `# TYPE svc_event_loop_delay_seconds histogram
svc_event_loop_delay_seconds_bucket{le="0.05"} 7
svc_event_loop_delay_seconds_count 9
svc_event_loop_delay_max_seconds 0.061
`
  const work = text.replaceAll("delay", "work").replace('bucket{le="0.05"} 7', 'bucket{le="0.05"} 8')
  const delays = { maxMs: 61, over50: 2 }
  const heap = "svc_heap_used_bytes 1048576\n"
  assert.deepEqual(parseLoop(text + work + heap), { ...delays, work: { maxMs: 61, over50: 1 }, heapMb: 1 })
  assert.deepEqual(parseLoop(text), { ...delays, work: delays, heapMb: 0 }, "of a Node.js that does not tell it")
  assert.equal(parseLoop("nothing"), undefined)
})

test("memory is told with what of the heap lives", () => {
  const waves = ({ seconds }: Sample) => ({ heapMb: 40 + seconds / 600 + (seconds % 60) })
  const [, memory] = judge(
    run((sample) => ({ loop: { maxMs: 1, over50: 0, work: { maxMs: 1, over50: 0 }, ...waves(sample) } })),
  )
  assert.match(memory?.measured ?? "", /^-?0\.0 MB an hour, highest 169 MB; of the heap live 41, then 42 MB$/)
})

test("what memory gains while it warms up is no growth", () => {
  assert.deepEqual(
    missed(run(({ seconds, memoryMb }) => ({ memoryMb: memoryMb - Math.max(0, 300 - seconds) / 3 }))),
    [],
  )
})

test("a short run says nothing about growth", () => {
  const short = run(({ memoryMb, seconds }) => ({ memoryMb: memoryMb + seconds }))
  const [, memory] = judge({ ...short, samples: short.samples.slice(0, 60) })
  assert.match(memory?.measured ?? "", /too short/)
})

test("a slope is that of the lower edge", () => {
  const points = Array.from({ length: 120 }, (_, n) => [n, 3 * n + (n % 10 === 0 ? 0 : 50)] as const)
  assert.equal(Math.round(slopePerSecond(leastOfParts(points))), 3)
  assert.equal(slopePerSecond([[1, 1]]), 0)
  const dipped = points.map(([x, y]) => [x, x === 0 ? -500 : y] as const)
  assert.equal(Math.round(slopePerSecond(leastOfParts(dipped))), 3, "one that lies apart changes nothing")
})

test("the page stands alone, and shows words as words", () => {
  const page = renderPage(run(), [{ what: "<b>", target: "t", measured: "m", met: false }])
  assert.equal(page.match(/<svg /g)?.length, 7)
  assert.match(page, /&lt;b&gt;.*NO/)
  assert.doesNotMatch(page, /NaN|Infinity|undefined|<script|https?:/)
  assert.doesNotMatch(renderPage({ ...run(), samples: [] }, []), /NaN|Infinity|undefined/)
})

test("what was found in particular stands below the table", () => {
  const table = renderTable([{ what: "a", target: "b", measured: "c", met: false, details: ["d"] }])
  assert.match(table, /\| a \| b \| c \| no \|\n\na:\n {2}d/)
})
