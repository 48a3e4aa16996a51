// Every scheme against what the senders' own libraries sign, their published examples, and changed bytes.
import assert from "node:assert/strict"
import { createHash, createHmac, generateKeyPairSync, randomBytes } from "node:crypto"
import { createRequire } from "node:module"
import { test } from "node:test"
import { sign as signForGithub } from "@octokit/webhooks-methods"
import fc from "fast-check"
import { Webhook } from "standardwebhooks"
import Stripe from "stripe"
import twilioLibrary from "twilio"
import type { VerifyRequest, VerifySettings } from "./index.ts"
import { fixedNow, fixedSeconds, request, verifyAt } from "./verify.fixture.ts"

const requireModule = createRequire(import.meta.url)

const secret = "It's a Secret to Everybody"
const otherSecret = "another secret, of the week before"
const whsec = `whsec_${Buffer.from("thirty-two bytes, more or less..").toString("base64")}`
const hex = (key: string, ...parts: (string | Buffer)[]) =>
  parts.reduce((mac, part) => mac.update(part), createHmac("sha256", key)).digest("hex")
const base64 = (key: string, ...parts: (string | Buffer)[]) => Buffer.from(hex(key, ...parts), "hex").toString("base64")

interface Case {
  settings: VerifySettings
  /** A signed delivery of this body, made with this secret. */
  sign: (body: Buffer, key: string) => VerifyRequest | Promise<VerifyRequest>
  /** Headers that are signed besides the body, a time among them. */
  signedHeaders?: string[]
  key: string
  otherKey: string
}

const cases: Record<string, Case> = {
  "standard-webhooks": {
    settings: { scheme: "standard-webhooks" },
    key: whsec,
    otherKey: `whsec_${randomBytes(24).toString("base64")}`,
    signedHeaders: ["webhook-id", "webhook-timestamp"],
    sign: (body, key) => {
      const id = "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W"
      const signature = new Webhook(key).sign(id, new Date(fixedNow), body)
      return request(body, {
        "webhook-id": id,
        "webhook-timestamp": fixedSeconds,
        "webhook-signature": `v1a,AAAA v1,${randomBytes(32).toString("base64")} ${signature}`,
      })
    },
  },
  "standard-webhooks by the header names of Svix": {
    settings: { scheme: "standard-webhooks" },
    key: whsec,
    otherKey: `whsec_${randomBytes(24).toString("base64")}`,
    signedHeaders: ["svix-id", "svix-timestamp"],
    sign: (body, key) => {
      const id = "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W"
      const signature = new Webhook(key).sign(id, new Date(fixedNow), body)
      return request(body, { "svix-id": id, "svix-timestamp": fixedSeconds, "svix-signature": signature })
    },
  },
  github: {
    settings: { scheme: "github" },
    key: secret,
    otherKey: otherSecret,
    sign: async (body, key) =>
      request(body, {
        "X-Hub-Signature-256": await signForGithub(key, body.toString("utf8")),
        "X-GitHub-Delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958",
      }),
  },
  stripe: {
    settings: { scheme: "stripe" },
    key: "whsec_stripe_takes_it_as_it_is",
    otherKey: otherSecret,
    sign: (body, key) => {
      const header = Stripe.webhooks.generateTestHeaderString({
        payload: body.toString("utf8"),
        secret: key,
        timestamp: Number(fixedSeconds),
      })
      return request(body, { "Stripe-Signature": `${header},v1=${"0".repeat(64)},v0=00` })
    },
  },
  slack: {
    settings: { scheme: "slack" },
    key: secret,
    otherKey: otherSecret,
    signedHeaders: ["x-slack-request-timestamp"],
    sign: (body, key) =>
      request(body, {
        "X-Slack-Signature": `v0=${hex(key, `v0:${fixedSeconds}:`, body)}`,
        "X-Slack-Request-Timestamp": fixedSeconds,
      }),
  },
  shopify: {
    settings: { scheme: "shopify" },
    key: secret,
    otherKey: otherSecret,
    sign: (body, key) =>
      request(body, { "X-Shopify-Hmac-SHA256": base64(key, body), "X-Shopify-Webhook-Id": "b54557e4" }),
  },
  sentry: {
    settings: { scheme: "sentry" },
    key: secret,
    otherKey: otherSecret,
    sign: (body, key) => request(body, { "Sentry-Hook-Signature": hex(key, body), "Request-ID": "req-1" }),
  },
  pagerduty: {
    settings: { scheme: "pagerduty" },
    key: secret,
    otherKey: otherSecret,
    sign: (body, key) => request(body, { "X-PagerDuty-Signature": `v1=${"0".repeat(64)},v1=${hex(key, body)}` }),
  },
  "hmac-sha256 in hex": {
    settings: { scheme: "hmac-sha256", header: "X-Their-Signature" },
    key: secret,
    otherKey: otherSecret,
    sign: (body, key) => request(body, { "X-Their-Signature": hex(key, body).toUpperCase() }),
  },
  "hmac-sha256 in base64": {
    settings: { scheme: "hmac-sha256" },
    key: secret,
    otherKey: otherSecret,
    sign: (body, key) => request(body, { "X-Signature-256": `sha256=${base64(key, body)}` }),
  },
}

