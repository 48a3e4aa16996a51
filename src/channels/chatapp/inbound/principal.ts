// Who speaks. Where a message was written in the name of a chat (an anonymous administrator, a linked channel, a channel
// post), it is the chat: the person behind it is hidden, and `from` is then an account of the platform's own.
import type { Message, User } from "grammy/types"
import type { Sender } from "../../access.ts"

/** Stand for nobody in particular: service notifications, GroupAnonymousBot, Channel_Bot. */
const serviceIds: ReadonlySet<number> = new Set([777_000, 1_087_968_824, 136_817_688])

export function principalOf(message: Pick<Message, "from" | "sender_chat">): Sender | undefined {
  const { sender_chat: chat, from } = message
  if (chat) return { id: String(chat.id), username: chat.username }
  return from && senderOf(from)
}

export function senderOf(user: User): Sender {
  const isService = serviceIds.has(user.id)
  return { id: String(user.id), username: user.username, isBot: user.is_bot, ...(isService ? { isService } : {}) }
}

export function isServiceId(id: string): boolean {
  return serviceIds.has(Number(id))
}
