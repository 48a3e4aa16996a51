import assert from "node:assert/strict"
import test from "node:test"
import { assertGrowsInLine } from "../../../test/support/growth.ts"
import fc from "fast-check"
import { AppError } from "../../kernel/index.ts"
import { cleanWords } from "./clean.ts"
import { classify, refusal, report } from "./failure.fixture.ts"

/** Keys in the forms that providers issue; none is a real one. */
const keys = [
  "sk-abcdefghijklmnopqrstuvwx",
  "sk-proj-AbCd1234_efGH5678-ijkl",
  "sk-ant-api03-AbCd1234EfGh5678",
  "sk-or-v1-0123456789abcdef0123456789abcdef",
  "sk-proj-********************abcd",
  "sk-abc...wxyz1",
  "gsk_AbCdEf0123456789AbCdEf",
  "xai-AbCdEf0123456789AbCdEf",
  "AIzaSyA0123456789abcdefghijklmnopqrstuv",
  "AKIAIOSFODNN7EXAMPLE",
  "hf_AbCdEfGhIjKlMnOpQrSt",
  "nvapi-AbCdEf0123456789",
  "csk-abcdef0123456789abcdef",
  "pplx-abcdef0123456789abcdef",
  "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.AbCdEf012345",
  "0123456789abcdef0123456789abcdef",
  "AbCdEfGh0123456789IjKlMnOpQrStUvWxYz0123==",
  "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY12",
]

test("nothing that looks like a key is in a message, whatever the error and wherever it stands", () => {
  for (const key of keys) {
    for (const words of [
      `Incorrect API key provided: ${key}. Check it.`,
      `invalid token "${key}"`,
      `Authorization: Bearer ${key} was refused`,
      `${key}`,
      `(${key})`,
      `see https://example.com/v1/models?key=${key}&alt=sse`,
    ]) {
      for (const error of [
        refusal(401, { error: { message: words } }),
        refusal(400, { error: { message: words } }),
        refusal(500, words),
        refusal(403, `<html><title>${words}</title></html>`),
        report({ error: { message: words } }),
        new AppError("model-failed", words),
      ]) {
        const { message, chatMessage } = classify(error)
        const shown = `${message} ${chatMessage}`
        assert.equal(shown.includes(key), false, shown)
        // A good part of it is as bad.
        assert.equal(shown.includes(key.slice(-10)), false, shown)
      }
    }
  }
})

test("a key that a provider has starred out in part is not shown even in part", () => {
  const { message } = classify(refusal(401, { error: { message: "Invalid key: abcd****wxyz, or ab12cd34ef56" } }))
  assert.equal(message, "HTTP 401: Invalid key: ***, or ***")
})

test("a key of any form that the gateway itself knows is not shown", () => {
  const key = "correct horse <b>battery</b> staple"
  const error = refusal(400, { error: { message: `You sent: ${key}`, code: "x" } })
  assert.equal(classify(error, [key]).message, "HTTP 400: You sent: ***")
  const named = refusal(400, { error: { message: "no", code: "my-own-key-7" } })
  assert.equal(classify(named, ["my-own-key-7"]).code, undefined)
})

test("a secret at the place where a long text is cut is not shown in half", () => {
  const key = "sk-abcdefghijklmnopqrstuvwx"
  const secret = "plain-secret-of-the-operator"
  for (let before = 250; before < 310; before += 1) {
    for (const value of [key, secret]) {
      const words = `${"word ".repeat(80).slice(0, before)} ${value} and more words behind it`
      const { message } = classify(refusal(400, { error: { message: words } }), [secret])
      assert.equal(message.includes(value.slice(0, 8)), false, message)
      assert.ok(message.length <= 300, String(message.length))
    }
  }
  const long = `${"x ".repeat(3990)}${secret}`
  assert.equal(classify(refusal(400, long), [secret]).message.includes("plain-"), false)
})

test("addresses keep their host and path, and lose user, password, query and fragment", () => {
  const words =
    "Failed: https://user:pass@api.example.com:8443/v1/chat?key=abc#frag (see https://docs.example.com/errors)."
  assert.equal(
    classify(refusal(500, words)).message,
    "HTTP 500: Failed: https://api.example.com:8443/v1/chat (see https://docs.example.com/errors).",
  )
})

test("a message is one line without tags, colours, control characters and marks that turn text around", () => {
  const words =
    "<p>Bad\r\n\trole\u0000 in <b>messages</b></p>\u001b[31m red\u001b[0m \u202Eevil\u202C &amp; 1 < 2 &lt;3"
  assert.equal(classify(refusal(400, words)).message, "HTTP 400: Bad role in messages red evil & 1 < 2 <3")
})

