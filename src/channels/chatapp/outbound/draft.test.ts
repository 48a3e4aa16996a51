// Drafts: what they show, when, and that the final answer never suffers.
import assert from "node:assert/strict"
import { afterEach, describe, test } from "node:test"
import type { Update } from "grammy/types"
import type { TurnInput, TurnView } from "../../../agent/turn-input.ts"
import { systemClock } from "../../../kernel/index.ts"
import type { Route } from "../../../sessions/route.ts"
import { until } from "../../../../test/support/world.ts"
import { type Bench, type BenchOptions, startBench } from "../test-bench/bench.ts"
import { planStopped } from "../inbound/stopped.ts"
import { turnOfDraft } from "./stop-turn.ts"
import { draftText, withThinking } from "../../shared/live-text.ts"
import { DraftCalls } from "./draft.ts"
import { blockEnd } from "./draft-blocks.ts"

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
    assert.equal(blockEnd("one two\n\nthree", 0, chunk, 4096), 9)
    assert.equal(blockEnd("x".repeat(45), 0, chunk, 4096), 40)
    assert.equal(blockEnd(`x${"😀".repeat(10)}`, 0, chunk, 4096), 19, "and never by half a character")
    assert.equal(blockEnd("abc", 0, { ...chunk, minChars: 1 }, 4096), 0)
  })

  test("in blocks is held to textChunkLimit, whatever draftChunk says", () => {
    const chunk = { minChars: 30, maxChars: 50, breakPreference: "paragraph" as const }
    assert.equal(blockEnd("x".repeat(35), 0, chunk, 10), 30)
  })

  test("in blocks waits for the break that is wanted, and takes another only where a piece is full", () => {
    const cut = (text: string, breakPreference: "paragraph" | "newline" | "sentence") =>
      text.slice(0, blockEnd(text, 0, { minChars: 5, maxChars: 30, breakPreference }, 4096))
    const begun = "One two. Three\nfour five. Six"
    assert.equal(begun.length, 29)
    assert.equal(cut(begun, "paragraph"), "")
    assert.equal(cut(begun, "newline"), "One two. Three\n")
    assert.equal(cut(begun, "sentence"), "One two. Three\nfour five. ")
    assert.equal(cut("One two Three", "sentence"), "")
    assert.equal(cut(`${begun} and more`, "paragraph"), "One two. Three\n", "a line is the next best")
    assert.equal(cut("word ".repeat(7), "paragraph"), "word ".repeat(6))
    assert.equal(cut(`${begun} x\n\nNext.`, "paragraph"), `${begun} x\n\n`, "the next piece has its break again")
    assert.equal(cut("One two.\n\nThree. Four", "paragraph"), "One two.\n\n")
  })
})

