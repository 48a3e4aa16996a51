// Disk errors that pass. SQLite itself refuses the writes here: a read-only connection, a database that may not grow.
import assert from "node:assert/strict"
import { test } from "node:test"
import { setImmediate as nextTurn } from "node:timers/promises"
import { silentLog, testStore } from "../../test/support/store.ts"
import { AppError, createBackground, systemClock } from "../kernel/index.ts"
import { KeptWrites } from "./kept-writes.ts"
import { type JobHandler, LaneRunner } from "./lane-runner.ts"
import type { Store } from "./store.ts"

const faults = [
  { name: "read-only", fail: "pragma query_only = on", mend: "pragma query_only = off", code: "storage-failed" },
  { name: "full", fail: "pragma max_page_count = 1", mend: "pragma max_page_count = 1000000", code: "storage-full" },
]

function startRunner(store: Store, handler: JobHandler, kept: KeptWrites) {
  const options = { store, handlers: { turn: handler }, maxConcurrent: () => 2, clock: systemClock, log: silentLog }
  const runner = new LaneRunner({ ...options, kept, background: createBackground(silentLog) })
  runner.start()
  return runner
}

async function until(condition: () => boolean): Promise<void> {
  const late = AbortSignal.timeout(60_000)
  while (!condition()) {
    late.throwIfAborted()
    await nextTurn()
  }
}

for (const { name, fail, mend, code } of faults) {
  test(`the end of a job that a ${name} disk did not take is written when it works again, and its lane goes on`, async (context) => {
    const store = await testStore(context)
    const kept = new KeptWrites({ clock: systemClock, log: silentLog })
    const observed = kept.observe(store)
    const runs: string[] = []
    const handler: JobHandler = {
      async run(job) {
        runs.push(job.run_id)
        if (job.run_id === "a") store.handle.raw.exec(fail)
        const text = job.run_id.repeat(name === "full" ? 20_000 : 1)
        return {
          async commit(write) {
            write.addEvent({ sessionKey: "s", text, origin: "system", trusted: true })
          },
        }
      },
    }
    const runner = startRunner(observed, handler, kept)
    await observed.write(async (write) => {
      for (const runId of ["a", "b"]) write.addJob({ runId, laneKey: "lane", kind: "turn", payload: {} })
    })
    await until(() => kept.problem()?.waiting === 1)
    await assert.rejects(
      observed.write(async (write) =>
        write.addEvent({ sessionKey: "s", text: "x".repeat(80_000), origin: "system", trusted: true }),
      ),
      (error) => error instanceof AppError && error.code === code,
    )
    store.handle.raw.exec(mend)
    await until(() => store.handle.prepare("select 1 from job where state != 'done'").get() === undefined)
    assert.deepEqual(runs, ["a", "b"], "no work is done again")
    const events = store.handle.prepare("select substr(text, 1, 1) as first from event order by id").all()
    assert.deepEqual(
      events.map((row) => row["first"]),
      ["a", "b"],
    )
    await until(() => kept.problem() === undefined)
    await runner.stop(0)
    kept.stop()
  })
}

test("a store that fails while nothing waits is tried until it works", async (context) => {
  const store = await testStore(context)
  const kept = new KeptWrites({ clock: systemClock, log: silentLog })
  const observed = kept.observe(store)
  context.after(() => kept.stop())
  store.handle.raw.exec("pragma query_only = on")
  await assert.rejects(observed.write(async ({ prepare }) => prepare("delete from meta").run()))
  assert.match(kept.problem()?.error ?? "", /cannot be written/)
  const { promise, resolve } = Promise.withResolvers<void>()
  kept.onRecovered(resolve)
  store.handle.raw.exec("pragma query_only = off")
  await promise
  assert.equal(kept.problem(), undefined)
})

