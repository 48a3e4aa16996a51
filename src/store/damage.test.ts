// Stores that are damaged, missing, empty or cannot be read: nothing is begun anew unasked, an index alone is rebuilt.
import assert from "node:assert/strict"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
  closeSync,
} from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { test } from "node:test"
import { plain, silentLog, testStore } from "../../test/support/store.ts"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { until } from "../../test/support/world.ts"
import { AppError } from "../kernel/index.ts"
import { createDamageWatch } from "./damage.ts"
import type { IngestEntry } from "./ingest.ts"
import { explainStoreError } from "./sqlite.ts"

const entry = (deliveryId: string): IngestEntry => ({
  source: "hook",
  account: "",
  deliveryId,
  payload: { text: deliveryId },
  jobs: [{ runId: `run ${deliveryId}`, kind: "turn", laneKey: deliveryId, payload: {} }],
})

const refusedWith = (code: string, words: RegExp) => (error: unknown) => {
  assert.ok(error instanceof AppError, String(error))
  assert.equal(error.code, code)
  assert.match(`${error.message} ${error.hint}`, words)
  return true
}

/** Writes nonsense over every page of a table or index, as a bad sector would. */
function damage(folder: string, name: string): void {
  const path = join(folder, "svc.db")
  const database = new DatabaseSync(path)
  database.exec("pragma wal_checkpoint(truncate)")
  const root = Number(database.prepare("select rootpage from sqlite_schema where name = ?").get(name)?.["rootpage"])
  const size = Number(database.prepare("pragma page_size").get()?.["page_size"])
  database.close()
  const file = openSync(path, "r+")
  writeSync(file, Buffer.alloc(size, 0x5a), 0, size, (root - 1) * size)
  closeSync(file)
}

async function usedFolder(context: Parameters<typeof testStore>[0]): Promise<string> {
  const folder = temporaryFolder()
  const store = await testStore(context, { folder })
  for (let n = 0; n < 20; n += 1) await store.ingest(entry(`d${n}`))
  await store.close()
  return folder
}

for (const index of ["job_ready", "job_lane", "sqlite_autoindex_inbox_1"]) {
  test(`the damaged index ${index} is met while running, refused for, and made anew`, async (context) => {
    const folder = await usedFolder(context)
    damage(folder, index)
    const store = await testStore(context, { folder })
    const failure = await store.ingest(entry("new")).then(
      () => undefined,
      (error: unknown) => error,
    )
    assert.ok(failure instanceof AppError)
    assert.deepEqual([failure.code, failure.status], ["storage-damaged", 503])
    assert.equal(store.accepting(), false)
    await assert.rejects(store.ingest(entry("meanwhile")), refusedWith("storage-damaged", /./))
    await until("the index is there again", () => (store.accepting() ? true : undefined))
    assert.deepEqual(await store.ingest(entry("new")), { kind: "accepted" })
    assert.equal((await store.ingest(entry("d3"))).kind, "duplicate")
    const check = store.handle.raw.prepare("pragma integrity_check").all()
    assert.deepEqual(plain(check), [{ integrity_check: "ok" }])
    const jobs = store.handle.raw.prepare("select count(*) as n from job where state = 'ready' and head = 1").get()
    assert.equal(jobs?.["n"], 21)
  })
}

test("damage that more statements meet meanwhile is looked for once", async (context) => {
  const folder = await usedFolder(context)
  damage(folder, "job_ready")
  let repairs = 0
  const repaired = Promise.withResolvers<void>()
  const watch = createDamageWatch({
    path: join(folder, "svc.db"),
    log: silentLog,
    hold(work) {
      repairs += 1
      return work()
    },
    checkpoint: () => Promise.resolve(),
    onRepaired: repaired.resolve,
  })
  context.after(watch.stop)
  watch.met(new Error("malformed"))
  watch.met(new Error("malformed"))
  assert.match(watch.problem() ?? "", /nothing is accepted meanwhile/)
  await repaired.promise
  assert.deepEqual([repairs, watch.problem()], [1, undefined])
})

test("a damaged table keeps everything from being accepted, and is named with the way out", async (context) => {
  const folder = await usedFolder(context)
  damage(folder, "job")
  const store = await testStore(context, { folder })
  await assert.rejects(store.ingest(entry("new")), refusedWith("storage-damaged", /./))
  const problem = await until("the table is named", () =>
    store.problem()?.includes("table job") ? store.problem() : undefined,
  )
  // The index that cannot be read without it, and nothing that is whole.
  assert.match(problem, /^Damaged: table job, index sqlite_autoindex_job_1\. .*restore a backup.*--new-store/)
  await assert.rejects(store.ingest(entry("later")), refusedWith("storage-damaged", /table job/))
})

