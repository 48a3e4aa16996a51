import assert from "node:assert/strict"
import { join } from "node:path"
import { type TestContext, describe, test } from "node:test"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { testStore } from "../../test/support/store.ts"
import { AppError, type Clock, systemClock } from "../kernel/index.ts"
import { type JobRow, restoredError } from "../store/index.ts"
import type { ReplyButton, SendOutcome } from "./contract.ts"
import { type RecordingSender, isSettled, outboxRow, recordingSender, routeTo } from "./delivery.fixture.ts"
import { startOutbox } from "./delivery.fixture.ts"
import { createResendHandler, resendJob } from "./doubt.ts"
import { FlightLog } from "./flight-log.ts"

const asked = "My last message here may not have arrived. Is it missing?"
const uncertain = (): SendOutcome => ({ kind: "uncertain", error: "cut after the request" })

/** Says what it sends, and that all of it is words to people. */
function talkingSender(respond?: Parameters<typeof recordingSender>[0]): RecordingSender {
  return { ...recordingSender(respond), isAnswer: () => true }
}

const buttonOf = (sender: RecordingSender) => sender.planned[0]?.reply.buttons?.[0]?.[0] as ReplyButton

/** The job that a touch leads to, as the lanes run it. */
async function touch(outbox: Awaited<ReturnType<typeof startOutbox>>, button: ReplyButton, chatId: string) {
  const { runId, payload } = resendJob("run", button.data, routeTo(chatId))
  const handler = createResendHandler({ store: outbox.store, wake: () => outbox.worker.wake() })
  const job = { run_id: runId, payload: JSON.stringify(payload) } as JobRow
  return JSON.parse((await handler.run(job, AbortSignal.timeout(10_000))).result ?? "") as { sentAgain: number }
}

describe("a message that may not have arrived", () => {
  test("is asked about in its chat, and sent again by the button there, once and nowhere else", async (context) => {
    let isCut = true
    const sender = talkingSender((row) => (row.payload.includes("answer") && isCut ? uncertain() : { kind: "sent" }))
    const outbox = await startOutbox(context, { sender })
    await outbox.put(["1", "answer"], ["1", "more"])
    await outbox.until((rows) => rows.length === 3 && isSettled(rows))
    assert.deepEqual(outbox.states(), ["answer uncertain", "more sent", `${asked} sent`])
    const button = buttonOf(sender)
    assert.equal(button.handler, "resend")
    assert.equal(sender.planned[0]?.route.messageId, undefined)
    isCut = false
    assert.deepEqual(await touch(outbox, button, "2"), { sentAgain: 0 })
    assert.deepEqual(await touch(outbox, button, "1"), { sentAgain: 1 })
    await outbox.until(isSettled)
    assert.deepEqual(await touch(outbox, button, "1"), { sentAgain: 0 })
    assert.deepEqual(sender.calls, ["1: answer", "1: more", `1: ${asked}`, "1: answer"])
    assert.equal(outbox.rows()[0]?.state, "sent")
  })

  test("is one question a chat, however many are in doubt while it waits", async (context) => {
    const folder = temporaryFolder()
    const sender = talkingSender((row) => (row.chat_id === "2" ? { kind: "sent" } : uncertain()))
    const outbox = await startOutbox(context, { sender, folder })
    await outbox.put(["1", "one"], ["1", "two"], ["1", "three"])
    await outbox.until((rows) => rows.length === 4 && isSettled(rows))
    // The question itself is in doubt in the end: nobody is asked about it.
    assert.deepEqual(outbox.states(), ["one uncertain", "two uncertain", "three uncertain", `${asked} uncertain`])
    assert.equal(new Set(outbox.rows().map((row) => row.doubt)).size, 1)
  })

  test("is told without a button where buttons are off, and not at all where nobody reads", async (context) => {
    const sender = talkingSender((row) => (row.id === 1 ? uncertain() : { kind: "sent" }))
    const outbox = await startOutbox(context, { sender, canShowButtons: () => false })
    await outbox.put(["1", "answer"])
    await outbox.until((rows) => rows.length === 2 && isSettled(rows))
    assert.match(outbox.states()[1] ?? "", /If it is missing, ask me again/)
    const silent = recordingSender(uncertain)
    const other = await startOutbox(context, { sender: silent })
    await other.put(["1", "a reaction"])
    await other.until(isSettled)
    assert.equal(other.rows().length, 1)
  })

  for (const { policy, states } of [
    { policy: "leave", states: ["answer uncertain"] },
    { policy: "resend", states: ["answer uncertain"] },
  ] as const) {
    test(`with ${policy} asks nobody, and tells the agent`, async (context) => {
      const sender = talkingSender(uncertain)
      const outbox = await startOutbox(context, { sender, onUncertain: () => policy })
      await outbox.store.write(async (write) => {
        write.addJob({ runId: "r", kind: "turn", laneKey: "agent:main:main", payload: {} })
        write.addOutbox({ ...outboxRow("answer", routeTo("1")), jobId: 1 })
      })
      await outbox.until(isSettled)
      assert.deepEqual(outbox.states(), states)
      assert.equal(sender.calls.length, policy === "resend" ? 2 : 1)
      const events = outbox.store.handle.prepare("select session_key, text, trusted from event").all()
      assert.equal(events.length, 1)
      assert.equal(events[0]?.["session_key"], "agent:main:main")
      assert.match(String(events[0]?.["text"]), /chat 1 may not have arrived/)
    })
  }

  test("is told to the main session when a webhook's run wrote it: its own has ended", async (context) => {
    const sender = talkingSender(uncertain)
    const outbox = await startOutbox(context, { sender })
    await outbox.store.write(async (write) => {
      write.addJob({ runId: "r", kind: "turn", laneKey: "agent:helper:hook:x", class: "hooks", payload: {} })
      write.addOutbox({ ...outboxRow("answer", routeTo("1")), jobId: 1 })
    })
    await outbox.until((rows) => rows.length === 2 && isSettled(rows))
    const [event] = outbox.store.handle.prepare("select session_key from event").all()
    assert.equal(event?.["session_key"], "agent:helper:main")
  })

  test("is simply made again when another copy of it changes nothing", async (context) => {
    const sender = {
      ...talkingSender((row) => (row.attempts === 1 ? uncertain() : { kind: "sent" })),
      isRepeatable: () => true,
    }
    const outbox = await startOutbox(context, { sender })
    await outbox.put(["1", "reaction"])
    await outbox.until(isSettled)
    assert.deepEqual(outbox.states(), ["reaction sent"])
    assert.equal(sender.calls.length, 2)
  })
})

