// Pins in memory and in their table, whatever else is written at the same time.
import assert from "node:assert/strict"
import { type TestContext, test } from "node:test"
import pino from "pino"
import { testStore } from "../../test/support/store.ts"
import { NamePins } from "./pins.ts"
import { readPins, readShutOutAt } from "./store.ts"

async function begin(context: TestContext, options: Parameters<typeof testStore>[1] = {}) {
  const store = await testStore(context, options)
  let listed: ReadonlySet<string> = new Set(["alice", "bob"])
  const place = { channel: "chatapp", account: "default" }
  const time = { now: 1 }
  const warned: unknown[] = []
  const write = (line: string) => void warned.push((JSON.parse(line) as { sender: string }).sender)
  const log = pino({ level: "warn" }, { write })
  const pins = new NamePins({ store, ...place, listed: () => listed, now: () => time.now, log })
  return {
    store,
    pins,
    time,
    /** The ids that were warned of. */
    warned,
    see: (username: string, id: string, isBot = false) => pins.see({ id, username, isBot }),
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

test("an unpinning that is not committed has changed nothing, nor what was about to be written", async (context) => {
  const crashPoint = (point: string) => assert.notEqual(point, "ingest.beforeCommit")
  const { store, pins, see, flush, kept } = await begin(context, { crashPoint })
  see("alice", "1")
  await flush()
  pins.settle()
  see("bob", "2")
  // All that is written in one turn of the event loop is committed together, or not at all.
  const seen: string[] = []
  const unpinned = [pins.unpin("alice"), pins.unpin("bob")]
  const asked = store.write(async () => void seen.push(...pins.namesOf("1"), ...pins.namesOf("2")))
  await new Promise((resolve) => process.nextTick(resolve))
  const failing = store.ingest({ source: "s", account: "a", deliveryId: "1", payload: null })
  const outcomes = await Promise.allSettled([...unpinned, failing, asked])
  assert.deepEqual(new Set(outcomes.map(({ status }) => status)), new Set(["rejected"]))
  assert.deepEqual(seen, [], "until then nobody is taken for them")
  assert.deepEqual([pins.namesOf("1"), pins.namesOf("2")], [["alice"], ["bob"]])
  await flush()
  assert.deepEqual(kept(), [
    ["alice", "1"],
    ["bob", "2"],
  ])
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

test("a name is the first person's who writes under it, in whatever letters; no bot's, and no name's that is not listed", async (context) => {
  const { pins, see, flush, kept, time } = await begin(context)
  see("alice", "9", true)
  see("carol", "3")
  pins.see({ id: "4" })
  assert.deepEqual([pins.list(), pins.idOf("alice"), pins.refused], [[], undefined, 0])
  assert.deepEqual(pins.namesOf("1"), [])
  time.now = 5
  see("ALICE", "1")
  see("bob", "1")
  time.now = 6
  see("alice", "1")
  see("alice", "9", true)
  assert.deepEqual(pins.namesOf("1"), ["alice", "bob"])
  assert.deepEqual([pins.idOf("alice"), pins.idOf("carol"), pins.refused], ["1", undefined, 0])
  await flush()
  pins.settle()
  pins.reload()
  assert.deepEqual({ ...pins.list()[0] }, { name: "alice", senderId: "1", pinnedAt: 5 })
  assert.deepEqual(kept(), [
    ["alice", "1"],
    ["bob", "1"],
  ])
})

test("somebody under another's name is counted each time, and the log told of once an hour", async (context) => {
  const { pins, see, time, warned } = await begin(context)
  see("alice", "1")
  for (const id of ["2", "2", "3"]) see("alice", id)
  time.now += 60 * 60 * 1000 - 1
  see("alice", "2")
  assert.deepEqual([warned, pins.refused, pins.namesOf("2")], [["2", "3"], 4, []])
  time.now += 1
  see("alice", "2")
  assert.deepEqual([warned, pins.refused], [["2", "3", "2"], 5])
})

test("what a failed transaction would have written is as it was before, whatever the lists say by now", async (context) => {
  const { pins, see, list, flush, kept } = await begin(context)
  see("alice", "1")
  await flush()
  pins.settle()
  see("bob", "2")
  assert.deepEqual(pins.namesOf("2"), ["bob"])
  pins.reload()
  assert.deepEqual([pins.namesOf("2"), pins.namesOf("1")], [[], ["alice"]])
  see("bob", "3")
  assert.equal(pins.idOf("bob"), "3", "whoever writes next is the first")
  list("bob")
  assert.equal(pins.idOf("alice"), undefined)
  pins.reload()
  assert.equal(pins.idOf("alice"), undefined, "still taken off the list")
  await flush()
  assert.deepEqual(kept(), [])
})

test("a name that is taken off the list and put there again is whoever's has it then, however it is asked for", async (context) => {
  const { pins, see, list } = await begin(context)
  const asked = [() => pins.idOf("alice"), () => pins.namesOf("1").at(0), () => pins.list().at(0)?.name]
  for (const ask of asked) {
    list("alice")
    see("alice", "1")
    assert.ok(ask())
    list()
    assert.equal(ask(), undefined)
  }
  list("alice")
  see("alice", "1")
  list("bob")
  see("bob", "2")
  list("alice")
  see("alice", "2")
  assert.deepEqual(pins.namesOf("2"), ["alice"])
})

test("who is unpinned is shut out; a name that nobody is pinned to says so", async (context) => {
  const { store, pins, see, flush } = await begin(context)
  see("alice", "1")
  await flush()
  pins.settle()
  assert.deepEqual(
    [await pins.unpin("bob"), await pins.unpin("alice"), await pins.unpin("alice")],
    [false, true, false],
  )
  const shutOutAt = (senderId: string) => readShutOutAt(store)({ channel: "chatapp", account: "default", senderId })
  assert.deepEqual([typeof shutOutAt("1"), shutOutAt("2"), pins.namesOf("1")], ["number", undefined, []])
})
