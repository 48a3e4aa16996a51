import assert from "node:assert/strict"
import { type TestContext, test } from "node:test"
import { slowDisk } from "../../test/support/slow-disk.ts"
import { plain, silentLog, testStore } from "../../test/support/store.ts"
import { type Clock, createBackground, systemClock } from "../kernel/index.ts"
import { JobPostponed } from "./jobs.ts"
import { type JobHandler, LaneRunner } from "./lane-runner.ts"
import type { JobRow } from "./schema.ts"
import type { Store } from "./store.ts"

const add = (store: Store, jobs: [runId: string, laneKey: string][]) =>
  store.write(async ({ addJob }) => {
    for (const [runId, laneKey] of jobs) addJob({ runId, laneKey, kind: "turn", payload: {} })
  })

function startRunner(
  context: TestContext,
  store: Store,
  handler: JobHandler,
  options: { max?: number; clock?: Clock } = {},
) {
  const runner = makeRunner(context, store, handler, options)
  runner.start()
  return runner
}

function makeRunner(
  context: TestContext,
  store: Store,
  handler: JobHandler,
  options: { max?: number; clock?: Clock } = {},
) {
  const runner = new LaneRunner({
    store,
    handlers: { turn: handler },
    maxConcurrent: () => options.max ?? 4,
    clock: options.clock ?? systemClock,
    log: silentLog,
    background: createBackground(silentLog),
  })
  context.after(() => runner.stop(0))
  return runner
}

/** Resolves when `count` jobs have ended. */
function collector(count: number) {
  const ended: string[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  return {
    ended,
    done: promise,
    add(name: string) {
      ended.push(name)
      if (ended.length === count) resolve()
    },
  }
}

test("keeps the order inside a lane and runs lanes beside each other up to the cap", async (context) => {
  const store = await testStore(context)
  const seen = collector(40)
  let running = 0
  let most = 0
  const busy = new Set<string>()
  startRunner(
    context,
    store,
    {
      async run(job) {
        assert.ok(!busy.has(job.lane_key), "two jobs of one lane at once")
        busy.add(job.lane_key)
        running += 1
        most = Math.max(most, running)
        await new Promise((resolve) => setTimeout(resolve, 1))
        running -= 1
        busy.delete(job.lane_key)
        seen.add(job.run_id)
        return {}
      },
    },
    { max: 3 },
  )
  await add(
    store,
    Array.from({ length: 40 }, (_, index): [string, string] => [
      `${index % 8}-${String(index).padStart(2, "0")}`,
      `lane ${index % 8}`,
    ]),
  )
  await seen.done
  assert.equal(most, 3)
  for (let lane = 0; lane < 8; lane += 1) {
    const own = seen.ended.filter((name) => name.startsWith(`${lane}-`))
    assert.deepEqual(own, own.toSorted())
  }
})

test("runs nothing before it is started", async (context) => {
  const store = await testStore(context)
  const seen = collector(1)
  const runner = makeRunner(context, store, {
    async run({ run_id: id }) {
      seen.add(id)
      return {}
    },
  })
  await add(store, [["early", "lane"]])
  await new Promise((resolve) => setImmediate(resolve))
  const { state } = store.handle.prepare("select state from job").get() as { state: string }
  assert.equal(state, "ready")
  runner.start()
  await seen.done
})

test("gives up a job after three tries and lets its lane go on", async (context) => {
  const store = await testStore(context)
  // Waiting is skipped, not slept through: the retries' times are all in the past of this clock.
  let shift = 0
  const clock: Clock = { ...systemClock, now: () => Date.now() + (shift += 60_000) }
  const seen = collector(1)
  const tries: string[] = []
  let deadBecause = ""
  startRunner(
    context,
    store,
    {
      async run(job) {
        tries.push(job.run_id)
        if (job.run_id === "bad") throw new Error("always")
        seen.add(job.run_id)
        return {}
      },
      async onDead(_job: JobRow, error: string) {
        deadBecause = error
      },
    },
    { clock },
  )
  store.clock.now = clock.now
  await add(store, [
    ["bad", "lane"],
    ["good", "lane"],
  ])
  await seen.done
  assert.deepEqual(tries, ["bad", "bad", "bad", "good"])
  assert.equal(deadBecause, "always")
})

test("lets a lane go on even when the last writes of a job fail", async (context) => {
  const store = await testStore(context)
  let shift = 0
  const clock: Clock = { ...systemClock, now: () => Date.now() + (shift += 60_000) }
  const seen = collector(1)
  startRunner(
    context,
    store,
    {
      async run(job) {
        if (job.run_id === "bad") throw new Error("always")
        seen.add(job.run_id)
        return {}
      },
      onDead: () => Promise.reject(new Error("here as well")),
    },
    { clock },
  )
  store.clock.now = clock.now
  await add(store, [
    ["bad", "lane"],
    ["good", "lane"],
  ])
  await seen.done
  const bad = await store.db.selectFrom("job").select(["state", "error"]).where("run_id", "=", "bad").executeTakeFirst()
  assert.deepEqual(plain(bad), { state: "dead", error: "always" })
})

test("puts a running job back when it stops, without counting the try", async (context) => {
  const store = await testStore(context)
  const started = Promise.withResolvers<void>()
  const runner = startRunner(context, store, {
    run: (_job, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason))
        started.resolve()
      }),
  })
  await add(store, [["r", "lane"]])
  await started.promise
  await runner.stop(0)
  const row = await store.db.selectFrom("job").select(["state", "attempts", "head"]).executeTakeFirstOrThrow()
  assert.deepEqual(plain(row), { state: "ready", attempts: 0, head: 1 })
})