/** A worker that dies at this point of one send: nothing of it is heard again, and nothing more is recorded. */
async function dieSending(context: TestContext, folder: string, at: "before" | "call" | "answer", withLog = true) {
  const reached = Promise.withResolvers<void>()
  const forever = new Promise<never>(() => undefined)
  const sender = talkingSender(async () => {
    if (at === "call") reached.resolve()
    return at === "call" ? await forever : { kind: "sent", remoteId: "m7" }
  })
  const send = sender.send.bind(sender)
  sender.send = async (row, signal, begin) => {
    if (at !== "before") return await send(row, signal, begin)
    reached.resolve()
    return await forever
  }
  const flights = withLog ? { flights: new FlightLog(join(folder, "in-flight")) } : {}
  const outbox = await startOutbox(context, {
    sender,
    folder,
    ...flights,
    crashPoint(label) {
      // The answer is noted beside the store, and its record never gets there.
      if (at !== "answer" || label !== "outbox.sent") return
      outbox.store.write = () => Promise.reject(new AppError("storage-failed", "gone"))
      reached.resolve()
    },
  })
  await outbox.put(["1", "in flight"], ["1", "behind"])
  await reached.promise
  await outbox.store.close()
}

describe("a message that was being sent when the process died", () => {
  const restart = async (context: TestContext, folder: string, more: object = {}) => {
    const sender = talkingSender()
    const outbox = await startOutbox(context, {
      sender,
      folder,
      flights: new FlightLog(join(folder, "in-flight")),
      ...more,
    })
    await outbox.until(isSettled)
    return { sender, outbox }
  }

  test("goes as if nothing had happened when its call had not begun", async (context) => {
    const folder = temporaryFolder()
    await dieSending(context, folder, "before")
    const { sender, outbox } = await restart(context, folder)
    assert.deepEqual(sender.calls, ["1: in flight", "1: behind"])
    assert.deepEqual([outbox.rows()[0]?.resent, outbox.rows()[0]?.attempts], [0, 1])
  })

  test("is known to have arrived when its answer had come, and is not sent again", async (context) => {
    const folder = temporaryFolder()
    await dieSending(context, folder, "answer")
    const { sender, outbox } = await restart(context, folder)
    assert.deepEqual(sender.calls, ["1: behind"])
    assert.deepEqual([outbox.rows()[0]?.state, outbox.rows()[0]?.remote_id], ["sent", "m7"])
  })

  test("is asked about when its call was cut, and not repeated by itself", async (context) => {
    const folder = temporaryFolder()
    await dieSending(context, folder, "call")
    const { sender } = await restart(context, folder)
    assert.deepEqual(sender.calls, ["1: behind", `1: ${asked}`])
  })

  test("is asked about when nothing is known of its call", async (context) => {
    const folder = temporaryFolder()
    await dieSending(context, folder, "before", false)
    const { sender } = await restart(context, folder)
    assert.deepEqual(sender.calls, ["1: behind", `1: ${asked}`])
  })

  test("with resend is sent once more while it is young, still before those behind it, and not a third time", async (context) => {
    const folder = temporaryFolder()
    const resend = { onUncertain: () => "resend" as const }
    await dieSending(context, folder, "call")
    const { sender, outbox } = await restart(context, folder, resend)
    assert.deepEqual(sender.calls, ["1: in flight", "1: behind"])
    assert.equal(outbox.rows()[0]?.resent, 1)
    // It dies again in the repeat.
    await outbox.worker.stop(0)
    outbox.store.handle.raw.exec("update outbox set state = 'sending', owner = 'another', head = 1 where id = 1")
    await outbox.store.close()
    const third = await restart(context, folder, { ...resend, flights: undefined })
    assert.deepEqual(third.sender.calls, [])
    assert.equal(third.outbox.rows()[0]?.state, "uncertain")
  })

  test("with resend is not sent again when it is older than ten minutes", async (context) => {
    const folder = temporaryFolder()
    await dieSending(context, folder, "call")
    const clock: Clock = { ...systemClock, now: () => Date.now() + 11 * 60_000 }
    const { sender } = await restart(context, folder, { onUncertain: () => "resend" as const, clock })
    assert.deepEqual(sender.calls, ["1: behind"])
  })
})

