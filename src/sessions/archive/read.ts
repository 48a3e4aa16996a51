// Sessions and their transcripts as they stand in the store. Everything is found by an index, a page at a time.
import { AppError } from "../../kernel/index.ts"
import type { ModelMessage } from "../../models/contract.ts"
import type { SessionRow, Store } from "../../store/index.ts"
import type { Route } from "../route.ts"
import type { SessionSettings } from "../sessions.ts"
import type {
  ConversationSummary,
  SessionDetail,
  SessionSummary,
  TranscriptMessage,
  TranscriptPage,
} from "./contract.ts"

export interface SessionQuery {
  limit: number
  /** Only those last used before this time, in milliseconds since the epoch. */
  before?: number | undefined
  agent?: string | undefined
}

/** The last used first. */
export function listSessions(store: Store, query: SessionQuery): { items: SessionSummary[]; next: number | null } {
  const { limit, before = Number.MAX_SAFE_INTEGER, agent } = query
  const rows = store.handle
    .prepare(
      `select * from session where updated_at < ?1 and (?2 is null or agent_id = ?2)
       order by updated_at desc, key limit ?3`,
    )
    .all(before, agent ?? null, limit) as unknown as SessionRow[]
  const last = rows.at(-1)
  // Those of the same millisecond come with it: the cursor is a time.
  const same =
    rows.length < limit || !last
      ? []
      : (store.handle
          .prepare(
            "select * from session where updated_at = ?1 and key > ?2 and (?3 is null or agent_id = ?3) order by key",
          )
          .all(last.updated_at, last.key, agent ?? null) as unknown as SessionRow[])
  const items = [...rows, ...same].map((row) => summaryOf(store, row))
  return { items, next: rows.length < limit ? null : (last?.updated_at ?? null) }
}

export function readSession(store: Store, key: string): SessionDetail {
  const row = store.handle.prepare("select * from session where key = ?").get(key) as SessionRow | undefined
  if (!row) throw noSession(key)
  const { model, thinking, reasoning, activation, queue } = JSON.parse(row.settings) as SessionSettings
  return {
    ...summaryOf(store, row),
    settings: JSON.parse(
      JSON.stringify({ model, thinking, reasoning, activation, queue }),
    ) as SessionDetail["settings"],
    conversations: conversationsOf(store, key),
  }
}

export function noSession(key: string): AppError {
  return new AppError("not-found", `There is no session ${JSON.stringify(key.slice(0, 200))}`, {
    hint: "Keys stand in: svc sessions list",
  })
}

function conversationsOf(store: Store, key: string): ConversationSummary[] {
  return store.handle
    .prepare(
      `select session_id as sessionId, created_at as createdAt, ended_at as endedAt,
         coalesce((select messages from conversation_size as size where size.session_id = conversation.session_id), 0)
           as messages
       from conversation where key = ? and deleted_at is null
       order by ended_at is null desc, created_at desc limit 200`,
    )
    .all(key) as unknown as ConversationSummary[]
}

export interface TranscriptQuery {
  limit: number
  /** Only what follows this message. */
  after?: number | undefined
  /** Only what stands before this message, the nearest; then `after` is not looked at. */
  before?: number | undefined
  /** The newest only, oldest of them first; then `after` is not looked at. */
  last?: boolean | undefined
  /** One conversation of the key that is over; else the one that goes on. `all`: every one. */
  conversation?: string | undefined
}

/** Oldest first. The key must be one that is, or was, in use. */
export function readTranscript(store: Store, key: string, query: TranscriptQuery): TranscriptPage {
  const { limit, after = 0, last = false, before = Number.MAX_SAFE_INTEGER } = query
  const isBackwards = last || query.before !== undefined
  const ids = JSON.stringify(conversationIds(store, key, query.conversation))
  const within = "session_id in (select value from json_each(?)) and id > ? and id < ?"
  const bounds = [ids, isBackwards ? 0 : after, before] as const
  const count = isBackwards ? limit : fitting(store, within, bounds, limit)
  const rows = store.handle
    .prepare(
      `select message.*, (select run_id from job where job.id = message.job_id) as run_id from message
       where ${within} order by id ${isBackwards ? "desc" : ""} limit ?`,
    )
    .all(...bounds, count) as unknown as MessageRow[]
  const items = (isBackwards ? rows.reverse() : rows).map(entryOf)
  return { items, next: isBackwards || rows.length < count ? null : (items.at(-1)?.id ?? null) }
}

