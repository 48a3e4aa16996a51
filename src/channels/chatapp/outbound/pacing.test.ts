// Pacing: against a clock for the rules, against the emulator's flood limits for the promise.
import assert from "node:assert/strict"
import { afterEach, describe, test } from "node:test"
import { Clock } from "../../../../emulator/clock.ts"
import { Flood, type FloodLimits, defaultFloodLimits } from "../../../../emulator/flood.ts"
import { startEmulator } from "../../../../emulator/index.ts"
import { Random } from "../../../../emulator/random.ts"
import { systemClock } from "../../../kernel/index.ts"
import type { Route } from "../../../sessions/route.ts"
import type { OutboxRow } from "../../../store/index.ts"
import { type Bench, startBench } from "../test-bench/bench.ts"
import { SendPacer } from "./pacing.ts"
import { messageCount } from "./send.ts"

function pacerAt() {
  const time = { now: 1_000_000 }
  const pacer = new SendPacer({ ...systemClock, now: () => time.now, monotonic: () => time.now })
  let id = 0
  /** Sends at once, if it may. */
  const send = (chatId: string) => {
    id += 1
    const pace = pacer.take({ id, chatId, messages: 1 })
    if (pace.kind === "go") pacer.ended(id)
    return pace
  }
  /** One that the platform refuses. */
  const meetFlood = (chatId: string, retryAfterMs: number) => {
    id += 1
    assert.equal(pacer.take({ id, chatId, messages: 1 }).kind, "go")
    pacer.refused(id, retryAfterMs)
    pacer.ended(id)
  }
  const sentWithin = (chatId: string, ms: number) => {
    let sent = 0
    for (const end = time.now + ms; time.now < end; time.now += 50) if (send(chatId).kind === "go") sent += 1
    return sent
  }
  return { time, pacer, send, meetFlood, sentWithin }
}

describe("a chat", () => {
  test("is held back for whole milliseconds, which the store can keep", () => {
    const { time, send, meetFlood } = pacerAt()
    time.now += 0.25
    meetFlood("1", 1_000)
    time.now += 0.4
    assert.deepEqual(send("1"), { kind: "chat", delayMs: 1_000 })
  })

  test("may burst, then gets about one message a second", () => {
    const sent = pacerAt().sentWithin("1", 20_000)
    assert.ok(sent >= 78 && sent <= 80, `${sent}`)
  })

  test("that is a group stays below twenty a minute", () => {
    const sent = pacerAt().sentWithin("-1001", 60_000)
    assert.ok(sent >= 19 && sent <= 20, `${sent}`)
  })

  test("that is named as one is paced as a group; a file in an album counts, a reaction does not", () => {
    const sent = pacerAt().sentWithin("@crew", 60_000)
    assert.ok(sent >= 19 && sent <= 20, `${sent}`)
    const counted = (kind: string, payload: object = {}) =>
      messageCount({ kind, payload: JSON.stringify(payload) } as OutboxRow)
    assert.deepEqual(
      [counted("text"), counted("edit"), counted("delete"), counted("react"), counted("album", { items: [1, 2, 3] })],
      [1, 1, 0, 0, 3],
    )
    // Its words went alone.
    assert.equal(counted("album", { text: "x" }), 1)
    const { pacer } = pacerAt()
    assert.equal(pacer.take({ id: 1, chatId: "-1001", messages: 8 }).kind, "go")
    assert.deepEqual(pacer.take({ id: 2, chatId: "-1001", messages: 1 }), { kind: "chat", delayMs: 5_000 })
  })

  test("that was refused waits as long as it was told, others do not, and gets no burst for a while", () => {
    const { time, send, meetFlood } = pacerAt()
    meetFlood("1", 5_000)
    assert.deepEqual(send("1"), { kind: "chat", delayMs: 5_000 })
    assert.equal(send("2").kind, "go")
    time.now += 5_000
    assert.equal(send("1").kind, "go")
    assert.equal(send("1").kind, "chat")
    time.now += 15_000
    assert.equal(send("1").kind, "go")
    assert.equal(send("1").kind, "chat")
  })
})