test("commits a job's writes together with its end", async (context) => {
  const store = await testStore(context)
  const tried = collector(1)
  startRunner(context, store, {
    async run(job) {
      return {
        result: "fine",
        async commit(write) {
          write.addEvent({ sessionKey: "s", text: job.run_id, origin: "system", trusted: true })
          tried.add(job.run_id)
        },
      }
    },
  })
  await add(store, [["r", "lane"]])
  await tried.done
  const row = await store.write(async ({ trx }) => ({
    job: await trx.selectFrom("job").select(["state", "result"]).executeTakeFirstOrThrow(),
    events: await trx.selectFrom("event").select("text").execute(),
  }))
  assert.deepEqual(plain(row), { job: { state: "done", result: "fine" }, events: [{ text: "r" }] })
})

test("lets several wakes that wait become one", async (context) => {
  const store = await testStore(context)
  const added = await store.write(async ({ addJob }) =>
    ["a", "b", "c"].map((runId) => addJob({ runId, laneKey: "lane", kind: "heartbeat", payload: {}, coalesce: true })),
  )
  assert.deepEqual(added, [true, false, false])
})

test("tells who listens when a job has stopped, after its end is on the disk, until they leave", async (context) => {
  const store = await testStore(context)
  const { promise, resolve } = Promise.withResolvers<string>()
  const runner = startRunner(context, store, { run: async () => ({ state: "done" }) })
  const leave = runner.onStopped((runId) => {
    const row = store.handle.prepare("select state from job where run_id = ?").get(runId)
    resolve(`${runId} ${row?.["state"] as string}`)
  })
  runner.onStopped(() => assert.fail("has left"))()
  await add(store, [["a", "lane"]])
  assert.equal(await promise, "a done")
  leave()
})

test("runs an urgent job while every place is taken, and gives it none", async (context) => {
  const store = await testStore(context)
  const release = Promise.withResolvers<void>()
  const seen = collector(1)
  const started = collector(2)
  startRunner(
    context,
    store,
    {
      async run(job) {
        started.add(job.run_id)
        if (job.urgent === 1) seen.add(job.run_id)
        else await release.promise
        return {}
      },
    },
    { max: 1 },
  )
  await add(store, [
    ["long", "a"],
    ["waits", "b"],
  ])
  await store.write(async ({ addJob }) => {
    addJob({ runId: "now", laneKey: "c", kind: "turn", payload: {}, urgent: true })
  })
  await seen.done
  await started.done
  assert.deepEqual(started.ended, ["long", "now"])
  release.resolve()
})

test("stops what a lane does and holds, as far as it matches, and no other lane", async (context) => {
  const store = await testStore(context)
  const started = collector(2)
  const ended = collector(2)
  const runner = startRunner(context, store, {
    async run(job, signal) {
      started.add(job.run_id)
      if (job.run_id !== "after")
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()))
      return { state: signal.aborted ? "cancelled" : "done" }
    },
  })
  runner.onStopped((runId) => {
    if (runId !== "other") ended.add(runId)
  })
  await add(store, [
    ["first", "lane"],
    ["second", "lane"],
    ["third", "lane"],
    ["after", "lane"],
    ["other", "elsewhere"],
  ])
  await started.done
  const stopped = await runner.stopLane("lane", new Error("stop"), (job) => job.run_id !== "after")
  assert.deepEqual(stopped, { running: 1, waiting: 2 })
  await ended.done
  assert.deepEqual(await runner.stopLane("lane", new Error("stop"), () => true), { running: 0, waiting: 0 })
  const states = store.handle.prepare("select run_id, state from job where state = 'cancelled' order by id").all()
  assert.deepEqual(
    states.map((row) => row["run_id"]),
    ["first", "second", "third"],
  )
  assert.equal(runner.isLaneBusy("elsewhere"), true)
})

