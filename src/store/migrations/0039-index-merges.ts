// Removed messages are only marked in the full-text indexes. By default each removal writes large parts of them anew at once,
// which held up everything for half a second; now the pruner does that, a few pages at a time (`store/word-index.ts`).
import { type Kysely, sql } from "kysely"

const statements = [
  "insert into message_words (message_words, rank) values ('deletemerge', 0)",
  "insert into message_parts (message_parts, rank) values ('deletemerge', 0)",
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
