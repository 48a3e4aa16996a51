// Schedules, and each of their times as a row that is claimed once: (schedule, time).
import { type Kysely, sql } from "kysely"

const statements = [
  `create table schedule (
     id text primary key,
     name text not null, source text not null, spec text not null,
     created_at integer not null, created_by text not null,
     since integer not null, paused_at integer, ended_at integer
   ) strict, without rowid`,
  `create index schedule_ended on schedule (ended_at)`,
  `create table schedule_occurrence (
     schedule_id text not null, scheduled_at integer not null,
     state text not null, run_id text, reason text, created_at integer not null,
     primary key (schedule_id, scheduled_at)
   ) strict, without rowid`,
  `create index schedule_occurrence_age on schedule_occurrence (created_at)`,
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
