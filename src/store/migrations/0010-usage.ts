// The ledger of tokens: one row for each model call that a provider has answered. What nobody knows is null.
// Costs are whole billionths of a dollar: sums of integers are exact, and the cheapest token there is (a cent for a
// million, from a cache) still costs ten of them, while a millionth of a dollar would round it away.
import { type Kysely, sql } from "kysely"

const statements = [
  `create table usage (
     id integer primary key,
     created_at integer not null,
     session_key text, run_id text, agent_id text not null, purpose text not null, origin text,
     model text not null,
     input_tokens integer, output_tokens integer, cache_read_tokens integer, cache_write_tokens integer,
     reasoning_tokens integer,
     cost_nano_dollars integer, ms integer
   ) strict`,
  `create index usage_age on usage (created_at)`,
  `create index usage_session on usage (session_key, created_at) where session_key is not null`,
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
