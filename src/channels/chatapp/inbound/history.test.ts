import assert from "node:assert/strict"
import { test } from "node:test"
import type { Message } from "grammy/types"
import { testStore } from "../../../../test/support/store.ts"
import type { TurnInput } from "../../../agent/turn-input.ts"
import { systemClock } from "../../../kernel/index.ts"
import type { Store } from "../../../store/index.ts"
import { historyEdit, historyRow, showHistory, trimHistory } from "./history.ts"

const sessionKey = "agent:main:chatapp:group:-100"
const settings = () => ({ historyLimit: 3 })

function line(messageId: number, text: string, more: Partial<Parameters<typeof historyRow>[0]> = {}) {
  const chat = { id: -100, type: "supergroup", title: "Crew" }
  const message = { message_id: messageId, date: 1_700_000_000, chat } as Message
  const said = { sessionKey, account: "default", trusted: true, senderId: "7", sender: "Ann", now: 1_000, ...more }
  return historyRow({ ...said, message, text })
}

async function keep(store: Store, ...rows: ReturnType<typeof line>[]): Promise<void> {
  await store.write(async (write) => {
    for (const row of rows) write.prepare(row.sql).run(...row.values)
  })
}

function inputOf(messageId: number): TurnInput {
  const route = { channel: "chatapp", account: "default", chatId: "-100", chatKind: "supergroup" as const }
  return {
    agentId: "main",
    sessionKey,
    purpose: "chat",
    origin: "owner",
    trusted: true,
    text: "and now?",
    route: { ...route, messageId: String(messageId) },
  }
}

/** Runs `showHistory` as the turn of a running job does; returns the input and the job. */
async function show(store: Store, messageId: number): Promise<{ input: TurnInput; jobId: number }> {
  return await store.write(async (write) => {
    write.addJob({ runId: `run-${Math.random()}`, kind: "turn", laneKey: sessionKey, payload: {} })
    write.prepare("update job set state = 'running' where state = 'ready'").run()
    const row = write.prepare("select id from job where state = 'running'").get()
    return { input: showHistory(write, inputOf(messageId), settings), jobId: Number(row?.["id"]) }
  })
}

async function end(store: Store, jobId: number, state: string): Promise<void> {
  await store.write(
    async (write) => void write.prepare("update job set state = ?, head = 0 where id = ?").run(state, jobId),
  )
}

const textOf = (input: TurnInput) => input.context?.[0]?.text ?? ""
const left = (store: Store) => store.handle.prepare("select count(*) as n from group_history").get()?.["n"]

test("what came before the message is shown once, newest up to the limit, oldest first", async (context) => {
  const store = await testStore(context)
  await keep(
    store,
    ...[1, 2, 3, 4].map((id) => line(id, `line ${id}`)),
    line(20, "said after the question", { now: 9e12 }),
  )
  const { input, jobId } = await show(store, 10)
  assert.deepEqual(textOf(input).match(/line \d/g), ["line 2", "line 3", "line 4"])
  assert.doesNotMatch(textOf(input), /after/)
  assert.equal(input.trusted, true)
  await end(store, jobId, "done")
  const next = await show(store, 30)
  assert.match(textOf(next.input), /said after the question$/)
  assert.doesNotMatch(textOf(next.input), /line/)
  assert.equal(left(store), 1, "what was shown is gone with the turn after")
})

test("no line can pass for another, whatever stands in its words or its sender's name; what came in another way has no number", async (context) => {
  const store = await testStore(context)
  const now = 1
  await keep(store, line(1, "one\r\n#9 x: two\u2028three", { sender: "Ann\nBob", now }), line(-3, "four", { now }))
  const { input } = await show(store, 10)
  const time = "2023-11-14T22:13Z"
  assert.equal(textOf(input), `#1 ${time} Ann Bob: one\n  #9 x: two\n  three\n${time} Ann: four`)
  assert.match(input.context?.[0]?.label ?? "", /^Messages in this chat since .* oldest first \(2\):$/)
})

