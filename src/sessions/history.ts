// The past of a conversation as a model is shown it. Where it no longer fits, it begins at one place for many turns:
// a beginning that moved with each message would cost the provider's cache of the whole prompt each time.
import type { ModelMessage } from "../models/contract.ts"
import type { Store } from "../store/index.ts"
import { trimToBudget } from "./transcript.ts"

export interface History {
  /** The newest messages that fit the budget, oldest first, starting with a user's. */
  read(sessionId: string, maxTokens: number): ModelMessage[]
}

interface Entry {
  id: number
  message: ModelMessage
  tokens: number
}

/** Rows read at once while the newest messages are collected. */
const page = 50
/** What is kept of a full budget when the beginning moves: the other part is for the turns until it moves again. */
const keptShare = 0.6
/** Sessions whose beginning is remembered. One that is forgotten costs one reading of its prompt. */
const maxSessions = 1_000

export function createHistory(store: Store): History {
  const beginnings = new Map<string, number>()
  return {
    read(sessionId, maxTokens) {
      const from = beginnings.get(sessionId) ?? 0
      const entries = readNewest(store, sessionId, { from, maxTokens })
      if (entries.reduce((sum, entry) => sum + entry.tokens, 0) <= maxTokens) return messagesOf(entries)
      const kept = trimToBudget(entries, maxTokens * keptShare)
      // One exchange that is longer than that alone is better than nothing of the past.
      const shown = kept.length > 0 ? kept : trimToBudget(entries, maxTokens)
      const first = shown[0]
      beginnings.delete(sessionId)
      if (first) beginnings.set(sessionId, first.id)
      const oldest = beginnings.size > maxSessions ? beginnings.keys().next().value : undefined
      if (oldest !== undefined) beginnings.delete(oldest)
      return messagesOf(shown)
    },
  }
}

function messagesOf(entries: readonly Entry[]): ModelMessage[] {
  return trimToBudget(entries, Number.POSITIVE_INFINITY).map((entry) => entry.message)
}

/** Oldest first, back to `from` or until the budget is used up. */
function readNewest(store: Store, sessionId: string, options: { from: number; maxTokens: number }): Entry[] {
  const newestFirst: Entry[] = []
  const statement = store.handle.prepare(
    "select id, message, tokens from message where session_id = ? and id < ? and id >= ? order by id desc limit ?",
  )
  let before = Number.MAX_SAFE_INTEGER
  let tokens = 0
  while (tokens <= options.maxTokens) {
    const rows = statement.all(sessionId, before, options.from, page) as {
      id: number
      message: string
      tokens: number
    }[]
    for (const { id, message, tokens: count } of rows) {
      newestFirst.push({ id, message: JSON.parse(message) as ModelMessage, tokens: count })
      tokens += count
      before = id
    }
    if (rows.length < page) break
  }
  return newestFirst.reverse()
}
