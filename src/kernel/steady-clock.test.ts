import assert from "node:assert/strict"
import { test } from "node:test"
import { type Clock, systemClock } from "./clock.ts"
import { createSteadyClock } from "./steady-clock.ts"

const day = 24 * 60 * 60 * 1000

/** Time that a test lets pass, and a wall clock that it sets. */
function handClock() {
  const state = { wall: 1_800_000_000_000, passed: 0 }
  const raw: Clock = { ...systemClock, now: () => state.wall + state.passed, monotonic: () => state.passed }
  return { raw, pass: (ms: number) => (state.passed += ms), set: (byMs: number) => (state.wall += byMs) }
}

test("goes on as before when the wall clock is set, until the step is taken", () => {
  const { raw, pass, set } = handClock()
  const clock = createSteadyClock(raw)
  const before = clock.now()
  for (const step of [-30 * day, 3_650 * day, -60 * 60 * 1000, 2_000]) {
    const now = clock.now()
    set(step)
    pass(5)
    assert.equal(clock.now(), now + 5)
    assert.equal(clock.pendingStep(), step)
    assert.equal(clock.takeStep(), step)
    assert.equal(clock.now(), now + 5 + step)
    assert.equal(clock.pendingStep(), 0)
  }
  assert.ok(clock.now() !== before)
})

test("follows slow adjustments as they come, however much they are together", () => {
  const { raw, pass, set } = handClock()
  const clock = createSteadyClock(raw)
  for (let n = 0; n < 100; n += 1) {
    pass(1_000)
    set(-400)
    assert.equal(clock.pendingStep(), 0)
    assert.equal(clock.now(), raw.now())
  }
})

test("a step that could not be followed is there again", () => {
  const { raw, set } = handClock()
  const clock = createSteadyClock(raw)
  const before = clock.now()
  set(day)
  clock.undoStep(clock.takeStep())
  assert.equal(clock.now(), before)
  assert.equal(clock.pendingStep(), day)
})

test("tells of each step, and again of one that failed", async (context) => {
  context.mock.timers.enable({ apis: ["setInterval"] })
  const { raw, set } = handClock()
  const clock = createSteadyClock(raw)
  const seen: number[] = []
  let isBroken = true
  const leave = clock.watch(async () => {
    const step = clock.takeStep()
    seen.push(step)
    if (isBroken) clock.undoStep(step)
  })
  const look = async () => {
    context.mock.timers.tick(1_000)
    await new Promise((resolve) => setImmediate(resolve))
  }
  await look()
  assert.deepEqual(seen, [])
  set(day)
  await look()
  isBroken = false
  await look()
  await look()
  assert.deepEqual(seen, [day, day])
  leave()
  set(day)
  await look()
  assert.equal(seen.length, 2)
})
