// Drafts: what they show, when, and that the final answer never suffers.
import assert from "node:assert/strict"
import { afterEach, describe, test } from "node:test"
import type { TurnInput } from "../../../agent/turn-input.ts"
import type { Route } from "../../../sessions/route.ts"
import { type Bench, type BenchOptions, startBench } from "../test-bench/bench.ts"
import { blockEnd, draftText } from "./draft-text.ts"

const person = 4242
let bench: Bench

describe("the text of a draft", () => {
  test("leaves out what is for us, also when it has only begun", () => {
    assert.equal(draftText("[[reply_to_current]] Hello\nMEDIA:/a.png\nworld [[audio_as", 4096), "Hello\nworld")
    assert.equal(draftText("a [", 4096), "a")
    assert.equal(draftText("a [link](x)", 4096), "a [link](x)")
  })

  test("never ends in half a character", () => assert.equal(draftText("aa😀", 3), "aa"))

  test("in blocks grows by whole pieces", () => {
    const chunk = { minChars: 5, maxChars: 20, breakPreference: "paragraph" as const }
    assert.equal(blockEnd("abc", 0, chunk, 4096), 0)
    assert.equal(blockEnd("abcdef ghi", 0, chunk, 4096), 7)
    assert.equal(blockEnd("one two\n\nthree", 0, chunk, 4096), 9)
    assert.equal(blockEnd("x".repeat(45), 0, chunk, 4096), 40)
  })
})

describe("a draft", () => {
  afterEach(() => bench.end())

  async function begin(options: BenchOptions = {}): Promise<Route> {
    bench = await startBench({ ...options, chatapp: { allowFrom: [person], ...options.chatapp } })
    const { control } = bench.emulator
    control.addUser({ id: person })
    const topic = control.addTopic({ userId: person, name: "aside" })
    await bench.until(() => bench.logLines.some((line) => line.includes("bot identified")), "the bot's name")
    const threadId = String(topic.threadId)
    return {
      channel: "chatapp",
      account: "default",
      chatId: `${person}`,
      chatKind: "private",
      threadId,
      messageId: "7",
    }
  }
  const observe = (route: Route) => bench.channel.observe({ route } as TurnInput, "run")
  const drafts = () => bench.emulator.control.calls({ method: "sendMessageDraft" })
  const nextDraft = (match: (text: string) => boolean) =>
    bench.emulator.control.waitForCall({
      method: "sendMessageDraft",
      match: (call) => match(String(call.parameters["text"])),
    })
  const send = async (route: Route, text: string) => {
    await bench.store.write(async (write) => {
      for (const row of bench.channel.sender.plan(route, { text, media: [] })) write.addOutbox(row)
    })
    await bench.until(() => bench.outbox().every((row) => row.state === "sent"), "the answer")
  }

  test("shows the newest text in its thread, a few times a second, and nothing after the end", async () => {
    const route = await begin()
    const observer = observe(route)
    observer.onDelta?.({ kind: "reasoning", text: "hm" })
    observer.onDelta?.({ kind: "text", text: "one" })
    await nextDraft((text) => text === "one")
    for (const text of [" two", " three", " four"]) observer.onDelta?.({ kind: "text", text })
    await nextDraft((text) => text === "one two three four")
    assert.equal(drafts().length, 2)
    assert.equal(String(drafts()[0]?.parameters["message_thread_id"]), route.threadId)
    observer.onDelta?.({ kind: "text", text: " five" })
    observer.end()
    await send(route, "one two three four five")
    assert.equal(drafts().length, 2)
    assert.ok(
      (drafts().at(-1)?.finishedAt ?? Infinity) <=
        (bench.emulator.control.calls({ method: "sendMessage" })[0]?.startedAt ?? 0),
    )
  })

  test("that is still on its way holds the answer back until it is through", async () => {
    const route = await begin()
    bench.emulator.control.fault({ kind: "slow", method: "sendMessageDraft", delayMs: 300 })
    const observer = observe(route)
    const begun = bench.emulator.control.waitForCall({ method: "sendMessageDraft", phase: "started" })
    observer.onDelta?.({ kind: "text", text: "one" })
    await begun
    observer.end()
    await send(route, "one")
    const sent = bench.emulator.control.calls({ method: "sendMessage" })[0]
    assert.ok((sent?.startedAt ?? 0) >= (drafts()[0]?.finishedAt ?? Infinity))
  })

  for (const fault of [{ kind: "429", retryAfter: 60 }, { kind: "status", status: 400 }, { kind: "hang" }] as const) {
    test(`that meets ${fault.kind} costs the answer nothing`, async () => {
      const route = await begin()
      bench.emulator.control.fault({ ...fault, method: "sendMessageDraft", times: 0 })
      const observer = observe(route)
      const begun = bench.emulator.control.waitForCall({ method: "sendMessageDraft", phase: "started" })
      observer.onDelta?.({ kind: "text", text: "one" })
      await begun
      observer.end()
      await send(route, "one")
      assert.equal(drafts().length, 1)
    })
  }

  for (const [name, chatapp, change] of [
    ["outside a topic", {}, { threadId: undefined }],
    ["in a group", { draftIn: "private" }, { chatKind: "supergroup", chatId: "-1001" }],
    ["where streamMode is off", { streamMode: "off" }, {}],
  ] as [string, Record<string, unknown>, Record<string, unknown>][]) {
    test(`is not shown ${name}`, async () => {
      const route = await begin({ chatapp })
      const observer = observe({ ...route, ...change } as Route)
      observer.end()
      assert.equal(observer.onDelta, undefined)
    })
  }

  test("is shown in a plain private chat when the configuration says so", async () => {
    const { threadId: _topic, ...route } = await begin({ chatapp: { draftIn: "private" } })
    const observer = observe(route)
    observer.onDelta?.({ kind: "text", text: "one" })
    await nextDraft((text) => text === "one")
    observer.end()
  })
})
