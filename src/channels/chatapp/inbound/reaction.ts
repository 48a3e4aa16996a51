// Somebody has reacted to a message -> may they be heard there? -> an event for the conversation's next turn. It wakes
// nobody. Only new emoji count: what was taken away, custom and paid ones do not.
import type { Message, MessageReactionUpdated, ReactionType, Update } from "grammy/types"
import { channelName } from "../settings.ts"
import { decideAccess } from "./access.ts"
import { chatLabel, senderLabel } from "./content/index.ts"
import { maxEvents } from "./lookups.ts"
import { generalTopic, placeFor, placeOf } from "./place.ts"
import { type PlanContext, type Planned, type SkipReason, entryOf, skip } from "./planned.ts"
import { senderOf } from "./principal.ts"

export function planReaction(update: Update, reaction: MessageReactionUpdated, context: PlanContext): Planned {
  const { chat, message_id: messageId, actor_chat: actor, user } = reaction
  const seen = {
    kind: "message_reaction",
    chat: String(chat.id),
    message: messageId,
    sender: actor?.id ?? user?.id ?? null,
  }
  const refuse = (reason: SkipReason) => skip(update, context, reason, seen)
  const { settings, look } = context
  const { reactionNotifications: wanted } = settings
  if (wanted === "off") return refuse("reactions-off")
  const added = addedEmoji(reaction)
  if (added.length === 0) return refuse("reaction-without-emoji")
  const sender = actor ? { id: String(actor.id), username: actor.username } : user && senderOf(user)
  if (!sender) return refuse("no-sender")
  const sent = look.sentRoute(chat, messageId)
  if (wanted === "own" && !sent) return refuse("reaction-to-others")
  const topicId = topicOf(reaction, sent?.threadId, sent !== undefined)
  if (topicId === "unknown") return refuse("topic-unknown")
  const shown = placeOf(messageAt(reaction, topicId), context)
  const decision = decideAccess({ chat, topicId: shown.topicId, sender }, context)
  if (decision.kind !== "accept") return refuse("reaction-refused")
  const place = placeFor(shown, decision, context)
  const label = actor ? chatLabel(actor) : user ? senderLabel(user) : sender.id
  const waiting = look.waitingEvents(place.sessionKey)
  const told = added
    .map((emoji) => segmentsOf(emoji, label, messageId))
    .filter((each) => !waiting.includes(textOf(each)))
  // A crowd that reacts must not fill the turns to come.
  if (told.length === 0 || waiting.length + told.length > maxEvents) return refuse("reaction-repeated")
  waiting.push(...told.map(textOf))
  const { origin, trusted } = decision
  const entry = entryOf(update, context, { ...seen, rule: decision.rule })
  entry.events = told.map((segments) => {
    return { sessionKey: place.sessionKey, text: textOf(segments), segments, origin, trusted }
  })
  return { kind: "noted", what: "reaction", entry, chatId: seen.chat }
}

/** Names are words of those who bear them, also where they may command. */
function segmentsOf(emoji: string, label: string, messageId: number) {
  return [
    { kind: "operator", text: `${channelName} reaction added: ${emoji} by ` },
    { kind: "value", text: label },
    { kind: "operator", text: ` on msg ${messageId}` },
  ]
}

function textOf(segments: ReturnType<typeof segmentsOf>): string {
  return segments.map(({ text }) => text).join("")
}

function addedEmoji({ old_reaction: before, new_reaction: after }: MessageReactionUpdated): string[] {
  const known = new Set(before.flatMap(emojiOf))
  return after.flatMap(emojiOf).filter((emoji) => !known.has(emoji))
}

function emojiOf(reaction: ReactionType): string[] {
  return reaction.type === "emoji" ? [reaction.emoji] : []
}

/** The update does not tell the topic: only a message of our own is known to be in one. */
function topicOf({ chat }: MessageReactionUpdated, threadId: string | undefined, isOurs: boolean): string | undefined {
  if (chat.type !== "supergroup" || !chat.is_forum) return undefined
  return isOurs ? (threadId ?? generalTopic) : "unknown"
}

function messageAt(
  { chat, message_id: messageId, date }: MessageReactionUpdated,
  topicId: string | undefined,
): Message {
  const isTopic = topicId !== undefined && topicId !== generalTopic
  const thread = isTopic ? { message_thread_id: Number(topicId), is_topic_message: true as const } : {}
  return { chat, message_id: messageId, date, ...thread } as Message
}
