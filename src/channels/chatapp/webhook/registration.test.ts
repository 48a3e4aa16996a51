// The registration by itself: what it does where nobody knows what the platform has taken.
import assert from "node:assert/strict"
import { test } from "node:test"
import { silentLog } from "../../../../test/support/store.ts"
import { type Json, Secret, systemClock } from "../../../kernel/index.ts"
import { defaultPollTiming } from "../polling.ts"
import { allowedUpdates } from "../updates/kinds.ts"
import { type RegistrationOptions, keepWebhook } from "./registration.ts"

test("a secret that is taken back while its call is on its way is set anew: another may count there by now", async () => {
  let kept: Json | undefined
  let isLate = false
  const url = "https://example.com/hook"
  const set: string[] = []
  const arrived = Promise.withResolvers<void>()
  const client = {
    reset: () => undefined,
    async call(
      method: string,
      { secret_token: secret }: { secret_token?: string },
      { signal }: { signal: AbortSignal },
    ) {
      if (method === "getWebhookInfo") return { ok: true, value: { url, allowed_updates: allowedUpdates } }
      set.push(secret ?? "")
      if (!isLate) return { ok: true, value: true }
      // It has arrived; its answer comes too late.
      arrived.resolve()
      await new Promise((resolve) => signal.addEventListener("abort", resolve))
      return { ok: false, failure: { kind: "lost", reason: "given up" } }
    },
  } as unknown as RegistrationOptions["client"]
  const keep = (secret: string) => {
    const { promise: isSet, resolve } = Promise.withResolvers<void>()
    const stop = new AbortController()
    const running = keepWebhook({
      client,
      clock: systemClock,
      log: silentLog,
      signal: stop.signal,
      url,
      secret: new Secret(secret),
      memory: { get: async () => kept, set: async (value) => void (kept = value) },
      onState: ({ kind }) => kind === "running" && resolve(),
      onReport: () => undefined,
      timing: defaultPollTiming,
    })
    const end = async () => {
      stop.abort()
      await running
    }
    return { isSet, end }
  }
  for (const time of ["first", "again"]) {
    const before = keep("before")
    await before.isSet
    await before.end()
    assert.deepEqual(set, ["before"], time)
  }
  isLate = true
  const between = keep("between")
  await arrived.promise
  await between.end()
  isLate = false
  const after = keep("before")
  await after.isSet
  await after.end()
  assert.deepEqual(set, ["before", "between", "before"])
})

test("what the platform has is looked at in the pace that its answers ask for, and set anew only where it differs", async () => {
  const url = "https://example.com/hook"
  const other = { url: "https://elsewhere.example/hook", allowed_updates: allowedUpdates }
  const own = { url, allowed_updates: allowedUpdates }
  const refused = (code: number, more: object = {}) => ({
    ok: false,
    failure: { kind: "refused", code, description: "no", ...more },
  })
  // Of each look: what getWebhookInfo says -> what it leads to, and how long it is until the next.
  const looks: [info: object, set: boolean, waitMs: number, state: string][] = [
    [{ ok: true, value: { url: "" } }, true, 60_000, "running"],
    [{ ok: true, value: own }, false, 60_000, "running"],
    [{ ok: true, value: { ...own, allowed_updates: ["message"] } }, true, 60_000, "running"],
    [{ ok: true, value: { url } }, true, 60_000, "running"],
    [{ ok: true, value: other }, true, 60_000, "running"],
    [refused(429, { retryAfterSeconds: 7 }), false, 7_000, "waiting"],
    [refused(401), false, 900_000, "stopped"],
    [{ ok: true, value: own }, false, 60_000, "running"],
  ]
  const stop = new AbortController()
  const seen: unknown[] = []
  const parameters: unknown[] = []
  let kept: Json | undefined
  let at = 0
  let isSet = false
  let state = ""
  await keepWebhook({
    client: {
      reset: () => undefined,
      async call(method: string, given: object) {
        if (method === "getWebhookInfo") return looks[at]?.[0]
        isSet = true
        parameters.push(given)
        return { ok: true, value: true }
      },
    } as unknown as RegistrationOptions["client"],
    clock: {
      ...systemClock,
      async sleep(ms) {
        seen.push([isSet, ms, state])
        isSet = false
        at += 1
        if (at === looks.length) stop.abort()
      },
    },
    log: silentLog,
    signal: stop.signal,
    url,
    secret: new Secret("a-secret"),
    memory: { get: async () => kept, set: async (value) => void (kept = value) },
    onState: ({ kind }) => (state = kind),
    onReport: () => undefined,
    timing: { minBackoffMs: 1, maxBackoffMs: 2, refusedMs: 900_000, webhookCheckMs: 60_000 },
  })
  assert.deepEqual(
    seen,
    looks.map(([, ...expected]) => expected),
  )
  const wanted = { url, secret_token: "a-secret", allowed_updates: allowedUpdates, max_connections: 40 }
  assert.deepEqual(parameters, Array(4).fill({ ...wanted, drop_pending_updates: false }))
})
