// What a message says, as text for the agent; what is not text becomes a short placeholder, so that nothing that an
// allowed sender sends is silently lost.
import type { Message, User } from "grammy/types"

/** In the order of looking: an animation also carries `document`, a venue also `location`. */
const contentKinds = [
  "photo",
  "animation",
  "video",
  "video_note",
  "audio",
  "voice",
  "sticker",
  "document",
  "venue",
  "location",
  "contact",
  "poll",
  "dice",
  "game",
  "story",
  "paid_media",
  "invoice",
  "checklist",
  "giveaway",
] as const satisfies readonly (keyof Message)[]

/** Undefined for service messages (a pinned message, a new topic): nobody said anything. */
export function messageText(message: Message): string | undefined {
  if (message.text !== undefined) return message.text
  const kind = contentKinds.find((key) => message[key] !== undefined)
  if (kind === undefined) return message.caption
  const placeholder = `<media:${kind}>`
  return message.caption === undefined ? placeholder : `${placeholder}\n${message.caption}`
}

/** First and last name and @name, whichever there are. */
export function senderLabel(user: User): string {
  const name = [user.first_name, user.last_name].filter(Boolean).join(" ").trim()
  const handle = user.username === undefined ? "" : `@${user.username}`
  if (name === "") return handle === "" ? String(user.id) : handle
  return handle === "" ? name : `${name} (${handle})`
}

/** Who wrote a forwarded message first, as far as the platform tells. */
export function forwardLabel(message: Message): string | undefined {
  const origin = message.forward_origin
  if (!origin) return undefined
  switch (origin.type) {
    case "user":
      return senderLabel(origin.sender_user)
    case "hidden_user":
      return origin.sender_user_name
    case "chat":
      return chatLabel(origin.sender_chat)
    case "channel":
      return chatLabel(origin.chat)
  }
}

function chatLabel(chat: { id: number; title?: string | undefined; username?: string | undefined }): string {
  return chat.title ?? (chat.username === undefined ? String(chat.id) : `@${chat.username}`)
}
