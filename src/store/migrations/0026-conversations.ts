// Conversations by their ids, those that are over too, and their words: an index for words and one for parts of words,
// written by triggers in the very transaction that writes a message, so that there is nothing to build anew.
import { type Kysely, sql } from "kysely"

/** Of a tool's result, a page mostly, so much is found again; of what people and the agent say all of it. */
const maxResultText = 8_000

const partsOf = (list: string) =>
  `(select group_concat(part.value ->> '$.text', char(10)) from ${list} where part.value ->> '$.type' = 'text')`

/** What a message says, of its JSON. Pictures and calls of tools say nothing. */
const textOf = (message: string) => `coalesce(case ${message} ->> '$.role'
   when 'assistant' then ${message} ->> '$.text'
   when 'user' then ${partsOf(`json_each(${message}, '$.content') as part`)}
   else substr(${partsOf(`json_each(${message}, '$.results') as result, json_each(result.value, '$.content') as part`)},
     1, ${maxResultText})
 end, '')`

const statements = [
  `create table conversation (
     session_id text primary key,
     key text not null,
     agent_id text not null,
     created_at integer not null,
     ended_at integer,
     deleted_at integer
   ) strict, without rowid`,
  `create index conversation_key on conversation (key, created_at)`,
  `create index conversation_deleted on conversation (deleted_at) where deleted_at is not null`,
  `create index session_used on session (updated_at)`,
  `insert into conversation select session_id, key, agent_id, created_at, null, null from session`,
  // Whose the older ones were was not kept.
  `insert or ignore into conversation
     select session_id, '', '', ended_at, ended_at, null from ended_session
       where session_id in (select session_id from message)`,
  `create trigger conversation_begun after insert on session begin
     insert or ignore into conversation values (new.session_id, new.key, new.agent_id, new.created_at, null, null);
   end`,
  `create trigger conversation_renewed after update of session_id on session when old.session_id <> new.session_id begin
     update conversation set ended_at = new.updated_at where session_id = old.session_id;
     insert or ignore into conversation values (new.session_id, new.key, new.agent_id, new.created_at, null, null);
   end`,
  `create trigger conversation_moved after update of key on session when old.key <> new.key begin
     update conversation set key = new.key where key = old.key;
   end`,
  `create trigger conversation_over after delete on session begin
     update conversation set ended_at = old.updated_at where session_id = old.session_id;
   end`,
  `create trigger conversation_gone after delete on ended_session begin
     delete from conversation where session_id = old.session_id;
   end`,

  // Of a summary: the newest message that it stands for, which stays where it is.
  `alter table message add column covers_to integer`,
  `create index message_summary on message (session_id, id) where covers_to is not null`,

  `create virtual table message_words using fts5 (
     text, content = '', contentless_delete = 1, tokenize = "unicode61 remove_diacritics 2")`,
  `create virtual table message_parts using fts5 (
     text, content = '', contentless_delete = 1, tokenize = "trigram remove_diacritics 1")`,
  `insert into message_words (rowid, text) select id, ${textOf("message")} from message`,
  `insert into message_parts (rowid, text) select id, ${textOf("message")} from message`,
  `create trigger message_written after insert on message begin
     insert into message_words (rowid, text) values (new.id, ${textOf("new.message")});
     insert into message_parts (rowid, text) values (new.id, ${textOf("new.message")});
   end`,
  `create trigger message_removed after delete on message begin
     delete from message_words where rowid = old.id;
     delete from message_parts where rowid = old.id;
   end`,
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
