// Whatever is wrong with the store, readiness, status and metrics say the same, with the reason; and it passes with it.
import assert from "node:assert/strict"
import { closeSync, openSync, writeSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { type TestContext, test } from "node:test"
import { silentLog, testStore } from "../../test/support/store.ts"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { until } from "../../test/support/world.ts"
import { AppError, systemClock } from "../kernel/index.ts"
import { KeptWrites } from "../store/index.ts"
import { storeHealth } from "./store-health.ts"

async function startStore(context: TestContext, folder = temporaryFolder()) {
  const kept = new KeptWrites({ clock: systemClock, log: silentLog })
  context.after(() => kept.stop())
  const opened = await testStore(context, { folder })
  const store = kept.observe(opened)
  const ingest = (deliveryId: string) => store.ingest({ source: "hook", account: "", deliveryId, payload: {} })
  return { store, kept, ingest, health: () => storeHealth({ store, kept }) }
}

for (const { name, fail, mend, words } of [
  { name: "full", fail: "pragma max_page_count = 1", mend: "pragma max_page_count = 100000", words: /disk is full/ },
  { name: "read-only", fail: "pragma query_only = on", mend: "pragma query_only = off", words: /cannot be written/ },
]) {
  test(`a ${name} disk`, async (context) => {
    const { store, ingest, health } = await startStore(context)
    assert.deepEqual(health(), { accepting: true })
    store.handle.raw.exec(fail)
    const payload = "x".repeat(50_000)
    await assert.rejects(store.ingest({ source: "hook", account: "", deliveryId: "d", payload }))
    assert.equal(health().accepting, false)
    assert.match(health().problem ?? "", words)
    store.handle.raw.exec(mend)
    await until("it works again", () => (health().accepting ? true : undefined))
    assert.equal((await ingest("d")).kind, "accepted")
    assert.deepEqual(health(), { accepting: true })
  })
}

test("damage that only a read has met is named with the way out, however often writing is asked for", async (context) => {
  const folder = temporaryFolder()
  const first = await startStore(context, folder)
  await first.ingest("d")
  await first.store.close()
  const path = join(folder, "svc.db")
  const database = new DatabaseSync(path)
  const root = Number(database.prepare("select rootpage from sqlite_schema where name = 'usage'").get()?.["rootpage"])
  database.close()
  const file = openSync(path, "r+")
  writeSync(file, Buffer.alloc(4096, 0x5a), 0, 4096, (root - 1) * 4096)
  closeSync(file)
  const { store, kept, ingest, health } = await startStore(context, folder)
  assert.throws(() => store.handle.prepare("select * from usage").all(), { code: "storage-damaged" })
  await until("the table is named", () => (health().problem?.includes("table usage") ? true : undefined))
  assert.equal(health().accepting, false)
  await assert.rejects(ingest("e"), { code: "storage-damaged" })
  // What is refused was not tried, and is no failure that could pass.
  assert.equal(kept.problem(), undefined)
  assert.match(health().problem ?? "", /table usage.*restore a backup/)
})

test("a folder that was lost", async (context) => {
  const { store, health } = await startStore(context)
  store.abandon(new AppError("storage-lost", "the folder was removed"))
  assert.deepEqual(health(), { accepting: false, problem: "the folder was removed" })
})
