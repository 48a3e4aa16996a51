// What an agent remembers in files: its notes, section by section, with an index for words and one for parts of words,
// written by triggers in the very transaction that takes a file in. And how often a word stands in the transcripts, so that
// a search begins with its rarest ones.
import { type Kysely, sql } from "kysely"

const statements = [
  `create table note (
     id integer primary key,
     agent_id text not null,
     name text not null,
     version text not null,
     unique (agent_id, name)
   ) strict`,
  `create table note_section (
     id integer primary key,
     note_id integer not null references note (id) on delete cascade,
     heading text not null,
     text text not null
   ) strict`,
  `create index note_section_note on note_section (note_id, id)`,
  `create virtual table note_words using fts5 (
     text, content = '', contentless_delete = 1, tokenize = "unicode61 remove_diacritics 2")`,
  `create virtual table note_parts using fts5 (
     text, content = '', contentless_delete = 1, tokenize = "trigram remove_diacritics 1")`,
  `create trigger note_section_written after insert on note_section begin
     insert into note_words (rowid, text) values (new.id, new.heading || char(10) || new.text);
     insert into note_parts (rowid, text) values (new.id, new.heading || char(10) || new.text);
   end`,
  `create trigger note_section_removed after delete on note_section begin
     delete from note_words where rowid = old.id;
     delete from note_parts where rowid = old.id;
   end`,
  `create virtual table message_vocabulary using fts5vocab (message_words, row)`,
  `create virtual table note_vocabulary using fts5vocab (note_words, row)`,
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
