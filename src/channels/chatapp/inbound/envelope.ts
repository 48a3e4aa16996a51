// How times are shown to the agent, as `agents.defaults.envelope*` say.
import type { Config } from "../../../config/index.ts"

export interface Envelope {
  showsTime: boolean
  /** Whether the time since the conversation's last message is shown. */
  showsElapsed: boolean
  /** Seconds since the epoch, as `2026-11-21T14:30:00Z` or `2026-11-21 15:30:00 Europe/Berlin`. */
  timeText(seconds: number): string
}

export function createEnvelope({ agents: { defaults } }: Config): Envelope {
  const timeZone = timeZoneOf(defaults)
  const isUtc = timeZone === "UTC" || timeZone === "Etc/UTC"
  // The Swedish form is year-month-day.
  const format = isUtc
    ? undefined
    : new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "medium" })
  return {
    showsTime: defaults.envelopeTimestamp === "on",
    showsElapsed: defaults.envelopeElapsed === "on",
    timeText(seconds) {
      const date = new Date(seconds * 1000)
      if (Number.isNaN(date.getTime())) return "unknown time"
      return format ? `${format.format(date)} ${timeZone}` : date.toISOString().replace(".000Z", "Z")
    },
  }
}

function timeZoneOf({ envelopeTimezone: wanted, userTimezone }: Config["agents"]["defaults"]): string {
  const host = Intl.DateTimeFormat().resolvedOptions().timeZone
  if (wanted === "utc") return "UTC"
  if (wanted === "local") return host
  return wanted === "user" ? (userTimezone ?? host) : wanted
}

const units = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
] as const

/** `+3d`, `+2h`, `+5m`; undefined below a minute. */
export function elapsedText(ms: number): string | undefined {
  const unit = units.find(([, size]) => ms >= size)
  return unit && `+${Math.floor(ms / unit[1])}${unit[0]}`
}
