import assert from "node:assert/strict"
import { fstatSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { type TestContext, test } from "node:test"
import { slowDisk, syncForReal } from "../../test/support/slow-disk.ts"
import { silentLog, testStore } from "../../test/support/store.ts"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { AppError, systemClock } from "../kernel/index.ts"
import { NotForced, createDurability } from "./durability.ts"
import { createGroupCommit } from "./group-commit.ts"
import { openSqlite } from "./sqlite.ts"
import type { Store, Write } from "./store.ts"

async function storeOn(context: TestContext) {
  const disk = slowDisk()
  const folder = temporaryFolder()
  return { disk, folder, store: await testStore(context, { folder, sync: disk.sync }) }
}

const note = (store: Store, key: string) => store.meta.set(key, "x".repeat(200))

function isSettled(promise: Promise<unknown>): Promise<boolean> {
  return Promise.race([promise.then(() => true), new Promise<boolean>((resolve) => setImmediate(resolve, false))])
}

const notes = (store: Store) =>
  Number(store.handle.raw.prepare("select count(*) as n from meta where key like 'note-%'").get()?.["n"])

test("tells writers only when the disk has what they wrote, and lets everything else go on meanwhile", async (context) => {
  const { disk, store } = await storeOn(context)
  disk.slow()
  const first = note(store, "note-1")
  await disk.begun()
  const syncs = disk.counts.syncs
  const others = [note(store, "note-2"), note(store, "note-3")]
  // They are committed while the disk is still busy with the first.
  while (notes(store) < 3) await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(await Promise.all([first, ...others].map(isSettled)), [false, false, false])
  disk.goOn()
  await Promise.all([first, ...others])
  assert.equal(disk.counts.syncs, syncs + 1, "those who came meanwhile share one more wait for the disk")
})

test("a row that nobody is told of waits for no disk, and is on it with what comes later", async (context) => {
  const { store, disk } = await storeOn(context)
  await store.meta.set("before", 1)
  disk.slow()
  const add = (n: number) => async (write: Write) =>
    void write.prepare("insert into meta (key, value) values (?, 'true')").run(`row ${n}`)
  const syncs = disk.counts.syncs
  await store.write(add(1), { force: false })
  assert.equal(disk.counts.syncs, syncs)
  let isTold = false
  const forced = store.write(add(2)).then(() => (isTold = true))
  await disk.begun()
  await store.write(add(3), { force: false })
  assert.equal(isTold, false)
  disk.goOn()
  await forced
  assert.deepEqual([await store.meta.get("row 1"), await store.meta.get("row 3")], [true, true])
})

test("a row that nobody is told of waits with all others for a disk that fails", async (context) => {
  const { store, disk } = await storeOn(context)
  disk.fail("EIO")
  const forced = store.meta.set("first", 1)
  await disk.begun()
  let isFailing = true
  const unforced = store
    .write(async (write) => void write.prepare("insert into meta (key, value) values ('second', '2')").run(), {
      force: false,
    })
    .then(() => assert.equal(isFailing, false))
  // Refused a second time: what came meanwhile is committed.
  while (disk.counts.refused < 2) await new Promise((resolve) => setImmediate(resolve))
  isFailing = false
  disk.fail(undefined)
  await Promise.all([forced, unforced])
})

for (const [code, expected] of [
  ["EIO", "storage-failed"],
  ["ENOSPC", "storage-full"],
] as const) {
  test(`waits for a disk that fails with ${code}, refuses what comes, and writes nothing twice`, async (context) => {
    const { disk, store } = await storeOn(context)
    disk.fail(code)
    const write = store.write(async ({ trx }) => {
      await trx.insertInto("meta").values({ key: "note-1", value: "1" }).execute()
    })
    await disk.begun()
    await new Promise((resolve) => setImmediate(resolve))
    assert.match(String(store.problem()), new RegExp(`The disk does not take what was written \\(${code}\\)`))
    const entry = { source: "hook", account: "", deliveryId: "a", payload: {}, answer: {} }
    await assert.rejects(store.ingest(entry), { code: expected })
    assert.equal(await isSettled(write), false)
    disk.fail(undefined)
    await write
    // The reserve of a full disk is looked at every other second.
    if (code === "EIO") assert.equal((await store.ingest(entry)).kind, "accepted")
    assert.equal(notes(store), 1)
  })
}

test("ends although the disk fails: who waits is told, and what it took later is there", async (context) => {
  const { disk, store, folder } = await storeOn(context)
  disk.fail("EIO")
  const write = assert.rejects(note(store, "note-1"), { code: "storage-failed" })
  await disk.begun()
  await store.close()
  await write
  assert.equal(notes(await testStore(context, { folder })), 1)
})

test("writes over nothing in the log that a database needs which the disk has not taken", async (context) => {
  const path = join(temporaryFolder(), "svc.db")
  const handle = openSqlite(path)
  handle.raw.exec("create table note (text); insert into note values ('one'); pragma wal_checkpoint(truncate)")
  const database = statSync(path).ino
  const refused = Promise.withResolvers<void>()
  const durability = createDurability({
    handle,
    path,
    clock: systemClock,
    log: silentLog,
    onFailure: () => refused.resolve(),
    async sync(file) {
      if (fstatSync(file).ino === database) throw Object.assign(new Error("EIO"), { code: "EIO" })
      await syncForReal(file)
    },
  })
  context.after(() => {
    handle.raw.close()
    durability.close()
  })
  const { monotonic } = systemClock
  const commit = createGroupCommit({ handle, monotonic, onFailure: () => undefined, durability })
  const update = (text: string) => commit.write(async () => handle.prepare("update note set text = ?").run(text))
  await update("two")
  const log = readFileSync(`${path}-wal`)
  const checkpoint = assert.rejects(commit.checkpoint(), { code: "storage-failed" })
  await refused.promise
  const waiting = assert.rejects(
    update("three"),
    (error) => error instanceof AppError && error.code === "storage-failed" && !(error instanceof NotForced),
    "it is not written",
  )
  durability.giveUp()
  await checkpoint
  await waiting
  assert.deepEqual(readFileSync(`${path}-wal`), log)
  assert.equal(handle.prepare("select text from note").get()?.["text"], "two")
})

test("ends although old rows are being removed and the disk fails", async (context) => {
  const { disk, store } = await storeOn(context)
  disk.fail("EIO")
  const pruned = assert.rejects(store.prune(), { code: "storage-failed" })
  await disk.begun()
  await store.close()
  await pruned
})

test("closes only when all that was asked for is committed and on the disk", async (context) => {
  const { disk, store, folder } = await storeOn(context)
  disk.slow()
  const writes = [note(store, "note-1")]
  await disk.begun()
  // Not even in a transaction yet.
  writes.push(note(store, "note-2"))
  const closed = store.close()
  for (let turn = 0; turn < 20; turn += 1) assert.equal(await isSettled(closed), false)
  disk.goOn()
  await Promise.all([...writes, closed])
  assert.equal(notes(await testStore(context, { folder })), 2)
})

test("closes only when the last of many transactions is through", async (context) => {
  const { store, folder } = await storeOn(context)
  // More than one transaction takes.
  const writes = Array.from({ length: 600 }, (_, index) => note(store, `note-${index}`))
  await store.close()
  await Promise.all(writes)
  assert.equal(notes(await testStore(context, { folder })), 600)
})

test("what writes beside the connection waits until the log is on the disk, and is not written over", async (context) => {
  const path = join(temporaryFolder(), "svc.db")
  const handle = openSqlite(path)
  handle.raw.exec("create table note (text)")
  const disk = slowDisk()
  const options = { handle, path, clock: systemClock, log: silentLog, onFailure: () => undefined }
  const durability = createDurability({ ...options, sync: disk.sync })
  context.after(() => {
    handle.raw.close()
    durability.close()
  })
  const commit = createGroupCommit({ ...options, monotonic: systemClock.monotonic, durability })
  disk.slow()
  const told = commit.write(async () => handle.prepare("insert into note values ('one')").run())
  await disk.begun()
  let hasBegun = false
  const beside = commit.holdForced(async () => void (hasBegun = true))
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  assert.equal(hasBegun, false)
  disk.goOn()
  await Promise.all([told, beside])
  assert.equal(hasBegun, true)
})

test("takes the log over into the database, first the one on the disk and then the other", async (context) => {
  const folder = temporaryFolder()
  const order: string[] = []
  const path = join(folder, "svc.db")
  const inode = (file: string) => statSync(file).ino
  const store: Store = await testStore(context, {
    folder,
    async sync(file) {
      order.push(fstatSync(file).ino === inode(path) ? "database" : "log")
      await syncForReal(file)
    },
  })
  for (let index = 0; index < 600; index += 1) await note(store, `note-${index}`)
  const checkpoints = order.flatMap((what, index) => (what === "database" ? [index] : []))
  assert.ok(checkpoints.length >= 2, `${checkpoints.length} checkpoints`)
  // Twice where the database has grown: first it gets room for what comes.
  for (const index of checkpoints) assert.ok(order[index - 1] === "log" || order[index - 2] === "log")
  assert.ok(statSync(`${path}-wal`).size < 6 * 1024 * 1024, "the log is written over")
  const setting = store.handle.raw.prepare("pragma synchronous").get()
  assert.equal(Number(setting?.["synchronous"]), 1, "the header of a log that begins anew is forced by SQLite")
})

test("a reader elsewhere keeps what it reads, and the log is taken over when it has ended", async (context) => {
  const { store, folder } = await storeOn(context)
  await note(store, "note-0")
  const reader = new DatabaseSync(join(folder, "svc.db"), { readOnly: true })
  context.after(() => reader.isOpen && reader.close())
  const count = () => Number(reader.prepare("select count(*) as n from meta where key like 'note-%'").get()?.["n"])
  reader.exec("begin")
  assert.equal(count(), 1)
  for (let index = 1; index < 300; index += 1) await note(store, `note-${index}`)
  assert.equal(count(), 1)
  reader.exec("rollback")
  assert.equal(count(), 300)
  reader.close()
  for (let index = 300; index < 900; index += 1) await note(store, `note-${index}`)
  const [state] = store.handle.raw.prepare("pragma wal_checkpoint(passive)").all()
  assert.equal(state?.["log"], state?.["checkpointed"])
})

test("tells those who send of what is to be sent before the disk has it, and of jobs when it has", async (context) => {
  const { store, disk } = await storeOn(context)
  await store.meta.set("before", 1)
  const added: string[] = []
  store.onAdded(({ jobs, outbox, lanes }) => {
    added.push(...(jobs ? ["jobs"] : []), ...(outbox ? ["outbox"] : []), ...[...lanes].map((lane) => `lane ${lane}`))
  })
  disk.slow()
  const row = { laneKey: "c", channel: "test", account: "a", chatId: "1", route: {}, kind: "text", payload: {} }
  const written = store.write(async (write) => {
    write.addJob({ runId: "r", kind: "turn", laneKey: "l", payload: {} })
    write.addOutbox(row)
  })
  await disk.begun()
  const early = [...added]
  // What they write is on the disk after what they were told of, and so is what the caller does next.
  const sent = written.then(() => assert.deepEqual(added, ["outbox", "jobs", "lane l"]))
  const claimed = store.write(async () => undefined).then(() => added.push("claimed"))
  disk.goOn()
  await Promise.all([sent, claimed])
  assert.deepEqual(early, ["outbox"])
  assert.deepEqual(added, ["outbox", "jobs", "lane l", "claimed"])
})
