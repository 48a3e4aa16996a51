// Events of which some words are the operator's and some came with a payload: which are which is kept with them.
import { type Kysely, sql } from "kysely"

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw("alter table event add column segments text").execute(db)
}
