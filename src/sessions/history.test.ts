import assert from "node:assert/strict"
import { type TestContext, test } from "node:test"
import { testStore } from "../../test/support/store.ts"
import { systemIds } from "../kernel/index.ts"
import type { ModelMessage } from "../models/contract.ts"
import { sessionSchema } from "./config.ts"
import { moveSession } from "./move.ts"
import { createSessions } from "./sessions.ts"
import { keepSummary } from "./summary.ts"

const user = (text: string): ModelMessage => ({ role: "user", content: [{ type: "text", text }] })
const assistant = (text: string): ModelMessage => ({ role: "assistant", text, toolCalls: [] })

async function conversation(context: TestContext) {
  const store = await testStore(context)
  const sessions = createSessions({ store, ids: systemIds, config: () => sessionSchema.parse({}) })
  const session = await store.write(async (write) => sessions.open(write, "agent:main:main", "main"))
  let turns = 0
  return {
    store,
    session,
    fresh: (budget: number) =>
      createSessions({ store, ids: systemIds, config: () => sessionSchema.parse({}) }).history(session.sessionId, {
        budget,
        room: budget,
      }).messages,
    read: (budget: number, room = budget) => sessions.history(session.sessionId, { budget, room }).messages,
    async turn() {
      turns += 1
      const messages = [user(`question ${turns} ${"w".repeat(300)}`), assistant(`answer ${turns}`)]
      const entries = messages.map((message) => ({ message, origin: "owner" as const, trusted: true }))
      await store.write(async (write) => sessions.append(write, session, turns, entries))
    },
  }
}

test("a past that fits is shown from its beginning", async (context) => {
  const { read, turn } = await conversation(context)
  for (let n = 0; n < 100; n += 1) await turn()
  assert.equal(read(1_000_000).length, 200)
})

test("a past that no longer fits begins at the same message for many turns, within the budget", async (context) => {
  const { read, turn } = await conversation(context)
  const beginnings = new Set<string>()
  for (let n = 0; n < 200; n += 1) {
    await turn()
    const shown = read(2_000)
    assert.equal(shown[0]?.role, "user")
    assert.ok(JSON.stringify(shown).length / 3.5 < 2_600)
    beginnings.add(JSON.stringify(shown[0]))
  }
  assert.ok(beginnings.size < 30, `${beginnings.size} beginnings in 200 turns`)
  assert.equal(JSON.stringify(read(2_000).at(-1)), JSON.stringify(assistant("answer 200")))
})

test("a smaller model or a long prompt takes nothing of the past from the turns behind it", async (context) => {
  const { read, turn } = await conversation(context)
  for (let n = 0; n < 60; n += 1) await turn()
  const whole = read(1_000_000).length
  const some = read(2_000)
  assert.equal(read(800).length < some.length, true)
  assert.equal(read(2_000, 500).length < some.length, true)
  assert.deepEqual(read(2_000), some)
  assert.equal(read(1_000_000).length, whole)
})

test("an exchange that is longer than most of the budget is shown while it fits", async (context) => {
  const { read, turn } = await conversation(context)
  await turn()
  await turn()
  assert.equal(read(110).length, 2)
})

test("what was read once and what is read anew is the same, whatever has changed between two turns", async (context) => {
  const { read, fresh, turn, store, session } = await conversation(context)
  for (let n = 0; n < 70; n += 1) await turn()
  const same = () => assert.deepEqual(read(1_000_000), fresh(1_000_000))
  same()
  assert.equal(read(1_000_000)[0], read(1_000_000)[0], "parsed anew at each turn")
  await turn()
  same()
  assert.ok(read(3_000).length < read(1_000_000).length)
  same()
  const change = (sql: string) => store.write(async (write) => void write.prepare(sql).run(session.sessionId))
  await change("delete from message where id = (select min(id) + 60 from message where session_id = ?)")
  same()
  await change("delete from message where id = (select max(id) from message where session_id = ?)")
  await turn()
  same()
  await change("update message set session_id = 'another' where session_id = ?")
  assert.deepEqual(read(1_000_000), [])
  await turn()
  same()
  // Another conversation becomes part of this one, of which all was said before.
  await change("update message set session_id = ? where session_id = 'another'")
  assert.ok(read(1_000_000).length > 100)
  same()
})

test("what is kept for the next turns is let go, but for the conversation that was talked in last", async (context) => {
  const store = await testStore(context)
  const sessions = createSessions({ store, ids: systemIds, config: () => sessionSchema.parse({}) })
  const said = assistant("w".repeat(400_000))
  const [first, second, last] = await Promise.all(
    ["one", "two", "three"].map((name) =>
      store.write(async (write) => {
        const session = sessions.open(write, `agent:main:${name}`, "main")
        const messages = [user("tell me"), said, user("more"), said]
        const entries = messages.map((message) => ({ message, origin: "owner" as const, trusted: true }))
        sessions.append(write, session, 1, entries)
        return session.sessionId
      }),
    ),
  )
  const read = (sessionId = "") => sessions.history(sessionId, { budget: 1e6, room: 1e6 }).messages
  const before = [first, second, last].map(read)
  const isKept = () => [first, second, last].map((sessionId, index) => read(sessionId)[1] === before[index]?.[1])
  assert.deepEqual(isKept(), [true, true, true])
  sessions.shrink()
  assert.deepEqual(
    [last, first, second].map((sessionId) => read(sessionId).length),
    [4, 4, 4],
  )
  assert.deepEqual(isKept(), [false, false, true])
})

for (const [from, to] of [
  ["old", "new"],
  ["new", "old"],
] as const) {
  test(`the summary of one of two conversations that become one, ${from} and ${to}, hides nothing of the other`, async (context) => {
    const store = await testStore(context)
    const sessions = createSessions({ store, ids: systemIds, config: () => sessionSchema.parse({}) })
    const say = (key: string, text: string) =>
      store.write(async (write) => {
        const session = sessions.open(write, key, "main")
        const entries = [user(text), assistant(`answer to ${text}`)]
        sessions.append(
          write,
          session,
          1,
          entries.map((message) => ({ message, origin: "owner" as const, trusted: true })),
        )
        return session
      })
    await say("new", "first of the new")
    await say("old", "said in the old")
    const session = await say("new", "second of the new")
    const coversTo = Number(store.handle.prepare("select max(id) as id from message").get()?.["id"])
    await store.write(async (write) =>
      keepSummary(write, session, 2, { message: user("summary"), origin: "model", trusted: true, coversTo }),
    )
    await store.write(async (write) => moveSession(write, from, to))
    const { sessionId } = await say(to, "after the move")
    const shown = sessions.history(sessionId, { budget: 10_000, room: 10_000 }).messages
    assert.deepEqual(
      shown.filter(({ role }) => role === "user"),
      ["summary", "said in the old", "second of the new", "after the move"].map(user),
    )
  })
}