/** Of one page. Pictures make a message large, and everybody waits while a page is read and written out. */
const pageBytes = 512 * 1024

/** How many messages a page may have: one at least. Sizes are known without reading what they are of. */
function fitting(store: Store, within: string, bounds: readonly (string | number)[], limit: number): number {
  const sizes = store.handle
    .prepare(`select octet_length(message) as bytes from message where ${within} order by id limit ?`)
    .all(...bounds, limit) as { bytes: number }[]
  let bytes = 0
  const beyond = sizes.findIndex((size) => (bytes += size.bytes) > pageBytes)
  return beyond < 0 ? limit : Math.max(beyond, 1)
}

function conversationIds(store: Store, key: string, wanted: string | undefined): string[] {
  const rows = store.handle
    .prepare("select session_id as id, ended_at from conversation where key = ? and deleted_at is null")
    .all(key) as { id: string; ended_at: number | null }[]
  if (rows.length === 0) throw noSession(key)
  if (wanted === "all") return rows.map(({ id }) => id)
  if (wanted === undefined) return rows.filter((row) => row.ended_at === null).map(({ id }) => id)
  const found = rows.filter(({ id }) => id.startsWith(wanted.toLowerCase()))
  if (found.length === 1) return found.map(({ id }) => id)
  throw new AppError(
    "not-found",
    `${found.length === 0 ? "No" : "More than one"} conversation of this session begins with ${JSON.stringify(wanted)}`,
    {
      hint: `Its conversations stand in: svc sessions show ${key}`,
    },
  )
}

interface MessageRow {
  id: number
  session_id: string
  message: string
  created_at: number
  origin: string
  trusted: number
  covers_to: number | null
  run_id: string | null
}

function entryOf(row: MessageRow): TranscriptMessage {
  const { id, session_id: sessionId, created_at: at, run_id: runId, origin } = row
  const message = JSON.parse(row.message) as ModelMessage
  return { id, sessionId, at, runId, origin, trusted: row.trusted === 1, isSummary: row.covers_to !== null, message }
}

function summaryOf(store: Store, row: SessionRow): SessionSummary {
  const size = store.handle
    .prepare("select messages, tokens from conversation_size where session_id = ?")
    .get(row.session_id) as { messages: number; tokens: number } | undefined
  const { key, agent_id: agentId, session_id: sessionId, created_at: createdAt, updated_at: updatedAt } = row
  return {
    key,
    agentId,
    sessionId,
    kind: kindOfKey(key),
    createdAt,
    updatedAt,
    messages: size?.messages ?? 0,
    tokens: size?.tokens ?? 0,
    lastRoute: routeOf(row),
  }
}

function routeOf({ last_route: json }: SessionRow): SessionSummary["lastRoute"] {
  if (json === null) return null
  const { channel, account, chatId, threadId } = JSON.parse(json) as Route
  return { channel, account, chatId, ...(threadId === undefined ? {} : { threadId }) }
}

function kindOfKey(key: string): SessionSummary["kind"] {
  const place = key.replace(/^agent:[^:]+:/, "")
  if (place === "main") return "main"
  if (place.startsWith("hook:")) return "hook"
  if (place.includes(":topic:") || place.includes(":thread:")) return "thread"
  if (place.includes(":group:") || place.includes(":channel:")) return "group"
  if (place.includes(":guest:")) return "guest"
  return place.includes("dm:") ? "dm" : "other"
}

/** Held with people of standing alone: direct chats, terminals, and chats of the page. */
export function isOwnersKey(key: string): boolean {
  const kind = kindOfKey(key)
  return kind === "main" || kind === "dm" || /^agent:[^:]+:(terminal|web):/.test(key)
}
