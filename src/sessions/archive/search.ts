// Words -> messages of all transcripts, newest first, by two indexes: one of words, and one of parts of words, for what the
// first does not have (a piece of a name, scripts without spaces). Nothing is looked through row by row.
import { AppError } from "../../kernel/index.ts"
import type { ModelMessage } from "../../models/contract.ts"
import type { Store } from "../../store/index.ts"
import type { SearchHit, SearchPage } from "./contract.ts"
import { excerptOf } from "./excerpt.ts"
import { textOfMessage } from "./render.ts"

export interface SearchQuery {
  text: string
  limit: number
  /** Ids of messages below this only. */
  before?: number | undefined
  /** One session, and one agent's. */
  key?: string | undefined
  agent?: string | undefined
}

const maxTerms = 12
const excerptLength = 240

export function searchMessages(store: Store, query: SearchQuery): SearchPage {
  const terms = query.text.normalize("NFC").split(/\s+/).filter(Boolean).slice(0, maxTerms)
  if (terms.length === 0) throw new AppError("bad-request", "There is nothing to search for")
  const words = match("message_words", terms.filter(hasWord), (term) => `${quoted(term)}*`)
  const isFound = words !== undefined && find(store, words, { ...query, before: undefined, limit: 1 }).length > 0
  // Three characters are the least that the index of parts knows.
  const parts = match(
    "message_parts",
    terms.filter((term) => [...term].length >= 3),
    quoted,
  )
  const wanted = isFound ? words : parts
  const rows = wanted === undefined ? [] : find(store, wanted, query)
  const items = rows.map((row) => hitOf(row, terms))
  return { items, next: rows.length < query.limit ? null : (rows.at(-1)?.id ?? null) }
}

interface Match {
  table: "message_words" | "message_parts"
  expression: string
}

function match(table: Match["table"], terms: readonly string[], write: (term: string) => string): Match | undefined {
  return terms.length === 0 ? undefined : { table, expression: terms.map(write).join(" ") }
}

/** A string of the index's own language: nothing in it is an operator. */
function quoted(term: string): string {
  return `"${term.replaceAll('"', '""')}"`
}

function hasWord(term: string): boolean {
  return /[\p{L}\p{N}]/u.test(term)
}

export interface FoundRow {
  id: number
  key: string
  agent_id: string
  session_id: string
  created_at: number
  message: string
  origin: string
  trusted: number
}

function find(store: Store, { table, expression }: Match, query: SearchQuery): FoundRow[] {
  return store.handle
    .prepare(
      `select message.id, message.session_id, message.created_at, message.message, message.origin, message.trusted,
         conversation.key, conversation.agent_id
       from ${table} as found
         join message on message.id = found.rowid
         join conversation on conversation.session_id = message.session_id
       where found.${table} match ?1 and found.rowid < ?2 and conversation.deleted_at is null
         and (?3 is null or conversation.key = ?3) and (?4 is null or conversation.agent_id = ?4)
       order by found.rowid desc limit ?5`,
    )
    .all(
      expression,
      query.before ?? Number.MAX_SAFE_INTEGER,
      query.key ?? null,
      query.agent ?? null,
      query.limit,
    ) as unknown as FoundRow[]
}

export function hitOf(row: FoundRow, terms: readonly string[], length = excerptLength): SearchHit {
  const message = JSON.parse(row.message) as ModelMessage
  return {
    id: row.id,
    key: row.key,
    agentId: row.agent_id,
    sessionId: row.session_id,
    at: row.created_at,
    role: message.role,
    origin: row.origin,
    trusted: row.trusted === 1,
    excerpt: excerptOf(textOfMessage(message), terms, length),
  }
}
