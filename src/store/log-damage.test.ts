// A log that a killed process has left, damaged in its middle: what is lost is told, what a kill cuts is not taken for it.
import assert from "node:assert/strict"
import { closeSync, cpSync, openSync, readdirSync, statSync, truncateSync, writeSync } from "node:fs"
import { join } from "node:path"
import { type TestContext, test } from "node:test"
import { framesOfLog, placeOfFrame } from "../../test/support/log-frames.ts"
import { plain, testStore } from "../../test/support/store.ts"
import { newStateFolder } from "../../test/support/state-folder.ts"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { findLogDamage } from "./log-damage.ts"
import { readLostLog } from "./lost-log.ts"

const arrivals = 30
const files = ["svc.db", "svc.db-wal", "svc.db-shm", "store.json"]

/** What a kill leaves: a log of some transactions, of which the first `takenOver` are in the database as well. */
async function killed(context: TestContext, takenOver = 0): Promise<string> {
  const folder = await newStateFolder()
  const store = await testStore(context, { folder })
  store.handle.raw.exec("pragma wal_checkpoint(restart)")
  for (let n = 0; n < arrivals; n += 1) {
    if (n > 0 && n === takenOver) store.handle.raw.exec("pragma wal_checkpoint(passive)")
    await store.ingest({ source: "hook", account: "", deliveryId: `d${n}`, payload: {} })
  }
  if (takenOver === arrivals) store.handle.raw.exec("pragma wal_checkpoint(passive)")
  const copy = temporaryFolder()
  for (const file of files) cpSync(join(folder, file), join(copy, file))
  return copy
}

function spoil(folder: string, at: number): void {
  const file = openSync(join(folder, "svc.db-wal"), "r+")
  writeSync(file, Buffer.alloc(16, 0xa5), 0, 16, at)
  closeSync(file)
}

const framesIn = (folder: string) => framesOfLog(join(folder, "svc.db"))

async function reopen(context: TestContext, folder: string) {
  const store = await testStore(context, { folder })
  const check = store.handle.raw.prepare("pragma integrity_check").all()
  assert.deepEqual(plain(check), [{ integrity_check: "ok" }])
  const rows = store.handle.raw.prepare("select delivery_id from inbox").all()
  const numbers = rows.map((row) => Number(String(row["delivery_id"]).slice(1)))
  return { lost: readLostLog(store.handle), there: numbers.toSorted((a, b) => a - b) }
}

const all = Array.from({ length: arrivals }, (_, n) => n)

test("what stands behind a damaged place is lost, counted, and kept in a copy", async (context) => {
  const folder = await killed(context)
  const size = statSync(join(folder, "svc.db-wal")).size
  spoil(folder, placeOfFrame(Math.floor(framesIn(folder) / 2)) + 300)
  const { lost, there } = await reopen(context, folder)
  assert.ok(there.length > 0 && there.length < arrivals, `${there.length} are left`)
  assert.deepEqual(there, all.slice(0, there.length))
  assert.ok(lost && lost.lost >= arrivals - there.length - 1 && lost.lost <= arrivals, `${lost?.lost} are told`)
  assert.equal(statSync(lost.kept).size, size)
})

test("a log without its beginning is told as lost", async (context) => {
  const folder = await killed(context)
  spoil(folder, 0)
  const { lost, there } = await reopen(context, folder)
  assert.deepEqual(there, [])
  assert.ok((lost?.lost ?? 0) >= arrivals, `${lost?.lost} are told`)
})

test("what the database holds already is not put back by the older pages of a damaged log", async (context) => {
  const folder = await killed(context, arrivals)
  spoil(folder, placeOfFrame(Math.floor(framesIn(folder) / 2)) + 300)
  const { lost, there } = await reopen(context, folder)
  assert.deepEqual(there, all)
  assert.ok(lost)
})

test("a log that a kill has cut at any byte is no damage", async (context) => {
  const folder = await killed(context)
  const path = join(folder, "svc.db")
  assert.equal(findLogDamage(path), undefined)
  for (let size = placeOfFrame(framesIn(folder)); size > 0; size -= 1_999) {
    truncateSync(`${path}-wal`, size)
    assert.equal(findLogDamage(path), undefined, `${size} bytes`)
  }
  // The last frame was being written.
  const another = await killed(context)
  spoil(another, placeOfFrame(framesIn(another) - 1) + 300)
  const { lost } = await reopen(context, another)
  assert.equal(lost, undefined)
  assert.deepEqual(
    readdirSync(another).filter((name) => name.includes("damaged")),
    [],
  )
})
