// Deliveries of webhooks, kept so that they can be looked at and replayed.
import { type Kysely, sql } from "kysely"

const statements = [
  `create table hook_delivery (
     id integer primary key,
     received_at integer not null, mapping text not null, path text not null, method text not null,
     headers text not null, query text not null, body blob not null,
     verdict text not null, status integer not null, runs text not null, answer text, error text,
     replay_of integer, took_us integer not null
   ) strict`,
  `create index hook_delivery_mapping on hook_delivery (mapping, id)`,
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
