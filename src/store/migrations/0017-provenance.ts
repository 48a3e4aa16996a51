// Whose words things are made of, kept beside them: jobs, what they send, buttons. Events are held by the turn that
// shows them until a model has answered. And in which groups the bot is.
import { type Kysely, sql } from "kysely"

const statements = [
  `alter table job add column origin text`,
  `alter table job add column trusted integer`,
  `alter table outbox add column origin text`,
  `alter table outbox add column trusted integer`,
  `alter table chat_button add column origin text`,
  `alter table chat_button add column trusted integer`,
  `alter table chat_button add column run_id text`,
  `alter table event add column held_by integer`,
  `alter table event add column held_to integer`,
  `alter table event add column shown_to integer not null default 0`,
  `alter table event add column refusals integer not null default 0`,
  `alter table event add column set_aside_at integer`,
  `create index event_held on event (held_by) where held_by is not null`,
  `create index event_set_aside on event (set_aside_at) where set_aside_at is not null`,
  // Until now the prompt consumed them, whether it was answered or not.
  `update event set held_by = consumed_by, consumed_by = null
     where consumed_by in (select id from job where state in ('ready', 'running'))
       and not exists (select 1 from step where step.job_id = event.consumed_by and step.kind = 'assistant')`,
  `create table chat_membership (
     channel text not null, account text not null, chat_id text not null,
     is_member integer not null, changed_at integer not null,
     primary key (channel, account, chat_id)
   ) without rowid`,
  // A group's session has a route since somebody who may be heard was heard there.
  `insert or ignore into chat_membership (channel, account, chat_id, is_member, changed_at)
     select json_extract(last_route, '$.channel'), json_extract(last_route, '$.account'),
       json_extract(last_route, '$.chatId'), 1, updated_at
     from session where last_route is not null and json_extract(last_route, '$.chatKind') <> 'private'`,
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
