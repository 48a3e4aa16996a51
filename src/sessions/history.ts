// The past of a conversation as a model is shown it. Where it no longer fits, it begins at one place for many turns:
// a beginning that moved with each message would cost the provider's cache of the whole prompt each time.
import type { Store } from "../store/index.ts"
import { type Entry, createNewestMessages } from "./newest.ts"
import { type Summary, latestSummary } from "./summary.ts"
import { trimToBudget } from "./transcript.ts"

export interface HistoryOptions {
  /** Tokens that the past of a conversation may have with this model, from turn to turn the same. */
  budget: number
  /** Tokens that are left for it in this turn: less where the prompt itself is long. */
  room: number
}

export interface History {
  /** The newest messages that fit, oldest first, starting with a user's, and the summary of what was before them. */
  read(sessionId: string, options: HistoryOptions): ReadHistory
  /** Lets go of most that is kept in memory for the next turns. */
  shrink(): void
}

export interface ReadHistory {
  summary: Entry | undefined
  entries: Entry[]
  /** Older messages have no room any more, and no summary stands for them. */
  isCut: boolean
}

/** What is kept of a full budget when the beginning moves: the other part is for the turns until it moves again. */
const keptShare = 0.6
/** Conversations whose beginning is remembered. One that is forgotten costs one reading of its prompt. */
const maxBeginnings = 1_000
/** Of a few thousand characters each. */
const maxSummaries = 100

export function createHistory(store: Store): History {
  /** By session and budget: a smaller model that looks on now and then takes nothing away from a larger one. */
  const beginnings = new Map<string, number>()
  const newest = createNewestMessages(store)
  /** The same objects from turn to turn, as the messages are. Least lately used first. */
  const summaries = new Map<string, Summary>()
  const rememberSummary = (sessionId: string, summary: Summary | undefined): void => {
    summaries.delete(sessionId)
    if (summary) summaries.set(sessionId, summary)
    const oldest = summaries.size > maxSummaries ? summaries.keys().next().value : undefined
    if (oldest !== undefined) summaries.delete(oldest)
  }
  return {
    read(sessionId, wanted) {
      const summary = latestSummary(store, sessionId, summaries.get(sessionId))
      rememberSummary(sessionId, summary)
      const budget = Math.max(0, wanted.budget - (summary?.tokens ?? 0))
      const room = Math.max(0, wanted.room - (summary?.tokens ?? 0))
      const name = `${sessionId} ${Math.round(budget)}`
      const uncovered = (summary?.coversTo ?? -1) + 1
      const begun = beginnings.get(name) ?? 0
      const { entries, tokens } = newest.read(sessionId, { from: Math.max(begun, uncovered), budget })
      const isFull = tokens > budget
      const shown = isFull ? beginAnew(entries, budget) : entries
      const first = shown[0]
      if (isFull && first) {
        beginnings.delete(name)
        beginnings.set(name, first.id)
        const oldest = beginnings.size > maxBeginnings ? beginnings.keys().next().value : undefined
        if (oldest !== undefined) beginnings.delete(oldest)
      }
      const isCut = isFull || begun > uncovered
      const most = Math.min(room, budget)
      // What fits begins with a user's message already, most often.
      const isWhole = !isFull && tokens <= most && first?.message.role === "user"
      return { summary, entries: isWhole ? shown : trimToBudget(shown, most), isCut }
    },
    shrink() {
      newest.shrink()
      summaries.clear()
    },
  }
}

/** One exchange that is longer than what is kept is better than nothing of the past. */
function beginAnew(entries: readonly Entry[], budget: number): Entry[] {
  const kept = trimToBudget(entries, budget * keptShare)
  return kept.length > 0 ? kept : trimToBudget(entries, budget)
}
