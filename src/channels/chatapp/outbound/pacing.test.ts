// Pacing: against a clock for the rules, against the emulator's flood limits for the promise.
import assert from "node:assert/strict"
import { afterEach, describe, test } from "node:test"
import { startEmulator } from "../../../../emulator/index.ts"
import { systemClock } from "../../../kernel/index.ts"
import type { Route } from "../../../sessions/route.ts"
import { type Bench, startBench } from "../test-bench/bench.ts"
import { SendPacer } from "./pacing.ts"

function pacerAt() {
  const time = { now: 1_000_000 }
  const pacer = new SendPacer({ ...systemClock, now: () => time.now, monotonic: () => time.now })
  return { time, pacer }
}

describe("a chat", () => {
  test("may burst, then gets about one message a second", () => {
    const { time, pacer } = pacerAt()
    let sent = 0
    for (const end = time.now + 20_000; time.now < end; time.now += 50) if (pacer.take("1").kind === "go") sent += 1
    assert.ok(sent >= 78 && sent <= 80, `${sent}`)
  })

  test("that is a group stays below twenty a minute", () => {
    const { time, pacer } = pacerAt()
    let sent = 0
    for (const end = time.now + 60_000; time.now < end; time.now += 100)
      if (pacer.take("-1001").kind === "go") sent += 1
    assert.ok(sent >= 19 && sent <= 20, `${sent}`)
  })

  test("that was refused waits as long as it was told, others do not, and gets no burst for a while", () => {
    const { time, pacer } = pacerAt()
    pacer.take("1")
    pacer.refused("1", 5_000)
    assert.deepEqual(pacer.take("1"), { kind: "chat", delayMs: 5_000 })
    assert.equal(pacer.take("2").kind, "go")
    time.now += 15_000
    assert.equal(pacer.take("1").kind, "go")
    assert.equal(pacer.take("1").kind, "chat")
  })
})

describe("an account", () => {
  test("waits when several chats are refused at once", () => {
    const { time, pacer } = pacerAt()
    pacer.take("1")
    pacer.take("2")
    pacer.refused("1", 3_000)
    pacer.refused("2", 3_000)
    assert.equal(pacer.take("3").kind, "go")
    pacer.refused("3", 3_000)
    assert.deepEqual(pacer.take("4"), { kind: "account", delayMs: 3_000 })
    time.now += 3_000
    assert.equal(pacer.take("4").kind, "go")
  })
})

describe("with the platform's limits on", () => {
  let bench: Bench
  afterEach(() => bench.end())

  const to = (chat: number): Route => ({
    channel: "chatapp",
    account: "default",
    chatId: `${chat}`,
    chatKind: "private",
  })
  const begin = async (people: number) => {
    bench = await startBench({
      emulator: await startEmulator({ seed: 5, limits: {} }),
      chatapp: { dmPolicy: "disabled" },
    })
    for (let id = 1; id <= people; id += 1) {
      bench.emulator.control.addUser({ id })
      bench.emulator.control.sendText({ userId: id, text: "/start" })
    }
  }
  const put = (messages: [chat: number, text: string][]) =>
    bench.store.write(async (write) => {
      for (const [chat, text] of messages) {
        for (const row of bench.channel.sender.plan(to(chat), { text, media: [] })) write.addOutbox(row)
      }
    })
  const allSent = () => bench.outbox().every((row) => row.state === "sent")
  const calls = () => bench.emulator.control.calls({ method: "sendMessage" })
  const refused = () => calls().filter((call) => call.status === 429)

  test("a busy chat delays no other, and learns its own pace", async () => {
    await begin(3)
    await put([...Array.from({ length: 7 }, (_, n): [number, string] => [1, `busy ${n}`]), [2, "two"], [3, "three"]])
    await bench.until(
      () =>
        bench
          .outbox()
          .slice(7)
          .every((row) => row.state === "sent"),
      "the others",
    )
    assert.ok(
      bench.outbox().some((row) => row.state !== "sent"),
      "the busy chat still waits",
    )
    await bench.until(allSent, "all")
    const texts = bench.emulator.control.messages({ chatId: 1 }).filter((message) => message.from?.is_bot)
    assert.deepEqual(
      texts.map((message) => message.text),
      Array.from({ length: 7 }, (_, n) => `busy ${n}`),
    )
    assert.ok(
      refused().every((call) => String(call.parameters["chat_id"]) === "1"),
      "no other chat was refused",
    )
    assert.ok(refused().length <= 1, "asked to wait once, it kept to it")
  })

  test("many chats together get thirty a second, and nothing is refused", async () => {
    await begin(140)
    await put(Array.from({ length: 140 }, (_, n): [number, string] => [n + 1, "hello"]))
    await bench.until(allSent, "all")
    const times = calls()
      .map((call) => call.startedAt)
      .toSorted((a, b) => a - b)
    // The burst at the start aside.
    const [first = 0, last = 0] = [times[25], times.at(-1)]
    const rate = (times.length - 26) / ((last - first) / 1000)
    assert.deepEqual(refused(), [])
    assert.ok(rate > 15 && rate < 31.5, `${rate.toFixed(1)} a second`)
  })
})

const textsFor = (chat: number) => (chat % 20 === 0 ? ["a", "b"] : ["a"])

describe("a hundred chats that the platform refuses now and then", () => {
  let bench: Bench
  afterEach(() => bench.end())

  test("each get every message once and in order", async () => {
    bench = await startBench({ chatapp: { dmPolicy: "disabled" } })
    for (let id = 1; id <= 100; id += 1) {
      bench.emulator.control.addUser({ id })
      bench.emulator.control.sendText({ userId: id, text: "/start" })
      if (id % 20 === 0) bench.emulator.control.fault({ kind: "429", method: "sendMessage", chatId: id, retryAfter: 1 })
    }
    await bench.store.write(async (write) => {
      for (let id = 1; id <= 100; id += 1) {
        const route: Route = { channel: "chatapp", account: "default", chatId: `${id}`, chatKind: "private" }
        for (const text of textsFor(id)) {
          for (const row of bench.channel.sender.plan(route, { text, media: [] })) write.addOutbox(row)
        }
      }
    })
    await bench.until(() => bench.outbox().every((row) => row.state === "sent"), "all")
    for (let id = 1; id <= 100; id += 1) {
      const texts = bench.emulator.control.messages({ chatId: id }).filter((message) => message.from?.is_bot)
      assert.deepEqual(
        texts.map((message) => message.text),
        textsFor(id),
      )
    }
  })
})