test("damage is told apart from a full disk and a failing one by every code of SQLite", () => {
  const codeOf = (errcode: number) => (explainStoreError(Object.assign(new Error("x"), { errcode })) as AppError).code
  assert.deepEqual([11, 11 | (1 << 8), 26, 13, 10, 10 | (2 << 8), 8, 14].map(codeOf), [
    "storage-damaged",
    "storage-damaged",
    "storage-damaged",
    "storage-full",
    ...Array.from({ length: 4 }, () => "storage-failed"),
  ])
})

const spoiled: Record<string, { spoil: (path: string) => void; code: string; words: RegExp }> = {
  "is missing": {
    spoil: (path) => rmSync(path),
    code: "storage-missing",
    words: /is missing.*svc\.db\.corrupt-2026.*--new-store/s,
  },
  "is empty": {
    spoil: (path) => truncateSync(path, 0),
    code: "storage-missing",
    words: /is empty.*svc\.db\.corrupt-2026/s,
  },
  "is another, empty database": {
    spoil: (path) => {
      rmSync(path)
      new DatabaseSync(path).exec("create table other (x)")
    },
    code: "storage-missing",
    words: /is empty/,
  },
  "is no database": {
    spoil: (path) => writeFileSync(path, Buffer.alloc(40_000, 0x5a)),
    code: "storage-damaged",
    words: /not a database.*restore a backup/s,
  },
}
for (const [what, { spoil, code, words }] of Object.entries(spoiled)) {
  test(`a store that ${what} in a folder that was used is never replaced unasked`, async (context) => {
    const folder = await usedFolder(context)
    const path = join(folder, "svc.db")
    writeFileSync(`${path}.corrupt-2026-01-01`, "an older copy")
    spoil(path)
    const size = statSync(path, { throwIfNoEntry: false })?.size
    await assert.rejects(testStore(context, { folder }), refusedWith(code, words))
    assert.equal(statSync(path, { throwIfNoEntry: false })?.size, size, "left as it was")
    const store = await testStore(context, { folder, newStore: true })
    assert.deepEqual(await store.ingest(entry("d0")), { kind: "accepted" })
    const aside = readdirSync(folder).filter(
      (name) => name.startsWith("svc.db.corrupt-") && !name.endsWith("2026-01-01"),
    )
    assert.deepEqual(
      aside.map((name) => statSync(join(folder, name)).size),
      size === undefined ? [] : [size],
    )
    await store.close()
    const again = await testStore(context, { folder, newStore: true })
    assert.equal((await again.ingest(entry("d0"))).kind, "duplicate", "a good store stays, whatever was asked for")
  })
}

test("a damaged svc.db that was put into a new folder is named, and set aside when a new store is asked for", async (context) => {
  const folder = temporaryFolder()
  const path = join(folder, "svc.db")
  writeFileSync(path, Buffer.alloc(40_000, 0x5a))
  await assert.rejects(testStore(context, { folder }), refusedWith("storage-damaged", /not a database.*--new-store/s))
  const store = await testStore(context, { folder, newStore: true })
  assert.deepEqual(await store.ingest(entry("d0")), { kind: "accepted" })
})

test("a folder of a program that left no mark is known by its reserve", async (context) => {
  const folder = await usedFolder(context)
  rmSync(join(folder, "store.json"))
  const store = await testStore(context, { folder })
  await store.close()
  assert.ok(existsSync(join(folder, "store.json")), "marked from now on")
  rmSync(join(folder, "store.json"))
  rmSync(join(folder, "svc.db"))
  await assert.rejects(testStore(context, { folder }), refusedWith("storage-missing", /is missing/))
})

test(
  "a store that cannot be opened is neither set aside nor replaced",
  { skip: process.platform === "win32" },
  async (context) => {
    const folder = await usedFolder(context)
    const path = join(folder, "svc.db")
    // A folder in its place cannot be opened by root either; files without rights can.
    rmSync(path)
    mkdirSync(path)
    chmodSync(path, 0o700)
    await assert.rejects(
      testStore(context, { folder, newStore: true }),
      refusedWith("storage-failed", /svc\.db is a folder.*Move it away, and put svc\.db back/s),
    )
    assert.ok(statSync(path).isDirectory())
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.includes("corrupt")),
      [],
    )
  },
)
