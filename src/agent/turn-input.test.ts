// The job of a turn: whose it is, and with what it waits.
import assert from "node:assert/strict"
import { test } from "node:test"
import type { Route } from "../sessions/index.ts"
import { type Asker, type TurnInput, senderKey, turnJob } from "./turn-input.ts"

const route: Route = { channel: "chatapp", account: "default", chatId: "5", chatKind: "group" }
const askedBy: Asker = { id: "7", origin: "approved-sender", isAuthorised: true }
const input: TurnInput = {
  agentId: "main",
  sessionKey: "agent:main:main",
  purpose: "chat",
  origin: "owner",
  trusted: true,
  text: "hello",
  route,
  askedBy,
}

test("messages belong together that one person has written in one place, whatever is in them", () => {
  const key = senderKey(input)
  const same: Partial<TurnInput>[] = [
    { text: "other words", sentAt: 5 },
    { route: { ...route, messageId: "8" } },
    { askedBy: { ...askedBy, username: "ada" } },
  ]
  for (const more of same) assert.equal(senderKey({ ...input, ...more }), key, JSON.stringify(more))
  const others: Partial<TurnInput>[] = [
    { route: { ...route, channel: "web" } },
    { route: { ...route, account: "second" } },
    { route: { ...route, chatId: "6" } },
    { route: { ...route, threadId: "1" } },
    { route: { ...route, commentsOf: "-100" } },
    { askedBy: { ...askedBy, id: "8" } },
    // As somebody else by now: what was said with another standing stays apart.
    { askedBy: { ...askedBy, origin: "owner" } },
    { askedBy: { ...askedBy, isAuthorised: false } },
    { route: null },
  ]
  const keys = new Set(others.map((more) => senderKey({ ...input, ...more })))
  assert.deepEqual([keys.size, keys.has(key)], [others.length, false])
})

test("a turn of people is before those of machines, belongs to who asked, and waits where more is to come", () => {
  const job = (more: Partial<TurnInput> = {}, hold?: Parameters<typeof turnJob>[2]) =>
    turnJob("run-1", { ...input, ...more }, hold)
  const { class: chatClass, sender, join, ref } = job()
  assert.deepEqual([chatClass, sender, join, ref], [undefined, senderKey(input), undefined, undefined])
  for (const purpose of ["hook", "schedule"] as const)
    assert.deepEqual([job({ purpose }).class, job({ purpose }).sender], ["hooks", ""])
  assert.equal(job({ ref: "chat:5:7" }).ref, "chat:5:7")
  const hold = { holdMs: 10, maxHoldMs: 20 }
  const part = { join: { key: "album:1", kind: "album" } } as const
  assert.deepEqual(job(part, hold).join, { ...hold, key: "album:1" })
  assert.equal(job(part).join, undefined, "an edit of it waits for nothing")
  assert.deepEqual(job({}, { ...hold, key: "queue:7" }).join, { ...hold, key: "queue:7" })
  assert.deepEqual(job(part, { ...hold, key: "queue:7" }).join, { ...hold, key: "album:1" })
  assert.equal(job({}, hold).join, undefined)
})