describe("the thinking in a draft", () => {
  test("stands below the text, newest part only, within the limit", () => {
    assert.equal(withThinking("text", " ", 100), "text")
    assert.equal(withThinking("text", "hm", 100), "text\n\n🤔 hm")
    assert.equal(withThinking("text", "hm", 10), "text")
    const long = withThinking("", `old ${"😀".repeat(800)}`, 4096)
    assert.ok(long.startsWith("🤔 …😀") && !long.includes("old") && long.isWellFormed())
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
  const observe = (route: Route, reasoning: TurnView["reasoning"] = "off") =>
    bench.channel.observe({ route } as TurnInput, "run", { reasoning })
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

  test("waits while nothing is written, and shows what comes then", async () => {
    const idle = Promise.withResolvers<void>()
    const sleep: typeof systemClock.sleep = (ms, signal) => {
      // The pause after which a draft is shown again, so that it does not fade.
      if (ms === 20_000 && drafts().length > 0) idle.resolve()
      return systemClock.sleep(ms, signal)
    }
    const observer = observe(await begin({ clock: { ...systemClock, sleep } }))
    observer.onDelta?.({ kind: "text", text: "one" })
    await nextDraft((text) => text === "one")
    await idle.promise
    observer.onDelta?.({ kind: "text", text: " two" })
    await nextDraft((text) => text === "one two")
    observer.end()
    assert.equal(drafts().length, 2)
  })

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
    assert.equal(drafts()[0]?.parameters["keep_on_stop"], true)
    observer.onDelta?.({ kind: "text", text: " five" })
    observer.end()
    await send(route, "one two three four five")
    assert.equal(drafts().length, 2)
    assert.ok(
      (drafts().at(-1)?.finishedAt ?? Infinity) <=
        (bench.emulator.control.calls({ method: "sendMessage" })[0]?.startedAt ?? 0),
    )
  })

  test("keeps the steps of a turn apart, also those from before a restart", async () => {
    const observer = observe(await begin())
    observer.onStep?.({ number: 1, before: "Let me look." })
    observer.onDelta?.({ kind: "text", text: "Found" })
    await nextDraft((text) => text === "Let me look.\n\nFound")
    observer.onStep?.({ number: 2, before: "Found" })
    observer.onDelta?.({ kind: "text", text: "Done" })
    await nextDraft((text) => text === "Let me look.\n\nFound\n\nDone")
    observer.end()
  })

  test("shows the thinking where it is wanted, until there are words", async () => {
    const observer = observe(await begin(), "stream")
    observer.onDelta?.({ kind: "reasoning", text: "What was" })
    await nextDraft((text) => text === "🤔 What was")
    observer.onDelta?.({ kind: "reasoning", text: " asked?" })
    await nextDraft((text) => text === "🤔 What was asked?")
    observer.onDelta?.({ kind: "text", text: "This" })
    await nextDraft((text) => text === "This")
    observer.onStep?.({ number: 1, before: "This" })
    observer.onDelta?.({ kind: "reasoning", text: "And now?" })
    await nextDraft((text) => text === "This\n\n🤔 And now?")
    observer.onStep?.({ number: 2, before: "" })
    observer.onDelta?.({ kind: "reasoning", text: "Then" })
    await nextDraft((text) => text === "This\n\n🤔 Then")
    observer.end()
  })

  test("has a stop button that ends the turn it belongs to, and no other", async () => {
    const route = await begin()
    const { control } = bench.emulator
    const job = (messageId: string, state: string) => ({
      run: `run-${messageId}-${state}`,
      payload: JSON.stringify({ route: { ...route, messageId } }),
      state,
    })
    for (const { run, payload, state } of [job("6", "running"), job("7", "done"), job("7", "running")]) {
      bench.store.handle
        .prepare(
          `insert into job (run_id, kind, lane_key, payload, state, head, attempts, run_at, created_at)
           values (?, 'turn', ?, ?, ?, 0, 1, 0, 0)`,
        )
        .run(run, run, payload, state)
    }
    const observer = observe(route)
    observer.onDelta?.({ kind: "text", text: "one" })
    await nextDraft((text) => text === "one")
    observer.end()
    // Refused where the draft has no such button.
    control.stopDraft({ userId: person, draftId: 7, threadId: Number(route.threadId) })
    const stopped = { chat: { id: person, type: "private" as const, first_name: "P" }, draft_id: 7 }
    const planned = planStopped({ update_id: 1, stopped_message_generation: stopped } as Update, { botId: "1" })
    assert.deepEqual(planned?.effects, [{ kind: "stop-turn", chatId: `${person}`, draftId: 7 }])
    const found = (draftId: number, chatId = `${person}`, account = "default") =>
      turnOfDraft(bench.store, { account, chatId, draftId })?.runId
    assert.deepEqual(
      [found(7), found(8), found(7, "1"), found(7, `${person}`, "other")],
      ["run-7-running", undefined, undefined, undefined],
    )
  })

  test("that is still on its way holds the answer back until it is through", async () => {
    const route = await begin()
    bench.emulator.control.fault({ kind: "slow", method: "sendMessageDraft", delayMs: 100 })
    const observer = observe(route)
    const begun = bench.emulator.control.waitForCall({ method: "sendMessageDraft", phase: "started" })
    observer.onDelta?.({ kind: "text", text: "one" })
    await begun
    observer.end()
    await send(route, "one")
    const sent = bench.emulator.control.calls({ method: "sendMessage" })[0]
    assert.ok((sent?.startedAt ?? 0) >= (drafts()[0]?.finishedAt ?? Infinity))
  })

  for (const fault of [
    { kind: "429", retryAfter: 1 },
    { kind: "status", status: 500 },
  ] as const) {
    test(`that meets ${fault.kind} is shown as soon as may be, without another word`, async () => {
      const observer = observe(await begin())
      bench.emulator.control.fault({ ...fault, method: "sendMessageDraft" })
      const shown = bench.emulator.control.waitForCall({
        method: "sendMessageDraft",
        match: (call) => call.status === 200,
      })
      observer.onDelta?.({ kind: "text", text: "one" })
      assert.equal((await shown).parameters["text"], "one")
      assert.equal(drafts().length, 2)
      observer.end()
    })
  }

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
      assert.notEqual(drafts()[0]?.finishedAt, undefined, "what was on its way is cut: it would stand below the answer")
    })
  }

  test("that a chat refuses is not shown there again, and counted", async () => {
    const route = await begin()
    bench.emulator.control.fault({ kind: "status", status: 400, method: "sendMessageDraft" })
    const refused = observe(route)
    refused.onDelta?.({ kind: "text", text: "one" })
    await until("the refusal is counted", async () => {
      const [status] = await bench.channel.status({ probe: false, signal: AbortSignal.timeout(5_000) })
      return status?.counters["decoration-dropped"] === 1 ? true : undefined
    })
    refused.onDelta?.({ kind: "text", text: " two" })
    const other = observe({ ...route, messageId: "8" })
    other.onDelta?.({ kind: "text", text: "another" })
    await nextDraft((text) => text === "another")
    for (const each of [refused, other]) each.end()
    assert.equal(drafts().length, 2)
  })

  test("begins its step anew where the model does, and in blocks shows no piece before it is whole again", async () => {
    const idle = { count: 0, waiting: Promise.withResolvers<void>() }
    const sleep: typeof systemClock.sleep = (ms, signal) => {
      if (ms === 20_000) idle.waiting.resolve()
      return systemClock.sleep(ms, signal)
    }
    const rested = async () => {
      await idle.waiting.promise
      idle.waiting = Promise.withResolvers()
    }
    const chatapp = { streamMode: "block", draftChunk: { minChars: 5, maxChars: 40 } }
    const observer = observe(await begin({ chatapp, clock: { ...systemClock, sleep } }))
    await rested()
    observer.onDelta?.({ kind: "text", text: "First.\n\n" })
    await nextDraft((text) => text === "First.")
    observer.onStep?.({ number: 1, before: "First." })
    observer.onDelta?.({ kind: "text", text: "What it began with.\n\n" })
    await nextDraft((text) => text === "First.\n\nWhat it began with.")
    idle.waiting = Promise.withResolvers()
    const { id } = drafts().at(-1) ?? assert.fail()
    observer.onRestart?.()
    await bench.emulator.control.waitForCall({ method: "sendMessageDraft", after: id })
    idle.waiting = Promise.withResolvers()
    observer.onDelta?.({ kind: "text", text: "Now" })
    await rested()
    observer.onDelta?.({ kind: "text", text: " whole.\n\n" })
    await nextDraft((text) => text === "First.\n\nNow whole.")
    observer.end()
    assert.deepEqual(
      drafts().map(({ parameters }) => parameters["text"]),
      ["First.", "First.\n\nWhat it began with.", "First.", "First.\n\nNow whole."],
    )
  })

  test("is shown anew before it fades", async () => {
    let passed = 0
    const sleep: typeof systemClock.sleep = (ms, signal) => {
      if (ms !== 20_000) return systemClock.sleep(ms, signal)
      passed += ms
      return systemClock.sleep(1, signal)
    }
    const clock = { ...systemClock, sleep, monotonic: () => systemClock.monotonic() + passed }
    const observer = observe(await begin({ clock }))
    observer.onDelta?.({ kind: "text", text: "one" })
    const { id } = await nextDraft((text) => text === "one")
    await bench.emulator.control.waitForCall({ method: "sendMessageDraft", after: id })
    observer.end()
  })

  test("waits where ten things were shown within a second", async () => {
    let passed = 0
    const turnedAway = Promise.withResolvers<void>()
    const sleep: typeof systemClock.sleep = (ms, signal) => {
      if (ms === 300) turnedAway.resolve()
      return systemClock.sleep(ms, signal)
    }
    const clock = { ...systemClock, sleep, monotonic: () => 1_000_000 + passed }
    const config = { messages: { ackReactionScope: "all" } }
    const route = await begin({ clock, config })
    const input = { route, purpose: "chat", agentId: "main" } as TurnInput
    for (let turn = 0; turn < 10; turn += 1) bench.channel.observe(input, "run", { reasoning: "off" }).end()
    const observer = observe(route)
    observer.onDelta?.({ kind: "text", text: "one" })
    await turnedAway.promise
    assert.equal(drafts().length, 0)
    passed = 1_000
    await nextDraft((text) => text === "one")
    observer.end()
  })

  for (const [name, chatapp, change] of [
    ["outside a topic", {}, { threadId: undefined }],
    ["in a group", { draftIn: "private" }, { chatKind: "supergroup", chatId: "-1001" }],
    ["where streamMode is off", { streamMode: "off" }, {}],
    ["where parts of the answer are sent early", { blockStreaming: true }, {}],
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

describe("calls on their way", () => {
  test("are waited for until the last of a chat has ended, and cut after their grace only while they last", async () => {
    const calls = new DraftCalls()
    const cuts: string[] = []
    const [first, second] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()]
    const one = calls.track("1", first.promise, () => void cuts.push("first"))
    const two = calls.track("1", second.promise, () => void cuts.push("second"))
    first.resolve("a")
    assert.equal(await one, "a")
    let isIdle = false
    const idle = calls.idle("1").then(() => (isIdle = true))
    await calls.idle("2")
    assert.equal(isIdle, false, "the older one has ended, the newer has not")
    await calls.finish("1", 1)
    assert.deepEqual(cuts, ["second"])
    second.resolve("b")
    assert.equal(await two, "b")
    await idle
    await calls.finish("1", 1)
    assert.deepEqual(cuts, ["second"], "nothing is cut that has ended")
  })
  test("are each waited for and cut: two topics of a chat have turns at the same time", async () => {
    const calls = new DraftCalls()
    const cuts: string[] = []
    const [first, second] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()]
    const one = calls.track("1", first.promise, () => void cuts.push("first"))
    const two = calls.track("1", second.promise, () => void cuts.push("second"))
    second.resolve("b")
    assert.equal(await two, "b")
    let isIdle = false
    const idle = calls.idle("1").then(() => (isIdle = true))
    await calls.idle("2")
    assert.equal(isIdle, false, "the newer one has ended, the older has not")
    await calls.finish("1", 1)
    assert.deepEqual(cuts, ["first"])
    first.resolve("a")
    assert.equal(await one, "a")
    await idle
  })
})
