// The line above what a message says: channel, chat, message, who speaks with what standing, time. Numbers and words of
// ours only, because it stands outside every boundary; names and titles are in `about`.
import type { Chat, Message } from "grammy/types"
import type { Origin } from "../../../sessions/route.ts"
import { channelName } from "../settings.ts"
import type { Envelope } from "./envelope.ts"
import type { Place } from "./place.ts"

export interface Standing {
  origin: Origin
  trusted: boolean
}

interface HeaderFacts {
  place: Pick<Place, "topicId">
  standing: Standing
  envelope: Envelope
}

export function headerOf(
  message: Message,
  { place, standing, envelope, isLate }: HeaderFacts & { isLate: boolean },
): string {
  const { chat, forward_origin: forwarded } = message
  return inBrackets([
    ...placeParts(chat, place),
    `message ${message.message_id}`,
    ...standingParts(standing),
    envelope.whenText(message.date),
    ...(forwarded ? [`forwarded, first sent ${envelope.timeText(forwarded.date)}`] : []),
    ...(message.via_bot ? ["written by another bot for them"] : []),
    ...(isLate ? ["a late part of an album that you have been shown: take it as one with that"] : []),
  ])
}

/** Of a touched button; `now` in seconds. `madeBy` is whose words were in the turn that wrote it, when not the toucher's. */
export function clickHeaderOf(
  message: { chat: Chat; message_id: number },
  { place, standing, madeBy, envelope, now }: HeaderFacts & { madeBy: Origin | undefined; now: number },
): string {
  return inBrackets([
    ...placeParts(message.chat, place),
    `button of message ${message.message_id} pressed`,
    ...standingParts(standing),
    ...(madeBy === undefined ? [] : [`what it says comes from a turn with words of others (${madeBy})`]),
    envelope.whenText(now),
  ])
}

function placeParts(chat: Chat, { topicId }: Pick<Place, "topicId">): string[] {
  const kind = chat.type === "private" ? "private chat" : chat.type
  return [`${channelName} ${kind} ${chat.id}`, ...(topicId === undefined ? [] : [`topic ${topicId}`])]
}

/** What a guest may ask for is said by the prompt, beside the boundary that the words stand in. */
function standingParts({ origin, trusted }: Standing): string[] {
  if (!trusted) return []
  return [origin === "owner" ? "from the owner" : "from an approved sender"]
}

function inBrackets(parts: readonly string[]): string {
  return `[${parts.join(", ")}]`
}
