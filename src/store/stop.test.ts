// A stop at each place where the lanes wait: every job takes effect once, in the order of its lane, over two lives.
import assert from "node:assert/strict"
import { test } from "node:test"
import { setImmediate as nextTurn } from "node:timers/promises"
import { stopPoints } from "../../test/support/stop-points.ts"
import { silentLog, testStore } from "../../test/support/store.ts"
import { createBackground, systemClock } from "../kernel/index.ts"
import { type JobHandler, LaneRunner } from "./lane-runner.ts"
import type { Store } from "./store.ts"

const jobs = [
  { runId: "a", laneKey: "one" },
  { runId: "b", laneKey: "one" },
  { runId: "c", laneKey: "two" },
  { runId: "d", laneKey: "two", class: "hooks" as const },
]

function startRunner(store: Store, handler: JobHandler) {
  const background = createBackground(silentLog)
  const options = { store, handlers: { turn: handler }, maxConcurrent: () => 4, clock: systemClock, log: silentLog }
  const runner = new LaneRunner({ ...options, background })
  runner.start()
  return { runner, background }
}

const effects = (store: Store) =>
  store.handle
    .prepare("select text from event order by id")
    .all()
    .map((row) => row["text"])

async function untilDone(store: Store): Promise<void> {
  const open = "select 1 from job where state in ('ready', 'running')"
  while (store.handle.prepare(open).get()) await nextTurn()
}

async function liveTwice(store: Store, stopAt: number, graceMs: number) {
  let stopping: Promise<void> | undefined
  const points = stopPoints(stopAt, () => (stopping = first.runner.stop(graceMs)))
  const handler: JobHandler = {
    async run(job, signal) {
      points.reach()
      await nextTurn()
      points.reach()
      signal.throwIfAborted()
      return {
        async commit(write) {
          write.addEvent({ sessionKey: "s", text: job.run_id, origin: "system", trusted: true })
        },
      }
    },
  }
  const leave = points.watch(store)
  const first = startRunner(store, handler)
  await store.write(async (write) => {
    for (const job of jobs) write.addJob({ ...job, kind: "turn", payload: {} })
  })
  if (stopAt === 0) await untilDone(store)
  else while (!stopping) await nextTurn()
  await (stopping ?? first.runner.stop(graceMs))
  const left = store.handle.prepare("select run_id from job where state = 'running'").all()
  assert.deepEqual(left, [], `nothing is left claimed, stopped at ${stopAt}`)
  await first.background.idle()
  leave()
  const second = startRunner(store, handler)
  await untilDone(store)
  await second.runner.stop(graceMs)
  const seen = effects(store)
  store.handle.raw.exec("delete from job; delete from event")
  return { points: points.count, seen }
}

for (const graceMs of [5_000, 0]) {
  test(`lanes that are stopped at any of their waits with ${graceMs} ms do every job once`, async (context) => {
    const store = await testStore(context)
    const { points } = await liveTwice(store, 0, graceMs)
    assert.ok(points > 20, `only ${points} places to stop at`)
    for (let stopAt = 1; stopAt <= points; stopAt += 1) {
      const { seen } = await liveTwice(store, stopAt, graceMs)
      assert.deepEqual(seen.toSorted(), ["a", "b", "c", "d"], `stopped at ${stopAt} of ${points}`)
      assert.ok(seen.indexOf("a") < seen.indexOf("b"), `order, stopped at ${stopAt}`)
    }
  })
}
