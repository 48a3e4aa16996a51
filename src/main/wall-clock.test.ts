// A wall clock that is set while everything works: what waits keeps its remaining time, nothing is given up, nothing is
// tried early. Time is the test's own here: what passes by the monotonic clock, and what the wall clock is set to.
import assert from "node:assert/strict"
import { type TestContext, describe, test } from "node:test"
import { silentLog, testStore } from "../../test/support/store.ts"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { createPairing } from "../channels/index.ts"
import { codeLifetimeMs } from "../channels/pairing-book.ts"
import { OutboxWorker } from "../delivery/index.ts"
import { type Clock, createBackground, createSteadyClock, noCrash, systemClock, systemIds } from "../kernel/index.ts"
import { LaneRunner, type OutboxRow, type Store, recoverJobs } from "../store/index.ts"
import { followWallClock } from "./wall-clock.ts"

const hour = 60 * 60 * 1000
const day = 24 * hour
const steps = [-30 * day, 3_650 * day, hour, -hour, -3_650 * day, day]

/** A steady clock over a wall clock that the test sets; a followed step is what the minute's timer would do. */
async function startClock(context: TestContext, folder = temporaryFolder()) {
  let set = 0
  let passed = 0
  const raw: Clock = {
    ...systemClock,
    now: () => Date.now() + set + passed,
    monotonic: () => performance.now() + passed,
  }
  const clock = createSteadyClock(raw)
  let follow: (() => Promise<void>) | undefined
  const watched = { ...clock, watch: (each: () => Promise<void>) => ((follow = each), () => undefined) }
  const store = await testStore(context, { clock: watched, folder })
  const pairing = createPairing({ store, clock: watched, ids: systemIds, log: silentLog })
  followWallClock({ clock: watched, store, log: silentLog }, [pairing.followClock])
  return {
    clock: watched,
    store,
    pairing,
    /** Lets real time pass that nobody has to wait for. */
    pass: (ms: number) => (passed += ms),
    /** Sets the wall clock; nobody has noticed yet. */
    set: (byMs: number) => (set += byMs),
    notice: async () => await follow?.(),
  }
}

const remaining = (store: Store, table: "job" | "outbox") =>
  Number(store.handle.prepare(`select run_at from ${table} limit 1`).get()?.["run_at"]) - store.clock.now()

