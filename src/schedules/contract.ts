// What a schedule is, and how it is shown; also what travels as JSON. No runtime.
import type { Origin, Route } from "../sessions/route.ts"

export type When =
  /** Five fields. */
  | { kind: "cron"; cron: string }
  /** Milliseconds, counted from `from`. */
  | { kind: "every"; everyMs: number; from: number }
  /** `counted`: so long from when it was made, whatever the clock is set to meanwhile. */
  | { kind: "at"; at: number; counted?: true }

export type MissedRule = "late" | "skip" | "each"

export interface ScheduleSpec {
  when: When
  /** Unset: the user's. */
  timeZone?: string
  text: string
  agentId: string
  session: "main" | "isolated"
  deliver: boolean
  /** When the main session looks at the result of one that runs apart; unset: with its next turn. */
  wakeMode?: "now" | "next-heartbeat"
  /** Asked for when it runs: `last`, or a channel with a recipient. */
  channel: string
  to?: string
  account?: string
  /** The chat in which it was asked for; wins over the channel. */
  route?: Route
  missed: MissedRule
  graceMs: number
  model?: string
  timeoutSeconds?: number
  /** Who has written the text; false: a turn wrote it that had read words of others. */
  origin: Origin
  trusted: boolean
}

export interface ScheduleRow {
  id: string
  name: string
  source: "config" | "cli" | "agent"
  spec: string
  created_at: number
  created_by: string
  /** All times up to here have been dealt with. */
  since: number
  paused_at: number | null
  ended_at: number | null
}

export interface OccurrenceRow {
  schedule_id: string
  scheduled_at: number
  /** `run`: at its time, or late; `manual`: somebody wanted it at once. */
  state: "run" | "manual" | "skipped"
  run_id: string | null
  reason: string | null
}

/** What became of one time. `ok`: it ran, and what it said has arrived. */
export interface Occurrence {
  /** Milliseconds since the epoch. */
  scheduledAt: number
  runId: string | null
  state: "ok" | "waiting" | "running" | "sending" | "failed" | "skipped"
  /** In words: where it arrived, why it failed or was left out. */
  detail: string
}

export interface ScheduleSummary {
  id: string
  name: string
  source: ScheduleRow["source"]
  /** `0 9 * * 1-5 (Europe/Berlin)`, `every 30 min`, `at 2026-12-24 18:00`. */
  when: string
  text: string
  agentId: string
  session: ScheduleSpec["session"]
  /** `last`, `chatapp 1001`, `nowhere`. */
  goesTo: string
  missed: MissedRule
  state: "active" | "paused" | "ended"
  /** Whether nobody but people of standing has written the text. */
  trusted: boolean
  nextAt: number | null
  last: Occurrence | null
}

export interface ScheduleDetail extends ScheduleSummary {
  createdAt: number
  createdBy: string
  graceMinutes: number
  /** Newest first. */
  occurrences: Occurrence[]
}

/** What somebody asks for; times as people write them, exactly one of them. */
export interface ScheduleWish {
  name?: string
  text: string
  cron?: string
  every?: string
  at?: string
  in?: string
  timezone?: string
  agent?: string
  session?: "main" | "isolated"
  deliver?: boolean
  channel?: string
  to?: string
  account?: string
  missed?: MissedRule
  graceMinutes?: number
  wakeMode?: "now" | "next-heartbeat"
  model?: string
  timeoutSeconds?: number
}
