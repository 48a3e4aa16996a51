import assert from "node:assert/strict"
import { test } from "node:test"
import type { ModelRequest } from "../../models/contract.ts"
import { AppError, type Json, type JsonObject, systemIds } from "../../kernel/index.ts"
import { type AgentParts, call, chat, main, promptOf, scriptedModels, smallTool, startAgent } from "../agent.fixture.ts"
import { countOfSender, moveJobs } from "../../store/index.ts"
import { type TurnInput, senderKey, turnJob } from "../turn-input.ts"
import { droppedText, keepToCap } from "./cap.ts"
import { collectInputs } from "./collect.ts"
import { type QueueMode, moveSession } from "../../sessions/index.ts"
import type { QueueRule } from "./contract.ts"
import { waitingOf } from "./waiting.ts"

const asker = { id: "5", origin: "owner" as const, isAuthorised: true }
const rule = (mode: QueueMode, more: Partial<QueueRule> = {}): QueueRule => ({
  mode,
  cap: 20,
  drop: "summarize",
  ...more,
})
const saying = (text: string, more: Partial<TurnInput> = {}): TurnInput => ({
  agentId: "main",
  sessionKey: main,
  purpose: "chat",
  origin: "owner",
  trusted: true,
  askedBy: asker,
  text,
  route: chat,
  ...more,
})

/** An answer that is given when the test says so. */
function held() {
  const asked = Promise.withResolvers<void>()
  const answered = Promise.withResolvers<string>()
  const answer = (request: ModelRequest) =>
    new Promise<string>((resolve, reject) => {
      request.signal.addEventListener("abort", () => reject(request.signal.reason), { once: true })
      void answered.promise.then(resolve)
      asked.resolve()
    })
  return { answer, asked: asked.promise, give: answered.resolve }
}

/** An agent whose first turn is at work, and a way to write to it meanwhile. */
async function atWork(
  context: Parameters<typeof startAgent>[0],
  answers: Parameters<typeof scriptedModels>[0],
  parts: AgentParts = {},
) {
  const first = held()
  const models = scriptedModels([first.answer, ...answers])
  const agent = await startAgent(context, { models, ...parts })
  const runId = await agent.enqueue(saying("first"))
  await first.asked
  const runs: string[] = []
  const write = async (text: string, mode: QueueMode, more: Partial<TurnInput> = {}) => {
    const input = saying(text, { queue: rule(mode), ...more })
    await agent.store.write(async (inside) => {
      const id = systemIds.uuid()
      runs.push(id)
      inside.addJob(turnJob(id, input))
      keepToCap(agent.store, inside, input)
    })
  }
  return { agent, models, runId, first, write, runs }
}

const states = (agent: { store: { handle: { prepare(sql: string): { all(): unknown[] } } } }) =>
  (
    agent.store.handle.prepare("select state from job where lane_key = 'agent:main:main' order by id").all() as {
      state: string
    }[]
  ).map(({ state }) => state)

test("collect: what came meanwhile is one next turn, each message by itself, in order, and ends with it", async (context) => {
  const second = held()
  const { agent, models, write, first, runId, runs } = await atWork(context, [second.answer])
  for (const text of ["one", "two", "three"]) await write(text, "collect")
  first.give("done")
  await second.asked
  const prompt = promptOf(models.requests[1])
  assert.match(
    prompt,
    /3 messages came while you were at work[^]*Queued #1\n\none[^]*Queued #2\n\ntwo[^]*Queued #3\n\nthree$/,
  )
  assert.deepEqual(states(agent), ["done", "running", "ready", "ready"], "they wait until their turn has ended")
  second.give("all answered")
  await agent.settle(runId)
  assert.deepEqual(states(agent), ["done", "done", "done", "done"])
  assert.deepEqual(
    agent.replies().map(({ text }) => text),
    ["done", "all answered"],
  )
  const joined = await agent.settle(runs[1] as string)
  assert.deepEqual(JSON.parse(joined.result as string), { joined: runs[0] })
})

