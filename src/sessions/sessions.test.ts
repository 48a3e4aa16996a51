import assert from "node:assert/strict"
import { test } from "node:test"
import { plain, testStore } from "../../test/support/store.ts"
import { AppError, systemClock, systemIds } from "../kernel/index.ts"
import { textOfMessage } from "./archive/index.ts"
import { sessionSchema } from "./config.ts"
import { isFresh, resetRuleFor } from "./freshness.ts"
import { directKey, hookKey } from "./keys.ts"
import { moveSession } from "./move.ts"
import { type Session, createSessions } from "./sessions.ts"
import { trimToBudget } from "./transcript.ts"

test("gives direct chats the sessions that the scope wants, and one person with several ids one session", () => {
  const identityLinks = { "Ann Lee": ["42", "chatapp:77"], bob: ["other:5"] }
  const keys = (chatId: string) =>
    (["main", "per-peer", "per-channel-peer", "per-account-channel-peer"] as const).map((dmScope) =>
      directKey("main", { channel: "chatapp", account: "work", chatId }, { dmScope, identityLinks }),
    )
  const forms = (peer: string) => [
    "agent:main:main",
    `agent:main:dm:${peer}`,
    `agent:main:chatapp:dm:${peer}`,
    `agent:main:chatapp:work:dm:${peer}`,
  ]
  assert.deepEqual(keys("5"), forms("5"), "an id of another channel is somebody else")
  assert.deepEqual(keys("42"), forms("ann-lee"))
  assert.deepEqual(keys("77"), forms("ann-lee"))
})

test("keeps every key that a webhook asks for in the hook namespace", () => {
  assert.equal(hookKey("main", "hook:Orders"), "agent:main:hook:orders")
  assert.equal(hookKey("main", "orders/17"), "agent:main:hook:orders/17")
  assert.equal(hookKey("main", "ＨＯＯＫ:x"), "agent:main:hook:x")
})

for (const name of ["-1001234567890", "+491701234567", "@ada", "_nightly", "x".repeat(200)]) {
  test(`takes the session key ${name.slice(0, 20)} of a webhook, with and without hook:`, () => {
    assert.equal(hookKey("main", name), `agent:main:hook:${name}`)
    assert.equal(hookKey("main", `hook:${name}`), `agent:main:hook:${name}`)
  })
}

for (const key of [
  "main",
  "MAIN",
  "global",
  "agent:main:main",
  "AGENT:MAIN:main",
  "hook:agent:main:main",
  "hook:main",
  "agent:main:chatapp:group:-1",
  "hook:../x",
  "a b",
  "x\ny",
  "",
  "ａｇｅｎｔ:main:main",
  "hook:",
  "x".repeat(201),
  ".x",
  "/x",
  "hook::x",
]) {
  test(`refuses the session key ${JSON.stringify(key)} of a webhook`, () => {
    assert.throws(
      () => hookKey("main", key),
      (error) => error instanceof AppError && error.code === "bad-request",
    )
  })
}

test("starts a daily session afresh after its hour", () => {
  const at = (day: number, hour: number) => new Date(2026, 5, day, hour, 30).getTime()
  const rule = { mode: "daily" as const, atHour: 4 }
  assert.equal(isFresh(rule, at(10, 5), at(10, 23)), true)
  assert.equal(isFresh(rule, at(10, 23), at(11, 3)), true)
  assert.equal(isFresh(rule, at(10, 23), at(11, 4)), false)
})

test("ends an idle session after its minutes, and a daily one by whichever comes first", () => {
  const now = new Date(2026, 5, 10, 12, 0).getTime()
  assert.equal(isFresh({ mode: "idle", atHour: 4, idleMinutes: 60 }, now - 59 * 60_000, now), true)
  assert.equal(isFresh({ mode: "idle", atHour: 4, idleMinutes: 60 }, now - 60 * 60_000, now), false)
  assert.equal(isFresh({ mode: "daily", atHour: 4, idleMinutes: 30 }, now - 31 * 60_000, now), false)
})

