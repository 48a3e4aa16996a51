import assert from "node:assert/strict"
import { test } from "node:test"
import { durationMs } from "./duration.ts"

const spans: [string | number, number | undefined][] = [
  ["250ms", 250],
  ["90s", 90_000],
  ["30m", 1_800_000],
  ["1h30m", 5_400_000],
  ["2d", 172_800_000],
  ["1.5h", 5_400_000],
  [" 2H ", 7_200_000],
  ["1m30s500ms", 90_500],
  [5, 300_000],
  ["0.5", 30_000],
  [0, 0],
  ["", undefined],
  ["soon", undefined],
  ["5x", undefined],
  ["-5m", undefined],
  ["1h 30m", undefined],
  ["1.h", undefined],
]
for (const [text, expected] of spans) {
  test(`${JSON.stringify(text)} is ${expected === undefined ? "no span of time" : `${expected} ms`}`, () =>
    assert.equal(durationMs(text), expected))
}