test("collect never mixes people, nor what stands behind a command with what stands before it", async (context) => {
  const { agent, models, write, first, runId } = await atWork(context, ["a", "b", "c"])
  await write("mine", "collect")
  await write("hers", "collect", { askedBy: { ...asker, id: "6" } })
  await write("mine again", "collect")
  first.give("done")
  await agent.settle(runId)
  assert.deepEqual(
    models.requests.slice(1).map((request) => promptOf(request)),
    ["mine", "hers", "mine again"],
  )
})

test("collect: one message with words of others makes the turn of all of them untrusted", async (context) => {
  const seen: boolean[] = []
  const look = smallTool("look", { gate: (_input, { trusted, tainted }) => void seen.push(trusted, tainted) })
  const { agent, write, first, runId, models } = await atWork(context, [[call("look")], "b"], { tools: [look] })
  await write("my own words", "collect")
  await write("STRANGE", "collect", { trusted: false, about: { forwardedFrom: "Eve" } })
  first.give("done")
  await agent.settle(runId)
  assert.match(promptOf(models.requests[1]), /Queued #2\n\n.*<untrusted-content[^]*STRANGE/s)
  assert.deepEqual(seen, [false, true])
})

test("followup: each message has a turn of its own, in order", async (context) => {
  const { agent, models, write, first, runId } = await atWork(context, ["a", "b"])
  for (const text of ["one", "two"]) await write(text, "followup")
  first.give("done")
  await agent.settle(runId)
  assert.deepEqual(
    models.requests.slice(1).map((request) => promptOf(request)),
    ["one", "two"],
  )
})

for (const mode of ["steer", "steer-backlog"] as const) {
  test(`${mode}: a message is shown after the tool call under way${mode === "steer" ? "" : ", and has its turn too"}`, async (context) => {
    const ran = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    const slow = smallTool("slow", {
      async run() {
        ran.resolve()
        await release.promise
        return { content: [{ type: "text", text: "slow result" }] }
      },
    })
    const models = scriptedModels([[call("slow")], "answer", "NO_REPLY"])
    const agent = await startAgent(context, { models, tools: [slow] })
    const runId = await agent.enqueue(saying("first"))
    await ran.promise
    const input = saying("and sugar", { queue: rule(mode) })
    await agent.store.write(async (write) => void write.addJob(turnJob(systemIds.uuid(), input)))
    release.resolve()
    await agent.settle(runId)
    const [, second, third] = models.requests
    assert.deepEqual(
      second?.messages.map(({ role }) => role),
      ["user", "assistant", "tool", "user"],
    )
    assert.match(promptOf(second), /at work on the above[^]*and sugar/)
    assert.equal(third === undefined, mode === "steer")
    if (third) assert.match(promptOf(third), /You were shown this[^]*and sugar/)
    assert.ok(states(agent).every((state) => state === "done"))
    const kept = agent.history().filter((message) => JSON.stringify(message).includes("and sugar"))
    assert.equal(kept.length, mode === "steer" ? 1 : 2, "it is part of the conversation")
  })
}

test("steer: words of others taint the turn from there on, and its transcript", async (context) => {
  const tainted: boolean[] = []
  const { promise: waits, resolve: ready } = Promise.withResolvers<void>()
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const look = smallTool("look", {
    gate: (_input, context) => void tainted.push(context.tainted),
    async run() {
      ready()
      await released
      return { content: [{ type: "text", text: "seen" }] }
    },
  })
  const models = scriptedModels([[call("look", {}, "1")], [call("look", {}, "2")], "answer"])
  const agent = await startAgent(context, { models, tools: [look] })
  const runId = await agent.enqueue(saying("first"))
  await waits
  const forwarded = saying("EVIL", { trusted: false, about: { forwardedFrom: "Eve" }, queue: rule("steer") })
  await agent.store.write(async (write) => void write.addJob(turnJob(systemIds.uuid(), forwarded)))
  release()
  await agent.settle(runId)
  assert.deepEqual(tainted, [false, true])
  assert.match(promptOf(models.requests[1]), /<untrusted-content[^]*EVIL/)
  const rows = agent.store.handle.prepare("select trusted, origin from message order by id").all()
  assert.deepEqual(
    rows.map((row) => row["trusted"]),
    [1, 1, 1, 0, 0, 0, 0],
  )
  assert.equal(rows[3]?.["origin"], "owner", "it is its sender's message, whoever wrote the words")
})

test("steer: a stop behind it makes no tool call again", async (context) => {
  const ran = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  let runs = 0
  const slow = smallTool("slow", {
    repeatable: () => true,
    async run() {
      runs += 1
      ran.resolve()
      await release.promise
      return { content: [{ type: "text", text: "slow result" }] }
    },
  })
  const next = held()
  const earlier = await startAgent(context, { models: scriptedModels([[call("slow")], next.answer]), tools: [slow] })
  const runId = await earlier.enqueue(saying("first"))
  await ran.promise
  await earlier.enqueue(saying("and sugar", { queue: rule("steer") }))
  release.resolve()
  await next.asked
  await earlier.stop()
  const models = scriptedModels(["answer"])
  const agent = await startAgent(context, { models, tools: [slow], folder: earlier.folder })
  assert.equal((await agent.settle(runId)).state, "done")
  assert.deepEqual(states(agent), ["done", "done"])
  assert.equal(runs, 1)
  assert.deepEqual(
    models.requests.map(({ messages }) => messages.map(({ role }) => role)),
    [["user", "assistant", "tool", "user"]],
  )
})

test("steer: without a further step it gets a turn; of a turn that fails it gets one too", async (context) => {
  const { agent, models, write, first, runId } = await atWork(context, ["second"])
  await write("late", "steer")
  first.give("done")
  await agent.settle(runId)
  assert.equal(promptOf(models.requests[1]), "late")

  const { promise: waits, resolve: ready } = Promise.withResolvers<void>()
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const slow = smallTool("slow", {
    async run() {
      ready()
      await released
      return { content: [] }
    },
  })
  const fails = () => Promise.reject(new AppError("model-failed", "down"))
  const failing = scriptedModels([[call("slow")], fails, "answered by itself"])
  const other = await startAgent(context, { models: failing, tools: [slow], timeoutSeconds: 60 })
  const failed = await other.enqueue(saying("first"))
  await waits
  await other.store.write(
    async (inside) => void inside.addJob(turnJob(systemIds.uuid(), saying("steered", { queue: rule("steer") }))),
  )
  release()
  await other.settle(failed)
  assert.deepEqual(states(other), ["dead", "done"])
  assert.match(promptOf(failing.requests[1]), /steered/)
  assert.equal(promptOf(failing.requests[2]), "steered")
})

test("interrupt: the turn under way is stopped, nothing of it is lost, and all that waits is answered at once", async (context) => {
  const { agent, models, write, runId } = await atWork(context, ["new answer"])
  await write("waited before", "collect")
  await write("no, this", "interrupt")
  await agent.settle(runId)
  assert.match(promptOf(models.requests[1]), /Queued #1\n\nwaited before[^]*Queued #2\n\nno, this/)
  assert.deepEqual(states(agent), ["cancelled", "done", "done"])
  assert.deepEqual(
    agent.replies().map(({ text }) => text),
    ["new answer"],
  )
  const past = JSON.stringify(models.requests[1]?.messages)
  assert.match(past, /first[^]*wrote something newer/)
})

for (const [mode, state] of [
  ["interrupt", "cancelled"],
  ["steer", "done"],
] as const) {
  test(`${mode}: a turn hears what is said in the chat that its own has become meanwhile`, async (context) => {
    const ran = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    const slow = smallTool("slow", {
      async run() {
        ran.resolve()
        await release.promise
        return { content: [{ type: "text", text: "slow result" }] }
      },
    })
    const models = scriptedModels([[call("slow")], "answer"])
    const agent = await startAgent(context, { models, tools: [slow] })
    const runId = await agent.enqueue(saying("first", { route: { ...chat, chatId: "-1" } }))
    await ran.promise
    const moved = { sessionKey: "agent:main:moved", route: { ...chat, chatId: "-2" } }
    const change = {
      payload: (payload: Json) => ({ ...(payload as JsonObject), ...moved }),
      sender: (sender: string) => sender.replaceAll(JSON.stringify("-1"), JSON.stringify("-2")),
    }
    await agent.store.write(async (write) => {
      moveSession(write, main, moved.sessionKey)
      moveJobs(write, main, moved.sessionKey, change)
    })
    const said = turnJob(systemIds.uuid(), saying("said in the new chat", { queue: rule(mode), ...moved }))
    await agent.store.write(async (write) => void write.addJob(said))
    release.resolve()
    assert.equal((await agent.settle(runId)).state, state)
    assert.match(promptOf(models.requests[1]), /said in the new chat/)
  })
}

test("interrupt: a disk that does not say what waits fails nobody who writes, and what came has its turn", async (context) => {
  const { agent, models, write, runId, first, runs } = await atWork(context, ["new answer"])
  const { prepare } = agent.store.handle
  let isRead = false
  agent.store.handle.prepare = (sql) => {
    if (!/^select \* from job where lane_key = \? and sender is|^select (id|lane_key, sender) from job/.test(sql))
      return prepare(sql)
    isRead = true
    throw new AppError("storage-failed", "input/output error")
  }
  await write("no, this", "interrupt")
  agent.store.handle.prepare = prepare
  assert.ok(isRead)
  first.give("old answer")
  await agent.settle(runId)
  assert.equal((await agent.settle(runs[0] ?? "")).state, "done")
  assert.equal(promptOf(models.requests[1]), "no, this")
})

test("the cap: the oldest go, a line of each is told to the next turn; or the newest is refused", async (context) => {
  for (const drop of ["summarize", "old", "new"] as const) {
    const { agent, models, write, first, runId } = await atWork(context, ["answer"])
    for (const n of [1, 2, 3, 4]) await write(`message ${n}`, "collect", { queue: rule("collect", { cap: 2, drop }) })
    first.give("done")
    await agent.settle(runId)
    const prompt = promptOf(models.requests[1])
    const shown = drop === "new" ? ["message 1", "message 2"] : ["message 3", "message 4"]
    for (const text of shown) assert.match(prompt, new RegExp(`Queued #\\d\\n\\n${text}`))
    assert.match(prompt, /\[2 messages were dropped because too many waited/)
    assert.equal(/- message 1\n- message 2/.test(prompt), drop === "summarize")
    assert.match(droppedText(rule("collect", { cap: 2, drop })), /^More than 2 messages/)
    assert.equal(states(agent).filter((state) => state === "cancelled").length, 2)
  }
})

test("what was dropped is told beside what a message answers", async (context) => {
  const { agent, models, write, first, runId } = await atWork(context, ["answer"])
  const queue = rule("followup", { cap: 1, drop: "summarize" })
  await write("gone", "followup", { queue })
  await write("kept", "followup", { queue, context: [{ label: "In reply to:", text: "the plan", isOwn: true }] })
  first.give("done")
  await agent.settle(runId)
  assert.match(promptOf(models.requests[1]), /1 message was dropped[^]*- gone[^]*In reply to:[^]*the plan[^]*\n\nkept$/)
})

for (const mode of ["collect", "steer"] as const) {
  test(`${mode}: whoever was shut out meanwhile is not heard, and keeps nobody else from it`, async (context) => {
    const ran = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    const slow = smallTool("slow", {
      async run() {
        ran.resolve()
        await release.promise
        return { content: [{ type: "text", text: "slow result" }] }
      },
    })
    const models = scriptedModels([[call("slow")], "one", "two"])
    const isHeard = ({ text }: TurnInput) => text !== "of one shut out"
    const agent = await startAgent(context, { models, tools: [slow], isHeard })
    const runId = await agent.enqueue(saying("first"))
    await ran.promise
    for (const text of ["before", "of one shut out", "behind"]) await agent.enqueue(saying(text, { queue: rule(mode) }))
    release.resolve()
    await agent.settle(runId)
    assert.deepEqual(states(agent), ["done", "done", "cancelled", "done"])
    const shown = JSON.stringify(models.requests.map(({ messages }) => messages))
    assert.match(shown, /before[^]*behind/)
    assert.doesNotMatch(shown, /shut out/)
    const row = agent.store.handle.prepare("select error from job where state = 'cancelled'").get()
    assert.equal(row?.["error"], "its sender is not let in any more")
  })
}

test("messages that are answered together are trusted, and lead to sites, as all of them are", () => {
  const both = collectInputs([
    saying("one", { sites: ["https://a.example"], mentioned: true }),
    saying("two", { sites: ["https://b.example", "https://a.example"] }),
  ])
  assert.deepEqual(
    [both.text, both.trusted, both.sites, both.mentioned, both.wrap],
    ["one\n\ntwo", true, ["https://a.example", "https://b.example"], true, undefined],
  )
  const mixed = collectInputs([saying("one"), saying("two", { trusted: false, wrap: false })])
  assert.deepEqual([mixed.trusted, mixed.sites, mixed.mentioned, mixed.wrap], [false, undefined, undefined, false])
  const wrapped = collectInputs([saying("one", { trusted: false }), saying("two", { trusted: false, wrap: false })])
  assert.deepEqual([wrapped.trusted, wrapped.wrap], [false, undefined])
})

test("messages of one person are found among thousands of others' without reading those", async (context) => {
  const { agent } = await atWork(context, [])
  const { store } = agent
  const others = Array.from({ length: 3_000 }, (_, n) => saying(`${n}`, { askedBy: { ...asker, id: `${n + 100}` } }))
  const mine = (text: string, more: Partial<TurnInput> = {}) => saying(text, { queue: rule("collect"), ...more })
  await store.write(async (write) => {
    for (const input of others) write.addJob(turnJob(systemIds.uuid(), input))
    for (const text of ["one", "two"]) write.addJob(turnJob(systemIds.uuid(), mine(text)))
    // As a program wrote it that knew of no senders, and as nobody's message of a chat.
    const { sender: _unset, ...older } = turnJob(systemIds.uuid(), mine("three"))
    write.addJob(older)
    write.addJob(turnJob(systemIds.uuid(), mine("of a schedule", { purpose: "schedule" })))
    write.addJob({ runId: systemIds.uuid(), kind: "command", laneKey: "agent:main:main", payload: {} })
    write.addJob(turnJob(systemIds.uuid(), mine("behind a command")))
  })
  const read: string[] = []
  const { prepare } = store.handle
  store.handle.prepare = (sql) => {
    read.push(sql)
    return prepare(sql)
  }
  const sender = senderKey(mine("x"))
  const texts = (passesOthers: boolean) =>
    waitingOf(store, "agent:main:main", { sender, after: 1, passesOthers }).map(({ inputs }) => inputs[0]?.text)
  assert.deepEqual(texts(true), ["one", "two", "three"])
  assert.deepEqual(texts(false), [])
  assert.equal(countOfSender(store, "agent:main:main", sender), 5, "with what is behind the command, and that itself")
  for (const sql of new Set(read)) {
    const plan = store.handle.raw.prepare(`explain query plan ${sql}`).all() as { detail: string }[]
    assert.match(
      plan.map(({ detail }) => detail).join(),
      /^SEARCH job USING (COVERING )?INDEX job_(waiting|order|others) \(lane_key=/,
    )
  }
})
