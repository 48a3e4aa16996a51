// A question -> the messages that answer it best, of one session or of many: the rarest words decide, among equals what
// fits best. Newest first is `search.ts`.
import type { ModelMessage } from "../../models/contract.ts"
import { type Store, type TextMatch, matchesFor, termsOf } from "../../store/index.ts"
import type { SearchHit } from "./contract.ts"
import { type FoundRow, hitOf } from "./search.ts"

export interface RecallQuery {
  question: string
  limit: number
  /** One session, and one agent's; unset: all. */
  key?: string | undefined
  agent?: string | undefined
  /** Characters of an excerpt. */
  excerpt: number
  /** What this tool has brought stands in the transcripts too, and is no memory of its own. */
  exceptTool: string
}

const index = { words: "message_words", parts: "message_parts", vocabulary: "message_vocabulary", of: "message" }
/** So many of the newest that match are weighed against each other. */
const weighed = 500

const inPlace = `conversation.deleted_at is null
  and (?2 is null or conversation.key = ?2) and (?3 is null or conversation.agent_id = ?3)`

/** Ids, best first. */
function ranked({ table }: TextMatch): string {
  return `select id from (
      select rowid as id, bm25(${table}) as score from ${table}
      where ${table} match ?1 and exists (
        select 1 from message join conversation on conversation.session_id = message.session_id
        where message.id = ${table}.rowid and ${inPlace})
      order by rowid desc limit ${weighed})
    order by score, id desc limit ?4`
}

/**
 * The newest: of words that stand everywhere none fits better than another. In all sessions they are soon found; those of
 * one are looked up first, or every message of the others would be looked at.
 */
function newest({ table }: TextMatch, isOneSession: boolean): string {
  const place = isOneSession
    ? `+rowid in (select message.id from conversation join message on message.session_id = conversation.session_id
         where ${inPlace})`
    : `exists (select 1 from message join conversation on conversation.session_id = message.session_id
         where message.id = ${table}.rowid and ${inPlace})`
  return `select rowid as id from ${table} where ${table} match ?1 and ${place} order by rowid desc limit ?4`
}

/** Best first. */
export function recallMessages(store: Store, query: RecallQuery): SearchHit[] {
  const { question, limit, key, agent, excerpt, exceptTool } = query
  const terms = termsOf(question)
  const hits = new Map<number, SearchHit>()
  for (const match of matchesFor(store.handle, index, question)) {
    if (hits.size >= limit) break
    const sql = match.isBroad ? newest(match, key !== undefined) : ranked(match)
    // Some are left out below.
    const rows = store.handle.prepare(sql).all(match.expression, key ?? null, agent ?? null, 2 * limit)
    for (const { id } of rows as { id: number }[]) {
      const row = hits.has(id) ? undefined : rowOf(store, id)
      if (row && !isOnlyOf(row, exceptTool)) hits.set(id, hitOf(row, terms, excerpt))
      if (hits.size >= limit) break
    }
  }
  return [...hits.values()]
}

function rowOf(store: Store, id: number): FoundRow | undefined {
  return store.handle
    .prepare(
      `select message.id, message.session_id, message.created_at, message.message, message.origin, message.trusted,
         conversation.key, conversation.agent_id
       from message join conversation on conversation.session_id = message.session_id where message.id = ?`,
    )
    .get(id) as FoundRow | undefined
}

function isOnlyOf({ message }: FoundRow, tool: string): boolean {
  const said = JSON.parse(message) as ModelMessage
  return said.role === "tool" && said.results.every(({ toolName }) => toolName === tool)
}