describe("what a restored backup had not sent", () => {
  /** As `backup/database.ts` leaves the folder. */
  async function restored(context: TestContext, chats: readonly string[]): Promise<string> {
    const folder = temporaryFolder()
    const store = await testStore(context, { folder })
    const createdAt = Date.now() - 60_000
    await store.meta.set("restored", { at: Date.now(), createdAt })
    await store.write(async (write) => {
      for (const chat of chats) write.addOutbox(outboxRow(`to ${chat}`, routeTo(chat)))
      write.prepare("update outbox set state = 'uncertain', head = 0, error = ?").run(restoredError(createdAt))
    })
    await store.close()
    return folder
  }

  test("is asked about at the first start, once a chat, and sent again by the button", async (context) => {
    const folder = await restored(context, ["1", "1", "2"])
    const sender = talkingSender()
    const outbox = await startOutbox(context, { sender, folder })
    await outbox.until((rows) => rows.length === 5 && isSettled(rows))
    assert.deepEqual(sender.calls.toSorted(), [`1: ${asked}`, `2: ${asked}`])
    assert.deepEqual(await touch(outbox, buttonOf(sender), "1"), { sentAgain: 2 })
    await outbox.until(isSettled)
    await outbox.worker.stop(0)
    await outbox.store.close()
    const again = talkingSender()
    const next = await startOutbox(context, { sender: again, folder })
    await next.until(isSettled)
    assert.deepEqual(again.calls, [])
  })

  test("is asked about once in each chat, however many they are", async (context) => {
    const chats = Array.from({ length: 65 }, (_, index) => String(index))
    const folder = await restored(context, chats)
    const sender = talkingSender()
    const outbox = await startOutbox(context, { sender, folder })
    await outbox.until((rows) => rows.length === 130 && isSettled(rows))
    assert.equal(new Set(sender.calls).size, 65)
  })

  test("with leave is told to nobody in the chat", async (context) => {
    const folder = await restored(context, ["1"])
    const sender = talkingSender()
    const outbox = await startOutbox(context, { sender, folder, onUncertain: () => "leave" })
    await outbox.until(isSettled)
    assert.deepEqual(sender.calls, [])
  })
})
