// How often the typing indicator is shown; what stops it stands in the channel's own tests.
import assert from "node:assert/strict"
import { test } from "node:test"
import type { TurnInput } from "../../../agent/turn-input.ts"
import { type Clock, systemClock } from "../../../kernel/index.ts"
import { startBench } from "../test-bench/bench.ts"
import { ActionBudget } from "./typing.ts"

test("typing is shown anew as often as session.typingIntervalSeconds says", async (context) => {
  const intervalMs = 17_000
  let pauses = 0
  // Only the pauses of typing are that long: they pass at once, and are counted.
  const clock: Clock = {
    ...systemClock,
    sleep(ms, signal) {
      if (ms === intervalMs) pauses += 1
      return systemClock.sleep(ms === intervalMs ? 1 : ms, signal)
    },
  }
  const bench = await startBench({ clock, config: { session: { typingIntervalSeconds: intervalMs / 1000 } } })
  context.after(() => bench.end())
  const { control } = bench.emulator
  control.addUser({ id: 4242 })
  control.sendText({ userId: 4242, text: "/start" })
  const route = { channel: "chatapp", account: "default", chatId: "4242", chatKind: "private" as const, messageId: "1" }
  const first = control.waitForCall({ method: "sendChatAction", phase: "started" }, { timeoutMs: 60_000 })
  const observer = bench.channel.observe({ route, purpose: "chat" } as TurnInput, "run", { reasoning: "off" })
  const { id } = await first
  assert.equal(pauses, 0)
  await control.waitForCall({ method: "sendChatAction", after: id, phase: "started" }, { timeoutMs: 60_000 })
  assert.equal(pauses, 1)
  observer.end()
})

test("ten things are shown within a second, and none while the platform asks to wait", () => {
  let now = 5_000
  const budget = new ActionBudget({ ...systemClock, monotonic: () => now })
  const taken = () => Array.from({ length: 12 }, () => budget.take()).filter(Boolean).length
  assert.equal(taken(), 10)
  now += 999
  assert.equal(taken(), 0)
  now += 1
  assert.equal(taken(), 10)
  budget.pause(3_000)
  now += 2_999
  assert.equal(taken(), 0)
  now += 1
  assert.equal(taken(), 10)
})

test("typing goes on where the platform is out of order, waits where it asks to, and ends where it is not wanted", async (context) => {
  const intervalMs = 17_000
  let passed = 0
  const clock: Clock = {
    ...systemClock,
    monotonic: () => systemClock.monotonic() + passed,
    sleep(ms, signal) {
      if (ms === intervalMs) passed += ms
      return systemClock.sleep(ms === intervalMs ? 1 : ms, signal)
    },
  }
  const bench = await startBench({ clock, config: { session: { typingIntervalSeconds: intervalMs / 1000 } } })
  context.after(() => bench.end())
  const { control } = bench.emulator
  control.addUser({ id: 4242 })
  control.sendText({ userId: 4242, text: "/start" })
  const shown = () => control.calls({ method: "sendChatAction" }).map(({ status }) => status)
  // Answered in turn: out of order, a wait of more than one interval, taken, refused.
  const faults = [
    { kind: "status", status: 500 },
    { kind: "429", retryAfter: 20 },
  ] as const
  for (const fault of faults) control.fault({ ...fault, method: "sendChatAction" })
  const route = { channel: "chatapp", account: "default", chatId: "4242", chatKind: "private" as const, messageId: "1" }
  const taken = control.waitForCall({ method: "sendChatAction", match: ({ status }) => status === 200 })
  const observer = bench.channel.observe({ route, purpose: "chat" } as TurnInput, "run", { reasoning: "off" })
  const { id } = await taken
  assert.ok(passed >= 3 * intervalMs, "the interval within the wait has shown nothing")
  control.fault({ kind: "status", status: 400, method: "sendChatAction" })
  await control.waitForCall({ method: "sendChatAction", after: id, match: ({ status }) => status === 400 })
  const again = bench.channel.observe({ route, purpose: "chat" } as TurnInput, "run-2", { reasoning: "off" })
  await control.waitForCall({ method: "sendChatAction", match: ({ status }) => status === 200, after: id + 1 })
  for (const each of [observer, again]) each.end()
  assert.deepEqual(shown().slice(0, 2), [500, 429])
})
