import assert from "node:assert/strict"
import { test } from "node:test"
import { explainFailure } from "./failure.ts"
import { TransportError } from "./transport.ts"

const tooMany = (retry_after: unknown) =>
  explainFailure({ error_code: 429, description: "Too Many Requests", parameters: { retry_after } })

test("a pause is heeded to the second, for a day at most", () => {
  assert.deepEqual(tooMany(7), {
    kind: "refused",
    code: 429,
    description: "Too Many Requests",
    retryAfterSeconds: 7,
  })
  // A timer cannot wait for longer than 24 days, and ends at once when it is told to.
  for (const seconds of [1e12, Infinity])
    assert.equal((tooMany(seconds) as { retryAfterSeconds?: number }).retryAfterSeconds, 86_400)
})

test("what is no time is no pause: nobody is asked again without one", () => {
  for (const seconds of [0, -5, Number.NaN, "soon", null, {}]) {
    assert.equal("retryAfterSeconds" in tooMany(seconds), false, String(seconds))
  }
})

test("what the network did says whether the request can have arrived, and never more", () => {
  const page = new TransportError("page", "HTTP 502 with a body that is not the platform's", 502)
  assert.deepEqual(explainFailure({ error: page }), { kind: "page", status: 502 })
  const unsent = new TransportError("unsent", "connect ECONNREFUSED 127.0.0.1:1")
  assert.deepEqual(explainFailure({ error: unsent }), { kind: "unsent", reason: "connect ECONNREFUSED 127.0.0.1:1" })
  assert.equal(explainFailure({ error: new Error("odd") }).kind, "lost")
  assert.equal(explainFailure(new TypeError("result is not iterable")).kind, "lost")
})
