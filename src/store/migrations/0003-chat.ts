// Values of buttons that are too long for the platform, and what tools have sent, so that a turn sends it once.
import { type Kysely, sql } from "kysely"

const statements = [
  `create table chat_button (key text primary key, value text not null, created_at integer not null) strict, without rowid`,
  `create index chat_button_age on chat_button (created_at)`,

  `create table tool_send (
     run_id text not null, digest text not null, deliveries text not null, created_at integer not null,
     primary key (run_id, digest)
   ) strict, without rowid`,
  `create index tool_send_age on tool_send (created_at)`,
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
