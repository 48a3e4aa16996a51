import assert from "node:assert/strict"
import { test } from "node:test"
import { silentLog, testStore } from "../../test/support/store.ts"
import { systemClock, systemIds } from "../kernel/index.ts"
import { NodeBook } from "./book.ts"

const facts = {
  id: "a".repeat(64),
  key: "k",
  name: "studio",
  platform: "linux",
  version: "1.0.0",
  address: "127.0.0.1",
}

for (const [decision, state] of [
  ["approve", "approved"],
  ["revoke", "revoked"],
] as const) {
  test(`a node that connects anew while an owner's ${decision} is written down does not ask again`, async (context) => {
    const store = await testStore(context)
    const book = new NodeBook({ store, clock: systemClock, ids: systemIds, log: silentLog, tell: () => true })
    await book.ask(facts)
    const [decided, asked] = await Promise.all([book[decision]("studio", "test"), book.ask(facts)])
    assert.equal(decided.state, state)
    assert.equal(asked?.state, state)
    assert.equal(book.get(facts.id)?.state, state)
    const after = new NodeBook({ store, clock: systemClock, ids: systemIds, log: silentLog, tell: () => true })
    assert.equal(after.get(facts.id)?.state, state)
  })
}
