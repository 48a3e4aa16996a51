// Classes of work: a person never waits for a machine, in whatever lane.
import assert from "node:assert/strict"
import { type TestContext, describe, test } from "node:test"
import { silentLog, testStore } from "../../test/support/store.ts"
import { createBackground, systemClock } from "../kernel/index.ts"
import type { NewJob } from "./ingest.ts"
import { claimJobs, nextDue } from "./jobs.ts"
import { writeStep } from "./journal.ts"
import { LaneRunner } from "./lane-runner.ts"
import type { JobRow } from "./schema.ts"
import type { Store } from "./store.ts"

const job = (runId: string, laneKey: string, more: Partial<NewJob> = {}): NewJob => ({
  runId,
  laneKey,
  kind: "turn",
  payload: {},
  ...more,
})

const add = (store: Store, jobs: NewJob[]) =>
  store.write(async (write) => {
    for (const each of jobs) write.addJob(each)
  })

/** Jobs run until they are let go or cut; `begun` tells of each in order. */
function startLanes(context: TestContext, store: Store, options: { people?: number; hooks?: number } = {}) {
  const begun: string[] = []
  const cut: string[] = []
  const ends = new Map<string, () => void>()
  const waiting = new Map<string, () => void>()
  const running = { all: 0, mostMachines: 0, machines: 0 }
  const runner = new LaneRunner({
    store,
    handlers: {
      turn: {
        async run(row: JobRow, signal) {
          begun.push(row.run_id)
          running.machines += row.class > 0 ? 1 : 0
          running.mostMachines = Math.max(running.mostMachines, running.machines)
          waiting.get(row.run_id)?.()
          try {
            await new Promise<void>((resolve, reject) => {
              ends.set(row.run_id, resolve)
              signal.addEventListener("abort", () => {
                cut.push(row.run_id)
                reject(signal.reason)
              })
            })
          } finally {
            running.machines -= row.class > 0 ? 1 : 0
          }
          return {}
        },
      },
    },
    maxConcurrent: () => options.people ?? 4,
    maxHooks: () => options.hooks ?? 1,
    clock: systemClock,
    log: silentLog,
    background: createBackground(silentLog),
  })
  runner.start()
  context.after(() => runner.stop(0))
  return {
    runner,
    begun,
    cut,
    running,
    async until(runId: string, times = 1): Promise<void> {
      const count = () => begun.filter((each) => each === runId).length
      while (count() < times) await new Promise<void>((resolve) => waiting.set(runId, resolve))
    },
    end: (runId: string) => ends.get(runId)?.(),
  }
}

describe("a person", () => {
  test("is not kept waiting by 200 runs of webhooks: not one more of them begins first", async (context) => {
    const store = await testStore(context)
    const lanes = startLanes(context, store)
    await add(
      store,
      Array.from({ length: 200 }, (_, n) => job(`hook-${n}`, `hook:${n}`, { class: "hooks" })),
    )
    await lanes.until("hook-0")
    await add(store, [job("message", "agent:main:main")])
    await lanes.until("message")
    assert.deepEqual(lanes.begun, ["hook-0", "message"])
    for (let n = 0; n < 5; n += 1) {
      lanes.end(`hook-${n}`)
      await lanes.until(`hook-${n + 1}`)
    }
    assert.equal(lanes.running.mostMachines, 1)
  })

  test("has every place there is, and machines have theirs while all of those are taken", async (context) => {
    const store = await testStore(context)
    const lanes = startLanes(context, store, { people: 2, hooks: 2 })
    await add(store, [
      job("p1", "p1"),
      job("p2", "p2"),
      job("p3", "p3"),
      job("h1", "h1", { class: "hooks" }),
      job("h2", "h2", { class: "hooks" }),
      job("h3", "h3", { class: "hooks" }),
      job("t1", "t1", { class: "timers" }),
      job("t2", "t2", { class: "timers" }),
    ])
    await lanes.until("t1")
    assert.deepEqual(lanes.begun.toSorted(), ["h1", "h2", "p1", "p2", "t1"])
    lanes.end("p1")
    await lanes.until("p3")
    lanes.end("t1")
    await lanes.until("t2")
  })

  test("goes before machine work that waits in the same lane", async (context) => {
    const store = await testStore(context)
    await add(store, [
      job("beat", "main", { class: "timers", runAt: Date.now() + 200 }),
      job("hook", "main", { class: "hooks", runAt: Date.now() + 200 }),
      job("message", "main"),
      job("another", "main"),
    ])
    const lanes = startLanes(context, store)
    for (const runId of ["message", "another", "beat", "hook"]) {
      await lanes.until(runId)
      lanes.end(runId)
    }
    assert.deepEqual(lanes.begun, ["message", "another", "beat", "hook"])
  })

  test("takes the lane from a machine's run, which goes on afterwards without having failed", async (context) => {
    const store = await testStore(context)
    const lanes = startLanes(context, store)
    await add(store, [job("beat", "main", { class: "timers" })])
    await lanes.until("beat")
    await add(store, [job("message", "main")])
    await lanes.until("message")
    const [beat] = store.handle.prepare("select state, head, attempts from job where run_id = 'beat'").all()
    assert.deepEqual({ ...beat }, { state: "ready", head: 0, attempts: 0 })
    lanes.end("message")
    await lanes.until("beat", 2)
    lanes.end("beat")
  })

  test("waits for the end of a tool call that a machine's run is in the middle of, and no longer", async (context) => {
    const store = await testStore(context)
    const lanes = startLanes(context, store)
    await add(store, [job("beat", "main", { class: "timers" })])
    await lanes.until("beat")
    const { id } = store.handle.prepare("select id from job").get() as { id: number }
    await writeStep(store, id, { n: 1, kind: "tool-start", data: {} })
    await add(store, [job("message", "main"), job("elsewhere", "other")])
    // What is begun after the message shows that the lanes have looked, and the next that they are through with it.
    await lanes.until("elsewhere")
    await add(store, [job("another", "third")])
    await lanes.until("another")
    assert.deepEqual([lanes.begun, lanes.cut], [["beat", "elsewhere", "another"], []])
    await writeStep(store, id, { n: 2, kind: "tool-result", data: {} })
    await lanes.until("message")
    assert.deepEqual(lanes.cut, ["beat"])
  })

  test("takes the lane only when the message is due: one that is still held may be followed by more", async (context) => {
    const store = await testStore(context)
    const lanes = startLanes(context, store)
    await add(store, [job("beat", "main", { class: "timers" })])
    await lanes.until("beat")
    await add(store, [job("held", "main", { runAt: Date.now() + 3_600_000 }), job("elsewhere", "other")])
    await lanes.until("elsewhere")
    await add(store, [job("another", "third")])
    await lanes.until("another")
    assert.deepEqual(lanes.cut, [])
  })
})

test("claims of a class read no row of another, whatever waits there", async (context) => {
  const store = await testStore(context)
  const texts: string[] = []
  const { prepare } = store.handle
  store.handle.prepare = (sql) => {
    texts.push(sql)
    return prepare(sql)
  }
  await claimJobs(store, 4, "people")
  nextDue(store, "people")
  for (const sql of texts.filter((text) => text.includes("class = 0"))) {
    const plan = store.handle.raw.prepare(`explain query plan ${sql}`).all() as { detail: string }[]
    const reads = plan.filter(({ detail }) => detail.includes("job_ready"))
    assert.equal(reads.length, 1, sql)
    assert.match(reads[0]?.detail ?? "", /\(class=\?/, sql)
  }
})
