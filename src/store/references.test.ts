import assert from "node:assert/strict"
import { test } from "node:test"
import { testStore } from "../../test/support/store.ts"
import { claimJobs, recoverJobs } from "./jobs.ts"
import { amendJob, hadJoin, isAnyJoinOpen, jobOfMessage } from "./references.ts"
import type { Store } from "./store.ts"

const add = (store: Store, runId: string, more: object = {}) =>
  store.write(async (write) => {
    write.addJob({ runId, kind: "turn", laneKey: "lane", payload: { text: runId }, ...more })
  })

const late = (text: string) => ({ sessionKey: "lane", text, prefix: "Message 7 ", origin: "owner", trusted: true })

async function amend(store: Store, text: string): Promise<void> {
  const rows = amendJob("chat:7", JSON.stringify({ text }), late(`Message 7 says ${text}`), store.clock.now())
  await store.ingest({ source: "chat", account: "a", deliveryId: text, payload: null, rows })
}

const events = (store: Store) =>
  store.handle
    .prepare("select text from event")
    .all()
    .map((row) => row["text"])

test("an amended job says the new words while it waits; once it has begun an event tells of the newest", async (context) => {
  const store = await testStore(context)
  await add(store, "first", { ref: "chat:7" })
  await amend(store, "second")
  assert.deepEqual(JSON.parse(jobOfMessage(store, "chat:7")?.payload ?? ""), { text: "second" })
  assert.deepEqual(events(store), [])
  await claimJobs(store, 1)
  await amend(store, "third")
  await amend(store, "fourth")
  assert.deepEqual(JSON.parse(jobOfMessage(store, "chat:7")?.payload ?? ""), { text: "second" })
  assert.deepEqual(events(store), ["Message 7 says fourth"])
})

test("a key is known for as long as its jobs are, and its jobs wait anew after a start", async (context) => {
  const store = await testStore(context)
  assert.equal(hadJoin(store, "album"), false)
  await add(store, "part", { join: { key: "album", holdMs: 0, maxHoldMs: 0 } })
  assert.equal(hadJoin(store, "album"), true)
  await recoverJobs(store)
  assert.deepEqual(await claimJobs(store, 1), [], "its other parts may wait at the platform")
})

test("whether anything waits under a family of join keys is known without naming one", async (context) => {
  const store = await testStore(context)
  await add(store, "one", { join: { key: "pasteurise:1", holdMs: 0, maxHoldMs: 0 } })
  assert.equal(isAnyJoinOpen(store, "paste:"), false)
  await add(store, "two", { join: { key: "paste:1", holdMs: 0, maxHoldMs: 0 } })
  assert.equal(isAnyJoinOpen(store, "paste:"), true)
  await store.write(async (write) => void write.prepare("update job set state = 'done'").run())
  assert.equal(isAnyJoinOpen(store, "paste:"), false)
})