/** Text bodies: two of the libraries sign the text, not the bytes. */
const anyBody = fc.string({ unit: "grapheme", minLength: 1, maxLength: 200 }).map((text) => Buffer.from(text))

const changedByte = fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 }))

function withChange(bytes: Buffer, [place, mask]: [number, number]): Buffer {
  const changed = Buffer.from(bytes)
  const index = place % changed.length
  changed[index] = (changed[index] as number) ^ mask
  return changed
}

for (const [name, { settings, sign, key, otherKey, signedHeaders }] of Object.entries(cases)) {
  const withSecret = (...secrets: string[]): VerifySettings => ({ ...settings, secret: secrets })

  test(`${name}: takes what the sender signs and refuses any changed byte of the body`, async () => {
    await fc.assert(
      fc.asyncProperty(anyBody, changedByte, async (body, change) => {
        const signed = await sign(body, key)
        assert.equal((await verifyAt(fixedNow, signed, withSecret(key))).ok, true)
        const changed = { ...signed, rawBody: withChange(body, change) }
        assert.equal((await verifyAt(fixedNow, changed, withSecret(key))).ok, false)
        const longer = { ...signed, rawBody: Buffer.concat([body, Buffer.from("\n")]) }
        assert.equal((await verifyAt(fixedNow, longer, withSecret(key))).ok, false)
      }),
      { numRuns: 60 },
    )
  })

  test(`${name}: takes both secrets of a rotation, and tells them apart without showing them`, async () => {
    const body = Buffer.from('{"id":"evt_1"}')
    const old = await verifyAt(fixedNow, await sign(body, otherKey), withSecret(key, otherKey))
    const now = await verifyAt(fixedNow, await sign(body, key), withSecret(key, otherKey))
    assert.ok(old.ok && now.ok)
    assert.notEqual(old.secretId, now.secretId)
    assert.ok(!JSON.stringify([old, now]).includes(key))
    assert.equal((await verifyAt(fixedNow, await sign(body, otherKey), withSecret(key))).ok, false)
  })

  test(`${name}: refuses a delivery without signature`, async () => {
    const result = await verifyAt(fixedNow, request("{}", {}), withSecret(key))
    assert.equal(result.ok, false)
  })

  if (signedHeaders === undefined) continue

  test(`${name}: refuses any change of what is signed besides the body`, async () => {
    const signed = await sign(Buffer.from('{"a":1}'), key)
    for (const header of signedHeaders) {
      const value = signed.headers[header] as string
      await fc.assert(
        fc.asyncProperty(fc.nat(value.length - 1), fc.constantFrom(..."0123456789ax"), async (at, character) => {
          fc.pre(value[at] !== character)
          const changed = value.slice(0, at) + character + value.slice(at + 1)
          const result = await verifyAt(
            fixedNow,
            { ...signed, headers: { ...signed.headers, [header]: changed } },
            withSecret(key),
          )
          assert.equal(result.ok, false)
        }),
        { numRuns: 40 },
      )
    }
  })

  test(`${name}: refuses what was signed too long ago or in the future`, async () => {
    const signed = await sign(Buffer.from('{"a":1}'), key)
    const at = async (seconds: number, toleranceSeconds?: number) =>
      (await verifyAt(fixedNow + seconds * 1000, signed, { ...withSecret(key), toleranceSeconds })).ok
    assert.deepEqual(await Promise.all([at(300), at(-300), at(301), at(-301)]), [true, true, false, false])
    assert.deepEqual(await Promise.all([at(10, 10), at(11, 10)]), [true, false])
  })
}

