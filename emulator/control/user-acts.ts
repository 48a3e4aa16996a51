// What people do: write, send files, edit, click buttons, react, block the bot, stop a draft.
import type { CallbackQuery, InlineKeyboardButton, Message } from "grammy/types"
import { BoundedMap } from "../bounded-map.ts"
import type { FileKind } from "../files.ts"
import { imageSize } from "../image-size.ts"
import { chatMember } from "../methods/chats.ts"
import { findEntities } from "../parse/find.ts"
import { lifetimeMs } from "../updates/kinds.ts"
import type { Bot } from "../world/bot.ts"
import {
  botsIn,
  postMessage,
  publicUser,
  quotedMessage,
  removeMessages,
  replaceMessage,
  type MessageFields,
} from "../world/deliver.ts"
import { mediaFields } from "../world/media.ts"
import type { Room } from "../world/room.ts"
import type { World } from "../world/world.ts"
import { ControlError } from "./control-error.ts"
import { findBot, findRoom, findUser, memberUpdate } from "./people.ts"
import type { ParsedRequests } from "./requests.ts"

type Place = Pick<ParsedRequests["sendText"], "userId" | "chatId" | "botId" | "threadId" | "replyTo">

export function sendText(world: World, request: ParsedRequests["sendText"]): Message {
  const { text, entities, ...place } = request
  return say(world, place, textContent(text, entities))
}

export function sendMedia(world: World, request: ParsedRequests["sendMedia"]): Message {
  const { kind, data, caption, albumId, ...place } = request
  const bytes = Buffer.from(data)
  const size = imageSize(bytes)
  const name = request.name ?? `${kind}${size?.extension ?? ""}`
  const mimeType = request.mimeType ?? size?.mimeType ?? defaultTypes[kind] ?? "application/octet-stream"
  const file = world.files.add({ kind, bytes, name, mimeType })
  const details = {
    ...(request.emoji === undefined ? {} : { emoji: request.emoji }),
    ...(request.setName === undefined ? {} : { setName: request.setName }),
    ...(request.duration === undefined ? {} : { duration: request.duration }),
  }
  return say(world, place, {
    ...mediaFields(world, kind, file, details),
    ...(caption === undefined ? {} : captionContent(caption)),
    ...(albumId === undefined ? {} : { media_group_id: albumId }),
  })
}

const defaultTypes: Partial<Record<FileKind, string>> = {
  photo: "image/jpeg",
  audio: "audio/mpeg",
  voice: "audio/ogg",
  video: "video/mp4",
  animation: "video/mp4",
  sticker: "image/webp",
}

export function sendRaw(world: World, { message, ...place }: ParsedRequests["sendRaw"]): Message {
  return say(world, place, message as MessageFields)
}

export function editText(world: World, request: ParsedRequests["editText"]): Message {
  const room = findRoom(world, request.chatId ?? request.userId, request.botId)
  const message = findMessage(room, request.messageId)
  // A channel's posts are nobody's in particular: whoever may post may edit them.
  const isAuthor = room.chat.type === "channel" ? !message.from : message.from?.id === request.userId
  if (!isAuthor) throw new ControlError("not-possible", "this user did not write the message")
  const { entities: _entities, ...rest } = message
  const content = textContent(request.text, request.entities)
  const edited = { ...rest, ...content, edit_date: world.clock.seconds() } as Message
  replaceMessage(world, room, edited, undefined)
  return edited
}

/** For everybody: own messages, in a private chat also those of the bot, in a shared one an administrator any. Bots hear nothing. */
export function deleteMessages(world: World, request: ParsedRequests["deleteMessages"]): void {
  const { userId, messageIds } = request
  const room = findRoom(world, request.chatId ?? userId, request.botId)
  const isFree = room.kind() === "private" || room.isAdministrator(findUser(world, userId).id)
  for (const id of messageIds) {
    if (findMessage(room, id).from?.id !== userId && !isFree)
      throw new ControlError("not-possible", "this user may not delete the message")
  }
  removeMessages(world, room, messageIds)
}

/** Clicks the button with this data or text; returns the id of the query that the bot has to answer. */
export function click(world: World, request: ParsedRequests["click"]): { queryId: string } {
  const room = findRoom(world, request.chatId ?? request.userId, request.botId)
  const message = findMessage(room, request.messageId)
  const button = findButton(message, request)
  if (!("callback_data" in button)) throw new ControlError("not-possible", "this button sends nothing to the bot")
  const bot = world.botById(message.from?.id ?? 0) ?? findBot(world, request.botId)
  const from = publicUser(findUser(world, request.userId))
  const id = String(world.random.integer(1, 2 ** 48) * 16)
  const query = { id, from, message, chat_instance: String(room.chat.id), data: button.callback_data } as CallbackQuery
  bot.callbackQueries.set(id, { query, expiresAt: world.clock.now() + lifetimeMs("callback_query") })
  bot.queue.add({ kind: "callback_query", payload: query, lane: `user:${from.id}` })
  return { queryId: id }
}

