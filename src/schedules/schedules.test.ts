// Schedules over a real store, with a clock that the test sets.
import assert from "node:assert/strict"
import { type TestContext, describe, test } from "node:test"
import { setTimeout as delay } from "node:timers/promises"
import { silentLog, testStore } from "../../test/support/store.ts"
import { temporaryFolder } from "../../test/support/temporary.ts"
import type { TurnInput } from "../agent/index.ts"
import { AppError, type Clock, createBackground, systemClock, systemIds } from "../kernel/index.ts"
import { cronSchema } from "./config.ts"
import { type Maker, createSchedules } from "./index.ts"

const minuteMs = 60_000
const noon = Date.parse("2026-11-21T12:00:00Z")
const cli: Maker = { source: "cli", by: "test", origin: "owner", trusted: true }

async function begin(context: TestContext, config: unknown = {}, options: { folder?: string; bootId?: string } = {}) {
  let now = noon
  let isPaused = false
  let settings = cronSchema.parse(config)
  const clock: Clock = { ...systemClock, now: () => now }
  const store = await testStore(context, { clock, ...options })
  const told: string[] = []
  const schedules = createSchedules({
    store,
    clock,
    ids: systemIds,
    log: silentLog,
    background: createBackground(silentLog),
    config: () => settings,
    timeZone: () => "UTC",
    agent(id) {
      if (id === undefined || id === "main") return "main"
      throw new AppError("not-found", `There is no agent ${id}`)
    },
    checkModel: () => undefined,
    findTarget: (route) => Promise.resolve(route),
    resolveRoute(_agentId, { channel, to }) {
      if (channel === "last" && to === undefined) throw new AppError("no-route", "There is no chat to deliver to")
      return { channel, account: "default", chatId: to ?? "1", chatKind: "private" }
    },
    paused: () => isPaused,
    tell: (_write, _agentId, text) => told.push(text) > 0,
  })
  context.after(() => schedules.stop())
  await schedules.start()
  return {
    store,
    schedules,
    told,
    async at(ms: number) {
      now = ms
      await schedules.look()
    },
    pauseAll: (paused: boolean) => void (isPaused = paused),
    async configure(changed: unknown) {
      settings = cronSchema.parse(changed)
      await schedules.start()
    },
    /** The clock is set by so much. */
    async step(ms: number) {
      await store.write(async (write) => {
        now += ms
        schedules.followClock(write, ms)
      })
      await schedules.look()
    },
    turns: () =>
      store.handle
        .prepare("select payload from job where kind = 'turn' order by id")
        .all()
        .map((row) => JSON.parse(String(row["payload"])) as TurnInput),
  }
}

