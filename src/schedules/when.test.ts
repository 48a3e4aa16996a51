// Times as people write them, over changes of the clock too.
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import type { When } from "./contract.ts"
import { planTimes } from "./plan.ts"
import { dueTimes, nextTime, readWhen } from "./when.ts"

const berlin = "Europe/Berlin"
const at = (text: string) => Date.parse(text)
const noon = at("2026-11-21T12:00:00Z")
const minuteMs = 60_000

describe("a time as it is written", () => {
  const cases: [Parameters<typeof readWhen>[0], When][] = [
    [{ in: "20m" }, { kind: "at", at: noon + 20 * minuteMs, counted: true }],
    [{ in: "1h30m" }, { kind: "at", at: noon + 90 * minuteMs, counted: true }],
    [{ in: "2 hours and 5 minutes" }, { kind: "at", at: noon + 125 * minuteMs, counted: true }],
    [{ in: "3 days" }, { kind: "at", at: noon + 3 * 24 * 60 * minuteMs, counted: true }],
    [{ at: "18:30" }, { kind: "at", at: at("2026-11-21T17:30:00Z") }],
    [{ at: "9:00" }, { kind: "at", at: at("2026-11-22T08:00:00Z") }],
    [{ at: "2026-12-24 18:00" }, { kind: "at", at: at("2026-12-24T17:00:00Z") }],
    [{ at: "2027-07-01T08:00:00" }, { kind: "at", at: at("2027-07-01T06:00:00Z") }],
    [{ at: "2026-12-24T18:00:00+05:00" }, { kind: "at", at: at("2026-12-24T13:00:00Z") }],
    [{ every: "30m" }, { kind: "every", everyMs: 30 * minuteMs, from: noon }],
    [{ cron: "0 9 * * 1-5" }, { kind: "cron", cron: "0 9 * * 1-5" }],
  ]
  for (const [wish, when] of cases) {
    test(JSON.stringify(wish), () => assert.deepEqual(readWhen(wish, noon, berlin), when))
  }

  const wrong: [Parameters<typeof readWhen>[0], RegExp][] = [
    [{}, /exactly one/],
    [{ in: "1h", cron: "* * * * *" }, /exactly one/],
    [{ in: "soon" }, /"soon" is no length of time/],
    [{ in: "20 monkeys" }, /is no length of time/],
    [{ in: "900 days" }, /is no length of time/],
    [{ in: "0m" }, /is no length of time/],
    [{ every: "10s" }, /at least a minute/],
    [{ at: "2020-01-01 10:00" }, /is over already/],
    [{ at: "25:00" }, /is no time/],
    [{ at: "tomorrow" }, /is no time/],
    [{ at: "2026-13-40 10:00" }, /is no time/],
    [{ at: "2027-02-29 10:00" }, /there is no such day/],
    [{ at: "2027-04-31T10:00:00Z" }, /there is no such day/],
    [{ cron: "61 * * * *" }, /is no time/],
    [{ cron: "* * * * * *" }, /has not five fields/],
    [{ cron: "0 0 30 2 *" }, /never comes/],
    [{ at: `${"9".repeat(200)}:00` }, /at: has 203 characters, and no time has more than 200/],
  ]
  for (const [wish, reason] of wrong) {
    test(`${JSON.stringify(wish).slice(0, 80)} is refused`, () =>
      assert.throws(() => readWhen(wish, noon, berlin), reason))
  }

  test("a time zone that there is not is refused", () => {
    assert.throws(() => readWhen({ cron: "0 9 * * *" }, noon, "Mars/Base"), /"Mars\/Base" is not a time zone/)
  })
})

describe("changes of the clock", () => {
  const nightly: When = { kind: "cron", cron: "30 2 * * *" }
  test("in spring what has no time runs when the clock is put forward, once", () => {
    const times = dueTimes(nightly, berlin, at("2026-03-28T12:00:00Z"), at("2026-03-30T12:00:00Z"))
    assert.deepEqual(times, [at("2026-03-29T01:00:00Z"), at("2026-03-30T00:30:00Z")])
  })
  test("where the clock is put forward by half an hour, too", () => {
    const quarter: When = { kind: "cron", cron: "15 2 * * *" }
    const times = dueTimes(quarter, "Australia/Lord_Howe", at("2026-10-02T20:00:00Z"), at("2026-10-04T20:00:00Z"))
    assert.deepEqual(times, [at("2026-10-03T15:30:00Z"), at("2026-10-04T15:15:00Z")])
  })
  test("in autumn what has two times runs once", () => {
    const times = dueTimes(nightly, berlin, at("2026-10-24T12:00:00Z"), at("2026-10-26T12:00:00Z"))
    assert.equal(times.length, 2)
    assert.equal(times[1], at("2026-10-26T01:30:00Z"))
  })
})

test("a schedule that counts goes on where the clock was set back behind its beginning", () => {
  const halfHourly: When = { kind: "every", everyMs: 30 * minuteMs, from: noon }
  assert.equal(nextTime(halfHourly, "UTC", noon - 24 * 60 * minuteMs + 1), noon - 24 * 60 * minuteMs + 30 * minuteMs)
  assert.equal(nextTime(halfHourly, "UTC", noon), noon + 30 * minuteMs)
})

test("a schedule of every minute that was not looked at for a year is looked through in no time", () => {
  const began = performance.now()
  const times = dueTimes({ kind: "cron", cron: "* * * * *" }, "UTC", noon - 365 * 24 * 60 * minuteMs, noon)
  assert.equal(times.at(-1), noon)
  assert.ok(times.length >= 60 && performance.now() - began < 2_000)
  assert.equal(nextTime({ kind: "every", everyMs: minuteMs, from: 0 }, "UTC", noon), noon + minuteMs)
})

describe("times that were missed", () => {
  const due = [noon - 120 * minuteMs, noon - 60 * minuteMs, noon - 30 * minuteMs]
  const graceMs = 45 * minuteMs
  const at12 = (missed: "late" | "skip" | "each", times = due, isBusy = false) => {
    const { run, skip, tells } = planTimes(times, noon, { missed, graceMs }, isBusy)
    return [run.map((each) => (noon - each) / minuteMs), skip.length, tells]
  }
  test("late: the newest runs within the grace, the others are left out unsaid", () => {
    assert.deepEqual(at12("late"), [[30], 2, false])
    assert.deepEqual(at12("late", due.slice(0, 2)), [[], 2, true])
  })
  test("skip: none runs, and that is said", () => {
    assert.deepEqual(at12("skip"), [[], 3, true])
    assert.deepEqual(at12("skip", [noon - 1_000]), [[1 / 60], 0, false])
  })
  test("each: every one within the grace runs", () => {
    const hourly = { missed: "each", graceMs: 90 * minuteMs } as const
    assert.deepEqual(planTimes(due, noon, hourly, false).run, due.slice(1))
    assert.deepEqual(at12("each"), [[30], 2, true])
  })
  test("while the run before has not ended nothing is added to it", () => {
    assert.deepEqual(at12("late", due, true), [[], 3, false])
  })
})