test("stripe: refuses a changed or an old time", async () => {
  const stripe = cases["stripe"]
  assert.ok(stripe)
  const signed = await stripe.sign(Buffer.from('{"id":"evt_1"}'), stripe.key)
  const settings = { ...stripe.settings, secret: stripe.key }
  const header = signed.headers["stripe-signature"] as string
  const withHeader = (text: string) => ({ ...signed, headers: { "stripe-signature": text } })
  const later = header.replace(`t=${fixedSeconds}`, `t=${Number(fixedSeconds) + 1}`)
  assert.notEqual(later, header)
  assert.equal((await verifyAt(fixedNow, withHeader(later), settings)).ok, false)
  assert.equal((await verifyAt(fixedNow, withHeader(`${header},t=${fixedSeconds}`), settings)).ok, false)
  assert.equal((await verifyAt(fixedNow + 300_000, signed, settings)).ok, true)
  assert.equal((await verifyAt(fixedNow + 301_000, signed, settings)).ok, false)
  assert.equal((await verifyAt(fixedNow - 301_000, signed, settings)).ok, false)
})

test("fits the published examples of the senders", async () => {
  const githubExample = request("Hello, World!", {
    "X-Hub-Signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
  })
  assert.equal((await verifyAt(fixedNow, githubExample, { scheme: "github", secret })).ok, true)

  const slackBody =
    "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar" +
    "&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com" +
    "%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121." +
    "803a0bc887a14d10d2c447fce8b6703c"
  const slackExample = request(slackBody, {
    "X-Slack-Signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
    "X-Slack-Request-Timestamp": "1531420618",
  })
  const slackSecret = "8f742231b10e8888abcd99yyyzzz85a5"
  assert.equal((await verifyAt(1531420618_000, slackExample, { scheme: "slack", secret: slackSecret })).ok, true)

  const standardExample = request('{"test": 2432232314}', {
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  })
  const standardSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
  assert.deepEqual(
    await verifyAt(1614265330_000, standardExample, { scheme: "standard-webhooks", secret: standardSecret }),
    {
      ok: true,
      deliveryId: "msg_p5jXN8AQM9LWM0D4loKWxJek",
      signedId: true,
      bodySigned: true,
      secretId: createHash("sha256").update(standardSecret).digest("hex").slice(0, 16),
    },
  )
})

test("standard-webhooks takes a raw secret and ignores other versions", async () => {
  const body = '{"a":1}'
  const signed = (signature: string) =>
    request(body, { "webhook-id": "msg_1", "webhook-timestamp": fixedSeconds, "webhook-signature": signature })
  const raw = new Webhook("plain characters", { format: "raw" }).sign("msg_1", new Date(fixedNow), body)
  const settings: VerifySettings = { scheme: "standard-webhooks", secret: "plain characters" }
  assert.equal((await verifyAt(fixedNow, signed(raw), settings)).ok, true)
  assert.equal((await verifyAt(fixedNow, signed(raw.replace("v1,", "v2,")), settings)).ok, false)
})

