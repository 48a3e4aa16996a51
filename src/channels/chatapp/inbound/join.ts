// Which messages become one turn: the parts of an album, a long text that was cut by the sender's program, and, where
// the operator wants it, short messages of one person in quick succession. The parts wait as rows in the lane, so a
// restart in the middle loses none; commands are never joined.
import type { Message } from "grammy/types"
import type { TurnInput } from "../../../agent/turn-input.ts"
import type { AccountSettings } from "../settings.ts"
import type { Content } from "./content/index.ts"
import type { EarlierTurns } from "./earlier.ts"
import type { Place } from "./place.ts"
import { principalOf } from "./principal.ts"

export interface Joining {
  join: NonNullable<TurnInput["join"]>
  hold: { holdMs: number; maxHoldMs: number }
  /** A part of it waits already: this one is meant for the bot because that one was. */
  continues: boolean
  /** The turn that it belongs to has begun without it. */
  isLate: boolean
}

export interface JoinFacts {
  settings: Pick<AccountSettings, "debounceMs">
  earlier: Omit<EarlierTurns, "jobOfMessage" | "isTurnOpen">
}

/** The parts of an album come at once, each as an update of its own. */
const albumHold = { holdMs: 500, maxHoldMs: 2_000 }

/** Programs cut at 4096 characters, or at a space a little before. */
const pasteMinChars = 4_000
const pasteGapMs = 1_500
const pasteMaxParts = 12
/** The platform counts the messages of all private chats of a bot together. */
const pasteMaxIdGap = 20
const pasteHold = { holdMs: pasteGapMs, maxHoldMs: pasteGapMs * pasteMaxParts }
/** Message times are whole seconds. */
const pasteMaxApartMs = pasteGapMs + 1_000

/** A person who never pauses is answered all the same. */
const burstMaxHolds = 10

export function refOf(account: string, chatId: string | number, messageId: number | string): string {
  return `${account}:${chatId}:${messageId}`
}

export function joiningOf(message: Message, place: Place, content: Content, facts: JoinFacts): Joining | undefined {
  const { account, chatId } = place.route
  const { media_group_id: group } = message
  if (group !== undefined) {
    const key = `album:${account}:${chatId}:${group}`
    const continues = facts.earlier.isJoinOpen(key)
    const isLate = !continues && facts.earlier.hadJoin(key)
    return { join: { key, kind: "album" }, hold: albumHold, continues, isLate }
  }
  if (!content.isPlainText || message.forward_origin || message.via_bot || content.text.startsWith("/"))
    return undefined
  const sender = principalOf(message)?.id
  if (sender === undefined) return undefined
  const who = `${account}:${chatId}:${place.route.threadId ?? ""}:${sender}`
  return pasteOf(message, place, who, facts) ?? burstOf(who, facts)
}

function pasteOf(message: Message, place: Place, who: string, facts: JoinFacts): Joining | undefined {
  const isLong = (message.text ?? "").length >= pasteMinChars
  const before = messageBefore(message, place, facts)
  const goneOn = before && continuedPaste(before, message, who)
  if (!goneOn && !isLong) return undefined
  const join = goneOn ?? { key: `paste:${who}:${message.message_id}`, kind: "paste" as const, part: 1 }
  // A short part is the last one: nothing more is waited for.
  const hold = isLong ? pasteHold : { ...pasteHold, holdMs: 0 }
  return { join, hold, continues: goneOn !== undefined, isLate: false }
}

/** The latest message of the chat that waits; others may have written elsewhere, and taken ids, in between. */
function messageBefore(message: Message, { route }: Place, { earlier }: JoinFacts): TurnInput | undefined {
  for (let gap = 1; gap <= pasteMaxIdGap; gap += 1) {
    const before = earlier.waitingPaste(refOf(route.account, route.chatId, message.message_id - gap))
    if (before) return before
  }
  return undefined
}

/** The message as the next part of the paste that the one before is the latest part of, when it goes on with it. */
function continuedPaste(before: TurnInput, message: Message, who: string): Joining["join"] | undefined {
  const { join, text, sentAt = 0 } = before
  if (join?.kind !== "paste" || !join.key.startsWith(`paste:${who}:`) || text.length < pasteMinChars) return undefined
  if (message.reply_to_message || message.date * 1000 - sentAt > pasteMaxApartMs) return undefined
  // A message has 4096 characters at most, so this also bounds the whole text.
  const part = (join.part ?? 1) + 1
  return part <= pasteMaxParts ? { ...join, part } : undefined
}

function burstOf(who: string, { settings, earlier }: JoinFacts): Joining | undefined {
  const holdMs = settings.debounceMs
  if (holdMs === 0) return undefined
  const key = `burst:${who}`
  const hold = { holdMs, maxHoldMs: holdMs * burstMaxHolds }
  return { join: { key, kind: "burst" }, hold, continues: earlier.isJoinOpen(key), isLate: false }
}
