// Times as the model reads them, in the zone that `agents.defaults` says. They stand in messages and never in the system
// prompt: that has to stay the same from turn to turn, or no provider can keep it.
import type { AgentsConfig } from "../config.ts"

export type ZoneSettings = Pick<AgentsConfig["defaults"], "envelopeTimezone" | "userTimezone">

export interface TimeTexts {
  /** `Sat 2026-11-21 15:30:00 Europe/Berlin`; in UTC `Sat 2026-11-21T14:30:00Z`. */
  time(ms: number): string
  /** `Sat 2026-11-21 Europe/Berlin` */
  date(ms: number): string
}

export function createTimeTexts(settings: ZoneSettings): TimeTexts {
  const timeZone = timeZoneOf(settings)
  const isUtc = timeZone === "UTC" || timeZone === "Etc/UTC"
  const weekday = new Intl.DateTimeFormat("en-GB", { timeZone, weekday: "short" })
  // The Swedish form is year-month-day.
  const day = new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short" })
  const moment = new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "medium" })
  const unlessUnknown = (ms: number, text: (date: Date) => string): string => {
    const date = new Date(ms)
    return Number.isNaN(date.getTime()) ? "unknown time" : `${weekday.format(date)} ${text(date)}`
  }
  return {
    time: (ms) =>
      unlessUnknown(ms, (date) =>
        isUtc ? `${date.toISOString().slice(0, 19)}Z` : `${moment.format(date)} ${timeZone}`,
      ),
    date: (ms) => unlessUnknown(ms, (date) => `${day.format(date)} ${timeZone}`),
  }
}

/** Follows the settings, and makes its formats anew only when they are others. */
export function liveTimeText(settings: () => ZoneSettings): (ms: number) => string {
  let source: ZoneSettings | undefined
  let texts: TimeTexts | undefined
  return (ms) => {
    const current = settings()
    if (!texts || current !== source) texts = createTimeTexts(current)
    source = current
    return texts.time(ms)
  }
}

function timeZoneOf({ envelopeTimezone: wanted, userTimezone }: ZoneSettings): string {
  const host = Intl.DateTimeFormat().resolvedOptions().timeZone
  if (wanted === "utc") return "UTC"
  if (wanted === "local") return host
  return wanted === "user" ? (userTimezone ?? host) : wanted
}