test("gitlab takes the plain token or a signature, never a signing token sent in the plain", async () => {
  const signature = new Webhook(whsec).sign("id-1", new Date(fixedNow), "{}")
  const headers = { "webhook-id": "id-1", "webhook-timestamp": fixedSeconds, "webhook-signature": signature }
  const signed = await verifyAt(fixedNow, request("{}", headers), { scheme: "gitlab", secret: whsec })
  assert.ok(signed.ok && signed.signedId && signed.bodySigned && signed.deliveryId === "id-1")

  const plain = request("{}", { "X-Gitlab-Token": secret, "X-Gitlab-Event-UUID": "uuid-1", "Idempotency-Key": "key-1" })
  const accepted = await verifyAt(fixedNow, plain, { scheme: "gitlab", secret })
  assert.ok(accepted.ok && !accepted.signedId && !accepted.bodySigned && accepted.deliveryId === "key-1")

  const leaked = await verifyAt(fixedNow, request("{}", { "X-Gitlab-Token": whsec }), {
    scheme: "gitlab",
    secret: whsec,
  })
  assert.equal(leaked.ok, false)
  const wrong = await verifyAt(fixedNow, request("{}", { "X-Gitlab-Token": `${secret}x` }), {
    scheme: "gitlab",
    secret,
  })
  assert.equal(wrong.ok, false)
  const late = await verifyAt(fixedNow + 400_000, request("{}", headers), { scheme: "gitlab", secret: whsec })
  assert.ok(!late.ok && /time/.test(late.reason))
})

test("slack answers the signed challenge of a new address, and only a signed one", async () => {
  const body = JSON.stringify({
    type: "url_verification",
    challenge: "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P",
  })
  const signed = await cases["slack"]?.sign(Buffer.from(body), secret)
  assert.ok(signed)
  const result = await verifyAt(fixedNow, signed, { scheme: "slack", secret })
  assert.deepEqual(result.ok && result.respond, {
    status: 200,
    body: "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P",
    contentType: "text/plain; charset=utf-8",
  })
  const unsigned = await verifyAt(fixedNow, request(body, {}), { scheme: "slack", secret })
  assert.ok(!unsigned.ok && !("respond" in unsigned))
})

test("linear holds to its minute, whatever the tolerance", async () => {
  const signed = (webhookTimestamp: unknown) => {
    const body = JSON.stringify({ action: "create", webhookTimestamp })
    return request(body, { "Linear-Signature": hex(secret, body), "Linear-Delivery": "delivery-1" })
  }
  const settings: VerifySettings = { scheme: "linear", secret, toleranceSeconds: 300 }
  const accepted = await verifyAt(fixedNow, signed(fixedNow - 60_000), settings)
  assert.ok(accepted.ok && accepted.deliveryId === "delivery-1" && !accepted.signedId)
  assert.equal((await verifyAt(fixedNow, signed(fixedNow - 60_001), settings)).ok, false)
  assert.equal((await verifyAt(fixedNow, signed(fixedNow + 60_001), settings)).ok, false)
  assert.equal((await verifyAt(fixedNow, signed(undefined), settings)).ok, false)
  const changed = { ...signed(fixedNow), rawBody: Buffer.from(`{"action":"remove","webhookTimestamp":${fixedNow}}`) }
  assert.equal((await verifyAt(fixedNow, changed, settings)).ok, false)
})

test("twilio: takes what its own library signs, with a form", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(
        fc.stringMatching(/^[A-Za-z]{1,8}$/),
        fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }),
        { minKeys: 1 },
      ),
      async (fields) => {
        const url = "https://hooks.example.com/hooks/sms?tenant=a'b"
        const signature = twilioLibrary.getExpectedTwilioSignature(secret, url, fields)
        const headers = {
          "X-Twilio-Signature": signature,
          "Content-Type": "application/x-www-form-urlencoded; charset=UTF-8",
        }
        const settings: VerifySettings = { scheme: "twilio", secret }
        const signed = request(new URLSearchParams(fields).toString(), headers, { url })
        assert.equal((await verifyAt(fixedNow, signed, settings)).ok, true)
        const [name = "", value = ""] = Object.entries(fields)[0] ?? []
        const changed = new URLSearchParams({ ...fields, [name]: `${value}!` }).toString()
        assert.equal((await verifyAt(fixedNow, { ...signed, rawBody: Buffer.from(changed) }, settings)).ok, false)
        assert.equal((await verifyAt(fixedNow, { ...signed, url: `${url}x` }, settings)).ok, false)
      },
    ),
    { numRuns: 50 },
  )
})

