// Sessions: what a key stands for now, when it starts afresh, its transcript, and the last route.
import type { Ids } from "../kernel/index.ts"
import type { SessionRow, Store, Write } from "../store/index.ts"
import type { SessionConfig } from "./config.ts"
import { isFresh, resetRuleFor } from "./freshness.ts"
import type { QueueChoice } from "./queue-choice.ts"
import type { Route } from "./route.ts"
import { type HistoryOptions, createHistory } from "./history.ts"
import { type Past, type TranscriptEntry, estimateTokens } from "./transcript.ts"

export interface Session {
  key: string
  agentId: string
  /** Changes at a reset; the transcript belongs to it. */
  sessionId: string
  /** When this id began. */
  createdAt: number
  updatedAt: number
  lastRoute: Route | null
  settings: SessionSettings
}

export interface SessionSettings {
  model?: string
  thinking?: "off" | "minimal" | "low" | "medium" | "high"
  /** Whether the model's thinking is shown: never, in front of the answer, or while it thinks. */
  reasoning?: "off" | "on" | "stream"
  /** Which messages of a group are answered; unset: as the configuration says. */
  activation?: "always" | "mention"
  /** What becomes of messages that come while a turn runs; unset: as the configuration says. */
  queue?: QueueChoice
  /** The last alert of a heartbeat, so that the same one is not sent again within a day. */
  lastAlert?: { text: string; at: number }
}

export interface Sessions {
  /** The session of a key, made if missing, with a new id when its reset rule says so. */
  open(write: Write, key: string, agentId: string): Session
  /** A new id at once, whatever the reset rule says: the conversation begins anew, its settings stay. */
  renew(write: Write, key: string, agentId: string): Session
  find(key: string): Session | undefined
  /** Remembers where a conversation was last heard from; inside the transaction that lets its message in. */
  rememberRoute(write: Write, key: string, agentId: string, route: Route): void
  lastRoute(key: string): Route | null
  /** The newest messages that fit the budget, oldest first, starting with a user's; `maxTurns` counts the user's. */
  history(sessionId: string, options: HistoryOptions & { maxTurns?: number | undefined }): Past
  /** Lets go of most that is kept in memory for the next turns, which then read it once more. */
  shrink(): void
  append(write: Write, session: Session, jobId: number, entries: readonly TranscriptEntry[]): void
  /** Marks the session as used now; a heartbeat that found nothing does not. */
  touch(write: Write, session: Session): void
  saveSettings(write: Write, session: Session, settings: SessionSettings): void
}

export function createSessions(options: { store: Store; ids: Ids; config: () => SessionConfig }): Sessions {
  const { store, ids } = options
  const history = createHistory(store)
  const find = (key: string): Session | undefined => {
    const row = store.handle.prepare("select * from session where key = ?").get(key) as SessionRow | undefined
    return row && fromRow(row)
  }
  const renew: Sessions["renew"] = (write, key, agentId) => {
    const known = find(key)
    const session: Session = {
      key,
      agentId,
      sessionId: ids.uuid(),
      createdAt: write.now,
      updatedAt: write.now,
      lastRoute: known?.lastRoute ?? null,
      settings: known?.settings ?? {},
    }
    write
      .prepare(
        `insert into session (key, agent_id, session_id, created_at, updated_at) values (?, ?, ?, ?, ?)
         on conflict (key) do update set session_id = excluded.session_id, created_at = excluded.created_at,
           updated_at = excluded.updated_at`,
      )
      .run(key, agentId, session.sessionId, write.now, write.now)
    return session
  }
  return {
    find,
    renew,
    open(write, key, agentId) {
      const known = find(key)
      const isUsable = known && isFresh(resetRuleFor(options.config(), key), known.updatedAt, write.now)
      return isUsable ? known : renew(write, key, agentId)
    },
    rememberRoute(write, key, agentId, route) {
      // updated_at stays as it is: only a turn keeps a session fresh.
      write
        .prepare(
          `insert into session (key, agent_id, session_id, created_at, updated_at, last_route) values (?, ?, ?, ?, ?, ?)
           on conflict (key) do update set last_route = excluded.last_route`,
        )
        .run(key, agentId, ids.uuid(), write.now, write.now, JSON.stringify(route))
    },
    lastRoute: (key) => find(key)?.lastRoute ?? null,
    history(sessionId, { maxTurns, ...options }) {
      if (maxTurns === 0) return { messages: [], tokens: 0, isCut: false, foreign: undefined }
      const { summary, entries, isCut } = history.read(sessionId, options)
      const shown = [...(summary ? [summary] : []), ...lastTurns(entries, maxTurns)]
      return {
        messages: shown.map((entry) => entry.message),
        tokens: shown.reduce((sum, entry) => sum + entry.tokens, 0),
        isCut,
        foreign: shown.find((entry) => !entry.trusted)?.origin,
      }
    },
    shrink: () => history.shrink(),
    append(write, session, jobId, entries) {
      const statement = write.prepare(
        `insert into message (session_id, job_id, message, tokens, created_at, origin, trusted)
         values (?, ?, ?, ?, ?, ?, ?)`,
      )
      const sessionId = goesOnIn(find(session.key), session)
      for (const { message, origin, trusted } of entries) {
        const tokens = estimateTokens(message)
        const text = JSON.stringify(message)
        statement.run(sessionId, jobId, text, tokens, write.now, origin, trusted ? 1 : 0)
      }
    },
    touch(write, session) {
      write.prepare("update session set updated_at = ? where key = ?").run(write.now, session.key)
    },
    saveSettings(write, session, settings) {
      write.prepare("update session set settings = ? where key = ?").run(JSON.stringify(settings), session.key)
    },
  }
}

/**
 * A conversation that became one with another while a turn of it ran goes on under the other's id. One that was begun anew
 * meanwhile is a later one: what the turn has said belongs to what was before.
 */
function goesOnIn(now: Session | undefined, { sessionId, createdAt }: Session): string {
  return now && now.createdAt <= createdAt ? now.sessionId : sessionId
}

function fromRow(row: SessionRow): Session {
  return {
    key: row.key,
    agentId: row.agent_id,
    sessionId: row.session_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    lastRoute: row.last_route === null ? null : (JSON.parse(row.last_route) as Route),
    settings: JSON.parse(row.settings) as SessionSettings,
  }
}

function lastTurns<Entry extends TranscriptEntry>(entries: Entry[], maxTurns: number | undefined): Entry[] {
  if (maxTurns === undefined) return entries
  let turns = 0
  let start = entries.length
  for (let index = entries.length - 1; index >= 0 && turns < maxTurns; index -= 1) {
    if (entries[index]?.message.role !== "user") continue
    turns += 1
    start = index
  }
  return entries.slice(start)
}
