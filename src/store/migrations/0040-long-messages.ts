// Of what people and the agent say, too, only the beginning is found again: a message of a megabyte, cut into parts of
// words, held up everything for a tenth of a second. Longer ones are pasted files and runaway replies. What was written
// before stays as it is.
import { type Kysely, sql } from "kysely"

/** A book chapter; its parts of words are indexed in some 20 ms. */
const maxText = 200_000
/** Of a tool's result, a page mostly. */
const maxResultText = 8_000

const partsOf = (list: string) =>
  `(select group_concat(part.value ->> '$.text', char(10)) from ${list} where part.value ->> '$.type' = 'text')`

/** What a message says, of its JSON. Pictures and calls of tools say nothing. */
const textOf = (message: string) => `coalesce(case ${message} ->> '$.role'
   when 'assistant' then substr(${message} ->> '$.text', 1, ${maxText})
   when 'user' then substr(${partsOf(`json_each(${message}, '$.content') as part`)}, 1, ${maxText})
   else substr(${partsOf(`json_each(${message}, '$.results') as result, json_each(result.value, '$.content') as part`)},
     1, ${maxResultText})
 end, '')`

const statements = [
  "drop trigger message_written",
  `create trigger message_written after insert on message begin
     insert into message_words (rowid, text) values (new.id, ${textOf("new.message")});
     insert into message_parts (rowid, text) values (new.id, ${textOf("new.message")});
   end`,
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
