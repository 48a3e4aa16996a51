// A real disk that refuses what is written and forgets it: what a writer was told of is there after a loss of power.
import assert from "node:assert/strict"
import { fstatSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { type TestContext, test } from "node:test"
import { ForgetfulDisk, reasonWithoutForgetfulDisk } from "../../test/support/endurance/forgetful-disk.ts"
import { syncForReal } from "../../test/support/slow-disk.ts"
import { silentLog, testStore } from "../../test/support/store.ts"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { systemClock } from "../kernel/index.ts"
import { createDurability } from "./durability.ts"
import { openSqlite } from "./sqlite.ts"
import type { Store } from "./store.ts"

const skip = reasonWithoutForgetfulDisk()

/** With a log that is empty: a clean stop takes it over. */
async function storeOn(context: TestContext) {
  const disk = new ForgetfulDisk(context)
  const folder = join(disk.folder, "state")
  mkdirSync(folder)
  await (await testStore(context, { folder })).close()
  return { disk, folder, store: await testStore(context, { folder, sync: syncForReal }) }
}

const keys = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `note ${from + index}`)
const note = (store: Store, key: string, bytes = 200) => store.meta.set(key, "x".repeat(bytes))

async function refused(store: Store): Promise<void> {
  while (!store.problem()) await new Promise((resolve) => setImmediate(resolve))
}

function notesAfterPowerCut(disk: ForgetfulDisk): string[] {
  const database = new DatabaseSync(join(disk.afterPowerCut(), "state", "svc.db"))
  try {
    assert.deepEqual(
      database
        .prepare("pragma integrity_check")
        .all()
        .map((row) => ({ ...row })),
      [{ integrity_check: "ok" }],
    )
    const rows = database.prepare("select key from meta where key like 'note %' order by key").all()
    return rows.map((row) => String(row["key"]))
  } finally {
    database.close()
  }
}

/** Writes a lot while the disk refuses what is written behind the beginning of the file. */
async function writeRefused(store: Store, disk: ForgetfulDisk, file: string): Promise<void> {
  disk.fail(file)
  const writes = keys(400, 440).map((key) => note(store, key, 20_000))
  await refused(store)
  disk.work()
  await Promise.all(writes)
}

test("what the log holds and the disk has refused is on it when its writer is told", { skip }, async (context) => {
  const { disk, folder, store } = await storeOn(context)
  await note(store, "note 399")
  await writeRefused(store, disk, join(folder, "svc.db-wal"))
  assert.deepEqual(notesAfterPowerCut(disk), keys(399, 440))
  for (const key of keys(440, 460)) await note(store, key)
  assert.deepEqual(notesAfterPowerCut(disk), keys(399, 460))
})

test("so it is with a log that is written over", { skip }, async (context) => {
  const { disk, folder, store } = await storeOn(context)
  for (const key of keys(100, 399)) await note(store, key)
  store.handle.raw.exec("pragma wal_checkpoint(passive)")
  // It begins anew; what stands further behind is not needed any more.
  await note(store, "note 399")
  await writeRefused(store, disk, join(folder, "svc.db-wal"))
  assert.deepEqual(notesAfterPowerCut(disk), keys(100, 440))
})

test("a database that gets no room waits for it in the log, and nobody else waits", { skip }, async (context) => {
  const { disk, store } = await storeOn(context)
  await note(store, "note 100")
  disk.fail()
  // Enough for the log to be taken over on the way.
  for (const key of keys(101, 400)) await note(store, key)
  assert.deepEqual(notesAfterPowerCut(disk), keys(100, 400))
  disk.work()
  for (const key of keys(400, 700)) await note(store, key)
  assert.deepEqual(notesAfterPowerCut(disk), keys(100, 700))
})

/** Forces files for real, and fails once; tells whether what was refused was written anew before the next try. */
function failingOnce() {
  let left: number | undefined
  let refusedAt: bigint | undefined
  const anew: boolean[] = []
  const lastWritten = (file: number) => fstatSync(file, { bigint: true }).mtimeNs
  return {
    anew,
    /** After so many that succeed. */
    fail: (after: number) => void (left = after),
    async sync(file: number) {
      if (refusedAt !== undefined) anew.push(lastWritten(file) > refusedAt)
      refusedAt = undefined
      if (left === 0) refusedAt = lastWritten(file)
      if (left !== undefined) left -= 1
      if (refusedAt !== undefined) throw Object.assign(new Error("EIO"), { code: "EIO" })
      await syncForReal(file)
    },
  }
}

test("a log is written anew before it is forced once more", async (context) => {
  const disk = failingOnce()
  const store = await testStore(context, { sync: disk.sync })
  await note(store, "note 1")
  disk.fail(0)
  await note(store, "note 2")
  assert.deepEqual(disk.anew, [true])
})

test("so it is while damage is looked for, as a disk that fails may bring both", async (context) => {
  const disk = failingOnce()
  const path = join(temporaryFolder(), "svc.db")
  const handle = openSqlite(path)
  handle.raw.exec("create table note (text); insert into note values ('one')")
  const parts = { handle, path, sync: disk.sync, clock: systemClock, log: silentLog, onFailure() {} }
  const durability = createDurability({ ...parts, isSound: () => false })
  context.after(() => {
    handle.raw.close()
    durability.close()
  })
  disk.fail(0)
  await durability.flushed()
  assert.deepEqual(disk.anew, [true])
})

test("pages that were taken over are written anew before the database is forced once more", async (context) => {
  const disk = failingOnce()
  const path = join(temporaryFolder(), "svc.db")
  const handle = openSqlite(path)
  handle.raw.exec("create table note (text); insert into note values ('one'); pragma wal_checkpoint(truncate)")
  handle.raw.exec("update note set text = 'two'")
  const { sync } = disk
  const durability = createDurability({ handle, path, sync, clock: systemClock, log: silentLog, onFailure() {} })
  context.after(() => {
    handle.raw.close()
    durability.close()
  })
  // The log first; the database is as long as before.
  disk.fail(1)
  const done = durability.checkpoint()
  const forced: boolean[] = []
  while (disk.anew.length === 0) {
    forced.push(durability.isDatabaseForced())
    await new Promise((resolve) => setImmediate(resolve))
  }
  await done
  assert.deepEqual(disk.anew, [true])
  assert.ok(forced.includes(false), "the log is needed meanwhile")
  assert.ok(durability.isDatabaseForced())
})
