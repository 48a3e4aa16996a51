// Tools of other servers as they were accepted. What a server says of a tool later is held against this.
import { type Kysely, sql } from "kysely"

const statements = [
  `create table mcp_tool (
     server text not null,
     name text not null,
     source text not null,
     hash text not null,
     definition text not null,
     accepted_at integer not null,
     primary key (server, name)
   ) strict, without rowid`,
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
