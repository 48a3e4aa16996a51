// What a job came from, so that an edit of a message finds the turn that waits, and a late part of an album the turn
// that went before.
import { type Kysely, sql } from "kysely"

const statements = [
  `alter table job add column ref text`,
  `create index job_ref on job (ref) where ref is not null`,
  `create index job_joined on job (join_key) where join_key is not null`,
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
