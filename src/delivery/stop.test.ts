// A stop at each place where the worker waits: what was not sent is sent by the next start, and nothing twice.
import assert from "node:assert/strict"
import { type TestContext, test } from "node:test"
import { setImmediate as nextTurn } from "node:timers/promises"
import { stopPoints } from "../../test/support/stop-points.ts"
import { testStore } from "../../test/support/store.ts"
import type { Store } from "../store/index.ts"
import { isSettled, recordingSender, startOutbox, textOf } from "./delivery.fixture.ts"

const messages: [chatId: string, text: string][] = [
  ["1", "a"],
  ["1", "b"],
  ["2", "c"],
]

interface Life {
  /** `chat: text` as the platform has taken them. */
  arrived: string[]
  points: number
}

/** Two lives of a worker; the first is stopped at this point. */
async function liveTwice(context: TestContext, store: Store, stopAt: number, graceMs: number): Promise<Life> {
  const arrived: string[] = []
  let stopping: Promise<void> | undefined
  const points = stopPoints(stopAt, () => (stopping = first.worker.stop(graceMs)))
  const sender = recordingSender()
  sender.send = async (row, _signal, begin) => {
    points.reach()
    await nextTurn()
    begin()
    points.reach()
    arrived.push(`${row.chat_id}: ${textOf(row)}`)
    await nextTurn()
    points.reach()
    return { kind: "sent" }
  }
  const first = await startOutbox(context, { sender, store })
  const leave = points.watch(store)
  await first.put(...messages)
  if (stopAt === 0) await first.until(isSettled)
  else while (!stopping) await nextTurn()
  await (stopping ?? first.worker.stop(graceMs))
  const atStop = arrived.length
  await first.background.idle()
  leave()
  assert.equal(arrived.length, atStop, "nothing is sent after the stop")
  assert.ok(!first.rows().some((row) => row.state === "sending"), `nothing is left claimed, stopped at ${stopAt}`)
  const second = await startOutbox(context, { sender, store })
  await second.until(isSettled)
  await second.worker.stop(graceMs)
  store.handle.raw.exec("delete from outbox")
  return { arrived, points: points.count }
}

for (const { name, graceMs } of [
  { name: "with time for what is under way", graceMs: 5_000 },
  { name: "without any", graceMs: 0 },
]) {
  test(`a worker that is stopped at any of its waits ${name} loses nothing and doubles nothing`, async (context) => {
    const store = await testStore(context)
    const { points } = await liveTwice(context, store, 0, graceMs)
    assert.ok(points > 20, `only ${points} places to stop at`)
    for (let stopAt = 1; stopAt <= points; stopAt += 1) {
      const { arrived } = await liveTwice(context, store, stopAt, graceMs)
      assert.deepEqual(arrived.toSorted(), ["1: a", "1: b", "2: c"], `stopped at ${stopAt} of ${points}`)
      assert.ok(arrived.indexOf("1: a") < arrived.indexOf("1: b"), `order, stopped at ${stopAt}`)
    }
  })
}
