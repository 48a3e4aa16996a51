// Messages that come while a turn runs: a waiting job that a turn has taken in stays open until that turn has ended, and
// what a full queue has dropped is told to the next turn.
import { type Kysely, sql } from "kysely"

const statements = [
  `alter table job add column taken_by integer`,
  `create index job_taken on job (taken_by) where taken_by is not null`,
  `create table queue_drop (
     id integer primary key,
     lane_key text not null,
     sender text not null,
     line text not null,
     trusted integer not null,
     created_at integer not null,
     shown_by integer
   ) strict`,
  `create index queue_drop_waiting on queue_drop (lane_key, sender) where shown_by is null`,
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
