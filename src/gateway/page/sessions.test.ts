import assert from "node:assert/strict"
import { test } from "node:test"
import { silentLog, testStore } from "../../../test/support/store.ts"
import { createBackground, systemClock, systemIds } from "../../kernel/index.ts"
import { createPageSessions } from "./sessions.ts"

test("a link is used up by the session that it makes, and not by a disk that does not take one", async (context) => {
  const store = await testStore(context)
  const sessions = createPageSessions({
    store,
    clock: systemClock,
    ids: systemIds,
    background: createBackground(silentLog),
    ownIssuer: "own",
    isIssuer: () => false,
    sessionMs: () => 60_000,
  })
  const { code } = sessions.makeLink({ scopes: ["admin"] })
  store.handle.raw.exec("pragma query_only = on")
  const refused = sessions.enter(code, "a browser")
  assert.equal(await sessions.enter(code, "another"), undefined, "while it is looked at, nobody else has it")
  await assert.rejects(refused, { code: "storage-failed" })
  assert.deepEqual(sessions.list(), [])
  store.handle.raw.exec("pragma query_only = off")
  const session = await sessions.enter(code, "a browser")
  assert.deepEqual(session?.scopes, ["admin"])
  assert.equal(await sessions.enter(code, "a browser"), undefined)
})
