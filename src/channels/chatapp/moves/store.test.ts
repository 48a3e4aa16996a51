// What a chat's move takes along, and what only looks like it.
import assert from "node:assert/strict"
import { type TestContext, test } from "node:test"
import { testStore } from "../../../../test/support/store.ts"
import { type Json, systemIds } from "../../../kernel/index.ts"
import { decorationLane } from "../outbound/decoration.ts"
import { moveChat } from "./store.ts"

const move = { oldId: "-500", newId: "-1005" }
const old = "agent:main:chatapp:group:-500"
const moved = "agent:main:chatapp:group:-1005"
const route = { channel: "chatapp", account: "default", chatId: "-500", chatKind: "group", messageId: "3" }
const movedRoute = { channel: "chatapp", account: "default", chatId: "-1005", chatKind: "supergroup" }

async function begin(context: TestContext) {
  const store = await testStore(context)
  const write = (sql: string, ...values: (string | number)[]) =>
    store.write(async ({ prepare }) => void prepare(sql).run(...values))
  return {
    store,
    write,
    addSession: (key: string) =>
      write(
        "insert into session (key, agent_id, session_id, created_at, updated_at) values (?, 'main', 's', 1, 1)",
        key,
      ),
    addJob: (laneKey: string, payload: Json, sender?: string) =>
      store.write(async ({ addJob }) => {
        addJob({ runId: systemIds.uuid(), kind: "turn", laneKey, payload, ...(sender === undefined ? {} : { sender }) })
      }),
    column: (sql: string) =>
      store.handle
        .prepare(sql)
        .all()
        .map((row) => Object.values(row).join(" ")),
    move: () => store.write(async (inside) => moveChat(inside, move)),
  }
}

test("the conversations of every agent and topic move, and none of another chat, guest or webhook", async (context) => {
  const { addSession, addJob, store, column, move: moveAll } = await begin(context)
  const own = [old, `${old}:topic:7`, "agent:home:chatapp:group:-500"]
  const others = [
    "agent:main:chatapp:group:-5001",
    `${old}:topic:7:more`,
    "agent:main:guest:chatapp:group:-500",
    "agent:main:other:group:-500",
    "agent:main:chatapp:group:-7",
  ]
  for (const key of [...own, ...others]) {
    await addSession(key)
    await addJob(key, { sessionKey: key })
    await store.write(async ({ addEvent }) => addEvent({ sessionKey: key, text: "", origin: "system", trusted: true }))
  }
  await moveAll()
  const expected = [...own.map((key) => key.replace("-500", "-1005")), ...others].toSorted()
  assert.deepEqual(column("select key from session order by key"), expected)
  assert.deepEqual(column("select lane_key from job order by lane_key"), expected)
  assert.deepEqual(column("select session_key from event order by session_key"), expected)
})

test("a conversation that has begun with a turn or an event, and has no row yet, moves as well", async (context) => {
  const { addJob, store, write, column, move: moveAll } = await begin(context)
  await addJob(old, { sessionKey: old })
  await write("update job set state = 'running'")
  await addJob("agent:ended:chatapp:group:-500", {})
  await write("update job set state = 'done' where lane_key like '%ended%'")
  const sessionKey = "agent:home:chatapp:group:-500"
  await store.write(async ({ addEvent }) => {
    for (const text of ["shown", "waits"]) addEvent({ sessionKey, text, origin: "system", trusted: true })
  })
  await write("update event set consumed_by = 1 where text = 'shown'")
  await moveAll()
  assert.deepEqual(column("select lane_key from job order by id"), [moved, "agent:ended:chatapp:group:-500"])
  assert.deepEqual(column("select session_key, text from event order by id"), [
    `${sessionKey} shown`,
    "agent:home:chatapp:group:-1005 waits",
  ])
})

