// Google's identity tokens against an issuer of our own: claims, forged tokens, rotation, and an issuer that is down.
import assert from "node:assert/strict"
import { writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { type TestContext, test } from "node:test"
import { SignJWT } from "jose"
import { createIssuer } from "../../../test/support/google/issuer.ts"
import { temporaryFolder } from "../../../test/support/temporary.ts"
import { systemClock } from "../../kernel/index.ts"
import { type VerifySettings, createVerifier } from "./index.ts"
import { request, silentLog } from "./verify.fixture.ts"

const audience = "https://hooks.example.com/gmail-pubsub"
const email = "push@project.iam.gserviceaccount.com"

async function setUp(context: TestContext) {
  const issuer = await createIssuer()
  const state = { down: false, requests: 0, body: undefined as string | undefined, offsetMs: 0 }
  const server = createServer((_, response) => {
    state.requests += 1
    response.writeHead(state.down ? 503 : 200, { "cache-control": "public, max-age=600" })
    response.end(state.body ?? JSON.stringify(issuer.keySet()))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  context.after(() => new Promise((resolve) => server.close(resolve)))
  const keySetUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/certs`
  const clock = {
    ...systemClock,
    now: () => Date.now() + state.offsetMs,
    monotonic: () => performance.now() + state.offsetMs,
  }
  const verifier = createVerifier({ clock, log: silentLog })
  const settings: VerifySettings = { scheme: "google-oidc", audience, email, keySetUrl }
  const check = (token: string | undefined, more: Partial<VerifySettings> = {}, body = "{}") =>
    verifier.verifySignature(request(body, token === undefined ? {} : { Authorization: `Bearer ${token}` }), {
      ...settings,
      ...more,
    })
  return { issuer, state, check }
}

test("takes a token of Google for our address and our service account", async (context) => {
  const { issuer, state, check } = await setUp(context)
  const body = JSON.stringify({ message: { messageId: "136969346945" } })
  const result = await check(await issuer.sign({ aud: audience, email }), {}, body)
  assert.ok(result.ok)
  assert.deepEqual([result.deliveryId, result.signedId, result.bodySigned], ["136969346945", false, false])
  assert.equal((await check(await issuer.sign({ aud: audience, email, iss: "accounts.google.com" }))).ok, true)
  assert.equal(state.requests, 1, "the key set is kept")
})

test("refuses wrong claims, each with its reason", async (context) => {
  const { issuer, check } = await setUp(context)
  const seconds = Math.floor(Date.now() / 1000)
  const refusals: [Parameters<typeof issuer.sign>[0], RegExp][] = [
    [{ aud: "https://other.example.com", email }, /aud/],
    [{ aud: audience, email: "somebody@evil.iam.gserviceaccount.com" }, /another account/],
    [{ aud: audience }, /email/],
    [{ aud: audience, email, email_verified: false }, /not verified/],
    [{ aud: audience, email, iss: "https://evil.example.com" }, /iss/],
    [{ aud: audience, email, exp: seconds - 61 }, /expired/],
  ]
  for (const [claims, reason] of refusals) {
    const result = await check(await issuer.sign(claims))
    assert.ok(!result.ok && reason.test(result.reason), JSON.stringify([claims, result]))
    assert.equal("temporary" in result, false)
  }
})

test("refuses forged tokens: other keys, other algorithms, none at all", async (context) => {
  const { issuer, check } = await setUp(context)
  const other = await createIssuer()
  const good = await issuer.sign({ aud: audience, email })
  const [header = "", payload = "", signature = ""] = good.split(".")
  const none = Buffer.from('{"alg":"none"}').toString("base64url")
  const published = JSON.stringify(issuer.keySet().keys[0])
  const confused = await new SignJWT({ aud: audience, email, email_verified: true, iss: "accounts.google.com" })
    .setProtectedHeader({ alg: "HS256", kid: "key-0" })
    .setIssuedAt()
    .setExpirationTime("1h")
    .sign(Buffer.from(published))
  const changed = Buffer.from(Buffer.from(payload, "base64url").toString().replace("project", "attacks")).toString(
    "base64url",
  )
  const forged = [
    await other.sign({ aud: audience, email }),
    `${none}.${payload}.`,
    `${none}.${payload}.${signature}`,
    confused,
    `${header}.${changed}.${signature}`,
    `${header}.${payload}.${signature.slice(0, -8)}AAAAAAAA`,
    "a.b.c",
    "x".repeat(10_000),
    undefined,
  ]
  for (const token of forged) assert.equal((await check(token)).ok, false, token)
  assert.equal((await check(good)).ok, true)
})

test("asks again for a key that it lacks, but not more often than it should", async (context) => {
  const { issuer, state, check } = await setUp(context)
  assert.equal((await check(await issuer.sign({ aud: audience, email }))).ok, true)
  await issuer.rotate()
  state.offsetMs += 31_000
  assert.equal((await check(await issuer.sign({ aud: audience, email }))).ok, true)
  assert.equal(state.requests, 2)
  const invented = await issuer.sign({ aud: audience, email }, { keyId: "invented" })
  await Promise.all(Array.from({ length: 20 }, () => check(invented)))
  assert.equal(state.requests, 2, "a flood of invented keys costs no fetch")
})

test("refuses with a reason while the issuer is down, and works on with the keys it has", async (context) => {
  const { issuer, state, check } = await setUp(context)
  const token = await issuer.sign({ aud: audience, email, exp: Math.floor(Date.now() / 1000) + 86_400 })
  state.down = true
  const refused = await check(token)
  assert.ok(!refused.ok && refused.temporary === true && /could not be fetched/.test(refused.reason))
  state.down = false
  state.offsetMs += 31_000
  assert.equal((await check(token)).ok, true)
  state.down = true
  state.offsetMs += 3_600_000
  assert.equal((await check(token)).ok, true, "keys of an hour ago still work")
  assert.equal(state.requests, 3)
})

test("does not take a key set that is too large or is none", async (context) => {
  for (const body of [`{"keys":[{"kty":"${"x".repeat(300_000)}"}]}`, "<html>", '{"keys":[]}']) {
    const { issuer, state, check } = await setUp(context)
    state.body = body
    const result = await check(await issuer.sign({ aud: audience, email }))
    assert.ok(!result.ok && result.temporary === true)
  }
})

test("reads the key set from a file, and again when the file changes", async (context) => {
  const { issuer, check } = await setUp(context)
  const keySetFile = join(temporaryFolder(), "keys.json")
  const missing = await check(await issuer.sign({ aud: audience, email }), { keySetFile })
  assert.ok(!missing.ok && missing.temporary === true && missing.reason.includes(keySetFile))
  writeFileSync(keySetFile, JSON.stringify(issuer.keySet()))
  assert.equal((await check(await issuer.sign({ aud: audience, email }), { keySetFile })).ok, true)
  await issuer.rotate()
  const token = await issuer.sign({ aud: audience, email })
  assert.equal((await check(token, { keySetFile })).ok, false)
  writeFileSync(keySetFile, ` ${JSON.stringify(issuer.keySet())}`)
  assert.equal((await check(token, { keySetFile })).ok, true)
})
