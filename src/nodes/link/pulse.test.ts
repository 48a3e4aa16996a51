import assert from "node:assert/strict"
import { test } from "node:test"
import { Pulse } from "./pulse.ts"

test("a question that is asked while the answer to the one before is judged has its own time", ({ mock }) => {
  mock.timers.enable({ apis: ["setTimeout"] })
  let now = 0
  mock.method(performance, "now", () => now)
  const looks: (() => void)[] = []
  mock.method(globalThis, "setImmediate", (look: () => void) => looks.push(look))
  let [asked, isDead] = [0, false]
  const pulse = new Pulse({
    ping: () => void (asked += 1),
    onDead: () => void (isDead = true),
    isBusy: () => false,
    timing: { busyMs: 1_500, idleMs: 20_000, answerMs: 3_500 },
  })
  const tick = (ms: number) => {
    now += ms
    mock.timers.tick(ms)
  }
  tick(20_000)
  // It is answered at once.
  pulse.heard()
  tick(3_500)
  // Before it is looked whether an answer has come, somebody calls.
  pulse.hurry()
  assert.deepEqual([asked, looks.length], [2, 1])
  looks[0]?.()
  assert.equal(isDead, false)
  tick(3_500)
  looks[1]?.()
  assert.equal(isDead, true)
})
