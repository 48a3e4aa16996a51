import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { AppError } from "../kernel/index.ts"
import { readRange } from "./index.ts"

const place = { now: Date.parse("2026-11-21T12:30:00Z"), timeZone: "Europe/Berlin" }

const read = (since?: string, until?: string) => {
  const range = readRange({ since, until }, place)
  return [new Date(range.since).toISOString(), new Date(range.until).toISOString()]
}
const tomorrow = "2026-11-21T23:00:00.000Z"

describe("a time", () => {
  for (const [since, until, expected] of [
    [undefined, undefined, ["2026-10-22T22:00:00.000Z", tomorrow]],
    ["1d", undefined, ["2026-11-20T23:00:00.000Z", tomorrow]],
    ["7D", undefined, ["2026-11-14T23:00:00.000Z", tomorrow]],
    ["14d", "7d", ["2026-11-07T23:00:00.000Z", "2026-11-14T23:00:00.000Z"]],
    [" 12h ", undefined, ["2026-11-21T00:30:00.000Z", tomorrow]],
    ["2026-10-25", "2026-10-25", ["2026-10-24T22:00:00.000Z", "2026-10-25T23:00:00.000Z"]],
    ["2026-11-01T08:30:00Z", "2026-11-01T09:30+01:00", undefined],
    ["2026-11-01T08:30:00Z", "2026-11-01T10:30+01:00", ["2026-11-01T08:30:00.000Z", "2026-11-01T09:30:00.000Z"]],
  ] as const) {
    const wanted = expected ? `comes to ${expected.join(" - ")}` : "is refused, since it holds nothing"
    test(`from ${since} to ${until} ${wanted}`, () => {
      if (expected) assert.deepEqual(read(since, until), expected)
      else assert.throws(() => read(since, until), /since: must be before until/)
    })
  }

  for (const text of [
    "week",
    "0d",
    "-1d",
    "7",
    "7w",
    "99999d",
    "2026-02-30",
    "2026-13-01",
    "20261101",
    "2026-11-01Tx",
  ]) {
    test(`that is ${text} is refused with what may be written`, () => {
      for (const [since, until] of [
        [text, undefined],
        ["1d", text],
      ]) {
        assert.throws(
          () => read(since, until),
          (error) =>
            error instanceof AppError &&
            error.code === "bad-request" &&
            error.message.includes(JSON.stringify(text)) &&
            (error.hint ?? "").includes("2026-11-01"),
        )
      }
    })
  }
})
