// Pins in memory and in their table, whatever else is written at the same time.
import assert from "node:assert/strict"
import { type TestContext, test } from "node:test"
import { silentLog, testStore } from "../../test/support/store.ts"
import { NamePins } from "./pins.ts"
import { readPins } from "./store.ts"

async function begin(context: TestContext) {
  const store = await testStore(context)
  let listed: ReadonlySet<string> = new Set(["alice", "bob"])
  const place = { channel: "chatapp", account: "default" }
  const pins = new NamePins({ store, ...place, listed: () => listed, now: () => 1, log: silentLog })
  return {
    store,
    pins,
    see: (username: string, id: string) => pins.see({ id, username }),
    list: (...names: string[]) => (listed = new Set(names)),
    flush: () => store.write(async (write) => pins.flush(write)),
    kept: () => readPins(store, place.channel, place.account).map(({ name, senderId }) => [name, senderId]),
  }
}

test("what changes while pins are on their way to the disk is written next", async (context) => {
  const { pins, see, list, flush, kept } = await begin(context)
  see("alice", "1")
  await flush()
  list("bob")
  assert.deepEqual(pins.namesOf("1"), [])
  see("bob", "2")
  pins.settle()
  await flush()
  pins.settle()
  assert.deepEqual(kept(), [["bob", "2"]])
})

test("a name that is unpinned is not pinned again by what is written beside it", async (context) => {
  const { pins, see, flush, kept } = await begin(context)
  see("alice", "1")
  const [isUnpinned] = await Promise.all([pins.unpin("alice"), flush()])
  pins.settle()
  assert.deepEqual([isUnpinned, kept(), pins.list()], [true, [], []])
  see("alice", "2")
  assert.deepEqual(pins.namesOf("2"), ["alice"])
})

test("a name that could not be unpinned counts as before", async (context) => {
  const { store, pins, see, flush } = await begin(context)
  see("alice", "1")
  await flush()
  pins.settle()
  await store.close()
  await assert.rejects(pins.unpin("alice"))
  assert.deepEqual(pins.namesOf("1"), ["alice"])
})
