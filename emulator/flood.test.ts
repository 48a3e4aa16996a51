// Flood limits: buckets that refill, and waits that double for those who ignore them.
import assert from "node:assert/strict"
import { test } from "node:test"
import { openBench } from "./testing.ts"

const frozen = { now: () => 1_800_000_000_000 }
const message = { chat_id: 1001, text: "x" }

test("refuses a burst in one chat, and lets the next message through after the wait", async () => {
  await using bench = await openBench({ clock: frozen, limits: {} })
  for (let index = 0; index < 5; index += 1) assert.equal((await bench.call("sendMessage", message)).status, 200)
  const refused = await bench.call("sendMessage", message)
  assert.equal(refused.status, 429)
  assert.equal(refused.body.parameters?.retry_after, 1)
  const impatient = await bench.call("sendMessage", message)
  assert.equal(impatient.body.parameters?.retry_after, 2)
  bench.emulator.control.advanceClock({ ms: 2000 })
  assert.equal((await bench.call("sendMessage", message)).status, 200)
})

test("limits groups by the minute and the bot as a whole by the second", async () => {
  await using bench = await openBench({ clock: frozen, limits: { global: { burst: 22, perSecond: 30 } } })
  const { control } = bench.emulator
  const group = control.addChat({ type: "group" })
  const statuses = []
  for (let index = 0; index < 21; index += 1) {
    statuses.push((await bench.call("sendMessage", { chat_id: group.id, text: `${index}` })).status)
  }
  assert.deepEqual([...new Set(statuses.slice(0, 20))], [200])
  assert.equal(statuses[20], 429)
  assert.equal((await bench.call("sendMessage", message)).status, 200)
  assert.equal((await bench.call("sendMessage", message)).status, 200)
  assert.equal((await bench.call("sendMessage", message)).status, 429)
})

test("counts typing and drafts apart from messages", async () => {
  await using bench = await openBench({ clock: frozen, limits: {} })
  for (let index = 0; index < 20; index += 1) await bench.call("sendChatAction", { chat_id: 1001, action: "typing" })
  assert.equal((await bench.call("sendChatAction", { chat_id: 1001, action: "typing" })).status, 429)
  assert.equal((await bench.call("sendMessage", message)).status, 200)
})