test("twilio: takes JSON whose hash is in the address, and nothing that the signature does not cover", async () => {
  const body = '{"CallSid":"CA123"}'
  const url = `https://hooks.example.com/hooks/voice?bodySHA256=${twilioLibrary.getExpectedBodyHash(body)}`
  const headers = {
    "X-Twilio-Signature": twilioLibrary.getExpectedTwilioSignature(secret, url, {}),
    "Content-Type": "application/json",
  }
  const settings: VerifySettings = { scheme: "twilio", secret }
  assert.equal((await verifyAt(fixedNow, request(body, headers, { url }), settings)).ok, true)
  assert.equal((await verifyAt(fixedNow, request(body.replace("1", "2"), headers, { url }), settings)).ok, false)

  const bare = "https://hooks.example.com/hooks/voice"
  const uncovered = request(
    body,
    {
      "X-Twilio-Signature": twilioLibrary.getExpectedTwilioSignature(secret, bare, {}),
      "Content-Type": "application/json",
    },
    { url: bare },
  )
  assert.equal((await verifyAt(fixedNow, uncovered, settings)).ok, false)
})

test("twilio: signs the address that it was given, also behind a proxy and with a port", async () => {
  const fields = { MessageSid: "SM1", SmsStatus: "received", Body: "hi" }
  const headers = (url: string) => ({
    "X-Twilio-Signature": twilioLibrary.getExpectedTwilioSignature(secret, url, fields),
    "Content-Type": "application/x-www-form-urlencoded",
    "I-Twilio-Idempotency-Token": "attempt-1",
  })
  const inside = { url: "http://127.0.0.1:18789/hooks/sms?x=1" }
  const body = new URLSearchParams(fields).toString()
  const check = async (publicUrl: string, signedUrl: string) =>
    await verifyAt(fixedNow, request(body, headers(signedUrl), inside), { scheme: "twilio", secret, publicUrl })
  const whole = await check("https://example.com/in/sms", "https://example.com/in/sms?x=1")
  assert.ok(whole.ok && whole.deliveryId === "SM1" && whole.signedId)
  assert.equal((await check("https://example.com", "https://example.com/hooks/sms?x=1")).ok, true)
  assert.equal((await check("https://example.com/", "https://example.com:443/hooks/sms?x=1")).ok, true)
  assert.equal((await check("https://example.com", "https://evil.example/hooks/sms?x=1")).ok, false)
})

test("twilio: gives no signed id to what repeats the id of a message", async () => {
  const url = "https://hooks.example.com/hooks/status"
  const fields = { MessageSid: "SM1", SmsStatus: "delivered", MessageStatus: "delivered" }
  const result = await verifyAt(
    fixedNow,
    request(
      new URLSearchParams(fields).toString(),
      {
        "X-Twilio-Signature": twilioLibrary.getExpectedTwilioSignature(secret, url, fields),
        "Content-Type": "application/x-www-form-urlencoded",
        "I-Twilio-Idempotency-Token": "attempt-1",
      },
      { url },
    ),
    { scheme: "twilio", secret },
  )
  assert.ok(result.ok && result.deliveryId === "attempt-1" && !result.signedId)
})

