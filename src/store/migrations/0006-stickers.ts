// Stickers that the bot has seen: what they show, so that nobody has to look again, and how to send them.
import { type Kysely, sql } from "kysely"

const statements = [
  // A file id is of use only to the bot that was given it; what the sticker shows holds for every account.
  `create table sticker (
     file_unique_id text not null, file_id text not null, account text not null, emoji text not null,
     set_name text not null, description text not null, cached_at integer not null,
     primary key (account, file_unique_id)
   ) strict, without rowid`,
  `create index sticker_file on sticker (file_unique_id)`,
  `create index sticker_age on sticker (account, cached_at)`,
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
