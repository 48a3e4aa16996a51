// No reply waits for decoration: whatever of it hangs, the reply arrives meanwhile, also where many chats have some.
import assert from "node:assert/strict"
import { afterEach, describe, test } from "node:test"
import type { TurnInput } from "../../../agent/turn-input.ts"
import { type Clock, systemClock } from "../../../kernel/index.ts"
import type { Route } from "../../../sessions/route.ts"
import type { OutboxRow } from "../../../store/index.ts"
import { type Bench, startBench } from "../test-bench/bench.ts"
import { DecorationPlaces, judgeDecoration, reactRow } from "./decoration.ts"
import { type ActionContext, sendAction } from "./action.ts"
import { callTimeoutMs } from "./limits.ts"

const person = 4242
let bench: Bench
afterEach(() => bench?.end())

async function begin(config: object = {}, chatapp: object = {}): Promise<Route & { messageId: string }> {
  bench = await startBench({ chatapp: { allowFrom: [person], draftIn: "private", ...chatapp }, config: { ...config } })
  const { control } = bench.emulator
  control.addUser({ id: person })
  const { message_id: id } = control.sendText({ userId: person, text: "hello" })
  await bench.until(() => bench.jobs().length === 1, "the message")
  await bench.until(() => bench.logLines.some((line) => line.includes("bot identified")), "the bot's name")
  return { channel: "chatapp", account: "default", chatId: `${person}`, chatKind: "private", messageId: `${id}` }
}

const add = (...rows: Parameters<Parameters<Parameters<Bench["store"]["write"]>[0]>[0]["addOutbox"]>[0][]) =>
  bench.store.write(async (write) => rows.map((row) => write.addOutbox(row)))
const reply = (route: Route, text: string) => bench.channel.sender.plan(route, { text, media: [] })
const states = (kind: string) =>
  bench
    .outbox()
    .filter((row) => row.kind === kind)
    .map((row) => row.state)
const hang = (method: string) => bench.emulator.control.fault({ kind: "hang", method, times: 0 })
const begun = (method: string) => bench.emulator.control.waitForCall({ method, phase: "started" })

describe("a reply", () => {
  const decorating = ["sendChatAction", "sendMessageDraft", "setMessageReaction"]
  for (const methods of [...decorating.map((method) => [method]), ["answerCallbackQuery", "setMyCommands", "getMe"]]) {
    test(`arrives while ${methods.join(", ")} hangs`, async () => {
      const route = await begin({ messages: { ackReactionScope: "all", removeAckAfterReply: true } })
      for (const method of methods) hang(method)
      const input = { route, purpose: "chat", agentId: "main", sessionKey: "s" } as TurnInput
      const observer = bench.channel.observe(input, "run", { reasoning: "off" })
      observer.onDelta?.({ kind: "text", text: "one" })
      if (methods.length === 1) await begun(methods[0] as string)
      observer.end()
      await add(...reply(route, "one"), ...(bench.channel.sender.afterReply?.(input, []) ?? []))
      await bench.emulator.control.waitForMessage({ chatId: person, from: "bot", match: "one" })
      await add(...reply(route, "two"))
      await bench.emulator.control.waitForMessage({ chatId: person, from: "bot", match: "two" })
      const left = bench.emulator.control.calls({ method: "setMessageReaction" }).filter((call) => !call.finishedAt)
      if (methods[0] === "setMessageReaction") assert.equal(left.length, 1, "it still hangs")
    })
  }

  test("arrives while reactions of more chats hang than the outbox has places", async () => {
    const route = await begin()
    hang("setMessageReaction")
    const chats = Array.from({ length: 60 }, (_, index) => ({ ...route, chatId: String(5000 + index) }))
    await add(...chats.map((chat) => reactRow(chat, { messageId: "1", emoji: "👍" })))
    await begun("setMessageReaction")
    await add(...reply(route, "here"))
    await bench.emulator.control.waitForMessage({ chatId: person, from: "bot", match: "here" })
    const hanging = bench.emulator.control.calls({ method: "setMessageReaction" })
    assert.ok(hanging.length <= 4, `${hanging.length} reactions under way`)
  })

  test("is not held back by a 429 for a reaction, nor is a reaction by its own chat's 429", async () => {
    const route = await begin()
    bench.emulator.control.fault({ kind: "429", method: "setMessageReaction", retryAfter: 600, times: 0 })
    await add(reactRow(route, { messageId: route.messageId, emoji: "👍" }))
    await bench.until(() => states("react")[0] === "dropped", "the reaction is given up")
    await add(...reply(route, "here"))
    await bench.until(() => states("text")[0] === "sent", "the reply")
  })
})

