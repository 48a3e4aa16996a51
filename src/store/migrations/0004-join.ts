// Jobs that wait for more of the same: the parts of an album, a long paste, a burst of short messages.
import { type Kysely, sql } from "kysely"

const statements = [
  `alter table job add column join_key text`,
  `create index job_join on job (join_key, id) where join_key is not null and state = 'ready'`,
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
