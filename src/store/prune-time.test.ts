// A wall clock that is years ahead at a start must not make everything old.
import assert from "node:assert/strict"
import { join } from "node:path"
import { type TestContext, test } from "node:test"
import { silentLog, testStore } from "../../test/support/store.ts"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { type Clock, systemClock } from "../kernel/index.ts"
import { createGroupCommit } from "./group-commit.ts"
import { confirmedAfterMs, followedMs } from "./prune-time.ts"
import { createPruner } from "./prune.ts"
import { openSqlite } from "./sqlite.ts"

const hour = 60 * 60 * 1000
const day = 24 * hour
const year = 365 * day
/** When the gateway was last at work. */
const then = Date.UTC(2026, 0, 31)

/** Two events that a turn has shown: one old enough to go, one of the last day. */
async function usedFolder(context: TestContext): Promise<string> {
  const folder = temporaryFolder()
  const store = await testStore(context, { folder })
  store.handle.raw.exec(
    `insert into event (session_key, text, origin, trusted, created_at, consumed_by)
       values ('s', 'old', 'x', 1, ${then - 40 * day}, 1), ('s', 'young', 'x', 1, ${then - hour}, 1)`,
  )
  await store.close()
  return folder
}

/** A start with this wall clock, and a pruner that has worked for so long. */
async function runs(folder: string, wall: number, rounds: readonly number[]): Promise<string[]> {
  const handle = openSqlite(join(folder, "svc.db"))
  let passed = 0
  const clock: Clock = { ...systemClock, now: () => wall + passed, monotonic: () => 5_000 + passed }
  const commit = createGroupCommit({ handle, monotonic: systemClock.monotonic, onFailure: () => undefined })
  const pruner = createPruner({ handle, commit, clock, log: silentLog })
  for (const ms of rounds) {
    passed += ms
    await pruner.pruneByItself()
  }
  await pruner.stop()
  await commit.idle()
  const rows = handle.prepare("select text from event order by id").all()
  await handle.db.destroy()
  return rows.map((row) => String(row["text"]))
}

test("a start with a clock years ahead removes what was old before, and nothing else", async (context) => {
  const folder = await usedFolder(context)
  assert.deepEqual(await runs(folder, then + 10 * year, [30_000, hour]), ["young"])
  // Starts with it again and again prove nothing either: what they write has the wrong time itself.
  const store = await testStore(context, { folder, clock: { ...systemClock, now: () => then + 10 * year } })
  await store.ingest({ source: "hook", account: "", deliveryId: "d", payload: {} })
  await store.close()
  assert.deepEqual(await runs(folder, then + 10 * year + hour, [30_000, hour]), ["young"])
  // Set right in the end.
  assert.deepEqual(await runs(folder, then + hour, [30_000]), ["young"])
})

test("a clock that nobody sets right for hours of work is believed, over restarts", async (context) => {
  const folder = await usedFolder(context)
  const half = confirmedAfterMs / 2
  assert.deepEqual(await runs(folder, then + 90 * day, [30_000, half]), ["young"])
  assert.deepEqual(await runs(folder, then + 90 * day + half, [30_000, half]), [])
})

test("a gateway that was off for a weekend prunes at once", async (context) => {
  const folder = await usedFolder(context)
  assert.deepEqual(await runs(folder, then - hour + followedMs, [0]), ["young"])
  const store = await testStore(context, { folder })
  store.handle.raw.exec(`update event set created_at = ${then - 29 * day}`)
  await store.close()
  assert.deepEqual(await runs(folder, then - hour + followedMs, [30_000]), [])
})

test("what lies outside of the store is old by the same time", async (context) => {
  const folder = await usedFolder(context)
  const handle = openSqlite(join(folder, "svc.db"))
  let wall = then + 10 * year
  let passed = 0
  const clock: Clock = { ...systemClock, now: () => wall + passed, monotonic: () => 5_000 + passed }
  const commit = createGroupCommit({ handle, monotonic: systemClock.monotonic, onFailure: () => undefined })
  const pruner = createPruner({ handle, commit, clock, log: silentLog })
  passed += hour
  assert.ok(pruner.now() < then + day, "a clock that is years ahead")
  wall = then + day
  assert.equal(pruner.now(), then + day + hour, "one that is set right")
  wall = then - year
  assert.equal(pruner.now(), then - year + hour, "one that is behind makes nothing old")
  await pruner.stop()
  await handle.db.destroy()
})

for (const value of ["no JSON", "{}", '{"at":"soon","doubtedMs":0}', '{"at":1}']) {
  test(`a kept time that is ${value} counts as none`, async (context) => {
    const folder = await usedFolder(context)
    const handle = openSqlite(join(folder, "svc.db"))
    handle.prepare("insert or replace into meta (key, value) values ('prune-time', ?)").run(value)
    await handle.db.destroy()
    assert.deepEqual(await runs(folder, then + hour, [30_000]), ["young"])
  })
}

test("a store that holds nothing yet begins with the time of its first start", async (context) => {
  const folder = temporaryFolder()
  await (await testStore(context, { folder })).close()
  const handle = openSqlite(join(folder, "svc.db"))
  const clock: Clock = { ...systemClock, now: () => then, monotonic: () => 5_000 }
  const commit = createGroupCommit({ handle, monotonic: systemClock.monotonic, onFailure: () => undefined })
  const pruner = createPruner({ handle, commit, clock, log: silentLog })
  assert.equal(pruner.now(), then)
  await pruner.stop()
  await handle.db.destroy()
})
