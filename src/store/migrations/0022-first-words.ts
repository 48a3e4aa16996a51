// What somebody wrote who asks to be let in is kept while they wait, and it is known who let whom in.
import { type Kysely, sql } from "kysely"

const statements = [
  `create table pairing_message (
     channel text not null,
     account text not null,
     sender_id text not null,
     body text not null,
     kept_at integer not null,
     primary key (channel, account, sender_id)
   ) strict`,
  "create index pairing_message_age on pairing_message (kept_at)",
  "alter table pairing_allow add column approved_by text not null default ''",
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
