// How many messages and tokens each conversation has, kept by triggers in the very transaction that writes a message: a
// list of sessions reads one row of each, however long they are.
import { type Kysely, sql } from "kysely"

const add = (of: string, sign: "+" | "-") => `
  insert into conversation_size (session_id, messages, tokens) values (${of}.session_id, ${sign}1, ${sign}${of}.tokens)
    on conflict do update set messages = messages ${sign} 1, tokens = tokens ${sign} ${of}.tokens;`
const clean = `delete from conversation_size where session_id = old.session_id and messages <= 0;`

const statements = [
  `create table conversation_size (
     session_id text primary key,
     messages integer not null default 0,
     tokens integer not null default 0
   ) strict, without rowid`,
  `insert into conversation_size select session_id, count(*), coalesce(sum(tokens), 0) from message group by session_id`,
  `create trigger conversation_grown after insert on message begin ${add("new", "+")} end`,
  `create trigger conversation_shrunk after delete on message begin ${add("old", "-")} ${clean} end`,
  // Two conversations become one when a chat gets the id of another.
  `create trigger conversation_joined after update of session_id, tokens on message begin
     ${add("old", "-")} ${add("new", "+")} ${clean}
   end`,
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
