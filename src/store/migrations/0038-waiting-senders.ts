// Lanes in which thousands wait, such as that of a large group while its model is away: who has sent what, what comes next
// and what runs are found without reading all of them.
import { type Kysely, sql } from "kysely"

const statements = [
  `alter table job add column sender text`,
  `create index job_waiting on job (lane_key, sender, id) where state = 'ready' and taken_by is null`,
  `create index job_order on job (lane_key, class > 0, id) where state = 'ready' and taken_by is null`,
  `create index job_runs on job (lane_key) where state = 'running'`,
  `create index job_head on job (lane_key) where head = 1`,
  // Few: commands and the like, which the messages behind them may not pass over.
  `create index job_others on job (lane_key, kind) where state in ('ready', 'running') and kind <> 'turn'`,
  `create index queue_drop_lane on queue_drop (lane_key)`,
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