test("ordinary words of providers stay as they are", () => {
  for (const words of [
    "Invalid 'messages[1].content': string too long.",
    "The model `accounts/fireworks/models/llama-v3p1-405b-instruct` is not ready",
    "messages.1.content.0: `thinking` or `redacted_thinking` blocks cannot be modified",
    "Rate limit reached for gpt-4o-2024-08-06 in organization org-x on tokens per min: Limit 30000, Used 25000",
    "Request req_011CVjxiYzEFcAQC4Fk87 failed with BedrockRuntimeException",
    "invalid max_tokens: 100000",
  ]) {
    assert.equal(classify(refusal(400, { error: { message: words } })).message, `HTTP 400: ${words}`)
  }
})

test("what a chat is told has nothing of the provider's text in it", () => {
  const words = "secret https://10.0.0.1:8080/v1 req_123 {json} sk-abcdefghijklmnop"
  const shown = new Set<string>()
  for (let status = 300; status <= 600; status += 1) {
    shown.add(classify(refusal(status, { error: { message: words } })).chatMessage)
  }
  for (const sentence of shown) assert.match(sentence, /^The [A-Za-z ]+\.$/)
  assert.ok(shown.size >= 7, [...shown].join(" "))
})

const oneMegabyte = 1_000_000

test("a body of a megabyte is read in a moment, whatever it is made of", async () => {
  const pieces = [
    "a",
    "<",
    "<a",
    "{",
    "[",
    '"',
    "\\",
    "'",
    "`",
    " ",
    "0",
    "sk-",
    "http://",
    "@",
    "?key=",
    "&",
    "token: ",
    "-",
    "é",
    "\ud83d",
  ]
  const starts = [
    "",
    '{"error":{"message":"',
    "{'error': {'message': '",
    "<html><title>",
    '{"error":',
    "try again in ",
    "[".repeat(50),
  ]
  for (const start of starts) {
    for (const piece of pieces) {
      const bodyOf = (size: number) => start + piece.repeat(Math.ceil(size / piece.length))
      const readAll = (body: string) => [
        classify(refusal(400, body)),
        classify(refusal(429, body)),
        classify(report(body)),
        classify(new Error(body)),
      ]
      const readBody = (size: number) => {
        for (const { message } of readAll(bodyOf(size))) assert.ok(message.length <= 300)
      }
      const what = `${JSON.stringify(start)} ${JSON.stringify(piece)}`
      await assertGrowsInLine(readBody, { size: oneMegabyte / 32, times: 32, what })
    }
  }
})

test("a report of a megabyte costs as much a character as a short one", async () => {
  const details = (count: number) => Array.from({ length: count }, () => ({ reason: "y" }))
  const readAll = (size: number) => {
    classify(report({ error: { message: "x ".repeat(size / 2), details: details(size / 1000) } }))
    classify(report(Array.from({ length: size / 10 }, () => ({ error: { message: "z" } }))))
  }
  await assertGrowsInLine(readAll, { size: oneMegabyte / 32, times: 32 })
})

test("any error whatever is read without an exception, in at most 300 characters and one line", () => {
  const json = fc.jsonValue({ maxDepth: 6 })
  const body = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.json({ maxDepth: 6 }),
    json.map((value) => JSON.stringify({ error: value })),
  )
  const headers = fc.dictionary(
    fc.constantFrom("retry-after", "retry-after-ms", "x-ratelimit-reset-tokens"),
    fc.string(),
  )
  const error = fc.oneof(
    fc
      .record({ status: fc.integer({ min: 100, max: 999 }), body, headers })
      .map((parts) => refusal(parts.status, parts.body, parts.headers)),
    json.map((value) => report(value as never)),
    fc.anything(),
  )
  fc.assert(
    fc.property(error, (thrown) => {
      const failure = classify(thrown)
      assert.ok(failure.message.length > 0 && failure.message.length <= 300)
      // oxlint-disable-next-line no-control-regex
      assert.doesNotMatch(failure.message, /[\u0000-\u001f]/)
      assert.ok(failure.retryAfterMs === undefined || (failure.retryAfterMs >= 0 && failure.retryAfterMs <= 86_400_000))
    }),
    { numRuns: 2000 },
  )
})

test("a cut never halves a character", () => {
  const asItIs = (text: string) => text
  const redactor = { redact: asItIs, hideRegistered: asItIs, add: () => undefined }
  assert.equal(cleanWords("ab\u{1f600}\u{1f600}", { redactor, maxCharacters: 4 }), "ab…")
})
