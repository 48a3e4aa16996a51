// Days as people of a time zone know them: where they begin in milliseconds, over changes of the clock too.
// Written as `2026-11-21`, so that their order is that of their texts.

export interface Days {
  /** The day that a moment lies in. */
  of(ms: number): string
  /** The first moment of a day. */
  startOf(day: string): number
}

const minute = 60_000
const hour = 60 * minute
/** Zones are at most 14 hours ahead and 12 behind; the hour more is for a day that begins at one o'clock. */
const earliest = -15 * hour
const latest = 13 * hour

export function createDays(timeZone: string): Days {
  // The Swedish form is year-month-day.
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" })
  const of = (ms: number) => format.format(ms)
  return {
    of,
    startOf(day) {
      const midnight = Date.parse(`${day}T00:00:00Z`)
      let before = midnight + earliest
      let after = midnight + latest
      // All zones change at whole minutes.
      while (after - before > minute) {
        const middle = Math.floor((before + after) / 2 / minute) * minute
        if (of(middle) < day) before = middle
        else after = middle
      }
      return after
    },
  }
}

/** The day that is so many days later, or earlier. */
export function dayAfter(day: string, count = 1): string {
  const date = new Date(`${day}T00:00:00Z`)
  date.setUTCDate(date.getUTCDate() + count)
  return date.toISOString().slice(0, 10)
}

/** Whether it is a day of the calendar: `2026-02-30` is none. */
export function isDay(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)) && dayAfter(text, 0) === text
}
