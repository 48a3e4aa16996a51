// Times as people write them -> the next moment. croner knows time zones and changes of the clock; nothing is timed by it.
import { Cron } from "croner"
import { AppError } from "../kernel/index.ts"
import type { ScheduleWish, When } from "./contract.ts"

const minuteMs = 60_000
const unitsMs: Readonly<Record<string, number>> = { s: 1_000, m: minuteMs, h: 60 * minuteMs, d: 24 * 60 * minuteMs }
/** No time is longer; what is would be shown whole in the error. */
const longestText = 200
/** A year: what is further away is a mistake. */
const longestMs = 366 * 24 * 60 * minuteMs

/** Exactly one of the four has to be set. Throws `bad-request`. */
export function readWhen(
  wish: Pick<ScheduleWish, "cron" | "every" | "at" | "in">,
  now: number,
  timeZone: string,
): When {
  const given = (["cron", "every", "at", "in"] as const).filter((name) => wish[name] !== undefined)
  const [name] = given
  if (name === undefined || given.length > 1) {
    throw new AppError("bad-request", "A schedule needs exactly one of cron, every, at and in")
  }
  const text = (wish[name] as string).trim()
  if (text.length > longestText) {
    throw new AppError(
      "bad-request",
      `${name}: has ${text.length} characters, and no time has more than ${longestText}`,
    )
  }
  checkZone(timeZone)
  if (name === "cron") return { kind: "cron", cron: readCron(text, timeZone, now) }
  if (name === "every") {
    const everyMs = readDuration("every", text)
    if (everyMs < minuteMs) throw new AppError("bad-request", "every: must be at least a minute")
    return { kind: "every", everyMs, from: now }
  }
  const at = name === "in" ? now + readDuration("in", text) : readMoment(text, now, timeZone)
  if (at <= now) throw new AppError("bad-request", `${name}: ${JSON.stringify(text)} is over already`)
  return name === "in" ? { kind: "at", at, counted: true } : { kind: "at", at }
}

function checkZone(timeZone: string): void {
  try {
    new Intl.DateTimeFormat("en", { timeZone }).format(0)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new AppError("bad-request", `timezone: ${JSON.stringify(timeZone)} is not a time zone name`, {
      hint: "Write it as Europe/Berlin or UTC",
    })
  }
}

function readCron(text: string, timeZone: string, now: number): string {
  const hint = "Five fields: minute hour day month weekday, such as 0 9 * * 1-5"
  try {
    const isFive = text.startsWith("@") || text.split(/\s+/).length === 5
    if (isFive && new Cron(text, { timezone: timeZone }).nextRun(new Date(now)) !== null) return text
  } catch (error) {
    throw new AppError("bad-request", `cron: ${JSON.stringify(text)} is no time`, { hint, cause: error })
  }
  throw new AppError("bad-request", `cron: ${JSON.stringify(text)} never comes, or has not five fields`, { hint })
}

/** `20m`, `1h30m`, `2 hours`, `90 min`. */
function readDuration(name: string, text: string): number {
  const part = /(\d{1,6})\s{0,3}([a-z]{1,8})/g
  const words = text.toLowerCase()
  const parts = [...words.matchAll(part)]
  const rest = words.replace(part, "").replace(/and|[\s,]/g, "")
  const ms = parts.reduce((sum, [, count, unit = ""]) => sum + Number(count) * unitOf(unit), 0)
  if (parts.length > 0 && rest === "" && ms > 0 && ms <= longestMs) return ms
  throw new AppError("bad-request", `${name}: ${JSON.stringify(text.slice(0, 50))} is no length of time`, {
    hint: "Write 20m, 2h, 1h30m or 3 days; a year at most",
  })
}

function unitOf(word: string): number {
  return /^(s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)$/.test(word)
    ? (unitsMs[word.charAt(0)] ?? 0)
    : Number.NaN
}

/** A moment with its zone, a day and a time in the user's, or a time of day: the next one. */
function readMoment(text: string, now: number, timeZone: string): number {
  const hint = "Write 2026-12-24 18:00, 18:00, or a moment with its zone: 2026-12-24T18:00:00+01:00"
  const date = /^\d{4}-\d{2}-\d{2}(?=[T ])/.exec(text)?.[0]
  // The 30th of February would be taken for the 2nd of March.
  if (date !== undefined && !isDay(date)) {
    throw new AppError("bad-request", `at: ${JSON.stringify(text.slice(0, 50))} is no time: there is no such day`, {
      hint,
    })
  }
  const zoned = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/.test(text)
    ? Date.parse(text)
    : Number.NaN
  if (!Number.isNaN(zoned)) return zoned
  const [, hour, minute] = /^(\d{1,2}):(\d{2})$/.exec(text) ?? []
  const [, day, time] = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(?::\d{2})?$/.exec(text) ?? []
  try {
    const pattern = hour === undefined ? `${day}T${time}:00` : `${Number(minute)} ${Number(hour)} * * *`
    if (hour !== undefined || day !== undefined) {
      const found = new Cron(pattern, { timezone: timeZone }).nextRun(new Date(hour === undefined ? 0 : now))
      if (found) return found.getTime()
    }
  } catch (error) {
    throw new AppError("bad-request", `at: ${JSON.stringify(text.slice(0, 50))} is no time`, { hint, cause: error })
  }
  throw new AppError("bad-request", `at: ${JSON.stringify(text.slice(0, 50))} is no time`, { hint })
}

function isDay(date: string): boolean {
  const moment = Date.parse(`${date}T00:00:00Z`)
  return !Number.isNaN(moment) && new Date(moment).toISOString().startsWith(date)
}

/** The first time behind a moment; undefined when there is none. */
export function nextTime(when: When, timeZone: string, after: number): number | undefined {
  if (when.kind === "at") return when.at > after ? when.at : undefined
  if (when.kind === "every") {
    // Also where the clock was set back behind the beginning while nothing ran.
    const rounds = Math.floor((after - when.from) / when.everyMs) + 1
    return when.from + rounds * when.everyMs
  }
  return new Cron(when.cron, { timezone: timeZone }).nextRun(new Date(after))?.getTime()
}

/** The same wait when the wall clock is set: what counts from a moment keeps what is left of it, what names a moment does not. */
export function movedBy(when: When, stepMs: number): When | undefined {
  if (when.kind === "every") return { ...when, from: when.from + stepMs }
  return when.kind === "at" && when.counted ? { ...when, at: when.at + stepMs } : undefined
}

/** As many as can be made up for one by one, and one more. */
export const mostDue = 25
const hourMs = 60 * minuteMs
/** Looked through in turn, until enough times are found: a schedule of every minute has too many in a year. */
const stretchesMs = [hourMs, 24 * hourMs, 8 * 24 * hourMs, longestMs]

/** The newest times in (after, until], oldest first; a few dozen at least where there are so many. */
export function dueTimes(when: When, timeZone: string, after: number, until: number): number[] {
  let times: number[] = []
  for (const stretch of stretchesMs) {
    const begin = Math.max(after, until - stretch)
    times = []
    for (let next = nextTime(when, timeZone, begin); next !== undefined && next <= until;) {
      times.push(next)
      next = nextTime(when, timeZone, next)
    }
    if (begin === after || times.length >= mostDue) return times
  }
  return times
}