test("turns and commands that wait are for the new chat, and whoever spoke as the group is it still", async (context) => {
  const { addSession, addJob, write, column, move: moveAll } = await begin(context)
  await addSession(old)
  const elsewhere = { ...route, channel: "other" }
  await addJob(old, { input: { sessionKey: old, route, text: old } }, '{"id":"-500"}')
  await addJob(`control:${old}`, { call: { sessionKey: old, route }, route: elsewhere, sessionKey: "agent:main:main" })
  await addJob("agent:main:main", { route })
  await addJob(old, { route: { ...route, chatId: "-7" } })
  await write(
    "insert into queue_drop (lane_key, sender, line, trusted, created_at) values (?, ?, '', 1, 1)",
    old,
    '{"id":"-500"}',
  )
  await moveAll()
  assert.deepEqual(column("select lane_key, sender from job order by id"), [
    `${moved} {"id":"-1005"}`,
    `control:${moved} `,
    "agent:main:main ",
    `${moved} `,
  ])
  assert.deepEqual(
    column("select payload from job order by id").map((payload) => JSON.parse(payload) as Json),
    [
      { input: { sessionKey: moved, route: movedRoute, text: old } },
      { call: { sessionKey: moved, route: movedRoute }, route: elsewhere, sessionKey: "agent:main:main" },
      { route },
      { route: { ...route, chatId: "-7" } },
    ],
  )
  assert.deepEqual(column("select lane_key, sender from queue_drop"), [`${moved} {"id":"-1005"}`])
})

test("what is not sent yet goes to the new chat and refers to no message of the old; what is under way keeps its order", async (context) => {
  const { store, write, column, move: moveAll } = await begin(context)
  const lane = "chatapp:default:-500"
  const row = { channel: "chatapp", account: "default", chatId: "-500", laneKey: lane, route, kind: "text" }
  const payload = { text: "hello", replyTo: "3", quote: "words" }
  await store.write(async ({ addOutbox }) => {
    for (const laneKey of [lane, lane, decorationLane(lane)]) addOutbox({ ...row, laneKey, payload })
    addOutbox({ ...row, channel: "other", laneKey: "other:-500", payload })
    addOutbox({ ...row, account: "work", laneKey: "chatapp:work:-500", payload })
  })
  await write("update outbox set state = 'sending' where id = 1")
  await write("update outbox set state = 'sending' where id = 5")
  await moveAll()
  const to = "chatapp:default:-1005"
  assert.deepEqual(column("select lane_key, chat_id from outbox order by id"), [
    `${to} -500`,
    `${to} -1005`,
    `${decorationLane(to)} -1005`,
    "other:-500 -500",
    "chatapp:work:-1005 -500",
  ])
  const [sending, waiting] = column("select payload from outbox order by id").map((each) => JSON.parse(each) as Json)
  assert.deepEqual([sending, waiting], [payload, { text: "hello" }])
  const [, waitingRoute] = column("select route from outbox order by id").map((each) => JSON.parse(each) as Json)
  assert.deepEqual(waitingRoute, movedRoute)
})

test("where the bot is a member, and what was said before, is of the new chat", async (context) => {
  const { addSession, write, column, move: moveAll } = await begin(context)
  await addSession(old)
  await write("update session set last_route = ?", JSON.stringify(route))
  await write(
    "insert into chat_membership values ('chatapp', 'default', '-500', 1, 1), ('other', 'default', '-500', 1, 1)",
  )
  await write(
    `insert into group_history (account, session_key, chat_id, message_id, sender_id, sender, text, trusted, said_at, created_at)
     values ('default', ?, '-500', 4, '1', 'a', 'b', 0, 1, 1)`,
    `${old}:topic:7`,
  )
  await moveAll()
  await moveAll()
  assert.deepEqual(column("select channel, chat_id from chat_membership order by channel"), [
    "chatapp -1005",
    "other -500",
  ])
  assert.deepEqual(column("select session_key, chat_id, message_id from group_history"), [`${moved}:topic:7 -1005 -4`])
  assert.deepEqual(
    column("select last_route from session").map((each) => JSON.parse(each) as Json),
    [movedRoute],
  )
})
