import assert from "node:assert/strict"
import { test } from "node:test"
import { loadConfigOrThrow } from "../config/index.ts"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { join } from "node:path"
import { writeFileSync } from "node:fs"
import { type BoundPlace, boundAgent } from "./bindings.ts"

function configOf(bindings: unknown) {
  const path = join(temporaryFolder(), "svc.json")
  writeFileSync(path, JSON.stringify({ agents: { list: [{ id: "main" }, { id: "home" }, { id: "work" }] }, bindings }))
  return loadConfigOrThrow({ path, env: {} }).config.bindings
}

const place = (more: Partial<BoundPlace> = {}): BoundPlace => ({
  channel: "chatapp",
  account: "default",
  chatKind: "supergroup",
  chatId: "-100",
  ...more,
})

test("the most exact binding counts: a topic, a chat, an account, a channel", () => {
  const bindings = configOf([
    { agentId: "main", match: { channel: "chatapp" } },
    { agentId: "home", match: { channel: "chatapp", accountId: "second" } },
    { agentId: "work", match: { channel: "chatapp", peer: { kind: "group", id: -100 } } },
    { agentId: "home", match: { channel: "chatapp", peer: { kind: "group", id: "-100:topic:7" } } },
    { agentId: "home", match: { channel: "chatapp", peer: { kind: "direct", id: "5" } } },
  ])
  const agent = (more: Partial<BoundPlace>) => boundAgent(bindings, place(more))
  assert.equal(agent({ chatId: "-200" }), "main")
  assert.equal(agent({ chatId: "-200", account: "second" }), "home")
  assert.equal(agent({ account: "second" }), "work", "a chat says more than an account")
  assert.equal(agent({ topicId: "3" }), "work", "a group stands for its topics")
  assert.equal(agent({ topicId: "7" }), "home")
  assert.equal(agent({ chatKind: "private", chatId: "5" }), "home")
  assert.equal(agent({ chatKind: "private", chatId: "-100" }), "main", "an id of another kind of chat is another chat")
  assert.equal(agent({ channel: "other" }), undefined)
})

test("an account is meant however its id is written: all of them are in lower case", () => {
  const [binding] = configOf([{ agentId: "work", match: { channel: "chatapp", accountId: "Second" } }])
  assert.ok(binding)
  assert.equal(boundAgent([binding], place({ account: "second" })), "work")
})

test("a binding to an agent that there is not is refused, with those that there are", () => {
  assert.throws(
    () => configOf([{ agentId: "ghost", match: { channel: "chatapp" } }]),
    /no agent "ghost".*main, home, work/,
  )
})
