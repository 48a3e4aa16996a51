// Forum topics: creating, editing, closing, reopening and deleting them.
import { badRequest } from "../errors.ts"
import { findAccessibleRoom, findWritableRoom } from "../world/access.ts"
import { postMessage, publicUser, type MessageFields } from "../world/deliver.ts"
import type { Room, Topic } from "../world/room.ts"
import type { MethodCall, MethodTable } from "./method.ts"

const defaultColor = 0x6fb9f0
const colors = new Set([defaultColor, 0xffd67e, 0xcb86db, 0x8eee98, 0xff93b2, 0xfb6f5f])
const maxNameLength = 128
/** The topic that every forum has, and that cannot be deleted. */
const generalThreadId = 1

export const topicMethods: MethodTable = {
  createForumTopic,
  editForumTopic,
  closeForumTopic: (call) => setClosed(call, true),
  reopenForumTopic: (call) => setClosed(call, false),
  deleteForumTopic,
}

function createForumTopic(call: MethodCall): object {
  const { world, bot, arguments: source } = call
  const room = findForum(call, "create a topic")
  const name = readName(source.text("name"))
  if (name === "") throw badRequest("Name must be non-empty")
  const iconColor = source.integer("icon_color", defaultColor)
  if (!colors.has(iconColor)) throw badRequest("Invalid icon color specified")
  const icon = source.text("icon_custom_emoji_id")
  const topic = addTopic(room, { name, iconColor, ...(icon ? { iconCustomEmojiId: icon } : {}) })
  postMessage(world, room, { ...topicAnnouncement(topic), from: publicUser(bot.user) }, bot)
  return {
    message_thread_id: topic.threadId,
    name,
    icon_color: iconColor,
    ...(topic.iconCustomEmojiId ? { icon_custom_emoji_id: topic.iconCustomEmojiId } : {}),
  }
}

/** A topic's id is the id of the message that announces it. */
export function addTopic(
  room: Room,
  settings: { name: string; iconColor?: number; iconCustomEmojiId?: string },
): Topic {
  const topic = { iconColor: defaultColor, ...settings, threadId: room.takeMessageId(), closed: false, hidden: false }
  room.topics.set(topic.threadId, topic)
  return topic
}

export function topicAnnouncement(topic: Topic): MessageFields {
  return {
    message_id: topic.threadId,
    message_thread_id: topic.threadId,
    is_topic_message: true,
    forum_topic_created: { name: topic.name, icon_color: topic.iconColor as 7322096 },
  }
}

function editForumTopic(call: MethodCall): true {
  const room = findForum(call, "edit the topic")
  const topic = findTopic(call, room)
  const name = readName(call.arguments.text("name"))
  const icon = call.arguments.text("icon_custom_emoji_id")
  if ((name === "" || name === topic.name) && !call.arguments.has("icon_custom_emoji_id")) {
    throw badRequest("TOPIC_NOT_MODIFIED")
  }
  if (name) topic.name = name
  if (icon) topic.iconCustomEmojiId = icon
  return true
}

function setClosed(call: MethodCall, closed: boolean): true {
  const topic = findTopic(call, findForum(call, closed ? "close the topic" : "reopen the topic"))
  if (topic.closed === closed) throw badRequest("TOPIC_NOT_MODIFIED")
  topic.closed = closed
  return true
}

function deleteForumTopic(call: MethodCall): true {
  const room = findForum(call, "delete the topic")
  const topic = findTopic(call, room)
  if (topic.threadId === generalThreadId) throw badRequest("TOPIC_ID_INVALID")
  room.topics.delete(topic.threadId)
  for (const [id, message] of room.messages) if (message.message_thread_id === topic.threadId) room.messages.delete(id)
  return true
}

function findForum({ world, bot, arguments: source }: MethodCall, right: string): Room {
  const chatId = source.text("chat_id")
  const room = findAccessibleRoom(world, bot, chatId)
  if (room.kind() === "private") {
    findWritableRoom(world, bot, chatId, "text messages")
    if (!bot.hasPrivateTopics) throw badRequest("The chat is not a forum")
    return room
  }
  if (!room.isForum()) throw badRequest("The chat is not a forum")
  if (!room.isAdministrator(bot.id)) throw badRequest(`Not enough rights to ${right}`)
  return room
}

function findTopic({ arguments: source }: MethodCall, room: Room): Topic {
  const topic = room.topics.get(source.integer("message_thread_id"))
  if (!topic) throw badRequest("Message thread not found")
  return topic
}

function readName(name: string): string {
  return name.trim().slice(0, maxNameLength)
}
