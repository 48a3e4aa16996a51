// Caps on spending: what counts against them, what is held for calls under way, what an owner has allowed beyond them, and
// what has been told. `usage` says beside the provider's own figures what each call counts for.
// Totals are sums of the ledger that are kept as it grows: a month has more calls than can be added up before each one.
import { type Kysely, sql } from "kysely"

const statements = [
  `alter table usage add column counted_tokens integer`,
  `alter table usage add column counted_nano_dollars integer`,
  `create table budget_total (
     scope text not null, key text not null, since integer not null,
     tokens integer not null, nano_dollars integer not null, updated_at integer not null,
     primary key (scope, key, since)
   ) strict, without rowid`,
  `create index budget_total_age on budget_total (updated_at)`,
  `create table budget_hold (
     id text primary key,
     boot_id text not null, state text not null default 'open', created_at integer not null,
     agent_id text not null, session_key text, run_id text, purpose text not null, model text not null,
     tokens integer not null, nano_dollars integer not null
   ) strict, without rowid`,
  `create index budget_hold_age on budget_hold (created_at)`,
  `create table budget_grant (
     scope text not null, key text not null, since integer not null,
     tokens integer not null default 0, nano_dollars integer not null default 0,
     lifted_until integer, granted_by text not null, granted_at integer not null,
     primary key (scope, key, since)
   ) strict, without rowid`,
  `create table budget_notice (
     scope text not null, key text not null, since integer not null,
     percent integer not null, most text not null, created_at integer not null,
     primary key (scope, key, since, percent, most)
   ) strict, without rowid`,
  `create table budget_stopped (
     run_id text not null, scope text not null, key text not null, created_at integer not null,
     primary key (run_id, scope, key)
   ) strict, without rowid`,
  `create index budget_grant_age on budget_grant (granted_at)`,
  `create index budget_notice_age on budget_notice (created_at)`,
  `create index budget_stopped_age on budget_stopped (created_at)`,
  `create index budget_stopped_cap on budget_stopped (scope, key)`,
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
