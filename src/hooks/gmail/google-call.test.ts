import assert from "node:assert/strict"
import { test } from "node:test"
import { systemClock } from "../../kernel/index.ts"
import { createGoogleCaller } from "./google-call.ts"

/** A caller whose pauses take no time and are kept, and whose service gives these answers, then `{}`. */
function rig(...answers: [status: number, headers?: Record<string, string>, reason?: string][]) {
  const pauses: number[] = []
  let calls = 0
  const clock = { ...systemClock, sleep: async (ms: number) => void pauses.push(ms) }
  const caller = createGoogleCaller({
    clock,
    async transport() {
      const [status, headers = {}, reason = "UNAVAILABLE"] = answers[calls++] ?? [200]
      const body = status === 200 ? {} : { error: { status: reason, errors: [{ reason }] } }
      return Response.json(body, { status, headers })
    },
  })
  const call = () => caller.call({ method: "GET", url: "https://gmail.example/history?token=x" })
  return { call, pauses, made: () => calls }
}

test("makes a call again that came too often: after as long as Google says, a minute at most", async () => {
  const { call, pauses, made } = rig([429, { "retry-after": "7" }], [429, { "retry-after": "900" }])
  await call()
  assert.deepEqual([pauses, made()], [[7_000, 60_000], 3])
})

test("waits longer each time where Google says nothing, and gives up after the fourth", async () => {
  const { call, pauses, made } = rig([429], [503], [403, {}, "rateLimitExceeded"], [429])
  await assert.rejects(call(), { status: 429, message: "GET gmail.example/history: 429 UNAVAILABLE" })
  assert.equal(made(), 4)
  for (const [at, nominal] of [500, 1_000, 2_000].entries()) {
    assert.ok(Math.abs((pauses[at] ?? 0) - nominal) <= nominal * 0.3, `${pauses[at]} after ${at + 1}`)
  }
})

test("makes a call once that Google refuses for what it is", async () => {
  for (const status of [400, 401, 403, 404]) {
    const { call, pauses, made } = rig([status, { "retry-after": "1" }])
    await assert.rejects(call(), { status })
    assert.deepEqual([pauses, made()], [[], 1])
  }
})
