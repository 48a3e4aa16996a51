// Names of people and chats as the model reads them: words that their owners choose, so never outside a boundary.
import type { Chat, Message, MessageOrigin, User } from "grammy/types"

/** First and last name and @name, whichever there are. */
export function senderLabel(user: User): string {
  const name = [user.first_name, user.last_name].filter(Boolean).join(" ").trim()
  const handle = user.username === undefined ? "" : `@${user.username}`
  if (name === "") return handle === "" ? String(user.id) : handle
  return handle === "" ? name : `${name} (${handle})`
}

/** Who speaks in a message: a person, or a chat in whose name somebody writes. */
export function authorLabel(message: Pick<Message, "from" | "sender_chat">): string | undefined {
  if (message.sender_chat) return chatLabel(message.sender_chat)
  return message.from && senderLabel(message.from)
}

/** Who wrote a forwarded message first, as far as the platform tells. */
export function forwardLabel(message: Pick<Message, "forward_origin">): string | undefined {
  return message.forward_origin && originLabel(message.forward_origin)
}

/** Whether another bot has had a hand in it, with words or without. */
export function isByBot(message: { via_bot?: User | undefined; sender_business_bot?: User | undefined }): boolean {
  return message.via_bot !== undefined || message.sender_business_bot !== undefined
}

/** The bot whose words a message is made of, though a person has sent it; undefined where it brings no words. */
export function viaBotLabel(message: Message): string | undefined {
  const bot = message.via_bot ?? message.sender_business_bot
  const hasWords = (message.text ?? message.caption ?? message.rich_message) !== undefined
  return bot && hasWords ? senderLabel(bot) : undefined
}

export function originLabel(origin: MessageOrigin): string {
  switch (origin.type) {
    case "user":
      return senderLabel(origin.sender_user)
    case "hidden_user":
      return origin.sender_user_name
    case "chat":
      return signed(chatLabel(origin.sender_chat), origin.author_signature)
    case "channel":
      return signed(chatLabel(origin.chat), origin.author_signature)
    default:
      return "unknown"
  }
}

export function chatLabel(chat: Pick<Chat, "id" | "title" | "username" | "first_name" | "last_name">): string {
  if (chat.title !== undefined) return chat.title
  if (chat.username !== undefined) return `@${chat.username}`
  const name = [chat.first_name, chat.last_name].filter(Boolean).join(" ")
  return name === "" ? String(chat.id) : name
}

function signed(label: string, signature: string | undefined): string {
  return signature === undefined ? label : `${label} (${signature})`
}
