// How often the typing indicator is shown; what stops it stands in the channel's own tests.
import assert from "node:assert/strict"
import { test } from "node:test"
import type { TurnInput } from "../../../agent/turn-input.ts"
import { startBench } from "../test-bench/bench.ts"

test("typing is shown anew as often as session.typingIntervalSeconds says", async (context) => {
  const bench = await startBench({ config: { session: { typingIntervalSeconds: 1 } } })
  context.after(() => bench.end())
  const { control } = bench.emulator
  control.addUser({ id: 4242 })
  control.sendText({ userId: 4242, text: "/start" })
  const route = { channel: "chatapp", account: "default", chatId: "4242", chatKind: "private" as const, messageId: "1" }
  const first = control.waitForCall({ method: "sendChatAction" })
  const observer = bench.channel.observe({ route, purpose: "chat" } as TurnInput, "run", { reasoning: "off" })
  const { id } = await first
  await control.waitForCall({ method: "sendChatAction", after: id }, { timeoutMs: 4_000 })
  observer.end()
  const calls = control.calls({ method: "sendChatAction" })
  assert.ok((calls[1]?.startedAt ?? 0) - (calls[0]?.startedAt ?? 0) >= 900)
})