describe("decoration", () => {
  test("that fails is given up quietly and counted", async () => {
    const route = await begin()
    const dropped = async () => {
      const [status] = await bench.channel.status({ probe: false, signal: AbortSignal.timeout(5_000) })
      return status?.counters["decoration-dropped"]
    }
    assert.equal(await dropped(), undefined, "what there was none of is not told")
    bench.emulator.control.fault({ kind: "status", status: 400, method: "setMessageReaction", times: 0 })
    await add(reactRow(route, { messageId: route.messageId, emoji: "👍" }))
    await bench.until(() => states("react")[0] === "dropped", "the end of it")
    const loud = bench.logLines.filter((line) => (JSON.parse(line) as { level: number }).level >= 40)
    assert.deepEqual(
      loud.filter((line) => line.includes("delivery")),
      [],
    )
    assert.equal(await dropped(), 1)
  })

  test("that belongs behind a reply waits until that has gone, however long it takes, and others do not", async () => {
    await begin()
    let now = 1_000_000
    const clock: Clock = { ...systemClock, now: () => now, monotonic: () => now }
    const places = new DecorationPlaces({ store: bench.store, clock })
    const route: Route = { channel: "chatapp", account: "gone", chatId: "7", chatKind: "private" }
    const [replyId, reactId, otherId] = await add(
      ...reply(route, "late").map((row) => ({ ...row, runAt: 4e12 })),
      reactRow(route, { messageId: "1", emoji: null, afterReply: true }),
      reactRow(route, { messageId: "1", emoji: "👍" }),
    )
    const row = (id: number | undefined) =>
      ({ ...bench.outbox().find((each) => each.id === id), created_at: now }) as OutboxRow
    const removal = row(reactId)
    assert.equal(places.take(row(otherId)).kind, "go")
    assert.deepEqual(places.take(removal), { kind: "chat", delayMs: 100 })
    now += 3_600_000
    assert.deepEqual(places.take(removal), { kind: "chat", delayMs: 30_000 })
    const becomes = (state: string) =>
      bench.store.handle.prepare("update outbox set state = ? where id = ?").run(state, replyId ?? 0)
    becomes("sending")
    assert.equal(places.take(removal).kind, "chat", "it is on its way")
    await add(...reply(route, "of the next turn").map((row) => ({ ...row, runAt: 4e12 })))
    becomes("sent")
    assert.equal(places.take(removal).kind, "go")
  })

  test("has few places, and a pause of its own", () => {
    let now = 0
    const clock: Clock = { ...systemClock, now: () => now, monotonic: () => now }
    const places = new DecorationPlaces({ store: {} as never, clock })
    const row = (id: number) => ({ id, account: "a", lane_key: "l", payload: "{}", created_at: 0 }) as OutboxRow
    assert.deepEqual(
      [1, 2, 3, 4].map((id) => places.take(row(id)).kind),
      ["go", "go", "go", "go"],
    )
    assert.equal(places.take(row(5)).kind, "chat")
    assert.equal(places.take(row(4)).kind, "go", "what was not sent has its place still")
    places.ended(row(2))
    assert.equal(places.take(row(5)).kind, "go")
    places.pause("a", 1e9)
    assert.deepEqual(places.take(row(6)), { kind: "chat", delayMs: 60_000 })
    places.ended(row(1))
    assert.equal(places.take({ ...row(7), account: "b" }).kind, "go", "another account has its own")
    places.ended(row(7))
    now += 60_000
    assert.equal(places.take(row(6)).kind, "go")
  })

  test("of an account that is switched off meanwhile keeps no place", async () => {
    await begin()
    const { sender } = bench.channel
    const row = (id: number) =>
      ({ id, kind: "react", account: "default", lane_key: "l", payload: "{}", created_at: 0 }) as OutboxRow
    const rows = [1, 2, 3, 4].map(row)
    assert.deepEqual(new Set(rows.map((each) => sender.pace?.(each).kind)), new Set(["go"]))
    const apply = async (chatapp: object) => {
      bench.setConfig({ allowFrom: [person], ...chatapp })
      await bench.channel.apply()
    }
    await apply({ enabled: false })
    const { signal } = new AbortController()
    for (const each of rows) assert.equal((await sender.send(each, signal, assert.fail)).kind, "retry")
    await apply({})
    assert.equal(sender.pace?.(row(5)).kind, "go")
  })

  test("is tried a few times at most, and never after a long pause", () => {
    const row = (attempts: number) => ({ attempts }) as OutboxRow
    const again = { kind: "retry" as const, delayMs: 5, error: "x" }
    assert.deepEqual(judgeDecoration(again, row(1)), { ...again, delayMs: 1_000 })
    assert.equal(judgeDecoration(again, row(3)).kind, "dropped")
    assert.equal(judgeDecoration({ ...again, delayMs: 600_000 }, row(1)).kind, "dropped")
    assert.equal(judgeDecoration({ kind: "rejected", error: "x" }, row(1)).kind, "dropped")
  })
})

