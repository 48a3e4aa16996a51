// `since` and `until` as people write them -> moments. `7d` are the last seven days with today, as whole days.
import { AppError } from "../kernel/index.ts"
import type { UsageRange } from "./contract.ts"
import { type Days, createDays, dayAfter, isDay } from "./days.ts"

export interface RangeTexts {
  since?: string | undefined
  until?: string | undefined
}

const hourMs = 60 * 60 * 1000
const defaultSince = "30d"
/** Beyond it dates have no text any more. */
const maxCount = 10_000

/** Without `since` the last 30 days, without `until` up to the end of today. Throws `bad-request`. */
export function readRange(texts: RangeTexts, { now, timeZone }: { now: number; timeZone: string }): UsageRange {
  const days = createDays(timeZone)
  const tomorrow = days.startOf(dayAfter(days.of(now)))
  const since = readMoment("since", texts.since ?? defaultSince, days, now).from
  const until = texts.until === undefined ? tomorrow : readMoment("until", texts.until, days, now).to
  if (since < until) return { since, until }
  throw new AppError("bad-request", "since: must be before until")
}

/** `to` differs from `from` for a day only: that day is meant as a whole. */
function readMoment(name: string, text: string, days: Days, now: number): { from: number; to: number } {
  const written = text.trim()
  if (isDay(written)) return { from: days.startOf(written), to: days.startOf(dayAfter(written)) }
  const [, digits, unit] = /^(\d{1,5})([hd])$/.exec(written.toLowerCase()) ?? []
  const count = Number(digits)
  if (unit !== undefined && count > 0 && count <= maxCount) {
    const from = unit === "h" ? now - count * hourMs : days.startOf(dayAfter(days.of(now), 1 - count))
    return { from, to: from }
  }
  const moment = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/.test(written) ? Date.parse(written) : Number.NaN
  if (!Number.isNaN(moment)) return { from: moment, to: moment }
  throw new AppError("bad-request", `${name}: is ${JSON.stringify(written.slice(0, 50))}, and must be a time`, {
    hint: "Write days or hours back from now (7d, 12h), a day (2026-11-01), or a moment (2026-11-01T08:30:00Z)",
  })
}