test("sendgrid: takes what the library that SendGrid signs with makes, and refuses changed bytes", async () => {
  const { Ecdsa, PrivateKey } = requireModule("starkbank-ecdsa")
  // The library's own choice of curve is another one; the key comes from here and is read by it.
  const pair = generateKeyPairSync("ec", {
    namedCurve: "prime256v1",
    privateKeyEncoding: { type: "sec1", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "der" },
  })
  const publicKey = pair.publicKey.toString("base64")
  const { EventWebhook } = requireModule("@sendgrid/eventwebhook")
  const checker = new EventWebhook()
  const theirs = checker.convertPublicKeyToECDSA(publicKey)
  const settings: VerifySettings = { scheme: "sendgrid", secret: publicKey }
  await fc.assert(
    fc.asyncProperty(anyBody, changedByte, async (body, change) => {
      const signature = Ecdsa.sign(fixedSeconds + body.toString("utf8"), PrivateKey.fromPem(pair.privateKey)).toBase64()
      assert.ok(checker.verifySignature(theirs, body, signature, fixedSeconds), "their checker takes it")
      const headers = {
        "X-Twilio-Email-Event-Webhook-Signature": signature,
        "X-Twilio-Email-Event-Webhook-Timestamp": fixedSeconds,
      }
      const signed = request(body, headers)
      assert.equal((await verifyAt(fixedNow, signed, settings)).ok, true)
      assert.equal((await verifyAt(fixedNow, { ...signed, rawBody: withChange(body, change) }, settings)).ok, false)
      const shifted = { ...headers, "X-Twilio-Email-Event-Webhook-Timestamp": String(Number(fixedSeconds) + 1) }
      assert.equal((await verifyAt(fixedNow, request(body, shifted), settings)).ok, false)
      assert.equal((await verifyAt(fixedNow + 301_000, signed, settings)).ok, false)
    }),
    { numRuns: 8 },
  )
})

test("sendgrid: tells batches apart by their events", async () => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" })
  const { sign } = await import("node:crypto")
  const idOf = async (events: object[]) => {
    const body = JSON.stringify(events)
    const result = await verifyAt(
      fixedNow,
      request(body, {
        "X-Twilio-Email-Event-Webhook-Signature": sign("sha256", Buffer.from(fixedSeconds + body), privateKey).toString(
          "base64",
        ),
        "X-Twilio-Email-Event-Webhook-Timestamp": fixedSeconds,
      }),
      { scheme: "sendgrid", secret: publicKey.export({ type: "spki", format: "pem" }).toString() },
    )
    assert.ok(result.ok)
    return result.deliveryId
  }
  assert.equal(await idOf([{ sg_event_id: "one" }]), "one")
  const both = await idOf([{ sg_event_id: "one" }, { sg_event_id: "two" }])
  assert.match(both ?? "", /^[0-9a-f]{64}$/)
  assert.notEqual(both, await idOf([{ sg_event_id: "one" }, { sg_event_id: "three" }]))
  assert.equal(await idOf([{ email: "a@example.com" }]), undefined)
})

test("mailgun: says that the body is not signed, and gives the signed token as the id", async () => {
  const token = "3de86b9c1c3b8b9c0bd6b0f7b3f6f2a5d6a2e1b0c9"
  const signature = { timestamp: fixedSeconds, token, signature: hex(secret, fixedSeconds, token) }
  const check = async (part: object, now = fixedNow) =>
    await verifyAt(now, request(JSON.stringify({ signature: part, "event-data": { event: "opened" } }), {}), {
      scheme: "mailgun",
      secret,
    })
  const result = await check(signature)
  assert.ok(result.ok && !result.bodySigned && result.signedId && result.deliveryId === token)
  assert.equal((await check({ ...signature, token: token.replace("3", "4") })).ok, false)
  assert.equal((await check({ ...signature, timestamp: String(Number(fixedSeconds) - 1) })).ok, false)
  assert.equal((await check(signature, fixedNow + 301_000)).ok, false)
  assert.equal((await check({})).ok, false)

  const form = request(new URLSearchParams({ ...signature, sender: "a@example.com" }).toString(), {
    "Content-Type": "application/x-www-form-urlencoded",
  })
  assert.equal((await verifyAt(fixedNow, form, { scheme: "mailgun", secret })).ok, true)
  const twice = { ...form, rawBody: Buffer.concat([form.rawBody, Buffer.from("&token=x")]) }
  assert.equal((await verifyAt(fixedNow, twice, { scheme: "mailgun", secret })).ok, false)
})
