// Jobs that do not wait for a free place: commands that must be heard while everything is busy. And the way to what a
// job took from its session, which a stopped job gives back.
import { type Kysely, sql } from "kysely"

const statements = [
  `alter table job add column urgent integer not null default 0`,
  `create index job_urgent on job (run_at) where state = 'ready' and head = 1 and urgent = 1`,
  `create index event_consumed on event (consumed_by) where consumed_by is not null`,
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
