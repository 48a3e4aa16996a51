// What was said in groups while nobody asked the agent, and chats that got another id.
import { type Kysely, sql } from "kysely"

const statements = [
  `create table group_history (
     id integer primary key, account text not null, session_key text not null, chat_id text not null,
     message_id integer not null, sender_id text not null, sender text not null, text text not null,
     trusted integer not null, said_at integer not null, created_at integer not null,
     consumed_by integer, shown integer not null default 0
   ) strict`,
  `create index group_history_session on group_history (session_key, account, id)`,
  `create unique index group_history_message on group_history (chat_id, message_id, account)`,

  // Kept for good: an old message, or the other half of the platform's two, may tell of the same move years later.
  `create table chat_move (
     channel text not null, old_id text not null, new_id text not null, account text not null,
     seen_at integer not null, config_done integer not null default 0,
     primary key (channel, old_id)
   ) strict, without rowid`,
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
