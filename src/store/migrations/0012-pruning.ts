// What is old is found without looking at what is not: indexes by age over exactly the rows that may go, and a list of
// the conversations that have ended, whose messages nothing shows any more.
import { type Kysely, sql } from "kysely"

/** Whether a session key is that of a webhook's own session: `agent:<id>:hook:...`. */
const isMachine = (key: string) => `substr(${key}, 7 + instr(substr(${key}, 7), ':'), 5) = 'hook:'`

const statements = [
  `drop index outbox_age`,
  `create index outbox_ended on outbox (created_at) where state not in ('new', 'sending')`,
  `drop index event_age`,
  `create index event_shown on event (created_at) where consumed_by is not null`,
  `create index event_waiting on event (created_at) where consumed_by is null`,
  `create index session_machine on session (updated_at) where ${isMachine("key")}`,

  `create table ended_session (
     session_id text primary key, machine integer not null, ended_at integer not null
   ) strict, without rowid`,
  `create index ended_session_age on ended_session (machine, ended_at)`,
  // Whoever gives a conversation a new id or removes it need not know of the list.
  `create trigger session_renewed after update of session_id on session when old.session_id <> new.session_id begin
     insert or ignore into ended_session values (old.session_id, ${isMachine("old.key")}, new.updated_at);
   end`,
  `create trigger session_removed after delete on session begin
     insert or ignore into ended_session values (old.session_id, ${isMachine("old.key")}, old.updated_at);
   end`,
  // Whose the older ones were is not known any more: they are taken for people's.
  `insert into ended_session
     select session_id, 0, (select created_at from message as last where last.session_id = known.session_id
       order by id desc limit 1)
     from (select distinct session_id from message) as known
     where session_id not in (select session_id from session)`,
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
