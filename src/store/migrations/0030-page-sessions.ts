// Sign-ins of the page: the hash of a secret that a browser holds in a cookie, and what it may do.
import { type Kysely, sql } from "kysely"

const statements = [
  `create table page_session (
     id text primary key,
     hash text not null,
     name text not null,
     scopes text not null,
     issuer text not null,
     created_at integer not null,
     expires_at integer not null,
     last_used_at integer not null
   ) strict, without rowid`,
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
