// Small acts of a bot: typing indicator, answers to button clicks, reactions.
import { badRequest } from "../errors.ts"
import { parseJson } from "../wire/arguments.ts"
import { findAccessibleRoom, findWritableRoom } from "../world/access.ts"
import { BoundedMap } from "../bounded-map.ts"
import type { MethodCall, MethodTable } from "./method.ts"
import { reactionEmoji } from "./reaction-emoji.ts"

const visibleMs = 5000
const actions = new Set([
  "typing",
  "upload_photo",
  "record_video",
  "upload_video",
  "record_voice",
  "upload_voice",
  "record_audio",
  "upload_audio",
  "upload_document",
  "choose_sticker",
  "find_location",
  "pick_up_location",
  "record_video_note",
  "upload_video_note",
  "cancel",
])

export const actionMethods: MethodTable = { sendChatAction, answerCallbackQuery, setMessageReaction }

function sendChatAction(call: MethodCall): true {
  const { world, bot, arguments: source } = call
  const action = source.text("action").toLowerCase()
  if (!actions.has(action)) throw badRequest("Wrong parameter action in request")
  const room = findWritableRoom(world, bot, source.text("chat_id"), "text messages")
  bot.flood.countEphemeral(room.chat.id)
  const threadId = source.integer("message_thread_id")
  if (action === "cancel") room.actions.delete(threadId)
  else room.actions.set(threadId, { action, until: world.clock.now() + visibleMs, ...(threadId ? { threadId } : {}) })
  world.feed.publish({
    type: "action",
    botId: bot.id,
    chatId: room.chat.id,
    action,
    ...(threadId ? { threadId } : {}),
  })
  return true
}

function answerCallbackQuery({ world, bot, arguments: source }: MethodCall): true {
  const queryId = source.text("callback_query_id")
  const open = bot.callbackQueries.get(queryId)
  if (!open || open.expiresAt <= world.clock.now()) {
    throw badRequest("Query is too old and response timeout expired or query ID is invalid")
  }
  const text = source.text("text")
  if ([...text].length > 200) throw badRequest("MESSAGE_TOO_LONG")
  bot.callbackQueries.delete(queryId)
  world.feed.publish({
    type: "callback-answer",
    botId: bot.id,
    queryId,
    showAlert: source.boolean("show_alert"),
    ...(text ? { text } : {}),
    ...(source.has("url") ? { url: source.text("url") } : {}),
  })
  return true
}

function setMessageReaction({ world, bot, arguments: source }: MethodCall): true {
  const emoji = readReactions(source.text("reaction"))
  const room = findAccessibleRoom(world, bot, source.text("chat_id"))
  const messageId = source.integer("message_id")
  if (!room.messages.has(messageId)) throw badRequest("Message to react not found")
  if (emoji.length > 1) throw badRequest("REACTIONS_TOO_MANY")
  if (emoji.some((one) => !isAllowed(one))) throw badRequest("REACTION_INVALID")
  bot.flood.countEphemeral(room.chat.id)
  const reactions = room.reactions.get(messageId) ?? { byActor: new BoundedMap<number, string[]>(1000) }
  reactions.byActor.set(bot.id, emoji)
  room.reactions.set(messageId, reactions)
  world.feed.publish({ type: "reaction", botId: bot.id, chatId: room.chat.id, messageId, from: "bot", emoji })
  return true
}

function readReactions(json: string): string[] {
  if (json === "") return []
  const value = parseJson(json, () => badRequest("Can't parse reaction types JSON object"))
  if (!Array.isArray(value)) throw badRequest("Expected an Array of ReactionType")
  return value.map((reaction: unknown) => {
    const fail = (message: string) => badRequest(`Can't parse ReactionType: ${message}`)
    if (typeof reaction !== "object" || reaction === null) throw fail("expected an Object")
    const { type, emoji, custom_emoji_id: customId } = reaction as Record<string, unknown>
    if (type === "emoji" && typeof emoji === "string") return emoji
    if (type === "custom_emoji" && typeof customId === "string") return customId
    throw fail(type === "emoji" ? 'Can\'t find field "emoji"' : "invalid reaction type specified")
  })
}

/** The variation selector does not count. A custom emoji needs to be there already, which this chat never has. */
function isAllowed(emoji: string): boolean {
  return reactionEmoji.has(emoji.replaceAll("\ufe0f", ""))
}
