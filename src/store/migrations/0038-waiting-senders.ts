// Who has sent what waits in a lane, so that the messages of one person are found without reading those of all others.
import { type Kysely, sql } from "kysely"

const statements = [
  `alter table job add column sender text`,
  `create index job_waiting on job (lane_key, sender, id) where state = 'ready' and taken_by is null`,
  `create index queue_drop_lane on queue_drop (lane_key)`,
  // Few: what may not be passed over by the messages behind it.
  `create index job_barrier on job (lane_key, id) where state = 'ready' and kind <> 'turn' and class = 0`,
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
