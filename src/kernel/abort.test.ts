import assert from "node:assert/strict"
import { getEventListeners } from "node:events"
import { test } from "node:test"
import { raceAbort, runWithTimeout, withTimeout } from "./abort.ts"

const never = () => new Promise<never>(() => undefined)

test("work that takes too long is left with an error that says what it was and how long it had", async () => {
  await assert.rejects(runWithTimeout(5, "The answer", never), {
    code: "timeout",
    message: "The answer took longer than 5 ms",
  })
})

test("work that is done in time gives its result, and leaves no timer and no listener", async () => {
  const parent = new AbortController()
  const signals: AbortSignal[] = []
  const work = async (signal: AbortSignal) => {
    signals.push(signal)
    return "done"
  }
  assert.equal(await runWithTimeout(60_000, "The answer", work, parent.signal), "done")
  await assert.rejects(
    runWithTimeout(
      60_000,
      "x",
      async () => {
        throw new Error("failed by itself")
      },
      parent.signal,
    ),
    { message: "failed by itself" },
  )
  assert.equal(getEventListeners(parent.signal, "abort").length, 0)
  assert.equal(getEventListeners(signals[0] as AbortSignal, "abort").length, 0)
})

test("an abort from outside ends the wait with its own reason, also when it came before", async () => {
  const parent = new AbortController()
  const reason = new Error("stopped")
  const waiting = runWithTimeout(60_000, "x", never, parent.signal)
  parent.abort(reason)
  await assert.rejects(waiting, reason)
  const { signal, clear } = withTimeout(60_000, "x", parent.signal)
  assert.equal(signal.reason, reason)
  clear()
  // What fails later is nobody's unhandled rejection.
  await assert.rejects(raceAbort(Promise.reject(new Error("later")), signal), reason)
})
