// May this bot write to this chat? The platform's checks, in its order, with its errors.
import { badRequest, forbidden } from "../errors.ts"
import type { Bot } from "./bot.ts"
import type { Room } from "./room.ts"
import type { World } from "./world.ts"

/** Finds the chat of a `chat_id` argument: a number or the @username of a group or channel. */
export function findRoom(world: World, bot: Bot, chatId: string): Room {
  if (chatId === "") throw badRequest("Chat_id is empty")
  const room = chatId.startsWith("@") ? world.roomByUsername(chatId.slice(1)) : findById(world, bot, chatId)
  if (!room) throw badRequest("Chat not found")
  if (room.migratedTo !== undefined) {
    throw badRequest("Group chat was upgraded to a supergroup chat", { migrate_to_chat_id: room.migratedTo })
  }
  return room
}

/** A chat that the bot may read and act in. */
export function findAccessibleRoom(world: World, bot: Bot, chatId: string): Room {
  const room = findRoom(world, bot, chatId)
  if (room.botId === undefined) checkMembership(room, bot)
  return room
}

/** A chat that the bot may send to; `what` is named in the error of a chat where sending is restricted. */
export function findWritableRoom(world: World, bot: Bot, chatId: string, what: string): Room {
  const room = findRoom(world, bot, chatId)
  if (room.botId === undefined) {
    checkMembership(room, bot)
    checkRights(room, bot, what)
  } else checkPrivate(world, room)
  return room
}

function findById(world: World, bot: Bot, chatId: string): Room | undefined {
  if (!/^-?\d{1,16}$/.test(chatId)) return undefined
  const id = Number(chatId)
  const room = world.room(bot.id, id)
  if (room || id < 0) return room
  const person = world.people.get(id)
  return person ? world.openPrivateRoom(bot, person.user) : undefined
}

function checkPrivate(world: World, room: Room): void {
  const person = world.people.get(room.chat.id)
  if (person?.deactivated) throw forbidden("User is deactivated")
  if (!room.started) throw forbidden("Bot can't initiate conversation with a user")
  if (room.blocked) throw forbidden("Bot was blocked by the user")
}

function checkMembership(room: Room, bot: Bot): void {
  const kind = room.kind()
  if (room.deleted) throw forbidden("The group chat was deleted")
  const status = room.statusOf(bot.id)
  if (status === "kicked") throw forbidden(`Bot was kicked from the ${kind} chat`)
  if (status === "left") throw forbidden(`Bot is not a member of the ${kind} chat`)
}

function checkRights(room: Room, bot: Bot, what: string): void {
  if (room.isAdministrator(bot.id)) return
  if (room.kind() === "channel") throw badRequest("Need administrator rights in the channel chat")
  if (!room.canSend || room.statusOf(bot.id) === "restricted") {
    throw badRequest(`Not enough rights to send ${what} to the chat`)
  }
}
