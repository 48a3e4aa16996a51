// How times are shown to the agent, as `agents.defaults.envelope*` say.
import { createTimeTexts } from "../../../agent/prompt.ts"
import type { Config } from "../../../config/index.ts"

export interface Envelope {
  /** Whether the time since the conversation's last message is shown. */
  showsElapsed: boolean
  /** When a message was written, in seconds since the epoch; the day alone where times are not to be shown. */
  whenText(seconds: number): string
  /** Seconds since the epoch, as `Sat 2026-11-21T14:30:00Z` or `Sat 2026-11-21 15:30:00 Europe/Berlin`. */
  timeText(seconds: number): string
}

export function createEnvelope({ agents: { defaults } }: Config): Envelope {
  const texts = createTimeTexts(defaults)
  const timeText = (seconds: number) => texts.time(seconds * 1000)
  return {
    showsElapsed: defaults.envelopeElapsed === "on",
    whenText: defaults.envelopeTimestamp === "on" ? timeText : (seconds) => texts.date(seconds * 1000),
    timeText,
  }
}

const units = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
] as const

/** `3d`, `2h`, `5m`; undefined below a minute. */
export function elapsedText(ms: number): string | undefined {
  const unit = units.find(([, size]) => ms >= size)
  return unit && `${Math.floor(ms / unit[1])}${unit[0]}`
}
