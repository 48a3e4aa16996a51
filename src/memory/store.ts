// What is known of notes: which version of each file the index has, and its sections. Triggers keep the full-text indexes
// in the same transaction.
import type { Store, TextMatch, Write } from "../store/index.ts"
import { matchesFor } from "../store/index.ts"
import type { NoteHit } from "./contract.ts"
import type { NoteFile } from "./files.ts"
import type { Section } from "./sections.ts"

const index = { words: "note_words", parts: "note_parts", vocabulary: "note_vocabulary", of: "note_section" }

/** Versions that the index has, by name. */
export function indexedVersions(store: Store, agentId: string): Map<string, string> {
  const rows = store.handle.prepare("select name, version from note where agent_id = ?").all(agentId)
  return new Map(rows.map((row) => [String(row["name"]), String(row["version"])]))
}

/** The sections of a file in place of those that the index had of it. */
export function indexNote(
  write: Write,
  agentId: string,
  file: Pick<NoteFile, "name" | "version">,
  sections: readonly Section[],
): void {
  forgetNote(write, agentId, file.name)
  const { lastInsertRowid: id } = write
    .prepare("insert into note (agent_id, name, version) values (?, ?, ?)")
    .run(agentId, file.name, file.version)
  const insert = write.prepare("insert into note_section (note_id, heading, text) values (?, ?, ?)")
  for (const { heading, text } of sections) insert.run(id, heading, text)
}

export function forgetNote(write: Write, agentId: string, name: string): void {
  write.prepare("delete from note where agent_id = ? and name = ?").run(agentId, name)
}

export function headingsOf(store: Store, agentId: string): Map<string, string[]> {
  const rows = store.handle
    .prepare(
      `select note.name, heading from note join note_section on note_id = note.id
       where agent_id = ? and heading <> '' group by note.id, heading order by min(note_section.id)`,
    )
    .all(agentId)
  const headings = Map.groupBy(rows, (row) => String(row["name"]))
  return new Map([...headings].map(([name, of]) => [name, of.map((row) => String(row["heading"]))]))
}

const sqlFind = ({ table }: TextMatch) => `select note_section.id, note.name, note_section.heading, note_section.text
  from ${table} join note_section on note_section.id = ${table}.rowid join note on note.id = note_id
  where ${table} match ?1 and note.agent_id = ?2
  order by bm25(${table}) limit ?3`

/** Best first. */
export function findSections(store: Store, agentId: string, question: string, limit: number): NoteHit[] {
  const hits = new Map<number, NoteHit>()
  for (const match of matchesFor(store.handle, index, question)) {
    if (hits.size >= limit) break
    const rows = store.handle.prepare(sqlFind(match)).all(match.expression, agentId, limit) as unknown as (NoteHit & {
      id: number
    })[]
    for (const { id, name, heading, text } of rows) if (hits.size < limit) hits.set(id, { name, heading, text })
  }
  return [...hits.values()]
}
