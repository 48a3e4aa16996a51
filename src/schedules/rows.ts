// The SQL of schedules.
import type { Store, Write } from "../store/index.ts"
import type { OccurrenceRow, ScheduleRow } from "./contract.ts"

type Handle = Pick<Store["handle"], "prepare">

export function activeSchedules(handle: Handle): ScheduleRow[] {
  return handle
    .prepare("select * from schedule where ended_at is null and paused_at is null")
    .all() as unknown as ScheduleRow[]
}

export function allSchedules(handle: Handle, { ended }: { ended: boolean }): ScheduleRow[] {
  const where = ended ? "" : "where ended_at is null"
  return handle.prepare(`select * from schedule ${where} order by created_at, id`).all() as unknown as ScheduleRow[]
}

/** By the id, its beginning, or the name of one that is not over. */
export function findSchedules(handle: Handle, wanted: string): ScheduleRow[] {
  const start = wanted.toLowerCase()
  const exact = handle.prepare("select * from schedule where id = ?").all(start) as unknown as ScheduleRow[]
  if (exact.length > 0) return exact
  return handle
    .prepare("select * from schedule where substr(id, 1, ?) = ? or (name = ? and ended_at is null) limit 3")
    .all(start.length, start, wanted) as unknown as ScheduleRow[]
}

export function countSchedules(handle: Handle): number {
  return Number(handle.prepare("select count(*) as n from schedule where ended_at is null").get()?.["n"] ?? 0)
}

export function insertSchedule(write: Write, row: ScheduleRow): void {
  write
    .prepare(
      `insert into schedule (id, name, source, spec, created_at, created_by, since, paused_at, ended_at)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    .run(row.id, row.name, row.source, row.spec, row.created_at, row.created_by, row.since, row.paused_at, row.ended_at)
}

export function updateSchedule(
  write: Write,
  id: string,
  change: Partial<Pick<ScheduleRow, "spec" | "since" | "paused_at" | "ended_at" | "name">>,
): void {
  for (const [column, value] of Object.entries(change)) {
    write.prepare(`update schedule set ${column} = ? where id = ?`).run(value, id)
  }
}

/** False when this time was claimed before. */
export function claimTime(write: Write, row: OccurrenceRow): boolean {
  return (
    write
      .prepare(
        `insert into schedule_occurrence (schedule_id, scheduled_at, state, run_id, reason, created_at)
         values (?, ?, ?, ?, ?, ?) on conflict do nothing`,
      )
      .run(row.schedule_id, row.scheduled_at, row.state, row.run_id, row.reason, write.now).changes > 0
  )
}

export function occurrencesOf(handle: Handle, id: string, limit: number): OccurrenceRow[] {
  return handle
    .prepare("select * from schedule_occurrence where schedule_id = ? order by scheduled_at desc limit ?")
    .all(id, limit) as unknown as OccurrenceRow[]
}

/** Whether a run of it has not ended yet. */
export function isOpen(handle: Handle, id: string): boolean {
  const last = handle
    .prepare(
      `select run_id from schedule_occurrence where schedule_id = ? and run_id is not null
       order by scheduled_at desc limit 3`,
    )
    .all(id)
  return last.some((row) => {
    const job = handle.prepare("select state from job where run_id = ?").get(String(row["run_id"]))
    return job?.["state"] === "ready" || job?.["state"] === "running"
  })
}