describe("a time that has come", () => {
  test("is claimed once, with its turn, however often it is looked for", async (context) => {
    const { schedules, at, turns } = await begin(context)
    const { id } = await schedules.add({ text: "Look at example.com", every: "30m" }, cli)
    await at(noon + 29 * minuteMs)
    assert.equal(turns().length, 0)
    await Promise.all([at(noon + 30 * minuteMs), at(noon + 30 * minuteMs), at(noon + 30 * minuteMs)])
    const [turn] = turns()
    assert.equal(turns().length, 1)
    assert.deepEqual([turn?.purpose, turn?.origin, turn?.trusted], ["schedule", "owner", true])
    assert.deepEqual([turn?.sessionKey, turn?.route], [`agent:main:schedule:${id}`, null])
    assert.equal(turn?.routeProblem, "There is no chat to deliver to")
    assert.deepEqual(turn?.sites, ["example.com"])
    assert.match(turn?.header ?? "", /planned for 2026-11-21 12:30/)
  })

  test("is not claimed again by another process, nor when the clock is set back", async (context) => {
    const folder = temporaryFolder()
    const before = await begin(context, {}, { folder })
    await before.schedules.add({ text: "x", every: "30m", session: "main", channel: "chatapp", to: "7" }, cli)
    await before.at(noon + 31 * minuteMs)
    assert.deepEqual(before.turns()[0]?.route?.chatId, "7")
    before.schedules.stop()
    await before.store.close()
    const after = await begin(context, {}, { folder, bootId: "another" })
    after.store.handle.prepare("update job set state = 'done'").run()
    await after.at(noon + 31 * minuteMs)
    await after.at(noon - 24 * 60 * minuteMs)
    await after.at(noon + 32 * minuteMs)
    assert.equal(after.turns().length, 1)
    await after.at(noon + 60 * minuteMs)
    assert.equal(after.turns().length, 2)
  })

  test("keeps what is left of its wait when the clock is set, where it counts from a moment", async (context) => {
    const { schedules, at, step, turns } = await begin(context)
    const day = 24 * 60 * minuteMs
    await schedules.add({ text: "counted", in: "20m" }, cli)
    await schedules.add({ text: "repeated", every: "30m" }, cli)
    await schedules.add({ text: "named", at: "2026-11-21 13:00" }, cli)
    const texts = () => turns().map(({ text }) => text)
    await at(noon + 5 * minuteMs)
    await step(-30 * day)
    await at(noon - 30 * day + 19 * minuteMs)
    assert.deepEqual(texts(), [])
    await at(noon - 30 * day + 20 * minuteMs)
    assert.deepEqual(texts(), ["counted"])
    // Forward over the half hour, too.
    await step(29 * day)
    assert.deepEqual(texts(), ["counted"])
    await at(noon - day + 30 * minuteMs)
    assert.deepEqual(texts(), ["counted", "repeated"])
    await at(noon + 60 * minuteMs)
    assert.equal(texts().includes("named"), true)
  })

  test("while the gateway was off follows the rule; what is left out without anything in its place is told", async (context) => {
    const { schedules, at, told, turns } = await begin(context)
    const hourly = { text: "x", cron: "0 * * * *" }
    const late = await schedules.add({ ...hourly, missed: "late" }, cli)
    const skip = await schedules.add({ ...hourly, missed: "skip", name: "hourly look" }, cli)
    const each = await schedules.add({ ...hourly, missed: "each", graceMinutes: 600 }, cli)
    await at(noon + 190 * minuteMs)
    const states = (id: string) => schedules.read(id).occurrences.map(({ state }) => state)
    assert.deepEqual(states(late.id), ["waiting", "skipped", "skipped"])
    assert.deepEqual(states(skip.id), ["skipped", "skipped", "skipped"])
    assert.deepEqual(states(each.id), ["waiting", "waiting", "waiting"])
    assert.equal(turns().length, 4)
    assert.deepEqual(told, [
      "The schedule **hourly look** was left out for 3 of its times: the gateway did not run at this time.",
    ])
  })

  test("once: it is over then; paused: it waits, and is not made up for", async (context) => {
    const { schedules, at, turns } = await begin(context)
    const once = await schedules.add({ text: "Remind me", in: "20m" }, cli)
    const paused = await schedules.add({ text: "y", every: "10m" }, cli)
    await schedules.pause(paused.id)
    await at(noon + 21 * minuteMs)
    assert.deepEqual([turns().length, schedules.read(once.id).state], [1, "ended"])
    assert.deepEqual(
      schedules.list({ ended: false }).map(({ id, state }) => [id, state]),
      [[paused.id, "paused"]],
    )
    await schedules.resume(paused.id)
    await at(noon + 25 * minuteMs)
    assert.equal(turns().length, 1)
    await at(noon + 30 * minuteMs)
    assert.equal(turns().length, 2)
    await assert.rejects(schedules.resume(once.id), /This schedule is over/)
  })

  test("once, in a pause: it cannot go on, and is not shown as if it would", async (context) => {
    const { schedules, at } = await begin(context)
    const { id } = await schedules.add({ text: "Remind me", in: "20m" }, cli)
    await schedules.pause(id)
    await at(noon + 10 * minuteMs)
    assert.equal((await schedules.resume(id)).state, "active")
    await schedules.pause(id)
    await at(noon + 21 * minuteMs)
    await assert.rejects(schedules.resume(id), { code: "conflict", message: /came while it was paused/ })
    assert.equal(schedules.read(id).state, "paused")
  })

  test("while everything is paused is claimed afterwards, late", async (context) => {
    const { schedules, at, turns, pauseAll } = await begin(context)
    await schedules.add({ text: "Remind me", in: "20m" }, cli)
    pauseAll(true)
    await at(noon + 21 * minuteMs)
    assert.equal(turns().length, 0)
    pauseAll(false)
    await at(noon + 90 * minuteMs)
    assert.equal(turns().length, 1)
  })
})

test("a moment of the configuration that names no day is not taken for one that is long over", async (context) => {
  const jobs = [
    { id: "day", at: "2026-11-21 18:00", text: "eat" },
    { id: "time", at: "18:00", text: "eat" },
  ]
  const { schedules } = await begin(context, { jobs })
  assert.deepEqual(
    schedules.list({ ended: true }).map(({ id, nextAt }) => [id, nextAt]),
    [["day", noon + 6 * 60 * minuteMs]],
  )
})

test("what comes while the disk takes nothing is looked for in pauses, and claimed once when it works again", async (context) => {
  const { store, schedules, at, turns } = await begin(context)
  await schedules.add({ text: "Remind me", in: "20m" }, cli)
  let writes = 0
  const write = store.write.bind(store)
  store.write = (work) => ((writes += 1), write(work))
  store.handle.raw.exec("pragma query_only = on")
  await at(noon + 21 * minuteMs)
  await delay(300)
  assert.equal(writes, 1, "a look that failed is not followed by others at once")
  store.handle.raw.exec("pragma query_only = off")
  const late = AbortSignal.timeout(30_000)
  while (turns().length === 0) await delay(50, undefined, { signal: late })
  assert.equal(turns().length, 1)
  assert.equal(schedules.list({ ended: true })[0]?.state, "ended")
})

