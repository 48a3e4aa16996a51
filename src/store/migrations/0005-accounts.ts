// Ids that listed @names are pinned to, and pairing requests that were denied.
import { type Kysely, sql } from "kysely"

const statements = [
  `create table name_pin (
     channel text not null, account text not null, name text not null, sender_id text not null,
     pinned_at integer not null,
     primary key (channel, account, name)
   ) strict, without rowid`,

  `alter table pairing_request add column denied integer not null default 0`,
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
