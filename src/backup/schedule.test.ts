import assert from "node:assert/strict"
import { type TestContext, test } from "node:test"
import { silentLog } from "../../test/support/store.ts"
import { createBackground } from "../kernel/index.ts"
import { type MadeBackup, createBackupSchedule } from "./schedule.ts"

const hour = 3_600_000

interface Setup {
  everyMs?: number
  newest?: number | (() => number)
  create?: () => Promise<MadeBackup>
}

/** A schedule on clocks of its own; `pass` lets time pass and everything that is due happen. */
function scheduleWith(context: TestContext, { everyMs = 24 * hour, newest, create }: Setup) {
  context.mock.timers.enable({ apis: ["setInterval"] })
  const time = { now: 1_000 * hour, monotonic: 5 }
  const made: number[] = []
  const background = createBackground(silentLog)
  const schedule = createBackupSchedule({
    everyMs: () => everyMs,
    newest: async () => (typeof newest === "function" ? newest() : newest),
    async create() {
      made.push(time.now)
      return (await create?.()) ?? { archive: "/a", bytes: 1, createdAt: time.now }
    },
    clock: { now: () => time.now, monotonic: () => time.monotonic, sleep: async () => undefined },
    log: silentLog,
    background,
  })
  context.after(() => schedule.stop())
  schedule.start()
  const pass = async (ms: number, wallMs = ms) => {
    time.now += wallMs
    time.monotonic += ms
    context.mock.timers.tick(30_000)
    await background.idle()
  }
  return { schedule, made, pass, idle: () => background.idle(), start: time.now }
}

test("the first is made at once where there is none, then one each time", async (context) => {
  const { made, pass, idle, start, schedule } = scheduleWith(context, {})
  await idle()
  assert.deepEqual(made, [start])
  await pass(23 * hour)
  assert.equal(made.length, 1)
  await pass(hour)
  assert.equal(made.length, 2)
  assert.deepEqual(schedule.state()?.last, { archive: "/a", bytes: 1, createdAt: start + 24 * hour })
})

test("after a restart the archives tell when the next is due, also when the clock was put back", async (context) => {
  await context.test("young", async (inner) => {
    const { made, idle, schedule } = scheduleWith(inner, { newest: 999 * hour })
    await idle()
    assert.deepEqual([made.length, schedule.state()?.last?.createdAt], [0, 999 * hour])
  })
  for (const newest of [1, 2_000 * hour]) {
    await context.test(`at ${newest}`, async (inner) => {
      const { made, idle } = scheduleWith(inner, { newest })
      await idle()
      assert.equal(made.length, 1)
    })
  }
})

test("jumps of the wall clock neither bring backups in a row nor keep them off", async (context) => {
  const { made, pass, idle } = scheduleWith(context, {})
  await idle()
  await pass(hour, 10_000 * hour)
  assert.equal(made.length, 1)
  await pass(24 * hour, -20_000 * hour)
  assert.equal(made.length, 2)
})

test("a failure is told, tried again after a quarter of an hour, and forgotten with the next that is made", async (context) => {
  let fails = true
  const create = async () => {
    if (fails) throw new Error("no room")
    return { archive: "/b", bytes: 2, createdAt: 7 }
  }
  const { made, pass, idle, schedule, start } = scheduleWith(context, { create })
  await idle()
  assert.deepEqual(schedule.state()?.failure, { at: start, error: "no room" })
  await pass(hour / 8)
  assert.equal(made.length, 1)
  fails = false
  await pass(hour / 8)
  assert.equal(made.length, 2)
  assert.deepEqual([schedule.state()?.failure, schedule.state()?.last?.archive], [null, "/b"])
})

test("a folder that cannot be looked into is told once in a quarter of an hour, and looked into again", async (context) => {
  let looks = 0
  const newest = () => {
    looks += 1
    if (looks < 3) throw new Error("no permission")
    return 1_000 * hour
  }
  const { made, pass, idle, schedule } = scheduleWith(context, { newest })
  await idle()
  for (let count = 0; count < 4; count += 1) await pass(hour / 16)
  assert.deepEqual([looks, schedule.state()?.failure?.error], [2, "no permission"])
  await pass(hour / 4)
  assert.deepEqual([looks, made.length, schedule.state()?.failure], [3, 0, null])
})

test("0 switches it off", async (context) => {
  const { made, pass, schedule } = scheduleWith(context, { everyMs: 0 })
  await pass(1_000 * hour)
  assert.deepEqual([made, schedule.state()], [[], undefined])
})
