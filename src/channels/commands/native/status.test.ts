import assert from "node:assert/strict"
import { test } from "node:test"
import { AppError } from "../../../kernel/index.ts"
import type { ChatCommand, CommandServices } from "../contract.ts"
import { status } from "./status.ts"

const now = 10_000_000_000
const sums = (input: number) => ({ calls: 1, input, output: 0, cost: 0.5, uncounted: 0, unpriced: 0 })

interface Case {
  owner?: boolean
  chatKind?: string
  session?: object
  problems?: object[]
  upMs?: number
  heartbeat?: string
  model?: () => object
}

async function answer({ owner = true, chatKind = "private", session, problems = [], upMs = 0, ...more }: Case) {
  const services = {
    sessions: { find: () => session },
    lanes: { count: () => ({ running: 1, waiting: 2 }) },
    clock: { now: () => now },
    models: { describe: more.model ?? (() => ({ id: "a/b", thinking: "high" })) },
    usage: { today: () => sums(2_000), session: () => sums(100) },
    status: {
      version: "1.2.3",
      startedAt: now - upMs,
      account: async () => "running",
      problems: async () => problems,
      heartbeat: () => more.heartbeat,
    },
  } as unknown as CommandServices
  const call = {
    agentId: "main",
    sessionKey: "s",
    route: { channel: "chatapp", account: "default", chatId: "1", chatKind },
    sender: { id: "1", origin: owner ? "owner" : "approved-sender", isAuthorised: true },
  } as unknown as Parameters<ChatCommand["run"]>[0]
  const { text, isForeign } = await status.run(call, services)
  return { lines: text.split("\n"), isForeign }
}
const lineOf = async (name: string, given: Case) =>
  (await answer(given)).lines.find((line) => line.startsWith(`**${name}**`))?.slice(name.length + 5)

const session = { key: "s", sessionId: "abcdefghijkl", createdAt: 1, updatedAt: now - 3 * 60_000, settings: {} }

test("says what answers here, how the session stands, and what works", async () => {
  const { lines, isForeign } = await answer({ session, upMs: 5 * 60_000 })
  assert.deepEqual(lines, [
    "**Gateway** 1.2.3, up 5 min, chat running",
    "**Agent** main",
    "**Model** `a/b`, thinking high",
    "**Reasoning** off",
    "**Session** abcdefgh, last used 3 min ago",
    "**Usage** this session 100 tokens, $0.5000; today 2,000 tokens, $0.5000",
    "**Messages** 1 under way, 2 waiting",
    "**Problems** none",
  ])
  assert.equal(isForeign, undefined)
})

test("tells times as people do", async () => {
  const up = async (upMs: number) => /up (.*), chat/.exec((await lineOf("Gateway", { upMs })) ?? "")?.[1]
  const minute = 60_000
  const spans = [-5, 59_999, minute, 59 * minute, 60 * minute, 47 * 60 * minute, 48 * 60 * minute]
  assert.deepEqual(await Promise.all(spans.map(up)), [
    "less than a minute",
    "less than a minute",
    "1 min",
    "59 min",
    "1 h",
    "47 h",
    "2 days",
  ])
})

test("what all sessions use and why something does not work is the owner's to know", async () => {
  assert.doesNotMatch((await lineOf("Usage", { owner: false, session })) ?? "", /today/)
  assert.match((await lineOf("Usage", {})) ?? "", /^this session nothing; today/)
  const problems = [
    { part: "browser", problem: "no address 10.0.0.1", next: "Start it" },
    { part: "browser", problem: "second" },
    { part: "chat", problem: "third" },
  ]
  const whole = await answer({ problems })
  assert.deepEqual(whole.lines.slice(-4), [
    "**Problems**",
    "- browser: no address 10.0.0.1. Next: Start it",
    "- browser: second",
    "- chat: third",
  ])
  assert.equal(whole.isForeign, true)
  for (const given of [{ owner: false }, { chatKind: "group" }])
    assert.equal(await lineOf("Problems", { ...given, problems }), "with: browser, chat")
})

test("shows what a session has of its own, and what only a group has", async () => {
  const own = { ...session, settings: { reasoning: "stream", activation: "always" } }
  assert.equal(await lineOf("Reasoning", { session: own }), "stream")
  assert.equal(await lineOf("Activation", { session: own }), undefined)
  assert.equal(await lineOf("Activation", { session: own, chatKind: "group" }), "always")
  assert.equal(await lineOf("Activation", { chatKind: "group" }), "as configured")
  assert.equal(await lineOf("Session", {}), "none yet")
  assert.equal(await lineOf("Heartbeat", { heartbeat: "every 30 min" }), "every 30 min")
  const unusable = () => {
    throw new AppError("bad-request", "there is no such model")
  }
  assert.equal(await lineOf("Model", { model: unusable }), "not usable: there is no such model")
})
