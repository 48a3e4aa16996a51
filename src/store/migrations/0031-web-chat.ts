// The page's own chat: its messages, as people see them there, and its conversations, kept in step by triggers so that no
// list reads more than it shows. A session that is deleted takes its messages out of sight at once; the sweeps remove them.
import { type Kysely, sql } from "kysely"

const statements = [
  `create table web_chat (
     key text primary key,
     title text not null default '',
     preview text not null default '',
     last_id integer not null,
     cleared_to integer not null default 0,
     updated_at integer not null
   ) strict, without rowid`,
  "create index web_chat_recent on web_chat (updated_at, key)",
  "create index web_chat_cleared on web_chat (cleared_to) where cleared_to > 0",
  `create table web_message (
     id integer primary key autoincrement,
     chat text not null,
     ref text not null unique,
     side text not null,
     run_id text,
     text text not null,
     thinking text,
     files text,
     buttons text,
     reply_to text,
     reaction text,
     origin text,
     trusted integer,
     created_at integer not null,
     edited_at integer,
     deleted_at integer
   ) strict`,
  "create index web_message_chat on web_message (chat, id)",
  "create index web_message_age on web_message (chat, created_at)",
  `create trigger web_message_added after insert on web_message begin
     insert into web_chat (key, title, preview, last_id, updated_at)
       values (new.chat, iif(new.side = 'in', substr(new.text, 1, 80), ''), substr(new.text, 1, 120), new.id, new.created_at)
       on conflict (key) do update set title = iif(title = '' or cleared_to = last_id, excluded.title, title),
         preview = excluded.preview, last_id = excluded.last_id, updated_at = excluded.updated_at;
   end`,
  `create trigger web_session_deleted after delete on session begin
     update web_chat set cleared_to = last_id where key = old.key;
   end`,
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
