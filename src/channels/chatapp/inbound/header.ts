// The line above what a message says: channel, chat, message, time. Numbers and words of ours only, because it stands
// outside every boundary; names and titles are in `about`.
import type { Message } from "grammy/types"
import { channelName } from "../settings.ts"
import type { Envelope } from "./envelope.ts"
import type { Place } from "./place.ts"

export function headerOf(
  message: Message,
  place: Pick<Place, "topicId">,
  { envelope, isLate }: { envelope: Envelope; isLate: boolean },
): string {
  const { chat, forward_origin: forwarded } = message
  const parts = [
    `${channelName} ${chat.type === "private" ? "private chat" : chat.type} ${chat.id}`,
    ...(place.topicId === undefined ? [] : [`topic ${place.topicId}`]),
    `message ${message.message_id}`,
    ...(envelope.showsTime ? [envelope.timeText(message.date)] : []),
    ...(forwarded ? [`forwarded, first sent ${envelope.timeText(forwarded.date)}`] : []),
    ...(isLate ? ["a late part of an album that you have been shown"] : []),
  ]
  return `[${parts.join(", ")}]`
}
