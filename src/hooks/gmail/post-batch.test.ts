import assert from "node:assert/strict"
import { test } from "node:test"
import { systemClock } from "../../kernel/index.ts"
import { batchUrl, createBatchPoster } from "./post-batch.ts"

const batch = { deliveryId: "gmail_1", account: "me@example.com", payload: { messages: [] } }

/** Posts one batch to a gateway that answers so. */
async function post(...statuses: number[]) {
  const keys: (string | null)[] = []
  const answer: typeof fetch = (_url, init) => {
    keys.push(new Headers(init?.headers).get("idempotency-key"))
    return Promise.resolve(new Response("{}", { status: statuses[keys.length - 1] ?? 500 }))
  }
  // No time is waited between tries.
  const clock = { ...systemClock, sleep: () => Promise.resolve() }
  const send = createBatchPoster({ url: "http://127.0.0.1:1/hooks/gmail", token: "t", clock, fetch: answer })
  const outcome = await send(batch, new AbortController().signal).then(
    () => "taken",
    (error: { code?: string }) => error.code,
  )
  return { outcome, keys }
}

test("a batch that was taken is posted no more", async () => {
  assert.deepEqual(await post(202), { outcome: "taken", keys: ["gmail_1"] })
})

test("what may pass is tried again under the same key, and a refusal of the batch is not", async () => {
  assert.deepEqual(await post(503, 401, 200), { outcome: "taken", keys: ["gmail_1", "gmail_1", "gmail_1"] })
  assert.deepEqual(await post(400), { outcome: "bad-request", keys: ["gmail_1"] })
  assert.deepEqual(await post(413), { outcome: "payload-too-large", keys: ["gmail_1"] })
  const given = await post(500, 500, 500, 500, 500, 500)
  assert.deepEqual([given.outcome, given.keys.length], ["gateway-unreachable", 5])
})

test("mails go to the gateway where it listens, or where they are told to", () => {
  const url = (bind: string, hookUrl?: string) => batchUrl({ hookUrl, gateway: { bind, port: 18789 }, path: "/hooks" })
  for (const bind of ["loopback", "lan", "0.0.0.0"]) assert.equal(url(bind), "http://127.0.0.1:18789/hooks/gmail")
  assert.equal(url("192.168.1.5"), "http://192.168.1.5:18789/hooks/gmail")
  for (const bind of ["::", "[::1]"]) assert.equal(url(bind), "http://[::1]:18789/hooks/gmail")
  assert.equal(url("loopback", "https://other.example/in"), "https://other.example/in")
})
