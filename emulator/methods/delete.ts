// deleteMessage and deleteMessages.
import { badRequest } from "../errors.ts"
import { parseJson } from "../wire/arguments.ts"
import { findAccessibleRoom } from "../world/access.ts"
import { removeMessages } from "../world/deliver.ts"
import type { Room } from "../world/room.ts"
import type { MethodCall, MethodTable } from "./method.ts"

const deletableSeconds = 48 * 60 * 60
const maxMessages = 100

export const deleteMethods: MethodTable = { deleteMessage, deleteMessages }

function deleteMessage(call: MethodCall): true {
  const { world, bot, arguments: source } = call
  const room = findAccessibleRoom(world, bot, source.text("chat_id"))
  const messageId = source.integer("message_id")
  if (messageId <= 0) throw badRequest("Message identifier is not specified")
  if (!room.messages.has(messageId)) throw badRequest("Message to delete not found")
  if (!mayDelete(call, room, messageId)) throw badRequest("Message can't be deleted")
  removeMessages(world, room, [messageId])
  return true
}

/** Ids that cannot be deleted are skipped. */
function deleteMessages(call: MethodCall): true {
  const { world, bot, arguments: source } = call
  const ids = parseJson(source.text("message_ids"), () => badRequest("Can't parse message identifiers JSON object"))
  if (!Array.isArray(ids)) throw badRequest("Expected an Array of message identifiers")
  if (ids.length === 0) throw badRequest("Message identifiers are not specified")
  if (ids.length > maxMessages) throw badRequest("Too many message identifiers specified")
  const room = findAccessibleRoom(world, bot, source.text("chat_id"))
  const deletable = ids.map(Number).filter((id) => mayDelete(call, room, id))
  if (deletable.length > 0) removeMessages(world, room, deletable)
  return true
}

function mayDelete({ world, bot }: MethodCall, room: Room, messageId: number): boolean {
  const message = room.messages.get(messageId)
  if (!message) return false
  const isOwn = message.from?.id === bot.id || message.sender_chat?.id === room.chat.id
  if (room.isAdministrator(bot.id)) return true
  return (isOwn || room.kind() === "private") && world.clock.seconds() - message.date < deletableSeconds
}