test("a call ends after a minute, an upload later by its size, and none after what the configuration says", () => {
  assert.equal(callTimeoutMs(500), 60_000)
  assert.equal(callTimeoutMs(20), 20_000)
  assert.equal(callTimeoutMs(500, 5_000_000), 160_000)
  assert.equal(callTimeoutMs(500, 500_000_000), 500_000)
})

test("what is done to a message waits for handles, and for a token that is taken, however often it was tried", async () => {
  const outcome = async (kind: "edit" | "delete" | "react", failure: object) => {
    const settings = { timeoutSeconds: 20, retry: { attempts: 3, minDelayMs: 1, maxDelayMs: 1, jitter: 0 } }
    const client = { call: async () => ({ ok: false, failure }) }
    const context = { client, settings, begin: () => undefined, onFlood: assert.fail } as unknown as ActionContext
    const payload = JSON.stringify({ messageId: "1", text: "x", emoji: null })
    const { error: _words, ...rest } = {
      error: "",
      ...(await sendAction({ chat_id: "7", payload, attempts: 9 } as OutboxRow, kind, context)),
    }
    return rest
  }
  const refused = (code: number, description: string) => ({ kind: "refused", code, description })
  for (const kind of ["edit", "delete", "react"] as const) {
    const without = { kind: "unsent", isOutOfHandles: true, reason: "EMFILE" }
    assert.deepEqual(await outcome(kind, without), { kind: "retry", delayMs: 2_000 })
    assert.deepEqual(await outcome(kind, refused(401, "Unauthorized")), { kind: "retry", delayMs: 300_000 })
    assert.equal((await outcome(kind, refused(500, "Internal Server Error"))).kind, "rejected")
  }
  const gone = refused(400, "Bad Request: message to react not found")
  assert.equal((await outcome("react", gone)).kind, "sent", "where the message is gone, so is the reaction")
})

test("a reaction that is slow is given up soon, an edit and a deletion have the time of any call; of a flood all are told", async () => {
  const [timeouts, floods]: number[][] = [[], []]
  const failure = { kind: "refused", code: 429, description: "Too Many Requests", retryAfterSeconds: 3 }
  const call = async (_method: string, _payload: object, { timeoutMs }: { timeoutMs: number }) => {
    timeouts?.push(timeoutMs)
    return { ok: false, failure }
  }
  const settings = { timeoutSeconds: 20 }
  const context = {
    client: { call },
    settings,
    begin: () => undefined,
    onFlood: (ms: number) => floods?.push(ms),
  } as unknown as ActionContext
  const row = { chat_id: "7", payload: JSON.stringify({ messageId: "1", text: "x", emoji: null }) } as OutboxRow
  for (const kind of ["react", "edit", "delete"] as const) await sendAction(row, kind, context)
  settings.timeoutSeconds = 2
  await sendAction(row, "react", context)
  assert.deepEqual(timeouts, [5_000, 20_000, 20_000, 2_000])
  assert.deepEqual(floods, [3_000, 3_000, 3_000, 3_000])
})