export function react(world: World, request: ParsedRequests["react"]): void {
  const room = findRoom(world, request.chatId ?? request.userId, request.botId)
  findMessage(room, request.messageId)
  const user = publicUser(findUser(world, request.userId))
  const reactions = room.reactions.get(request.messageId) ?? { byActor: new BoundedMap<number, string[]>(1000) }
  const before = reactions.byActor.get(user.id) ?? []
  reactions.byActor.set(user.id, request.emoji)
  room.reactions.set(request.messageId, reactions)
  const wire = (emoji: string[]) => emoji.map((one) => ({ type: "emoji", emoji: one }))
  const payload = {
    chat: room.chat,
    message_id: request.messageId,
    user,
    date: world.clock.seconds(),
    old_reaction: wire(before),
    new_reaction: wire(request.emoji),
  }
  const { messageId, emoji } = request
  world.feed.publish({ type: "reaction", botId: room.botId ?? 0, chatId: room.chat.id, messageId, from: "user", emoji })
  for (const bot of botsIn(world, room)) {
    if (room.kind() !== "private" && !room.isAdministrator(bot.id)) continue
    bot.queue.add({ kind: "message_reaction", payload, lane: `reaction:${room.chat.id}` })
  }
}

export function block(world: World, { userId, botId, blocked = true }: ParsedRequests["block"]): void {
  const bot = findBot(world, botId)
  const user = publicUser(findUser(world, userId))
  const room = world.openPrivateRoom(bot, findUser(world, userId))
  if (room.blocked === blocked) return
  room.blocked = blocked
  const account = publicUser(bot.user)
  const members = [blocked ? "member" : "kicked", blocked ? "kicked" : "member"] as const
  const payload = memberUpdate(
    world,
    room,
    user,
    members.map((status) => chatMember(account, status)),
  )
  bot.queue.add({ kind: "my_chat_member", payload, lane: `chat:${userId}` })
}

/** Presses the stop button of a draft. */
export function stopDraft(world: World, { userId, botId, draftId, threadId }: ParsedRequests["stopDraft"]): void {
  const bot = findBot(world, botId)
  const room = findRoom(world, userId, botId)
  const key = `${threadId ?? 0}:${draftId}`
  const draft = room.drafts.get(key)
  if (!draft?.canStop) throw new ControlError("not-possible", "there is no draft with a stop button")
  draft.stopped = true
  if (!draft.keepOnStop) room.drafts.delete(key)
  const left = draft.keepOnStop ? draft : undefined
  world.feed.publish({ type: "draft", botId: bot.id, chatId: userId, draft: left })
  const thread = threadId === undefined ? {} : { message_thread_id: threadId }
  const payload = { chat: room.chat, ...thread, draft_id: draftId }
  bot.queue.add({ kind: "stopped_message_generation", payload, lane: `chat:${userId}` })
}

/** Posts a message of a user. Writing to a bot in private starts the chat; nobody writes to a blocked bot. */
function say(world: World, place: Place, content: MessageFields): Message {
  const user = findUser(world, place.userId)
  const bot: Bot = findBot(world, place.botId)
  const room = findRoom(world, place.chatId ?? place.userId, bot.id)
  if (room.blocked) throw new ControlError("not-possible", "this user has blocked the bot")
  room.started = true
  const reply = place.replyTo === undefined ? undefined : findMessage(room, place.replyTo)
  const threadId = place.threadId ?? undefined
  const author = room.kind() === "channel" ? { sender_chat: room.chat } : { from: publicUser(user) }
  return postMessage(
    world,
    room,
    {
      ...author,
      ...(threadId === undefined ? {} : { message_thread_id: threadId, is_topic_message: true as const }),
      ...(reply ? { reply_to_message: quotedMessage(reply) as NonNullable<Message["reply_to_message"]> } : {}),
      ...content,
    },
    undefined,
  )
}

type GivenEntities = ParsedRequests["sendText"]["entities"]

function textContent(text: string, given: GivenEntities): MessageFields {
  const entities = given ?? findEntities(text, [])
  return { text, ...(entities.length > 0 ? { entities: ordered(entities) } : {}) }
}

function captionContent(caption: string): MessageFields {
  const entities = findEntities(caption, [])
  return { caption, ...(entities.length > 0 ? { caption_entities: ordered(entities) } : {}) }
}

function ordered(entities: readonly { offset: number }[]): NonNullable<Message["entities"]> {
  return [...entities].sort((a, b) => a.offset - b.offset) as NonNullable<Message["entities"]>
}

function findMessage(room: Room, messageId: number): Message {
  const message = room.messages.get(messageId)
  if (!message) throw new ControlError("not-found", `there is no message ${messageId} in chat ${room.chat.id}`)
  return message
}

function findButton(
  message: Message,
  wanted: { data?: string | undefined; text?: string | undefined },
): InlineKeyboardButton {
  const buttons: InlineKeyboardButton[] = message.reply_markup?.inline_keyboard.flat() ?? []
  const button = buttons.find((one) => {
    if (wanted.data !== undefined) return "callback_data" in one && one.callback_data === wanted.data
    return wanted.text === undefined || one.text === wanted.text
  })
  if (!button) throw new ControlError("not-found", "the message has no such button")
  return button
}
