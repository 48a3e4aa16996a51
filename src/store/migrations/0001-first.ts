// The first schema. Partial indexes keep every hot query independent of how many finished rows there are.
import { type Kysely, sql } from "kysely"

const statements = [
  `create table inbox (
     id integer primary key,
     source text not null, account text not null, delivery_id text not null,
     received_at integer not null, payload text not null, answer text,
     unique (source, account, delivery_id)
   ) strict`,

  `create table job (
     id integer primary key autoincrement,
     run_id text not null unique, inbox_id integer, kind text not null, lane_key text not null,
     payload text not null, state text not null default 'ready', head integer not null default 0,
     attempts integer not null default 0, run_at integer not null default 0, owner text,
     created_at integer not null, started_at integer, finished_at integer, error text, result text
   ) strict`,
  `create index job_lane on job (lane_key, id) where state in ('ready', 'running')`,
  `create index job_ready on job (run_at) where state = 'ready' and head = 1`,
  `create index job_running on job (owner) where state = 'running'`,
  `create index job_finished on job (finished_at) where finished_at is not null`,

  `create index job_dead on job (id) where state = 'dead'`,

  `create table step (
     job_id integer not null, n integer not null, kind text not null, data text not null,
     created_at integer not null, primary key (job_id, n)
   ) strict, without rowid`,

  `create trigger job_steps after delete on job begin delete from step where job_id = old.id; end`,

  `create table outbox (
     id integer primary key autoincrement,
     lane_key text not null, job_id integer, channel text not null, account text not null, chat_id text not null,
     route text not null, kind text not null, payload text not null,
     state text not null default 'new', head integer not null default 0, attempts integer not null default 0,
     resent integer not null default 0, run_at integer not null default 0, owner text,
     created_at integer not null, sent_at integer, remote_id text, error text
   ) strict`,
  `create index outbox_lane on outbox (lane_key, id) where state in ('new', 'sending')`,
  `create index outbox_ready on outbox (run_at) where state = 'new' and head = 1`,
  `create index outbox_sending on outbox (owner) where state = 'sending'`,
  `create index outbox_trouble on outbox (state, id) where state in ('uncertain', 'dead')`,
  `create index outbox_age on outbox (created_at)`,
  `create index outbox_remote on outbox (channel, account, chat_id, remote_id) where remote_id is not null`,
  `create index outbox_job on outbox (job_id) where job_id is not null`,

  `create table event (
     id integer primary key autoincrement,
     session_key text not null, text text not null, origin text not null, trusted integer not null,
     created_at integer not null, consumed_by integer
   ) strict`,
  `create index event_open on event (session_key, id) where consumed_by is null`,
  `create index event_age on event (created_at)`,

  `create table session (
     key text primary key, agent_id text not null, session_id text not null,
     created_at integer not null, updated_at integer not null,
     last_route text, settings text not null default '{}'
   ) strict, without rowid`,

  `create table message (
     id integer primary key autoincrement,
     session_id text not null, job_id integer, message text not null, tokens integer not null,
     created_at integer not null
   ) strict`,
  `create index message_session on message (session_id, id)`,

  `create table poll_offset (
     channel text not null, account text not null, bot_id text not null, next_update integer not null,
     primary key (channel, account, bot_id)
   ) strict, without rowid`,

  `create table pairing_request (
     channel text not null, account text not null, sender_id text not null, code text not null,
     label text not null, chat_id text not null, created_at integer not null, last_seen_at integer not null,
     primary key (channel, account, sender_id), unique (channel, account, code)
   ) strict, without rowid`,
  `create table pairing_allow (
     channel text not null, account text not null, sender_id text not null,
     label text not null, approved_at integer not null,
     primary key (channel, account, sender_id)
   ) strict, without rowid`,

  `create table meta (key text primary key, value text not null) strict, without rowid`,
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
