import assert from "node:assert/strict"
import { createHmac } from "node:crypto"
import { after, afterEach, before, describe, test } from "node:test"
import { gzipSync } from "node:zlib"
import { sign } from "@octokit/webhooks-methods"
import { Webhook } from "standardwebhooks"
import Stripe from "stripe"
import { silentLog } from "../../test/support/store.ts"
import { systemClock } from "../kernel/index.ts"
import { bearer, hookToken, startHooks } from "./hooks.fixture.ts"
import { createVerifier } from "./verify/index.ts"

const verifier = createVerifier({ clock: systemClock, log: silentLog })
let server: Awaited<ReturnType<typeof startHooks>>
before(
  async () =>
    (server = await startHooks({ verify: (request, settings) => verifier.verifySignature(request, settings) })),
)
after(() => server.stop())
afterEach(() => {
  for (const table of ["event", "job", "inbox", "hook_delivery"]) server.rows(`delete from ${table}`)
})

const secret = "mapping-secret-0123456789"
const map = (...mappings: Record<string, unknown>[]) => server.configure({ mappings })
const github = (change: object = {}) => ({
  id: "gh",
  match: { path: "gh" },
  messageTemplate: "m",
  verify: { scheme: "github", secret },
  ...change,
})
const runs = () => server.rows("select * from job").length

async function signed(body: string, path = "/hooks/gh", key = secret, headers: Record<string, string> = {}) {
  return server.send(path, { body, headers: { "x-hub-signature-256": await sign(key, body), ...headers } })
}

describe("a mapping with verify", () => {
  test("takes a signature in the token's place, and the token too", async () => {
    map(github())
    assert.equal((await signed('{"a":1}')).status, 202)
    assert.equal((await server.post("/hooks/gh", { a: 2 })).status, 202)
    const packed = gzipSync('{"a":3}')
    const headers = { "content-encoding": "gzip", "x-hub-signature-256": await sign(secret, '{"a":3}') }
    assert.equal((await server.send("/hooks/gh", { body: packed, headers })).status, 202)
  })

  test("refuses a missing or wrong signature, and one over other bytes, before the body is parsed", async () => {
    map(github())
    assert.equal((await server.send("/hooks/gh", { body: "not json" })).status, 401)
    assert.equal((await signed('{"a":1}', "/hooks/gh", "another-secret")).status, 401)
    const signature = await sign(secret, '{"a":1}')
    const other = await server.send("/hooks/gh", { body: '{"a": 1}', headers: { "x-hub-signature-256": signature } })
    assert.equal(other.status, 401)
    assert.equal(runs(), 0)
    assert.equal((await signed("not json")).status, 400)
  })

  test("opens nothing else: not the built-in endpoints, not a mapping with another secret or none", async () => {
    map(
      github({ match: { path: "gh", source: "a" } }),
      github({
        id: "other",
        match: { path: "gh", source: "b" },
        verify: { scheme: "github", secret: "other-secret-012345" },
      }),
      { id: "plain", match: { path: "gh", source: "c" }, messageTemplate: "m" },
    )
    assert.equal((await signed('{"source":"a"}')).status, 202)
    assert.equal((await signed('{"source":"b"}')).status, 401)
    assert.equal((await signed('{"source":"b"}', "/hooks/gh", "other-secret-012345")).status, 202)
    assert.equal((await signed('{"source":"c"}')).status, 401)
    for (const path of ["/hooks/agent", "/hooks/wake", "/hooks/runs/x"]) {
      assert.equal((await signed('{"message":"m","text":"t"}', path)).status, 401)
    }
  })

  test("is guarded against guessing like the token, and a right signature always passes", async () => {
    const local = await startHooks(
      { verify: (request, settings) => verifier.verifySignature(request, settings) },
      { mappings: [github()] },
    )
    try {
      const wrong = () =>
        local.send("/hooks/gh", { body: "{}", headers: { "x-hub-signature-256": `sha256=${"0".repeat(64)}` } })
      const statuses: number[] = []
      for (let count = 0; count < 22; count += 1) statuses.push((await wrong()).status)
      assert.deepEqual(statuses.slice(19), [401, 429, 429])
      const right = await local.send("/hooks/gh", {
        body: "{}",
        headers: { "x-hub-signature-256": await sign(secret, "{}") },
      })
      assert.equal(right.status, 202)
    } finally {
      await local.stop()
    }
  })

  test("takes two secrets while one is exchanged, and forgets one at once when the configuration does", async () => {
    map(github({ verify: { scheme: "github", secret: [secret, "older-secret-0123456"] } }))
    assert.equal((await signed('{"a":1}', "/hooks/gh", "older-secret-0123456")).status, 202)
    assert.equal((await signed('{"a":2}')).status, 202)
    map(github())
    assert.equal((await signed('{"a":3}', "/hooks/gh", "older-secret-0123456")).status, 401)
  })

  test("without a verifier, or with settings that cannot be used, refuses", async () => {
    const local = await startHooks({}, { mappings: [github()] })
    try {
      const headers = { "x-hub-signature-256": await sign(secret, "{}") }
      assert.equal((await local.send("/hooks/gh", { body: "{}", headers })).status, 401)
    } finally {
      await local.stop()
    }
    map(github({ verify: { scheme: "sendgrid", secret: "no key" } }))
    assert.equal((await server.send("/hooks/gh", { body: "{}" })).status, 401)
  })

  test("answers the challenge of Slack without a run", async () => {
    map({ preset: "slack", verify: { scheme: "slack", secret } })
    const body = JSON.stringify({ type: "url_verification", challenge: "c-123" })
    const time = String(Math.floor(Date.now() / 1000))
    const signature = `v0=${createHmac("sha256", secret).update(`v0:${time}:${body}`).digest("hex")}`
    const headers = { "x-slack-request-timestamp": time, "x-slack-signature": signature }
    const answer = await server.send("/hooks/slack", { body, headers })
    assert.equal(answer.status, 200)
    assert.match(answer.text, /c-123/)
    assert.equal(runs(), 0)
    assert.equal((await server.send("/hooks/slack", { body })).status, 401)
  })

  test("answers it without verify too, to whoever has the hook token", async () => {
    map({ preset: "slack" })
    const body = JSON.stringify({ type: "url_verification", challenge: "c-124", token: "old" })
    const answer = await server.send(`/hooks/slack?token=${hookToken}`, { body })
    assert.deepEqual(
      [answer.status, answer.text, answer.headers["content-type"]],
      [200, "c-124", "text/plain; charset=utf-8"],
    )
    assert.equal(runs(), 0)
    assert.equal((await server.send("/hooks/slack", { body })).status, 401)
    map({ match: { path: "other" }, messageTemplate: "{{type}}" })
    assert.equal((await server.send("/hooks/other", { body, headers: bearer })).status, 202, "not Slack's: a delivery")
  })

  test("shows no secret and no signature in log or deliveries", async () => {
    map(github())
    await signed('{"a":1}')
    const kept = JSON.stringify(server.rows("select headers, error, answer from hook_delivery"))
    assert.ok(!kept.includes("sha256=") && !kept.includes(secret) && !server.logged().includes(secret))
  })
})

