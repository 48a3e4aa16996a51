// Control of who exists: bots, users, chats, members, topics.
import type { Chat, Message, User } from "grammy/types"
import { chatMember } from "../methods/chats.ts"
import { addTopic, topicAnnouncement } from "../methods/topics.ts"
import type { Bot } from "../world/bot.ts"
import { botsIn, postMessage, publicUser } from "../world/deliver.ts"
import { isPresent, type MemberStatus, type Room, type Topic } from "../world/room.ts"
import type { World } from "../world/world.ts"
import { ControlError } from "./control-error.ts"
import type { Requests } from "./requests.ts"

export function findBot(world: World, botId: number | undefined): Bot {
  const bot = botId === undefined ? world.bots.values().next().value : world.botById(botId)
  if (!bot) throw new ControlError("not-found", `there is no bot ${botId ?? ""}`)
  return bot
}

export function findUser(world: World, userId: number): User {
  const person = world.people.get(userId)
  if (!person) throw new ControlError("not-found", `there is no user ${userId}`)
  return person.user
}

/** The room of a request: a shared chat, or the private chat of a user and a bot. */
export function findRoom(world: World, chatId: number, botId: number | undefined): Room {
  const bot = findBot(world, botId)
  const room = world.room(bot.id, chatId)
  if (room) return room
  const person = world.people.get(chatId)
  if (!person) throw new ControlError("not-found", `there is no chat ${chatId}`)
  return world.openPrivateRoom(bot, person.user)
}

export function addUser(world: World, request: Requests["addUser"]): User {
  const id = request.id ?? world.random.integer(100_000_000, 4_000_000_000)
  const user: User = {
    id,
    is_bot: false,
    first_name: request.firstName ?? `User ${id}`,
    ...(request.lastName === undefined ? {} : { last_name: request.lastName }),
    ...(request.username === undefined ? {} : { username: request.username.replace(/^@/, "") }),
    ...(request.languageCode === undefined ? {} : { language_code: request.languageCode }),
    ...(request.isPremium ? { is_premium: true as const } : {}),
  }
  world.people.set(id, { user, deactivated: false })
  return user
}

/** The bot joins as an ordinary member, in a channel as an administrator, unless told otherwise. */
export function addChat(world: World, request: Requests["addChat"]): Chat {
  const { type, title = "Test chat", username, forum } = request
  const idOfType = () => world.random.integer(100_000_000, 2_000_000_000)
  const id = request.id ?? (type === "group" ? -idOfType() : -1_000_000_000_000 - idOfType())
  const chat = {
    id,
    type,
    title,
    ...(username === undefined || type === "group" ? {} : { username: username.replace(/^@/, "") }),
    ...(forum && type === "supergroup" ? { is_forum: true as const } : {}),
  } as Chat
  const room = world.openSharedRoom(chat)
  for (const userId of request.members ?? []) room.members.set(findUser(world, userId).id, "member")
  const bot = findBot(world, request.botId)
  room.members.set(bot.id, request.botStatus ?? (type === "channel" ? "administrator" : "member"))
  // Message 1 of a forum is its making, which makes 1 the id of the General topic; no message may be sent to that id.
  if (room.isForum()) room.takeMessageId()
  return chat
}

/** Changes a membership, with the service message and the updates that this leads to. */
export function setMember(world: World, { chatId, userId, status, by }: Requests["setMember"]): void {
  const room = findRoom(world, chatId, undefined)
  const user = world.userOf(userId)
  if (!user) throw new ControlError("not-found", `there is no user ${userId}`)
  const previous = room.statusOf(userId)
  room.members.set(userId, status)
  const actor = publicUser(by === undefined ? user : findUser(world, by))
  const subject = publicUser(user)
  const payload = memberUpdate(world, room, actor, [chatMember(subject, previous), chatMember(subject, status)])
  const lane = `chat:${chatId}`
  world.botById(userId)?.queue.add({ kind: "my_chat_member", payload, lane })
  for (const bot of botsIn(world, room)) {
    if (bot.id !== userId && room.isAdministrator(bot.id)) bot.queue.add({ kind: "chat_member", payload, lane })
  }
  announceMember(world, room, actor, subject, previous, status)
}

export function memberUpdate(world: World, room: Room, from: User, [before, after]: unknown[]): object {
  return {
    chat: room.chat,
    from,
    date: world.clock.seconds(),
    old_chat_member: before,
    new_chat_member: after,
  }
}

function announceMember(
  world: World,
  room: Room,
  actor: User,
  subject: User,
  before: MemberStatus,
  after: MemberStatus,
): void {
  if (room.kind() === "channel" || isPresent(before) === isPresent(after)) return
  const change = isPresent(after) ? { new_chat_members: [subject] } : { left_chat_member: subject }
  postMessage(world, room, { from: actor, ...change }, undefined)
}

/** Upgrades a group: the old chat refuses everything from now on and names the new one. */
export function migrate(world: World, chatId: number): Chat {
  const room = findRoom(world, chatId, undefined)
  if (room.chat.type !== "group") throw new ControlError("not-possible", "only a basic group can be upgraded")
  const id = -1_000_000_000_000 - world.random.integer(100_000_000, 2_000_000_000)
  const chat = { id, type: "supergroup", title: room.chat.title } as Chat
  const upgraded = world.openSharedRoom(chat)
  for (const [memberId, status] of room.members) upgraded.members.set(memberId, status)
  postMessage(world, room, { from: groupAnonymous, migrate_to_chat_id: id }, undefined)
  postMessage(world, upgraded, { from: groupAnonymous, migrate_from_chat_id: chatId }, undefined)
  room.migratedTo = id
  return chat
}

/** The account that the platform shows for acts of a group itself. */
const groupAnonymous: User = { id: 1_087_968_824, is_bot: true, first_name: "Group", username: "GroupAnonymousBot" }

export function userAddsTopic(world: World, request: Requests["addTopic"]): { threadId: number; name: string } {
  const room = findRoom(world, request.chatId ?? request.userId, request.botId)
  if (!room.isForum() && room.kind() !== "private") throw new ControlError("not-possible", "the chat is not a forum")
  const topic = addTopic(room, { name: request.name })
  const from = publicUser(findUser(world, request.userId))
  room.started = true
  postMessage(world, room, { ...topicAnnouncement(topic), from } as Partial<Message>, undefined)
  return { threadId: topic.threadId, name: topic.name }
}

export function setTopic(world: World, request: Requests["setTopic"]): void {
  const room = findRoom(world, request.chatId, request.botId)
  const topic: Topic | undefined = room.topics.get(request.threadId)
  if (!topic) throw new ControlError("not-found", `there is no topic ${request.threadId}`)
  if (request.closed !== undefined) topic.closed = request.closed
  if (request.deleted) room.topics.delete(request.threadId)
}
