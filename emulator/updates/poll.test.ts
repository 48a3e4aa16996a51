// getUpdates: offsets, waiting, conflicts, penalties, kinds, expiry.
import assert from "node:assert/strict"
import { test } from "node:test"
import { openBench, type Bench, type RawAnswer } from "../testing.ts"

type Update = Record<string, unknown> & { update_id: number }
const updatesOf = (answer: RawAnswer) => answer.body.result as Update[]

async function fill(bench: Bench, count: number): Promise<Update[]> {
  for (let index = 0; index < count; index += 1) bench.emulator.control.sendText({ userId: 1001, text: `n${index}` })
  return updatesOf(await bench.call("getUpdates"))
}

async function waitForPoll(bench: Bench, after: number): Promise<void> {
  await bench.emulator.control.waitForCall({ method: "getUpdates", phase: "started", after })
}

test("forgets what an offset confirms, and nothing else", async () => {
  await using bench = await openBench()
  const all = await fill(bench, 4)
  const ids = all.map((update) => update.update_id)
  assert.deepEqual(
    ids,
    ids.map((_, index) => (ids[0] ?? 0) + index),
  )
  assert.equal(updatesOf(await bench.call("getUpdates", { offset: ids[2], limit: 1 }))[0]?.update_id, ids[2])
  assert.deepEqual(
    updatesOf(await bench.call("getUpdates", { offset: 0 })).map((update) => update.update_id),
    ids.slice(2),
  )
  assert.deepEqual(
    updatesOf(await bench.call("getUpdates", { offset: -1 })).map((update) => update.update_id),
    ids.slice(-1),
  )
  assert.equal(bench.emulator.control.updates().length, 1)
})

test("answers a waiting poll when an update comes, and at its timeout with nothing", async () => {
  await using bench = await openBench()
  const { control } = bench.emulator
  const [first] = await fill(bench, 0)
  const offset = (first?.update_id ?? 0) + 1
  const started = control.calls().at(-1)?.id ?? 0
  const answered = bench.call("getUpdates", { offset, timeout: 30 })
  await waitForPoll(bench, started)
  control.sendText({ userId: 1001, text: "there" })
  assert.equal(updatesOf(await answered).length, 1)
  const empty = bench.call("getUpdates", { offset: offset + 1, timeout: 30 })
  await waitForPoll(bench, started + 1)
  control.advanceClock({ ms: 30_000 })
  assert.deepEqual(updatesOf(await empty), [])
})

test("an offset that the queue never gave out starts from the oldest", async () => {
  await using bench = await openBench()
  const [first] = await fill(bench, 0)
  assert.deepEqual(updatesOf(await bench.call("getUpdates", { offset: 2_000_000_000 })), [first])
})

test("the older of two waiting polls gets 409, the next conflict comes three seconds late", async () => {
  await using bench = await openBench()
  const { control } = bench.emulator
  const [update] = await fill(bench, 0)
  const offset = (update?.update_id ?? 0) + 1
  const lastCall = control.calls().at(-1)?.id ?? 0
  const first = bench.call("getUpdates", { offset, timeout: 30 })
  await waitForPoll(bench, lastCall)
  const second = bench.call("getUpdates", { offset, timeout: 30 })
  const lost = await first
  assert.equal(lost.status, 409)
  assert.equal(
    lost.body.description,
    "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
  )
  const third = bench.call("getUpdates", { offset, timeout: 30 })
  await waitForPoll(bench, lastCall + 2)
  assert.equal(
    control.calls({ after: lastCall + 1 })[0]?.finishedAt,
    undefined,
    "the second poll still waits for its 409",
  )
  control.advanceClock({ ms: 3000 })
  assert.equal((await second).status, 409)
  control.sendText({ userId: 1001, text: "for the third" })
  assert.equal(updatesOf(await third).length, 1)
})

test("a poll that was closed by its client leaves no conflict behind", async () => {
  await using bench = await openBench()
  const [update] = await fill(bench, 0)
  const offset = (update?.update_id ?? 0) + 1
  const abort = new AbortController()
  const lastCall = bench.emulator.control.calls().at(-1)?.id ?? 0
  const first = bench.call("getUpdates", { offset, timeout: 30 }, abort.signal)
  await waitForPoll(bench, lastCall)
  abort.abort()
  await assert.rejects(first)
  await bench.emulator.control.waitForCall({ method: "getUpdates", after: lastCall })
  const second = bench.call("getUpdates", { offset, timeout: 30 })
  await waitForPoll(bench, lastCall + 1)
  bench.emulator.control.sendText({ userId: 1001, text: "x" })
  assert.equal(updatesOf(await second).length, 1)
})

test("a bot that asks for the same offset at once gets one update at a time", async () => {
  await using bench = await openBench()
  await fill(bench, 3)
  assert.equal(updatesOf(await bench.call("getUpdates")).length, 1)
})

test("keeps the kinds that were asked for until others are asked for", async () => {
  await using bench = await openBench()
  const { control } = bench.emulator
  await bench.call("getUpdates", { offset: -1, allowed_updates: ["message_reaction"] })
  control.sendText({ userId: 1001, text: "unwanted" })
  control.react({ userId: 1001, messageId: 1, emoji: ["👍"] })
  const kinds = () => control.updates().map((update) => Object.keys(update as object)[1])
  assert.deepEqual(kinds(), ["message", "message_reaction"])
  await bench.call("getUpdates", { offset: -1 })
  control.sendText({ userId: 1001, text: "still unwanted" })
  assert.deepEqual(kinds(), ["message_reaction"])
  await bench.call("getUpdates", { allowed_updates: [] })
  control.react({ userId: 1001, messageId: 1, emoji: [] })
  control.sendText({ userId: 1001, text: "wanted" })
  assert.deepEqual(kinds(), ["message_reaction", "message"])
})

test("drops clicks after 150 seconds and messages after a day", async () => {
  await using bench = await openBench()
  const { control } = bench.emulator
  const keyboard = { inline_keyboard: [[{ text: "a", callback_data: "a" }]] }
  const sent = (await bench.call("sendMessage", { chat_id: 1001, text: "x", reply_markup: keyboard })).body.result
  control.click({ userId: 1001, messageId: (sent as { message_id: number }).message_id })
  assert.equal(control.updates().length, 2)
  control.advanceClock({ ms: 151_000 })
  assert.equal(control.updates().length, 1)
  control.advanceClock({ ms: 24 * 3_600_000 })
  assert.equal(control.updates().length, 0)
})

test("delivers confirmed updates again when asked to, and continues ids elsewhere", async () => {
  await using bench = await openBench()
  const { control } = bench.emulator
  const [first] = await fill(bench, 0)
  control.duplicateUpdates({ count: 1 })
  const offset = (first?.update_id ?? 0) + 1
  assert.deepEqual(updatesOf(await bench.call("getUpdates", { offset })), [first])
  control.jumpUpdateId({ to: 5 })
  control.sendText({ userId: 1001, text: "after the jump" })
  assert.equal(updatesOf(await bench.call("getUpdates", { offset }))[0]?.update_id, 5)
})
