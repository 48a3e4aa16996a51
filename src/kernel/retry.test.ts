import assert from "node:assert/strict"
import { test } from "node:test"
import { type Clock, systemClock } from "./clock.ts"
import { type RetryPolicy, backoffMs, retry } from "./retry.ts"

const policy: RetryPolicy = { attempts: 4, minDelayMs: 100, maxDelayMs: 1_000, jitter: 0 }

/** Sleeps take no time and are written down. */
function sleepless() {
  const slept: number[] = []
  const clock: Clock = {
    ...systemClock,
    async sleep(ms, signal) {
      signal?.throwIfAborted()
      slept.push(ms)
    },
  }
  return { clock, slept }
}

test("waits twice as long after each failure, up to the longest", () => {
  assert.deepEqual(
    [1, 2, 3, 4, 5, 50].map((attempt) => backoffMs(policy, attempt)),
    [100, 200, 400, 800, 1_000, 1_000],
  )
})

test("differs from the nominal wait by the jitter at most, to both sides", () => {
  const shaken = { ...policy, jitter: 0.25 }
  assert.deepEqual(
    [0, 0.5, 1].map((random) => backoffMs(shaken, 3, () => random)),
    [300, 400, 500],
  )
  assert.equal(
    backoffMs({ ...policy, jitter: 3 }, 1, () => 0),
    0,
    "never less than nothing",
  )
})

test("tries until it works, counts the tries, and waits between them only", async () => {
  const { clock, slept } = sleepless()
  const tries: number[] = []
  const value = await retry({ policy, clock, judge: () => ({ kind: "retry" }) }, async (attempt) => {
    tries.push(attempt)
    if (attempt < 3) throw new Error("not yet")
    return "done"
  })
  assert.deepEqual([value, tries, slept], ["done", [1, 2, 3], [100, 200]])
})

test("throws the last error when the tries are used up, without waiting once more", async () => {
  const { clock, slept } = sleepless()
  let tries = 0
  const failing = retry({ policy, clock, judge: () => ({ kind: "retry" }) }, async () => {
    tries += 1
    throw new Error(`failure ${tries}`)
  })
  await assert.rejects(failing, { message: "failure 4" })
  assert.equal(slept.length, 3)
})

test("gives up at once where that is the verdict, and waits as long as the other side asks", async () => {
  const { clock, slept } = sleepless()
  const judge = (error: unknown) =>
    (error as Error).message === "slow down"
      ? ({ kind: "retry", delayMs: 7_000 } as const)
      : ({ kind: "give-up" } as const)
  const failing = retry({ policy, clock, judge }, async (attempt) => {
    throw new Error(attempt === 1 ? "slow down" : "no")
  })
  await assert.rejects(failing, { message: "no" })
  assert.deepEqual(slept, [7_000])
})

test("an abort ends the wait and the tries", async () => {
  const abort = new AbortController()
  let tries = 0
  const options = { policy: { ...policy, minDelayMs: 600_000, maxDelayMs: 600_000 }, clock: systemClock }
  const running = retry({ ...options, signal: abort.signal, judge: () => ({ kind: "retry" }) }, async () => {
    tries += 1
    setImmediate(() => abort.abort(new Error("enough")))
    throw new Error("failure")
  })
  await assert.rejects(running, { name: "AbortError" })
  const aborted = retry({ ...options, signal: abort.signal, judge: () => ({ kind: "retry" }) }, async () => {
    tries += 1
    throw new Error("failure")
  })
  await assert.rejects(aborted, { message: "failure" })
  assert.equal(tries, 2)
})
