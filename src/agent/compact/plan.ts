// What one summary is to stand for: the oldest messages that none stands for yet, up to the newest turns, which stay as they
// are. A past that has grown for years without one is done in several, each of them kept before the next begins.
import { charactersPerToken } from "../../sessions/index.ts"
import { roomForPast } from "./due.ts"
import type { Kept } from "./pieces.ts"

export interface CompactPlan {
  covered: Kept[]
  /** Another summary has to follow. */
  hasMore: boolean
  /** Characters of one question. */
  room: number
  /** Tokens of the summary. */
  maxTokens: number
}

/** The newest turns stay, as far as they have no more tokens than this, or than their share, together. */
const keptTokens = 4_000
const keptShare = 0.3
/** Of what the model takes, for one piece of the past. */
const pieceShare = 0.5
const maxPieceTokens = 60_000
/** Of one summary. */
const maxPieces = 4
const maxSummaryTokens = 2_000
const summaryShare = 0.25

/** `entries`: oldest first. */
export function planCompaction(entries: Iterable<Kept>, promptTokens: number): CompactPlan {
  const forPast = roomForPast(promptTokens)
  const kept = Math.min(keptTokens, forPast * keptShare)
  const pieceTokens = Math.max(1_000, Math.min(promptTokens * pieceShare, maxPieceTokens))
  const read: Kept[] = []
  let tokens = 0
  let hasMore = false
  for (const entry of entries) {
    hasMore = tokens > maxPieces * pieceTokens + kept
    if (hasMore) break
    read.push(entry)
    tokens += entry.tokens
  }
  return {
    covered: withoutNewest(read, kept),
    hasMore,
    room: pieceTokens * charactersPerToken,
    maxTokens: Math.round(Math.min(maxSummaryTokens, forPast * summaryShare)),
  }
}

/** All but the newest turns that are short enough to stay. */
function withoutNewest(entries: readonly Kept[], kept: number): Kept[] {
  let tokens = 0
  let end = entries.length
  for (let index = entries.length - 1; index >= 0; index -= 1) {
    tokens += entries[index]?.tokens ?? 0
    if (tokens > kept) break
    if (entries[index]?.message.role === "user") end = index
  }
  return entries.slice(0, end)
}