test("what is kept is written in its order, and what is wrong with one is told to it alone", async () => {
  const kept = new KeptWrites({ clock: systemClock, log: silentLog })
  const { signal } = new AbortController()
  const done: string[] = []
  let isBroken = true
  const write = (name: string, fault?: Error) =>
    kept.write(async () => {
      if (isBroken) throw new AppError("storage-failed", "EIO")
      if (fault) throw fault
      done.push(name)
    }, signal)
  const all = [write("one"), write("two", new Error("a bug")), write("three")]
  const outcomes = Promise.allSettled(all)
  await until(() => kept.problem()?.waiting === 3)
  isBroken = false
  assert.deepEqual(
    (await outcomes).map(({ status }) => status),
    ["fulfilled", "rejected", "fulfilled"],
  )
  assert.deepEqual(done, ["one", "three"])
})

test("what fails in the very moment in which the last kept write was written is written, too", async () => {
  for (let turns = 0; turns < 8; turns += 1) {
    const kept = new KeptWrites({ clock: { ...systemClock, sleep: async () => nextTurn() }, log: silentLog })
    const failing = Promise.withResolvers<void>()
    const write = (work: (attempt: number) => Promise<void>) => {
      let attempt = 0
      return kept.write(async () => {
        attempt += 1
        await work(attempt)
        if (attempt === 1) throw new AppError("storage-failed", "EIO")
      }, AbortSignal.timeout(5_000))
    }
    const slow = write(async (attempt) => void (attempt === 1 && (await failing.promise)))
    const failSlow = async () => {
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve()
      failing.resolve()
    }
    await write(async (attempt) => void (attempt === 2 && failSlow()))
    await slow
    kept.stop()
  }
})

test("what fails while the store is being tried is written, also when the trial succeeds", async (context) => {
  for (const outcome of ["succeeds", "fails of itself"]) {
    const store = await testStore(context)
    const kept = new KeptWrites({ clock: { ...systemClock, sleep: async () => nextTurn() }, log: silentLog })
    context.after(() => kept.stop())
    const trial = Promise.withResolvers<void>()
    const answers = [
      () => Promise.reject(new AppError("storage-full", "The disk is full")),
      () => trial.promise.then(() => (outcome === "succeeds" ? undefined : Promise.reject(new Error("a bug")))),
    ]
    const observed = kept.observe({
      ...store,
      write: (work) => (answers.shift() ?? (() => store.write(work)))() as never,
    })
    await assert.rejects(observed.write(async () => undefined))
    await until(() => answers.length === 0)
    let attempts = 0
    const written = kept.write(async () => {
      attempts += 1
      if (attempts === 1) throw new AppError("storage-full", "The disk is full")
    }, AbortSignal.timeout(5_000))
    await until(() => kept.problem()?.waiting === 1)
    trial.resolve()
    await written
    assert.equal(attempts, 2, outcome)
  }
})

test("a stop does not wait for a disk that never works again", async (context) => {
  const store = await testStore(context)
  const kept = new KeptWrites({ clock: systemClock, log: silentLog })
  context.after(() => kept.stop())
  const handler: JobHandler = {
    async run() {
      store.handle.raw.exec("pragma query_only = on")
      return {}
    },
  }
  const runner = startRunner(kept.observe(store), handler, kept)
  await store.write(async (write) => void write.addJob({ runId: "a", laneKey: "lane", kind: "turn", payload: {} }))
  await until(() => kept.problem()?.waiting === 1)
  await runner.stop(0)
  store.handle.raw.exec("pragma query_only = off")
  assert.equal(store.handle.prepare("select state from job").get()?.["state"], "running", "left to the next start")
})

test("jobs that could not be read for a while run when they can, and nobody has to ask for them again", async (context) => {
  const store = await testStore(context)
  const kept = new KeptWrites({ clock: systemClock, log: silentLog })
  context.after(() => kept.stop())
  const runs: string[] = []
  const runner = startRunner(store, { run: async (job) => (runs.push(job.run_id), {}) }, kept)
  context.after(() => runner.stop(0))
  const { prepare } = store.handle
  let failed = 0
  store.handle.prepare = (sql) => {
    if (!sql.includes("select min(run_at)")) return prepare(sql)
    failed += 1
    throw new AppError("storage-failed", "input/output error")
  }
  await store.write(async (write) => {
    write.addJob({ runId: "a", laneKey: "lane", kind: "turn", payload: {} })
  })
  await until(() => failed >= 2)
  store.handle.prepare = prepare
  await until(() => runs.length === 1)
})
