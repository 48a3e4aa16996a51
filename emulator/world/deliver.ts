// Puts messages into chats and tells everybody concerned: the feed (people watching) and the bots (updates).
import type { Message, User } from "grammy/types"
import type { Bot } from "./bot.ts"
import { isPresent, type Room } from "./room.ts"
import type { World } from "./world.ts"

/** `message_id` and `date` are only given when they had to be known before. */
export type MessageFields = Partial<Omit<Message, "chat">>

/** Stores a message of a user, of the bot or of the chat itself, and returns it with its id. */
export function postMessage(world: World, room: Room, fields: MessageFields, author: Bot | undefined): Message {
  const message = {
    message_id: fields.message_id ?? room.takeMessageId(),
    date: world.clock.seconds(),
    chat: room.chat,
    ...fields,
  } as Message
  room.messages.set(message.message_id, message)
  if (author) clearEphemeral(world, room, message.message_thread_id ?? 0, author.id)
  world.feed.publish({
    type: "message",
    botId: author?.id ?? room.botId ?? 0,
    chatId: room.chat.id,
    from: author ? "bot" : "user",
    message,
  })
  if (!author) deliver(world, room, message, room.chat.type === "channel" ? "channel_post" : "message")
  return message
}

/** Replaces a stored message after an edit. */
export function replaceMessage(world: World, room: Room, message: Message, author: Bot | undefined): void {
  room.messages.set(message.message_id, message)
  world.feed.publish({
    type: "edited",
    botId: author?.id ?? room.botId ?? 0,
    chatId: room.chat.id,
    from: author ? "bot" : "user",
    message,
  })
  if (!author) deliver(world, room, message, room.chat.type === "channel" ? "edited_channel_post" : "edited_message")
}

export function removeMessages(world: World, room: Room, messageIds: number[]): void {
  for (const id of messageIds) {
    room.messages.delete(id)
    room.reactions.delete(id)
  }
  world.feed.publish({ type: "deleted", botId: room.botId ?? 0, chatId: room.chat.id, messageIds })
}

export function botsIn(world: World, room: Room): Bot[] {
  return [...world.bots.values()].filter((bot) =>
    room.botId === undefined ? isPresent(room.statusOf(bot.id)) : bot.id === room.botId,
  )
}

function deliver(world: World, room: Room, message: Message, kind: string): void {
  for (const bot of botsIn(world, room)) {
    if (!mayRead(room, bot, message)) continue
    const happenedAt = (message.edit_date ?? message.date) * 1000
    bot.queue.add({ kind, payload: message, lane: `chat:${room.chat.id}`, happenedAt })
  }
}

/** Privacy mode: in groups such a bot sees commands, mentions of it, replies to it and service messages only. */
function mayRead(room: Room, bot: Bot, message: Message): boolean {
  const isGroup = room.chat.type === "group" || room.chat.type === "supergroup"
  if (!isGroup || bot.user.can_read_all_group_messages || room.isAdministrator(bot.id)) return true
  if (message.reply_to_message?.from?.id === bot.id) return true
  const text = message.text ?? message.caption
  if (text === undefined) return isServiceMessage(message)
  return text.startsWith("/") || text.toLowerCase().includes(`@${bot.user.username.toLowerCase()}`)
}

function isServiceMessage(message: Message): boolean {
  return Object.keys(message).some((key) =>
    /^(?:new_chat_|left_chat_|forum_topic_|group_chat_|migrate_|pinned_)/.test(key),
  )
}

/** A message of the bot ends what it showed as being typed, and its drafts, in that chat or topic. */
function clearEphemeral(world: World, room: Room, threadId: number, botId: number): void {
  room.actions.delete(threadId)
  for (const [key, draft] of room.drafts) {
    if ((draft.threadId ?? 0) !== threadId) continue
    room.drafts.delete(key)
    world.feed.publish({ type: "draft", botId, chatId: room.chat.id, draft: undefined })
  }
}

/** The message that a reply shows, without what that message itself replied to. */
export function quotedMessage(message: Message): Message {
  const { reply_to_message: _nested, ...rest } = message
  return rest as Message
}

/** A user as seen from outside: the account settings of a bot are left out. */
export function publicUser(user: User): User {
  const { id, is_bot, first_name, last_name, username, language_code, is_premium } = user
  return {
    id,
    is_bot,
    first_name,
    ...(last_name === undefined ? {} : { last_name }),
    ...(username === undefined ? {} : { username }),
    ...(language_code === undefined ? {} : { language_code }),
    ...(is_premium ? { is_premium } : {}),
  }
}
