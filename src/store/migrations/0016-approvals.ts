// Where words of others have been: entries of a transcript know whose they are. What such words must not cause by itself
// is asked as a row. What was kept before this counts as words of others until its session begins anew.
import { type Kysely, sql } from "kysely"

const statements = [
  `alter table message add column origin text not null default 'unknown'`,
  `alter table message add column trusted integer not null default 0`,
  `alter table event add column share_history integer not null default 0`,
  `create table session_site (
     session_id text not null, site text not null, created_at integer not null,
     primary key (session_id, site)
   ) strict, without rowid`,
  `create index session_site_age on session_site (created_at)`,
  `create table approval (
     id text primary key,
     run_id text not null, session_key text not null, agent_id text not null,
     origin text not null,
     tool text not null, action text not null, digest text not null, text text not null, resume text not null,
     state text not null default 'asked',
     asked_at integer not null, expires_at integer not null,
     decided_by text, decided_at integer, used_at integer, used_by text
   ) strict`,
  `create index approval_digest on approval (session_key, digest)`,
  `create index approval_open on approval (expires_at) where state in ('asked', 'allowed')`,
  `create index approval_age on approval (asked_at)`,
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
