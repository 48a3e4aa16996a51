// Secrets that are filled into pages by their names, sealed with a key that is no part of the database; and tabs that are
// handed to a person for a while.
import { type Kysely, sql } from "kysely"

const statements = [
  `create table secret (
     name text primary key,
     origins text not null,
     source text not null,
     reference text,
     sealed text,
     any_field integer not null,
     created_at integer not null,
     updated_at integer not null,
     last_used_at integer
   ) strict, without rowid`,
  `create table takeover (
     id text primary key,
     run_id text,
     session_key text,
     resume text,
     profile text,
     target_id text not null,
     reason text not null,
     state text not null,
     link_hash text not null,
     link_expires_at integer not null,
     asked_at integer not null,
     expires_at integer not null,
     opened_at integer,
     ended_at integer
   ) strict, without rowid`,
  `create index takeover_by_time on takeover (asked_at)`,
  `create index takeover_open on takeover (session_key) where state in ('waiting', 'open')`,
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
