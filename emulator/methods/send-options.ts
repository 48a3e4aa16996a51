// What all sending methods share: thread, reply, keyboard, protection; and putting the message into its chat.
import type { Message } from "grammy/types"
import { badRequest } from "../errors.ts"
import { parseJson, type Arguments } from "../wire/arguments.ts"
import { findWritableRoom } from "../world/access.ts"
import { postMessage, publicUser, quotedMessage, type MessageFields } from "../world/deliver.ts"
import type { Room } from "../world/room.ts"
import type { MethodCall } from "./method.ts"
import { readReplyMarkup } from "./reply-markup.ts"

export interface Destination {
  room: Room
  /** Fields of the message that say where it goes and how it looks, whatever its content. */
  fields: MessageFields
}

/** Checks keyboard, chat, rights, reply and thread, in the platform's order. `what` names the content in errors. */
export function readDestination(call: MethodCall, what: string): Destination {
  const source = call.arguments
  const { keyboard, checkFor } = readReplyMarkup(source)
  const room = findWritableRoom(call.world, call.bot, source.text("chat_id"), what)
  checkFor(room)
  const reply = readReply(source, room)
  const threadId = readThread(call, room, source.integer("message_thread_id"))
  const fields: MessageFields = {
    ...authorFields(call, room),
    ...(threadId === undefined ? {} : { message_thread_id: threadId, is_topic_message: true as const }),
    ...(reply ? { reply_to_message: quotedMessage(reply) as NonNullable<Message["reply_to_message"]> } : {}),
    ...(keyboard ? { reply_markup: keyboard } : {}),
    ...(source.boolean("protect_content") ? { has_protected_content: true as const } : {}),
  }
  return { room, fields }
}

/** Counts against the flood limits, then stores the message. */
export function sendMessage(call: MethodCall, destination: Destination, content: MessageFields): Message {
  const { room, fields } = destination
  call.bot.flood.countMessage(room.chat.id, room.kind() === "private")
  return postMessage(call.world, room, { ...fields, ...content }, call.bot)
}

function authorFields(call: MethodCall, room: Room): MessageFields {
  if (room.kind() === "channel") return { sender_chat: room.chat }
  return { from: publicUser(call.bot.user) }
}

/** The topic that a message goes to; other supergroups ignore the argument. */
export function readThread(call: MethodCall, room: Room, threadId: number): number | undefined {
  if (threadId === 0) return undefined
  const hasTopics = room.isForum() || (room.kind() === "private" && call.bot.hasPrivateTopics)
  if (!hasTopics && room.kind() !== "private") return undefined
  const topic = room.topics.get(threadId)
  if (!hasTopics || !topic) throw badRequest("Message thread not found")
  if (topic.closed && !room.isAdministrator(call.bot.id)) throw badRequest("TOPIC_CLOSED")
  return threadId
}

interface ReplyTarget {
  messageId: number
  mayBeMissing: boolean
}

function readReply(source: Arguments, room: Room): Message | undefined {
  const target = readReplyTarget(source)
  if (!target) return undefined
  const message = room.messages.get(target.messageId)
  if (!message && !target.mayBeMissing) throw badRequest("Message to be replied not found")
  return message
}

function readReplyTarget(source: Arguments): ReplyTarget | undefined {
  const json = source.text("reply_parameters")
  if (json === "") {
    const messageId = source.integer("reply_to_message_id")
    return messageId > 0 ? { messageId, mayBeMissing: source.boolean("allow_sending_without_reply") } : undefined
  }
  const value = parseJson(json, () => badRequest("Can't parse reply parameters JSON object"))
  if (value === null) return undefined
  if (typeof value !== "object" || Array.isArray(value)) throw badRequest("Object expected as reply parameters")
  const { message_id: messageId, allow_sending_without_reply: mayBeMissing } = value as Record<string, unknown>
  if (messageId === undefined) return undefined
  if (!Number.isInteger(Number(messageId))) throw badRequest('Field "message_id" must be a valid Number')
  return { messageId: Number(messageId), mayBeMissing: mayBeMissing === true }
}
