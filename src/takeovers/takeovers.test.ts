// Links to tabs over a real store.
import assert from "node:assert/strict"
import { type TestContext, test } from "node:test"
import { silentLog, testStore } from "../../test/support/store.ts"
import { systemClock, systemIds } from "../kernel/index.ts"
import { createTakeovers } from "./index.ts"

async function begin(context: TestContext) {
  const store = await testStore(context)
  return createTakeovers({
    store,
    clock: systemClock,
    ids: systemIds,
    log: silentLog,
    validMs: () => 60_000,
    tell: () => false,
    resume: () => undefined,
    onEnd: () => undefined,
  })
}

const tab = { profile: "work", targetId: "t1", reason: "" }

test("no new link is given to a tab whose link is opened at the same moment", async (context) => {
  const takeovers = await begin(context)
  const { row, token } = await takeovers.create(tab)
  const [opened, renewed] = await Promise.allSettled([takeovers.claim(token), takeovers.renew(row.id)])
  assert.equal(opened.status === "fulfilled" && opened.value?.row.state, "open")
  assert.equal(renewed.status === "rejected" && (renewed.reason as { code?: string }).code, "conflict")
})

test("a link is opened with the key that whoever opens it has made", async (context) => {
  const takeovers = await begin(context)
  const { row, token } = await takeovers.create(tab)
  const key = "k".repeat(43)
  assert.equal((await takeovers.claim(token, key))?.key, key)
  assert.equal(takeovers.find(key)?.id, row.id)
  assert.equal(await takeovers.claim(token, key), undefined)
})

test("no new link is given to a tab that is given back at the same moment", async (context) => {
  const takeovers = await begin(context)
  const { row } = await takeovers.create(tab)
  const [, renewed] = await Promise.allSettled([takeovers.end(row.id, "given-back"), takeovers.renew(row.id)])
  assert.equal(renewed.status === "rejected" && (renewed.reason as { code?: string }).code, "not-found")
})
