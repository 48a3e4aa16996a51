// Machines that offer their browser: those that ask to be let in, those that were, and those that no longer may.
import { type Kysely, sql } from "kysely"

const statements = [
  `create table node (
     id text not null primary key,
     key text not null,
     name text not null,
     platform text not null,
     version text not null,
     state text not null check (state in ('asked', 'approved', 'revoked')),
     code text,
     address text not null,
     asked_at integer not null,
     told_at integer,
     decided_at integer,
     decided_by text,
     last_seen_at integer
   ) strict, without rowid`,
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
