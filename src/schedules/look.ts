// Schedules and their times in words, for people.
import { type JobRow, type Store, describeRunDelivery, readRunDelivery } from "../store/index.ts"
import type {
  Occurrence,
  OccurrenceRow,
  ScheduleDetail,
  ScheduleRow,
  ScheduleSpec,
  ScheduleSummary,
  When,
} from "./contract.ts"
import { occurrencesOf } from "./rows.ts"
import { nextTime } from "./when.ts"

const mostOccurrences = 50
const minuteMs = 60_000

export function specOf(row: ScheduleRow): ScheduleSpec {
  return JSON.parse(row.spec) as ScheduleSpec
}

export function summaryOf(store: Store, row: ScheduleRow, place: { now: number; zone: string }): ScheduleSummary {
  const spec = specOf(row)
  const zone = spec.timeZone ?? place.zone
  const state = row.ended_at !== null ? "ended" : row.paused_at !== null ? "paused" : "active"
  const nextAt = state === "active" ? (nextTime(spec.when, zone, Math.min(row.since, place.now)) ?? null) : null
  const [last] = occurrencesOf(store.handle, row.id, 1)
  return {
    id: row.id,
    name: row.name,
    source: row.source,
    when: describeWhen(spec.when, zone),
    text: spec.text,
    agentId: spec.agentId,
    session: spec.session,
    goesTo: describeTarget(spec),
    missed: spec.missed,
    state,
    trusted: spec.trusted,
    nextAt,
    last: last ? describeOccurrence(store, last, spec) : null,
  }
}

export function detailOf(store: Store, row: ScheduleRow, place: { now: number; zone: string }): ScheduleDetail {
  const spec = specOf(row)
  return {
    ...summaryOf(store, row, place),
    createdAt: row.created_at,
    createdBy: row.created_by,
    graceMinutes: Math.round(spec.graceMs / minuteMs),
    occurrences: occurrencesOf(store.handle, row.id, mostOccurrences).map((each) =>
      describeOccurrence(store, each, spec),
    ),
  }
}

export function describeWhen(when: When, zone: string): string {
  if (when.kind === "cron") return `${when.cron} (${zone})`
  if (when.kind === "every") return `every ${Math.round(when.everyMs / minuteMs)} min`
  return `at ${timeText(when.at, zone)} (${zone})`
}

export function timeText(at: number, timeZone: string): string {
  // The Swedish form is year-month-day.
  return new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "short" }).format(at)
}

function describeTarget({ deliver, route, channel, to }: ScheduleSpec): string {
  if (!deliver) return "nowhere"
  if (route) return `${route.channel} ${route.chatId}`
  return to === undefined ? channel : `${channel} ${to}`
}

/** It is said to be ok when it has run and what it said has arrived: a reply that was only queued is not there yet. */
function describeOccurrence({ handle }: Store, row: OccurrenceRow, { deliver }: ScheduleSpec): Occurrence {
  const at = { scheduledAt: row.scheduled_at, runId: row.run_id }
  if (row.state === "skipped" || row.run_id === null) {
    return { ...at, state: "skipped", detail: row.reason ?? "left out" }
  }
  const job = handle.prepare("select * from job where run_id = ?").get(row.run_id) as JobRow | undefined
  if (!job) return { ...at, state: "ok", detail: "its run is no longer kept" }
  if (job.state === "ready") return { ...at, state: "waiting", detail: job.error ?? "waits for its turn" }
  if (job.state === "running") return { ...at, state: "running", detail: "runs" }
  if (job.state !== "done") return { ...at, state: "failed", detail: job.error ?? job.state }
  const delivery = readRunDelivery({ handle }, job.id)
  const words = describeRunDelivery(delivery)
  if (words === undefined) return { ...at, ...silentEnd(job.result, deliver) }
  if (delivery.state === "sent") return { ...at, state: "ok", detail: words }
  return { ...at, state: delivery.state === "queued" ? "sending" : "failed", detail: words }
}

/** Nothing was sent: because nothing was to be, or because it could not be. */
function silentEnd(result: string | null, deliver: boolean): Pick<Occurrence, "state" | "detail"> {
  let delivered = "nothing was sent"
  try {
    delivered = (JSON.parse(result ?? "{}") as { delivered?: string }).delivered ?? delivered
  } catch {
    delivered = result ?? delivered
  }
  const isMeant = !deliver || /nothing needs attention|say nothing|nothing to add|answered already/.test(delivered)
  return { state: isMeant ? "ok" : "failed", detail: delivered }
}
