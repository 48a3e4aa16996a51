// What holds for every scheme: settings that cannot be used, repeated headers, ids, and how little a refusal tells.
import assert from "node:assert/strict"
import { createHmac } from "node:crypto"
import { test } from "node:test"
import { AppError } from "../../kernel/index.ts"
import { type VerifyRequest, type VerifySettings, verifySchemes, verifySettingsProblem } from "./index.ts"
import { fixedNow, fixedSeconds, request, verifyAt } from "./verify.fixture.ts"

const secret = "a secret of some length"

function githubRequest(body: string, more: Record<string, string> = {}): VerifyRequest {
  const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`
  return request(body, { "X-Hub-Signature-256": signature, "X-GitHub-Delivery": "delivery-1", ...more })
}

const github: VerifySettings = { scheme: "github", secret }

test("names a missing or empty secret as a fault of the configuration, for every scheme that needs one", async () => {
  for (const scheme of verifySchemes) {
    for (const missing of [undefined, [], [""], " "]) {
      if (scheme === "google-oidc") continue
      await assert.rejects(
        verifyAt(fixedNow, request("{}", {}), { scheme, secret: missing }),
        (error: unknown) =>
          error instanceof AppError &&
          error.code === "config-invalid" &&
          error.status === 500 &&
          /verify\.secret/.test(error.message),
      )
    }
  }
})

test("finds settings that cannot be used before the first delivery does", () => {
  const problem = (settings: VerifySettings) => verifySettingsProblem(settings)
  for (const secret of ["whsec_", "whsec_A", "whsec_with blanks"]) {
    for (const scheme of ["standard-webhooks", "gitlab"] as const) {
      assert.equal(problem({ scheme, secret }), 'secret must be base64 after "whsec_"', `${scheme} ${secret}`)
    }
  }
  assert.equal(problem(github), undefined)
  assert.match(problem({ ...github, secret: ["a", "b", "c"] }) ?? "", /at most 2/)
  for (const idFrom of ["body.id", "headers", "headers.a.b", "payload", "payload[", "{{payload.id}}"]) {
    assert.match(problem({ ...github, idFrom }) ?? "", /^idFrom/)
  }
  assert.match(problem({ ...github, header: "two words" }) ?? "", /^header/)
  assert.match(problem({ ...github, publicUrl: "example" }) ?? "", /^publicUrl/)
  assert.match(problem({ scheme: "sendgrid", secret: "not a key" }) ?? "", /public key/)
  assert.match(problem({ scheme: "standard-webhooks", secret: "whsec_" }) ?? "", /base64/)
  assert.match(problem({ scheme: "google-oidc", audience: "a" }) ?? "", /^email/)
  assert.match(problem({ scheme: "google-oidc", email: "a@example.com" }) ?? "", /^audience/)
  const oidc: VerifySettings = { scheme: "google-oidc", audience: "a", email: "a@example.com" }
  assert.equal(problem(oidc), undefined)
  assert.match(problem({ ...oidc, keySetUrl: "http://keys.example.com" }) ?? "", /https/)
  assert.equal(problem({ ...oidc, keySetUrl: "http://127.0.0.1:1/keys" }), undefined)
})

test("never names the secret in a refusal or an error", async () => {
  const refused = await verifyAt(fixedNow, githubRequest("{}"), { ...github, secret: "another secret" })
  assert.ok(!refused.ok && !refused.reason.includes("another"))
  assert.ok(!(verifySettingsProblem({ scheme: "sendgrid", secret: "hidden words" }) ?? "").includes("hidden"))
})

test("says the same of a wrong signature whether its time is right or not", async () => {
  const signed = (timestamp: string) =>
    request("{}", { "X-Slack-Signature": `v0=${"0".repeat(64)}`, "X-Slack-Request-Timestamp": timestamp })
  const settings: VerifySettings = { scheme: "slack", secret }
  assert.deepEqual(
    await verifyAt(fixedNow, signed(fixedSeconds), settings),
    await verifyAt(fixedNow, signed("1"), settings),
  )
})

test("refuses a request that repeats a header of the scheme", async () => {
  const signed = githubRequest("{}")
  const signature = signed.headers["x-hub-signature-256"] as string
  const rawHeaders = ["X-Hub-Signature-256", signature, "x-hub-signature-256", signature]
  const twice = await verifyAt(fixedNow, { ...signed, rawHeaders }, github)
  assert.ok(!twice.ok && /sent twice/.test(twice.reason))
  // Without the raw list Node has joined the two, which fits no signature.
  const joined = { ...signed, headers: { "x-hub-signature-256": `${signature}, ${signature}` } }
  assert.equal((await verifyAt(fixedNow, joined, github)).ok, false)
  const once = { ...signed, rawHeaders: ["X-Hub-Signature-256", signature, "Accept", "a", "Accept", "b"] }
  assert.equal((await verifyAt(fixedNow, once, github)).ok, true)
})

test("takes the id from where the mapping says, and knows whether it is signed", async () => {
  const body = '{"data":[{"id":7}],"__proto__":{"id":"x"}}'
  const idOf = async (idFrom?: string, headers: Record<string, string> = {}) => {
    const result = await verifyAt(fixedNow, githubRequest(body, headers), { ...github, idFrom })
    assert.ok(result.ok)
    return [result.deliveryId, result.signedId]
  }
  assert.deepEqual(await idOf(), ["delivery-1", false])
  assert.deepEqual(await idOf("payload.data[0].id"), ["7", true])
  assert.deepEqual(await idOf("headers.X-Other", { "X-Other": "other-1" }), ["other-1", false])
  assert.deepEqual(await idOf('headers["X-Other"]', { "X-Other": "other-1" }), ["other-1", false])
  assert.deepEqual(await idOf("payload.data[1].id"), [undefined, false])
  assert.deepEqual(await idOf("payload.constructor.name"), [undefined, false])
  assert.deepEqual(await idOf("payload.data.length"), [undefined, false])
  const [long] = await idOf("headers.x-other", { "X-Other": "i".repeat(500) })
  assert.match(String(long), /^[0-9a-f]{64}$/)
})

test("takes a signed body that is not JSON, without an id of the payload", async () => {
  for (const body of ["plain words", "[".repeat(100_000)]) {
    const result = await verifyAt(fixedNow, githubRequest(body), { ...github, idFrom: "payload.id" })
    assert.ok(result.ok && result.deliveryId === undefined)
  }
})

test("takes an empty body that is signed", async () => {
  assert.equal((await verifyAt(fixedNow, githubRequest(""), github)).ok, true)
})
