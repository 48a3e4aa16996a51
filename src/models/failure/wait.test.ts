import assert from "node:assert/strict"
import test from "node:test"
import { now } from "./failure.fixture.ts"
import { readWait } from "./index.ts"

const minute = 60_000

test("Retry-After is read as seconds, fractions, durations and dates", () => {
  const rows: [string, number | undefined][] = [
    ["0", 0],
    ["7", 7000],
    ["0.5", 500],
    [" 3 ", 3000],
    ["2s", 2000],
    ["1m30s", 90_000],
    ["250ms", 250],
    ["34.074824224s", 34_075],
    ["2 minutes", 2 * minute],
    ["1h", 60 * minute],
    ["Sun, 01 Mar 2026 12:00:30 GMT", 30_000],
    ["2026-03-01T12:01:00Z", minute],
    // The clocks differ, or the reply was on its way for long: the wait is over.
    ["Sun, 01 Mar 2026 11:59:00 GMT", 0],
    ["", undefined],
    ["-5", undefined],
    ["-5s", undefined],
    ["NaN", undefined],
    ["Infinity", undefined],
    ["soon", undefined],
    ["1e9", undefined],
    ["86401", undefined],
    ["86400", 86_400_000],
    ["Mon, 01 Mar 2027 12:00:00 GMT", undefined],
    ["[object Object]", undefined],
  ]
  for (const [written, wait] of rows) assert.equal(readWait({ "retry-after": written }, "", now), wait, written)
})

test("retry-after-ms comes first, unless it is empty or nonsense", () => {
  assert.equal(readWait({ "retry-after-ms": "1500.4", "retry-after": "9" }, "", now), 1501)
  assert.equal(readWait({ "retry-after-ms": "", "retry-after": "9" }, "", now), 9000)
  assert.equal(readWait({ "retry-after-ms": "-1", "retry-after": "9" }, "", now), 9000)
  assert.equal(readWait({ "retry-after-ms": "x", "retry-after": "9" }, "", now), 9000)
  assert.equal(readWait({ "retry-after-ms": "0" }, "", now), 0)
})

test("a body that names the time is believed when no header does", () => {
  const rows: [string, number | undefined][] = [
    ['{"error":{"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.07s"}]}}', 34_070],
    ['{"error":{"details":[{ "retryDelay": "0s" }]}}', 0],
    ['{"error":{"metadata":{"raw":"{\\"error\\":{\\"details\\":[{\\"retryDelay\\": \\"12s\\"}]}}"}}}', 12_000],
    ['{"error":{"message":"Please try again in 7m11.5s. Need more tokens?"}}', 431_500],
    ['{"error":{"message":"Please try again in 120ms."}}', 120],
    ['{"error":{"message":"Please retry in 34.5s."}}', 34_500],
    ['{"error":{"message":"Please retry after 6 seconds."}}', 6000],
    ['{"error":{"message":"Try again in about 2 hours"}}', 120 * minute],
    ['{"message":"You are being rate limited.","retry_after":1.5}', 1500],
    ['{"error":{"metadata":{"headers":{"X-RateLimit-Reset":"1772366460000"}}}}', minute],
    ['{"error":{"message":"Please try again later."}}', undefined],
    ['{"error":{"message":"Please try again in 3 days"}}', undefined],
    ['{"error":{"message":"Please try again in a moment"}}', undefined],
    ['{"error":{"message":"Please try again in 5 steps"}}', undefined],
    ["", undefined],
  ]
  for (const [body, wait] of rows) assert.equal(readWait({}, body, now), wait, body)
  assert.equal(readWait({ "retry-after": "2" }, '{"message":"Please try again in 9s"}', now), 2000)
})

test("of the limits in the headers, the one that is used up decides, and for 429 alone", () => {
  const openAi = {
    "x-ratelimit-remaining-requests": "59",
    "x-ratelimit-reset-requests": "8.64s",
    "x-ratelimit-remaining-tokens": "0",
    "x-ratelimit-reset-tokens": "120ms",
  }
  assert.equal(readWait(openAi, "", now, 429), 120)
  assert.equal(readWait(openAi, "", now, 503), undefined)
  assert.equal(readWait(openAi, "", now), undefined)
  assert.equal(readWait({ ...openAi, "x-ratelimit-remaining-requests": "0" }, "", now, 429), 8640)
  assert.equal(readWait({ ...openAi, "x-ratelimit-remaining-tokens": "7" }, "", now, 429), undefined)
  assert.equal(readWait({ ...openAi, "retry-after": "1" }, "", now, 429), 1000)
  // Where nobody says what remains, the longer one.
  assert.equal(
    readWait({ "x-ratelimit-reset-requests": "1s", "x-ratelimit-reset-tokens": "6m0s" }, "", now, 429),
    360_000,
  )
  assert.equal(readWait({ "x-ratelimit-reset-tokens": "-3s" }, "", now, 429), undefined)
})

test("limits that are filled up at a time are read in each provider's form", () => {
  const anthropic = {
    "anthropic-ratelimit-requests-remaining": "49",
    "anthropic-ratelimit-requests-reset": "2026-03-01T12:00:01Z",
    "anthropic-ratelimit-input-tokens-remaining": "0",
    "anthropic-ratelimit-input-tokens-reset": "2026-03-01T12:00:42Z",
  }
  assert.equal(readWait(anthropic, "", now, 429), 42_000)
  assert.equal(readWait({ "X-RateLimit-Reset": String(now + 5000) }, "", now, 429), 5000)
  assert.equal(readWait({ "x-ratelimit-reset": String(now / 1000 + 5) }, "", now, 429), 5000)
  assert.equal(readWait({ "x-ratelimit-reset": "0.06" }, "", now, 429), 60)
  const cerebras = {
    "x-ratelimit-remaining-tokens-minute": "0",
    "x-ratelimit-reset-tokens-minute": "12.3",
    "x-ratelimit-remaining-requests-day": "100",
    "x-ratelimit-reset-requests-day": "33011.4",
  }
  assert.equal(readWait(cerebras, "", now, 429), 12_300)
})