describe("an account", () => {
  test("waits when several chats are refused at once", () => {
    const { time, send, meetFlood } = pacerAt()
    meetFlood("1", 3_000)
    meetFlood("2", 3_000)
    assert.equal(send("3").kind, "go")
    meetFlood("4", 3_000)
    assert.deepEqual(send("5"), { kind: "account", delayMs: 3_000 })
    time.now += 3_000
    assert.equal(send("5").kind, "go")
  })

  test("does not wait for one chat that is refused again and again, nor for several that were long after each other", () => {
    const { time, send, meetFlood } = pacerAt()
    for (let again = 0; again < 3; again += 1) {
      meetFlood("1", 100)
      time.now += 200
    }
    assert.equal(send("9").kind, "go")
    for (const chatId of ["2", "3", "4"]) {
      meetFlood(chatId, 3_000)
      time.now += 1_000
    }
    assert.equal(send("9").kind, "go")
  })

  test("gives a place back that was taken and never used", () => {
    const { pacer, send } = pacerAt()
    for (let again = 0; again < 100; again += 1)
      assert.equal(pacer.take({ id: -1, chatId: "7", messages: 1 }).kind, "go")
    assert.equal(send("7").kind, "go")
  })

  /** Sends as fast as the pacer lets it; each call takes `latencyMs`, and arrives at any time within. */
  function race(options: {
    seconds: number
    latencyMs: (random: Random) => number
    stallMs: (random: Random) => number
  }) {
    const { time, pacer } = pacerAt()
    const random = new Random(11)
    const flood = new Flood({ clock: new Clock({ now: () => time.now }), limits: defaultFloodLimits })
    const events: { at: number; run: () => void }[] = []
    const end = time.now + options.seconds * 1000
    let arrived = 0
    let id = 0
    const begin = () => {
      for (;;) {
        id += 1
        const call = { id, chatId: `${id}`, messages: 1 }
        const pace = pacer.take(call)
        if (pace.kind !== "go")
          return void events.push({ at: time.now + pace.delayMs + options.stallMs(random), run: begin })
        const takes = options.latencyMs(random)
        const arrivesAt = time.now + takes * random.fraction()
        events.push({ at: arrivesAt, run: () => (flood.countMessage(call.id, true), (arrived += 1)) })
        events.push({ at: time.now + takes, run: () => pacer.ended(call.id) })
      }
    }
    begin()
    for (;;) {
      events.sort((a, b) => a.at - b.at)
      const next = events.shift()
      if (!next || next.at > end) return arrived / options.seconds
      time.now = next.at
      next.run()
    }
  }

  test("gets thirty messages a second through within 5 %, and none is refused", () => {
    const rate = race({ seconds: 60, latencyMs: (random) => 100 * random.fraction(), stallMs: () => 0 })
    assert.ok(rate > 28.5 && rate < 30.5, `${rate} a second`)
  })

  test("meets no limit however late its calls arrive and its timers fire", () => {
    const latencyMs = (random: Random) => (random.fraction() < 0.9 ? 300 : 5_000) * random.fraction()
    const stallMs = (random: Random) => (random.fraction() < 0.9 ? 0 : 3_000)
    assert.ok(race({ seconds: 120, latencyMs, stallMs }) > 0)
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
  const begin = async (people: number, limits: Partial<FloodLimits> = {}) => {
    bench = await startBench({
      emulator: await startEmulator({ seed: 5, limits }),
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
    await begin(3, { privateChat: { burst: 2, perSecond: 1 } })
    const busy = Array.from({ length: 4 }, (_, n): [number, string] => [1, `busy ${n}`])
    await put([...busy, [2, "two"], [3, "three"]])
    const others = () => bench.outbox().slice(busy.length)
    await bench.until(() => others().every((row) => row.state === "sent"), "the others")
    assert.notEqual(bench.outbox()[busy.length - 1]?.state, "sent", "the busy chat still waits")
    await bench.until(allSent, "all")
    const texts = bench.emulator.control.messages({ chatId: 1 }).filter((message) => message.from?.is_bot)
    assert.deepEqual(
      texts.map((message) => message.text),
      busy.map(([, text]) => text),
    )
    const asked = refused().map((call) => String(call.parameters["chat_id"]))
    assert.deepEqual(asked, ["1"], "asked to wait once, it kept to it, and no other chat was refused")
  })

  test("what is refused for another reason leaves its chat the pace that it had", async () => {
    await begin(1)
    const { control } = bench.emulator
    const group = control.addChat({ type: "supergroup", members: [1] })
    control.fault({ kind: "status", method: "sendMessage", status: 400, description: "Bad Request: not now" })
    await put(Array.from({ length: 12 }, (_, n): [number, string] => [group.id, `${n}`]))
    await bench.until(() => calls().length === 8, "a burst")
    await put([[1, "another chat"]])
    await bench.until(() => bench.outbox().at(-1)?.state === "sent", "the other chat")
    assert.deepEqual(
      bench.outbox().map(({ state }) => state),
      ["dead", ...Array(7).fill("sent"), ...Array(4).fill("new"), "sent"],
    )
  })

  test("a hundred chats get every message once and in order, and only those wait that were refused", async () => {
    await begin(100)
    const textsFor = (chat: number) => (chat % 20 === 0 ? ["a", "b"] : ["a"])
    const chats = Array.from({ length: 100 }, (_, n) => n + 1)
    for (const chatId of chats.filter((chat) => textsFor(chat).length > 1))
      bench.emulator.control.fault({ kind: "429", method: "sendMessage", chatId, retryAfter: 1 })
    await put(chats.flatMap((chat) => textsFor(chat).map((text): [number, string] => [chat, text])))
    await bench.until(allSent, "all")
    for (const chat of chats) {
      const texts = bench.emulator.control.messages({ chatId: chat }).filter((message) => message.from?.is_bot)
      assert.deepEqual(
        texts.map((message) => message.text),
        textsFor(chat),
      )
    }
    const asked = refused().map((call) => Number(call.parameters["chat_id"]))
    assert.deepEqual(
      asked.toSorted((a, b) => a - b),
      [20, 40, 60, 80, 100],
    )
  })
})