test("a disk that cannot even be read keeps no time from being looked for later", async (context) => {
  const { store, schedules, at, turns } = await begin(context)
  await schedules.add({ text: "Remind me", in: "20m" }, cli)
  const { prepare } = store.handle
  store.handle.prepare = () => {
    throw new AppError("storage-failed", "The store cannot be read")
  }
  await at(noon + 21 * minuteMs)
  store.handle.prepare = prepare
  const late = AbortSignal.timeout(30_000)
  while (turns().length === 0) await delay(50, undefined, { signal: late })
  assert.equal(turns().length, 1)
})

describe("schedules of the configuration", () => {
  const job = { id: "Morning", cron: "0 9 * * *", text: "Good morning" }

  test("are taken up, changed and ended with it, and are not removed by hand", async (context) => {
    const { schedules, configure, at, turns } = await begin(context, { jobs: [job] })
    assert.deepEqual([schedules.read("morning").source, schedules.read("morning").when], ["config", "0 9 * * * (UTC)"])
    await assert.rejects(schedules.remove("morning"), /stands in the configuration/)
    await at(noon + 21 * 60 * minuteMs)
    assert.equal(turns().length, 1)
    await configure({ jobs: [{ ...job, text: "Hello" }] })
    await at(noon + 22 * 60 * minuteMs)
    assert.deepEqual([turns().length, schedules.read("morning").text], [1, "Hello"])
    await configure({})
    assert.equal(schedules.read("morning").state, "ended")
    assert.equal(schedules.read("morning").occurrences.length, 1)
  })

  test("that are put off at the moment at which they come run at the new time", async (context) => {
    const jobAt = (at: string) => ({ jobs: [{ id: "call", text: "Call", at }] })
    const { at, configure, turns } = await begin(context, jobAt("2026-11-21T13:00:00Z"))
    // The change is written between the look that finds it due and the transaction that claims its time.
    const changed = configure(jobAt("2026-11-21T14:00:00Z"))
    await at(noon + 60 * minuteMs)
    await changed
    assert.equal(turns().length, 0)
    await at(noon + 120 * minuteMs)
    assert.equal(turns().length, 1)
  })

  test("that cannot be are left out, the others run", async (context) => {
    const bad = { id: "bad", cron: "61 * * * *", text: "x" }
    const { schedules } = await begin(context, { jobs: [bad, { ...job, agent: "nobody", id: "nobody" }, job] })
    assert.deepEqual(
      schedules.list({ ended: true }).map(({ id }) => id),
      ["morning"],
    )
  })
})

test("a wish that is sent twice with the same key is done once", async (context) => {
  const { schedules } = await begin(context)
  const wish = { text: "Tea", in: "1h" }
  const { id } = await schedules.add(wish, cli, "first key")
  assert.equal((await schedules.add(wish, cli, "first key")).id, id)
  assert.notEqual((await schedules.add(wish, cli, "other key")).id, id)
  const { runId } = await schedules.run(id, "first key")
  const again = await schedules.run(id, "first key")
  assert.deepEqual([again.runId, again.schedule.occurrences.length], [runId, 1])
  assert.notEqual((await schedules.run(id, "other key")).runId, runId)
  assert.equal(schedules.read(id).occurrences.length, 2)
})

test("one that does not exist, or several of the same beginning, are told", async (context) => {
  const { schedules } = await begin(context)
  assert.throws(() => schedules.read("nothing"), /There is no schedule nothing/)
  await assert.rejects(schedules.add({ text: "x", in: "1h", agent: "nobody" }, cli), /There is no agent nobody/)
  const { id } = await schedules.add({ text: "x", in: "1h" }, cli)
  assert.equal(schedules.read(id.slice(0, 4)).id, id)
  const named = await schedules.add({ text: "x", in: "1h", name: "Tea time" }, cli)
  assert.equal(schedules.read("Tea time").id, named.id)
  await schedules.add({ text: "x", in: "1h", name: "Tea time" }, cli)
  assert.throws(() => schedules.read("Tea time"), /Several schedules begin with Tea time, or are called so/)
  await schedules.remove(named.id)
  assert.notEqual(schedules.read("Tea time").id, named.id)
  const { runId } = await schedules.run(id)
  assert.equal(schedules.read(id).occurrences[0]?.runId, runId)
  assert.equal(schedules.read(id).state, "active")
})
