// Updates of a chat platform that nobody could read: set aside, so that a person can look at them.
import { type Kysely, sql } from "kysely"

const statements = [
  `create table unreadable_update (
     id integer primary key autoincrement,
     channel text not null, account text not null, bot_id text not null,
     update_id integer, received_at integer not null, reason text not null, body text not null)`,
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
