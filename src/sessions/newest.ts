// The newest messages of conversations, as they were parsed: rows -> entries, which the turns of a conversation share.
// A turn asks for the whole past that its model is shown, of which all but the last exchange is what the turn before it
// had. Rows are never changed, so what can differ is which of them there are: that is counted by the index at each turn.
import type { ModelMessage } from "../models/contract.ts"
import type { Store } from "../store/index.ts"
import type { Origin } from "./route.ts"
import type { TranscriptEntry } from "./transcript.ts"

/** Shared by turns and never changed: whoever wants another message makes one. */
export interface Entry extends TranscriptEntry {
  id: number
  tokens: number
}

export interface NewestMessages {
  /** Oldest first, back to the row `from`, or as far as it takes for more than `budget` tokens; and their tokens. */
  read(sessionId: string, options: { from: number; budget: number }): { entries: Entry[]; tokens: number }
  /** Keeps little but the conversation that was talked in last: the others cost one reading when they are talked in again. */
  shrink(): void
}

/** What is kept of one conversation: all of its messages from `from` on, up to the last one here. */
interface Kept {
  from: number
  entries: Entry[]
  /** Rows from `from` to the last entry, summaries too. */
  rows: number
  /** Of all entries. */
  tokens: number
}

/** Rows read at once while the newest messages are collected. */
const page = 50
/** Characters that are kept of all conversations: of the one that is talked in, and of some in which little was said. */
const maxKept = 3_000_000
/** Part of them that is kept while nobody is served. */
const quietShare = 0.2
/** About what the objects of a message take besides its text. */
const frameOfEntry = 400

export function createNewestMessages(store: Store, most = maxKept): NewestMessages {
  /** Least lately used first. */
  const conversations = new Map<string, Kept>()
  const sizes = new Map<string, number>()
  let total = 0
  const keep = (sessionId: string, kept: Kept | undefined): void => {
    conversations.delete(sessionId)
    total -= sizes.get(sessionId) ?? 0
    sizes.delete(sessionId)
    if (!kept || kept.entries.length === 0) return
    const size = kept.tokens * 4 + kept.entries.length * frameOfEntry
    conversations.set(sessionId, kept)
    sizes.set(sessionId, size)
    total += size
    forget(most)
  }
  const forget = (above: number): void => {
    for (const oldest of conversations.keys()) {
      if (total <= above) return
      conversations.delete(oldest)
      total -= sizes.get(oldest) ?? 0
      sizes.delete(oldest)
    }
  }
  return {
    read(sessionId, options) {
      const known = conversations.get(sessionId)
      const kept = collect(store, sessionId, options, known && brought(store, sessionId, known))
      keep(sessionId, kept)
      return { entries: [...kept.entries], tokens: kept.tokens }
    },
    shrink() {
      const last = [...conversations.keys()].at(-1)
      forget(Math.max(most * quietShare, sizes.get(last ?? "") ?? 0))
    },
  }
}

/** With what was said since; undefined where rows were removed or moved meanwhile. */
function brought(store: Store, sessionId: string, known: Kept): Kept | undefined {
  if (countRows(store, sessionId, known) !== known.rows) return undefined
  const last = known.entries.at(-1)?.id ?? 0
  const newer = rowsOf(store, sessionId, { from: last + 1, before: Number.MAX_SAFE_INTEGER, limit: -1 }).reverse()
  if (newer.length === 0) return known
  return {
    ...known,
    entries: [...known.entries, ...newer],
    rows: known.rows + countRows(store, sessionId, { from: last + 1, entries: newer }),
    tokens: known.tokens + tokensOf(newer),
  }
}

function collect(
  store: Store,
  sessionId: string,
  { from, budget }: { from: number; budget: number },
  known: Kept | undefined,
): Kept {
  const first = known?.entries[0]
  // Nothing of it is too old, so it is looked through once, and counted no more.
  if (known && first && first.id >= from) {
    const isEnough = known.from <= from || known.tokens > budget
    const begin = known.from <= from ? from : first.id
    if (isEnough && begin === known.from) return known
    if (isEnough) return { ...known, from: begin, rows: countRows(store, sessionId, { ...known, from: begin }) }
  }
  const newestFirst = (known?.entries.filter(({ id }) => id >= from) ?? []).reverse()
  let tokens = tokensOf(newestFirst)
  let isWhole = known !== undefined && known.from <= from
  while (tokens <= budget && !isWhole) {
    const before = newestFirst.at(-1)?.id ?? Number.MAX_SAFE_INTEGER
    const older = rowsOf(store, sessionId, { from, before, limit: page })
    newestFirst.push(...older)
    for (const entry of older) tokens += entry.tokens
    isWhole = older.length < page
  }
  const entries = newestFirst.reverse()
  const begin = isWhole ? from : (entries[0]?.id ?? from)
  return { from: begin, entries, rows: countRows(store, sessionId, { from: begin, entries }), tokens }
}

function tokensOf(entries: readonly Entry[]): number {
  let tokens = 0
  for (const entry of entries) tokens += entry.tokens
  return tokens
}

/** By the index alone. */
function countRows(store: Store, sessionId: string, { from, entries }: Pick<Kept, "from" | "entries">): number {
  const row = store.handle
    .prepare("select count(*) as n from message where session_id = ? and id between ? and ?")
    .get(sessionId, from, entries.at(-1)?.id ?? -1)
  return Number(row?.["n"])
}

/** Newest first. */
function rowsOf(
  store: Store,
  sessionId: string,
  { from, before, limit }: { from: number; before: number; limit: number },
): Entry[] {
  const rows = store.handle
    .prepare(
      `select id, message, tokens, origin, trusted from message
       where session_id = ? and id < ? and id >= ? and covers_to is null order by id desc limit ?`,
    )
    .all(sessionId, before, from, limit)
  return rows.map((row) => ({
    id: Number(row["id"]),
    tokens: Number(row["tokens"]),
    message: JSON.parse(String(row["message"])) as ModelMessage,
    origin: String(row["origin"]) as Origin,
    trusted: row["trusted"] === 1,
  }))
}