test("a session of a webhook ends by the rule of webhooks alone, and by none without it", () => {
  const daily = { mode: "daily" as const, atHour: 4 }
  const ruleOf = (key: string, session: object) => resetRuleFor(sessionSchema.parse(session), key)
  for (const key of ["agent:main:hook:order:7", "agent:main:hook:x:topic:1", "agent:main:hook:slack:channel:c1"]) {
    assert.equal(ruleOf(key, { reset: daily, resetByType: { dm: daily, group: daily, thread: daily } }), undefined)
    assert.deepEqual(ruleOf(key, { resetByChannel: { hook: daily } }), daily)
  }
  assert.equal(isFresh(undefined, 0, Number.MAX_SAFE_INTEGER), true)
  assert.deepEqual(ruleOf("agent:main:main", {}), daily)
})

test("trims to the newest messages and never begins with an answer or a tool result", () => {
  const user = { message: { role: "user" as const, content: [] }, tokens: 10 }
  const assistant = { message: { role: "assistant" as const, text: "", toolCalls: [] }, tokens: 10 }
  const tool = { message: { role: "tool" as const, results: [] }, tokens: 10 }
  const roles = (budget: number) =>
    trimToBudget([user, assistant, tool, assistant, user, assistant], budget).map(({ message }) => message.role)
  assert.deepEqual(roles(60), ["user", "assistant", "tool", "assistant", "user", "assistant"])
  assert.deepEqual(roles(50), ["user", "assistant"])
  assert.deepEqual(roles(5), [])
})

test("a conversation that goes on under another key keeps what it has used", async (context) => {
  const store = await testStore(context)
  await store.write(async (write) => {
    for (const key of ["old", "other"]) {
      write
        .prepare("insert into session (key, agent_id, session_id, created_at, updated_at) values (?, 'main', ?, 1, 1)")
        .run(key, `id-${key}`)
      write
        .prepare(
          "insert into usage (created_at, session_key, agent_id, purpose, model) values (1, ?, 'main', 'chat', 'a/b')",
        )
        .run(key)
    }
    write
      .prepare("insert into budget_stopped (run_id, scope, key, created_at) values ('run', 'session', 'old', 1)")
      .run()
    moveSession(write, "old", "new")
  })
  const stopped = store.handle.raw.prepare("select key from budget_stopped").all()
  assert.deepEqual(plain(stopped), [{ key: "new" }], "a run that its cap has ended is found by more that is allowed")
  const keys = store.handle.raw.prepare("select session_key from usage order by id").all()
  assert.deepEqual(plain(keys), [{ session_key: "new" }, { session_key: "other" }])
})

for (const [older, younger] of [
  ["from", "to"],
  ["to", "from"],
] as const) {
  test(`what a turn says whose conversation (${younger} is the younger one) becomes one with another stands there`, async (context) => {
    let now = 1_000
    const store = await testStore(context, { clock: { ...systemClock, now: () => (now += 1_000) } })
    const sessions = createSessions({ store, ids: systemIds, config: () => sessionSchema.parse({}) })
    const open = (key: string) => store.write(async (write) => sessions.open(write, key, "main"))
    const say = (session: Session, text: string) =>
      store.write(async (write) => {
        const message = { role: "user" as const, content: [{ type: "text" as const, text }] }
        sessions.append(write, session, 1, [{ message, origin: "owner", trusted: true }])
      })
    const textsOf = (sessionId: string | undefined) =>
      sessions.history(sessionId ?? "", { budget: 1e6, room: 1e6 }).messages.map(textOfMessage)
    await open(older)
    await open(younger)
    await say(await open("from"), "long ago")
    const running = await open("to")
    await store.write(async (write) => moveSession(write, "from", "to"))
    await say(running, "just now")
    assert.deepEqual(textsOf(sessions.find("to")?.sessionId), ["long ago", "just now"])
    // One that was begun anew while a turn ran stays without what that has said.
    const before = await open("to")
    const { sessionId } = await store.write(async (write) => sessions.renew(write, "to", "main"))
    await say(before, "of before")
    assert.deepEqual([textsOf(sessionId), textsOf(before.sessionId)], [[], ["long ago", "just now", "of before"]])
  })
}