describe("a wall clock that is set", () => {
  test("neither shortens nor lengthens what a retry of a message waits", async (context) => {
    const time = await startClock(context)
    const calls: number[] = []
    const worker = new OutboxWorker({
      store: time.store,
      senders: () =>
        new Map([
          [
            "test",
            {
              channel: "test",
              plan: () => [],
              resolveTarget: () => assert.fail(),
              async send(row: OutboxRow) {
                calls.push(row.attempts)
                return row.attempts < 4 ? { kind: "retry", delayMs: 60_000, error: "away" } : { kind: "sent" }
              },
            },
          ],
        ]),
      clock: time.clock,
      log: silentLog,
      background: createBackground(silentLog),
      crashPoint: noCrash,
      ids: systemIds,
      onUncertain: () => "ask",
      canShowButtons: () => false,
    })
    await worker.start()
    context.after(() => worker.stop(0))
    await time.store.write(async (write) => {
      const route = { channel: "test", account: "a", chatId: "1", chatKind: "private" }
      write.addOutbox({ ...route, laneKey: "test:a:1", route, kind: "text", payload: {} })
    })
    const until = async (condition: () => boolean) => {
      while (!condition()) await new Promise((resolve) => setImmediate(resolve))
    }
    const state = () => String(time.store.handle.prepare("select state from outbox").get()?.["state"])
    for (let tries = 1; tries <= 3; tries += 1) {
      await until(() => calls.length === tries && state() === "new")
      for (const step of steps) {
        const before = remaining(time.store, "outbox")
        time.set(step)
        worker.wake()
        assert.ok(Math.abs(remaining(time.store, "outbox") - before) < 2_000, "before anybody has noticed")
        await time.notice()
        worker.wake()
        assert.ok(Math.abs(remaining(time.store, "outbox") - before) < 2_000, `after a step of ${step}`)
      }
      assert.equal(calls.length, tries, "no step has led to a try")
      time.pass(60_000)
      worker.wake()
    }
    await until(() => state() === "sent")
    assert.deepEqual(calls, [1, 2, 3, 4])
  })

  test("leaves the pauses of failed jobs and the holds of joined ones as they are", async (context) => {
    const time = await startClock(context)
    const tries: string[] = []
    const runner = new LaneRunner({
      store: time.store,
      handlers: {
        turn: {
          async run(job) {
            tries.push(job.run_id)
            if (job.run_id === "bad" && job.attempts < 3) throw new Error("not yet")
            return {}
          },
        },
      },
      maxConcurrent: () => 4,
      clock: time.clock,
      log: silentLog,
      background: createBackground(silentLog),
    })
    runner.start()
    context.after(() => runner.stop(0))
    await time.store.write(async (write) => {
      write.addJob({ runId: "bad", laneKey: "one", kind: "turn", payload: {} })
      const join = { key: "album", holdMs: 20_000, maxHoldMs: 30_000 }
      write.addJob({ runId: "held", laneKey: "two", kind: "turn", payload: {}, join })
    })
    const due = (runId: string) =>
      Number(time.store.handle.prepare("select run_at from job where run_id = ?").get(runId)?.["run_at"]) -
      time.clock.now()
    const holdEnd = () =>
      Number(time.store.handle.prepare("select hold_until from job where run_id = 'held'").get()?.["hold_until"]) -
      time.clock.now()
    // Steps also while it runs: what is written only after one must not hold a time from before it.
    time.set(-30 * day)
    await time.notice()
    const stopped = () =>
      time.store.handle.prepare("select 1 from job where run_id = 'bad' and state = 'ready' and attempts > 0").get()
    while (!stopped()) await new Promise((resolve) => setImmediate(resolve))
    for (const step of steps) {
      time.set(step)
      await time.notice()
      assert.ok(due("bad") <= 1_300, `${due("bad")} ms after a step of ${step}`)
      assert.ok(due("held") > 10_000 && due("held") <= 20_000)
      assert.ok(holdEnd() > 20_000 && holdEnd() <= 30_000)
    }
    time.pass(40_000)
    const open = "select 1 from job where run_id in ('bad', 'held') and state in ('ready', 'running')"
    while (time.store.handle.prepare(open).get()) {
      time.pass(10)
      // Looked at again because something was added.
      await time.store.write(
        async (write) => void write.addJob({ runId: systemIds.uuid(), laneKey: "x", kind: "turn", payload: {} }),
      )
    }
    const states = time.store.handle.prepare("select state from job where run_id in ('bad', 'held')").all()
    assert.deepEqual(
      states.map((row) => row["state"]),
      ["done", "done"],
    )
    assert.equal(tries.filter((each) => each === "bad").length, 3)
  })

  test("lets a pairing code live its hour, no less and no more", async (context) => {
    const time = await startClock(context)
    const book = time.pairing.book("chatapp", "default")
    const answer = book.ask({ senderId: "7", chatId: "7", label: "Someone" }, time.clock.now())
    assert.equal(answer.kind, "issued")
    await time.store.write(async (write) => book.flush(write))
    book.settle()
    for (const step of steps) {
      time.set(step)
      assert.equal(book.open(time.clock.now()).length, 1, "before anybody has noticed")
      await time.notice()
      assert.equal(book.open(time.clock.now()).length, 1, `after a step of ${step}`)
    }
    book.reload()
    assert.equal(book.open(time.clock.now()).length, 1, "durably")
    time.pass(codeLifetimeMs)
    assert.equal(book.open(time.clock.now()).length, 0)
  })

  test("while no gateway ran: nothing waits longer than it was put off for, and no code lives for years", async (context) => {
    const folder = temporaryFolder()
    const first = await startClock(context, folder)
    const now = first.clock.now()
    await first.store.write(async (write) => {
      write.addJob({
        runId: "held",
        laneKey: "l",
        kind: "turn",
        payload: {},
        join: { key: "k", holdMs: 900, maxHoldMs: 900 },
      })
      write.addJob({ runId: "at a time of day", laneKey: "m", kind: "turn", payload: {}, runAt: now + day })
      const route = { channel: "test", account: "a", chatId: "1", chatKind: "private" }
      write.addOutbox({ ...route, laneKey: "test:a:1", route, kind: "text", payload: {}, runAt: now + 5_000 })
      const book = first.pairing.book("chatapp", "default")
      book.ask({ senderId: "7", chatId: "7", label: "Someone" }, now)
      book.flush(write)
    })
    await first.store.close()
    const clock: Clock = { ...systemClock, now: () => Date.now() - 30 * day }
    const store = await testStore(context, { folder, clock })
    await recoverJobs(store)
    const dues = store.handle.prepare("select run_id, run_at from job order by id").all()
    assert.ok(Number(dues[0]?.["run_at"]) <= clock.now() + 3_000)
    assert.equal(dues[1]?.["run_at"], now + day)
    assert.ok(remaining(store, "outbox") <= 5_000)
    const pairing = createPairing({ store, clock, ids: systemIds, log: silentLog })
    assert.equal(pairing.book("chatapp", "default").open(clock.now()).length, 0)
  })
})