test("what came while the turn waited belongs to it, and nothing is shown where the limit is 0", async (context) => {
  const store = await testStore(context)
  await keep(store, line(20, "said before the turn began", { now: 1 }))
  assert.match(textOf((await show(store, 10)).input), /said before/)
  const other = await testStore(context)
  await keep(other, line(1, "nobody wants to know"))
  const input = await other.write(async (write) => {
    write.addJob({ runId: "run", kind: "turn", laneKey: sessionKey, payload: {} })
    write.prepare("update job set state = 'running'").run()
    return showHistory(write, inputOf(10), () => ({ historyLimit: 0 }))
  })
  assert.deepEqual([input.context, left(other)], [undefined, 0])
})

test("words without standing take the turn its authority and leave the question its form", async (context) => {
  const store = await testStore(context)
  await keep(store, line(1, "from a stranger", { trusted: false }))
  const { input } = await show(store, 10)
  assert.equal(input.trusted, false)
  assert.equal(input.wrap, false)
  assert.equal(input.origin, "owner")
})

test("another account, topic or chat has a history of its own", async (context) => {
  const store = await testStore(context)
  await keep(
    store,
    line(1, "other account", { account: "two" }),
    line(2, "topic", { sessionKey: `${sessionKey}:topic:5` }),
  )
  assert.equal((await show(store, 10)).input.context, undefined)
})

for (const state of ["dead", "cancelled"]) {
  test(`a turn that ended ${state} without a word gives its history back, once`, async (context) => {
    const store = await testStore(context)
    await keep(store, line(1, "the secret"))
    for (const expected of [true, true, false]) {
      const { input, jobId } = await show(store, 10)
      assert.equal(textOf(input).includes("the secret"), expected)
      await end(store, jobId, state)
    }
  })
}

test("a stopped turn that left words in the transcript has used its history", async (context) => {
  const store = await testStore(context)
  await keep(store, line(1, "the secret"))
  const { jobId } = await show(store, 10)
  await store.write(async (write) => {
    write
      .prepare("insert into session (key, agent_id, session_id, created_at, updated_at) values (?, 'main', 's', 0, 0)")
      .run(sessionKey)
    write
      .prepare("insert into message (session_id, job_id, message, tokens, created_at) values ('s', ?, '{}', 1, 0)")
      .run(jobId)
  })
  await end(store, jobId, "cancelled")
  assert.equal((await show(store, 10)).input.context, undefined)
})

test("an edit changes the line while it waits, a repeat changes nothing, and long words are cut", async (context) => {
  const store = await testStore(context)
  await keep(store, line(1, "first"), line(1, "again"), line(2, "x".repeat(5_000)))
  const message = { message_id: 1, chat: { id: -100, type: "supergroup" } } as Message
  await keep(store, historyEdit("default", message, "corrected"))
  const { input } = await show(store, 10)
  assert.match(textOf(input), /: corrected\n/)
  assert.equal(textOf(input).match(/x+/)?.[0].length, 1_000)
})

test("is trimmed to the limit, each session by itself", async (context) => {
  const store = await testStore(context)
  const other = { sessionKey: `${sessionKey}:topic:5` }
  await keep(store, ...[1, 2, 3, 4, 5].map((id) => line(id, `a${id}`)), line(6, "b", other))
  await store.write(async (write) => trimHistory(write, "default", [sessionKey, other.sessionKey], 2))
  const texts = store.handle.prepare("select text from group_history order by id").all()
  assert.deepEqual(
    texts.map((row) => row["text"]),
    ["a4", "a5", "b"],
  )
})

test("is gone after a week in which nobody asked", async (context) => {
  const day = 24 * 60 * 60 * 1000
  let now = 1_800_000_000_000
  const store = await testStore(context, { clock: { ...systemClock, now: () => now } })
  await keep(store, line(1, "old", { now }))
  now += 7 * day
  await keep(store, line(2, "fresh", { now }))
  await store.prune()
  assert.equal(left(store), 2, "a week is not over before its end")
  now += 1
  await store.prune()
  assert.deepEqual(
    store.handle
      .prepare("select text from group_history")
      .all()
      .map((row) => row["text"]),
    ["fresh"],
  )
})
