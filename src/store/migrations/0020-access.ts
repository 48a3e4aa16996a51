// Tokens with scopes, and the audit log. A counted row of the log is one hour of the same thing.
import { type Kysely, sql } from "kysely"

const statements = [
  `create table access_token (
     id text primary key,
     name text not null unique,
     hash text not null,
     scopes text not null,
     created_at integer not null,
     expires_at integer,
     last_used_at integer
   ) strict, without rowid`,
  `create table audit (
     id integer primary key,
     at integer not null,
     last_at integer not null,
     door text not null,
     who_kind text not null, who_id text not null, who_name text not null,
     action text not null, target text not null, outcome text not null,
     count integer not null,
     counted integer not null
   ) strict`,
  `create unique index audit_counted on audit (at, door, who_kind, who_id, action, target, outcome) where counted = 1`,
  `create index audit_time on audit (last_at)`,
  `create index audit_age on audit (counted, id)`,
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
