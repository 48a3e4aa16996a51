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
