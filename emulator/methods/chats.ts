// Asking about chats and members, pinning, leaving.
import type { ChatMember, User } from "grammy/types"
import { badRequest } from "../errors.ts"
import { findAccessibleRoom } from "../world/access.ts"
import { publicUser } from "../world/deliver.ts"
import { isPresent, type MemberStatus, type Room } from "../world/room.ts"
import type { MethodCall, MethodTable } from "./method.ts"

export const chatMethods: MethodTable = {
  getChat: (call) => {
    const room = find(call)
    const pinned = room.messages.get(room.pinnedMessageId ?? 0)
    return {
      ...room.chat,
      accent_color_id: 0,
      max_reaction_count: 11,
      accepted_gift_types: {
        unlimited_gifts: false,
        limited_gifts: false,
        unique_gifts: false,
        premium_subscription: false,
      },
      ...(pinned ? { pinned_message: pinned } : {}),
    }
  },
  getChatMember: (call) => {
    const room = find(call)
    const userId = call.arguments.integer("user_id")
    const user = call.world.userOf(userId)
    if (!user) throw badRequest("Invalid user_id specified")
    return chatMember(publicUser(user), room.statusOf(userId))
  },
  getChatMemberCount: (call) => [...find(call).members.values()].filter(isPresent).length,
  getChatAdministrators: (call) => {
    const room = find(call)
    if (room.kind() === "private") throw badRequest("There are no administrators in the private chat")
    return [...room.members.keys()]
      .filter((id) => room.isAdministrator(id))
      .flatMap((id) => call.world.userOf(id) ?? [])
      .map((user) => chatMember(publicUser(user), room.statusOf(user.id)))
  },
  leaveChat: (call) => {
    find(call).members.set(call.bot.id, "left")
    return true
  },
  pinChatMessage: (call) => {
    const room = find(call)
    const messageId = call.arguments.integer("message_id")
    if (!room.messages.has(messageId)) throw badRequest("Message to pin not found")
    if (room.kind() !== "private" && !room.isAdministrator(call.bot.id)) {
      throw badRequest("Not enough rights to manage pinned messages in the chat")
    }
    room.pinnedMessageId = messageId
    return true
  },
  unpinChatMessage: (call) => {
    find(call).pinnedMessageId = undefined
    return true
  },
}

function find({ world, bot, arguments: source }: MethodCall): Room {
  return findAccessibleRoom(world, bot, source.text("chat_id"))
}

const administratorRights = {
  can_be_edited: false,
  is_anonymous: false,
  can_manage_chat: true,
  can_delete_messages: true,
  can_manage_video_chats: true,
  can_restrict_members: true,
  can_promote_members: false,
  can_change_info: true,
  can_invite_users: true,
  can_post_stories: true,
  can_edit_stories: true,
  can_delete_stories: true,
  can_pin_messages: true,
  can_manage_topics: true,
}

export function chatMember(user: User, status: MemberStatus): ChatMember {
  if (status === "creator") return { status, user, is_anonymous: false }
  if (status === "administrator") return { status, user, ...administratorRights } as ChatMember
  if (status === "kicked") return { status, user, until_date: 0 }
  if (status === "restricted")
    return { status, user, is_member: true, can_send_messages: false, until_date: 0 } as ChatMember
  return { status, user } as ChatMember
}
