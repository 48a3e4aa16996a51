import assert from "node:assert/strict"
import { type TestContext, test } from "node:test"
import { silentLog } from "../../test/support/store.ts"
import { systemClock } from "../kernel/index.ts"
import { listenForStop } from "./signals.ts"

function listen(context: TestContext) {
  let now = 0
  let exits = 0
  const clock = { ...systemClock, monotonic: () => now }
  const stop = listenForStop({ log: silentLog, clock }, () => (exits += 1))
  context.after(() => stop.dispose())
  const signal = () => void process.emit("SIGTERM", "SIGTERM")
  return { stop, signal, exits: () => exits, pass: (ms: number) => (now += ms) }
}

test("the first signal in the middle of a restart makes a clean end of it, and the second one ends it at once", async (context) => {
  const { stop, signal, exits, pass } = listen(context)
  stop.restart("gateway.port changed")
  assert.equal(await stop.requested, "restart: gateway.port changed")
  assert.equal(stop.isRestart(), true)
  pass(1_000)
  signal()
  assert.deepEqual([stop.isRestart(), exits()], [false, 0])
  pass(1_000)
  signal()
  assert.equal(exits(), 1)
})

test("an end that is asked for in the middle of a restart is none that begins anew, whatever is changed then", (context) => {
  const { stop } = listen(context)
  stop.restart("env changed")
  stop.request("requested over the API")
  stop.restart("env changed")
  assert.equal(stop.isRestart(), false)
})
