// editMessageText, editMessageCaption, editMessageReplyMarkup, editMessageMedia.
import { isDeepStrictEqual } from "node:util"
import type { Message } from "grammy/types"
import { badRequest } from "../errors.ts"
import { parseJson } from "../wire/arguments.ts"
import { findWritableRoom } from "../world/access.ts"
import { replaceMessage, type MessageFields } from "../world/deliver.ts"
import type { MediaKind } from "../world/media.ts"
import type { Room } from "../world/room.ts"
import { readInputMedia } from "./album.ts"
import type { MethodCall, MethodTable } from "./method.ts"
import { readReplyMarkup } from "./reply-markup.ts"
import { checkText, readCaption, readMessageText, textFields } from "./send-text.ts"

const notModified =
  "Message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message"
/** Fields that make up the content of a message; an edit of the content replaces all of them. */
const contentFields = [
  "text",
  "entities",
  "caption",
  "caption_entities",
  "photo",
  "document",
  "audio",
  "video",
  "animation",
] as const
const captioned = ["photo", "document", "audio", "video", "animation", "voice"] as const
const editableKinds: ReadonlySet<string> = new Set(["photo", "video", "document", "audio", "animation"])

export const editMethods: MethodTable = {
  editMessageText: (call) => {
    const text = readMessageText(call)
    const { room, message } = findOwnMessage(call)
    checkText(text)
    if (message.text === undefined) throw badRequest("There is no text in the message to edit")
    return applyEdit(call, room, message, textFields(text))
  },
  editMessageCaption: (call) => {
    const caption = readCaption(call)
    const { room, message } = findOwnMessage(call)
    if (!captioned.some((field) => message[field] !== undefined)) {
      throw badRequest("There is no caption in the message to edit")
    }
    return applyEdit(call, room, message, { ...mediaOf(message), ...caption })
  },
  editMessageReplyMarkup: (call) => {
    const { room, message } = findOwnMessage(call)
    return applyEdit(call, room, message, contentOf(message))
  },
  editMessageMedia: async (call) => {
    const value = parseJson(call.arguments.text("media"), () => badRequest("Can't parse input media JSON object"))
    if (typeof value !== "object" || value === null) throw badRequest("Can't parse InputMedia: expected an Object")
    const kind = String((value as Record<string, unknown>)["type"])
    if (!editableKinds.has(kind)) throw badRequest(`Can't parse InputMedia: type must be non-empty`)
    const content = await readInputMedia(call, kind as MediaKind, value as Record<string, unknown>)
    const { room, message } = findOwnMessage(call)
    return applyEdit(call, room, message, content)
  },
}

function findOwnMessage(call: MethodCall): { room: Room; message: Message } {
  const { world, bot, arguments: source } = call
  const room = findWritableRoom(world, bot, source.text("chat_id"), "text messages")
  const messageId = source.integer("message_id")
  if (messageId <= 0) throw badRequest("Message identifier is not specified")
  const message = room.messages.get(messageId)
  if (!message) throw badRequest("Message to edit not found")
  const isOwn = message.from?.id === bot.id || (room.kind() === "channel" && message.sender_chat?.id === room.chat.id)
  if (!isOwn) throw badRequest("Message can't be edited")
  return { room, message }
}

function applyEdit(call: MethodCall, room: Room, message: Message, content: MessageFields): Message {
  const { keyboard, checkFor } = readReplyMarkup(call.arguments)
  checkFor(room)
  const rest = Object.fromEntries(
    Object.entries(message).filter(
      ([name]) => name !== "reply_markup" && !(contentFields as readonly string[]).includes(name),
    ),
  )
  const edited = {
    ...rest,
    edit_date: call.world.clock.seconds(),
    ...content,
    ...(keyboard ? { reply_markup: keyboard } : {}),
  } as Message
  if (isSame(message, edited)) throw badRequest(notModified)
  call.bot.flood.countMessage(room.chat.id, room.kind() === "private")
  replaceMessage(call.world, room, edited, call.bot)
  return edited
}

function isSame(before: Message, after: Message): boolean {
  const visible = ({ edit_date: _date, ...message }: Message) => message
  return isDeepStrictEqual(visible(before), visible(after))
}

function contentOf(message: Message): MessageFields {
  return Object.fromEntries(
    contentFields.flatMap((field) => (message[field] === undefined ? [] : [[field, message[field]]])),
  )
}

function mediaOf(message: Message): MessageFields {
  const { caption: _caption, caption_entities: _entities, ...media } = contentOf(message)
  return media
}
