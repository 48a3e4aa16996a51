// What one summary is to stand for: the oldest messages that none stands for yet, as many as one question has room for, up
// to the newest turns, which stay as they are. A longer past is done in several, each of them kept before the next begins:
// a summary is put back whenever a person writes, and begins anew then with nothing but what it was about to ask.
import { charactersPerToken } from "../../sessions/index.ts"
import { roomForPast } from "./due.ts"
import { type Kept, piecesOf } from "./pieces.ts"

export interface CompactPlan {
  covered: Kept[]
  /** They, as text for the model. */
  text: string
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
/** Of what the model takes, for one question. */
const pieceShare = 0.5
const maxPieceTokens = 60_000
/** What is read is read in vain each time that the summary is put back: so many short ones take a few milliseconds. */
const maxMessages = 2_000
const maxSummaryTokens = 2_000
const summaryShare = 0.25

/** `entries`: oldest first; no more of them are read than one question has room for. */
export function planCompaction(entries: Iterable<Kept>, promptTokens: number): CompactPlan {
  const forPast = roomForPast(promptTokens)
  const kept = Math.min(keptTokens, forPast * keptShare)
  const pieceTokens = Math.max(1_000, Math.min(promptTokens * pieceShare, maxPieceTokens))
  const room = pieceTokens * charactersPerToken
  const read: Kept[] = []
  let tokens = 0
  let isLonger = false
  for (const entry of entries) {
    // So many that something is left of them without the newest.
    isLonger = tokens > pieceTokens + kept || (tokens > 2 * kept && read.length >= maxMessages)
    if (isLonger) break
    read.push(entry)
    tokens += entry.tokens
  }
  const older = withoutNewest(read, kept)
  const [piece, ...rest] = piecesOf(older, room)
  const covered = piece && rest.length > 0 ? wholeTurns(older, piece.until) : older
  return {
    covered,
    text: piecesOf(covered, room)[0]?.text ?? "",
    hasMore: isLonger || tokensOf(older.slice(covered.length)) > kept,
    room,
    maxTokens: Math.round(Math.min(maxSummaryTokens, forPast * summaryShare)),
  }
}

/** A question for what would have nearly had room in this one is not worth it: it stays with the newest until next time. */
function tokensOf(entries: readonly Kept[]): number {
  return entries.reduce((sum, entry) => sum + entry.tokens, 0)
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

/** Up to the end of the last turn that ends by then; of a turn that is longer than that, its beginning. */
function wholeTurns(entries: readonly Kept[], until: number): Kept[] {
  const end = entries.findIndex(({ id }) => id > until)
  const begun = entries.findLastIndex(({ message }, index) => index <= end && message.role === "user")
  return entries.slice(0, begun > 0 ? begun : end)
}