describe("a signed repeat", () => {
  test("is known by its body when the id is not signed: another id header does not run it again", async () => {
    map(github())
    const first = await signed('{"a":1}', "/hooks/gh", secret, { "x-github-delivery": "one" })
    const replayed = await signed('{"a":1}', "/hooks/gh", secret, {
      "x-github-delivery": "two",
      "idempotency-key": "three",
    })
    assert.equal(replayed.status, 200)
    assert.deepEqual(replayed.json, { ...first.json, duplicate: true })
    assert.equal((await signed('{"a":2}', "/hooks/gh", secret, { "x-github-delivery": "one" })).status, 202)
    await server.reopenStore()
    assert.equal((await signed('{"a":1}')).json.duplicate, true)
  })

  test("is known by its signed id for Standard Webhooks and Stripe, on its own mapping only", async () => {
    const whsec = `whsec_${Buffer.from("0123456789abcdef0123456789abcdef").toString("base64")}`
    map(
      { preset: "standard-webhooks", verify: { scheme: "standard-webhooks", secret: whsec } },
      {
        id: "second",
        preset: "standard-webhooks",
        match: { path: "second" },
        verify: { scheme: "standard-webhooks", secret: whsec },
      },
      { preset: "stripe", verify: { scheme: "stripe", secret: "whsec_stripe_test_secret" } },
    )
    const standard = (path: string, id: string, body: string) => {
      const now = new Date()
      const signature = new Webhook(whsec).sign(id, now, body)
      const headers = {
        "webhook-id": id,
        "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
        "webhook-signature": signature,
      }
      return server.send(path, { body, headers })
    }
    const body = '{"type":"order.paid","data":{"id":"o1"}}'
    assert.equal((await standard("/hooks/standard-webhooks", "msg_1", body)).status, 202)
    assert.equal((await standard("/hooks/standard-webhooks", "msg_1", body)).json.duplicate, true)
    assert.equal((await standard("/hooks/standard-webhooks", "msg_2", body)).status, 202)
    assert.equal((await standard("/hooks/second", "msg_1", body)).status, 202)
    const event = JSON.stringify({
      id: "evt_1",
      type: "payout.failed",
      data: { object: { id: "po_1", object: "payout" } },
    })
    const stripe = () => {
      const signature = new Stripe("sk_test_x").webhooks.generateTestHeaderString({
        payload: event,
        secret: "whsec_stripe_test_secret",
      })
      return server.send("/hooks/stripe", { body: event, headers: { "stripe-signature": signature } })
    }
    assert.equal((await stripe()).status, 202)
    assert.equal((await stripe()).json.duplicate, true)
  })

  test("with a signed time too far away is refused", async () => {
    map({ preset: "slack", verify: { scheme: "slack", secret, toleranceSeconds: 60 } })
    const body = "{}"
    const time = String(Math.floor(Date.now() / 1000) - 120)
    const signature = `v0=${createHmac("sha256", secret).update(`v0:${time}:${body}`).digest("hex")}`
    const headers = { "x-slack-request-timestamp": time, "x-slack-signature": signature }
    assert.equal((await server.send("/hooks/slack", { body, headers })).status, 401)
    assert.equal((await server.send("/hooks/slack", { body, headers: bearer })).status, 202)
  })
})