for (const [how, stop] of [
  ["its lane is stopped", (runner: LaneRunner) => runner.stopLane("lane", new Error("stop"), () => true)],
  ["it is stopped itself", async (runner: LaneRunner) => assert.ok(runner.abortRun("failing", new Error("stop")))],
] as const) {
  test(`a job that is put back while ${how} does not run again`, async (context) => {
    const disk = slowDisk()
    const store = await testStore(context, { sync: disk.sync })
    const fail = Promise.withResolvers<never>()
    const begun = Promise.withResolvers<void>()
    const runner = startRunner(context, store, {
      async run() {
        begun.resolve()
        return await fail.promise
      },
    })
    const ended = new Promise<void>((resolve) => void runner.onStopped(() => resolve()))
    await add(store, [["failing", "lane"]])
    await begun.promise
    disk.slow()
    const isLane = how === "its lane is stopped"
    // The look at the lane comes right before the job is put back, the other one right behind that.
    const stopping = isLane ? stop(runner) : undefined
    fail.reject(new Error("the model is away"))
    if (!isLane) {
      while (stateOf(store, "failing") === "running") await new Promise((resolve) => setImmediate(resolve))
      await stop(runner)
    }
    disk.goOn()
    const stopped = await stopping
    await ended
    assert.equal(stateOf(store, "failing"), "cancelled")
    if (isLane) assert.deepEqual(stopped, { running: 1, waiting: 0 })
  })
}

const stateOf = (store: Store, runId: string) =>
  store.handle.prepare("select state from job where run_id = ?").get(runId)?.["state"]

test("a job that is postponed gives its only place to other lanes, keeps its own, and has not failed", async (context) => {
  const store = await testStore(context)
  const seen = collector(3)
  let postponed = 0
  startRunner(
    context,
    store,
    {
      async run(job) {
        if (job.run_id === "slow" && !seen.ended.includes("other")) {
          postponed += 1
          throw new JobPostponed(store.clock.now() + 20, "not yet")
        }
        assert.ok(job.attempts === 1, "waiting is no attempt")
        seen.add(job.run_id)
        return {}
      },
    },
    { max: 1 },
  )
  await add(store, [
    ["slow", "lane a"],
    ["after", "lane a"],
    ["other", "lane b"],
  ])
  await seen.done
  assert.deepEqual(seen.ended, ["other", "slow", "after"])
  assert.ok(postponed > 0)
})

test("a job that runs again before the disk has its last end is known, counted and can be stopped", async (context) => {
  const disk = slowDisk()
  const store = await testStore(context, { sync: disk.sync })
  const signals: AbortSignal[] = []
  const end = Promise.withResolvers<void>()
  const runner = startRunner(context, store, {
    async run(_job, signal) {
      signals.push(signal)
      if (signals.length > 1) {
        await end.promise
        return {}
      }
      disk.slow()
      throw new JobPostponed(0, "not yet")
    },
  })
  await add(store, [["again", "lane"]])
  while (signals.length < 2) {
    runner.wake()
    await new Promise((resolve) => setImmediate(resolve))
  }
  const firstEnded = Promise.withResolvers<void>()
  runner.onStopped(() => firstEnded.resolve())
  disk.goOn()
  await firstEnded.promise
  assert.equal(runner.running, 1)
  assert.equal(runner.isLaneBusy("lane"), true)
  assert.equal(runner.abortRun("again", new Error("stopped")), true)
  assert.equal(signals[1]?.aborted, true)
  end.resolve()
})

for (const { name, when } of [
  { name: "what came of a job", when: "end" },
  { name: "that a job was begun", when: "claim" },
] as const) {
  test(`stops in its time although the disk does not take ${name}`, async (context) => {
    const disk = slowDisk()
    const store = await testStore(context, { sync: disk.sync })
    const runner = startRunner(context, store, {
      async run() {
        if (when === "end") disk.fail("EIO")
        return {
          async commit({ addEvent }) {
            addEvent({ sessionKey: "s", text: "done", origin: "system", trusted: true })
          },
        }
      },
    })
    if (when === "claim") {
      // A failure that is known: from then on everybody waits for the disk.
      disk.fail("EIO")
      void store.meta.set("noticed", 1).catch(() => undefined)
      await disk.begun()
      await new Promise((resolve) => setImmediate(resolve))
    }
    void add(store, [["a", "lane"]]).catch(() => undefined)
    const isAt = when === "end" ? "done" : "running"
    while (store.handle.prepare("select 1 from job where state = ?").get(isAt) === undefined) {
      runner.wake()
      await new Promise((resolve) => setImmediate(resolve))
    }
    store.giveUp()
    await runner.stop(0)
    const { written } = store.handle.prepare("select count(*) as written from event").get() as { written: number }
    assert.equal(written, when === "end" ? 1 : 0, "what is committed is not written again")
  })
}
