// How often the typing indicator is shown; what stops it stands in the channel's own tests.
import assert from "node:assert/strict"
import { test } from "node:test"
import type { TurnInput } from "../../../agent/turn-input.ts"
import { type Clock, systemClock } from "../../../kernel/index.ts"
import { startBench } from "../test-bench/bench.ts"

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
