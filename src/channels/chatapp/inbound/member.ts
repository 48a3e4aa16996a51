// The bot was added to a chat, or removed, or its rights changed: told to the operator; the agent may write to groups that
// it is in.
import type { ChatMemberUpdated, Update } from "grammy/types"
import { decideAccess } from "./access.ts"
import { isDirect } from "./place.ts"
import { type PlanContext, type Planned, entryOf } from "./planned.ts"
import { senderOf } from "./principal.ts"

export function planMember(update: Update, change: ChatMemberUpdated, context: PlanContext): Planned {
  const { chat, from, old_chat_member: before, new_chat_member: after } = change
  const facts = {
    kind: "my_chat_member",
    chat: String(chat.id),
    by: from.id,
    before: before.status,
    status: after.status,
  }
  const chatId = String(chat.id)
  const what = whatHappened(change)
  const entry = entryOf(update, context, facts)
  const membership = isDirect(chat) ? undefined : membershipOf(change, context)
  return { kind: "noted", entry, what, chatId, ...(membership ? { membership } : {}) }
}

/** Whoever is not heard in a group cannot make it one that the bot knows by adding the bot to it. */
function membershipOf({ chat, from, new_chat_member: after }: ChatMemberUpdated, context: PlanContext) {
  const isMember = isPresent(after)
  if (isMember && decideAccess({ chat, sender: senderOf(from) }, context).kind !== "accept") return undefined
  return { chatId: String(chat.id), isMember }
}

function whatHappened({ chat, old_chat_member: before, new_chat_member: after }: ChatMemberUpdated): string {
  const was = isPresent(before)
  const is = isPresent(after)
  if (isDirect(chat)) return is ? "bot-unblocked" : "bot-blocked"
  if (was === is) return "bot-rights-changed"
  return is ? "bot-added" : "bot-removed"
}

function isPresent(member: ChatMemberUpdated["new_chat_member"]): boolean {
  if (member.status === "restricted") return member.is_member
  return member.status !== "left" && member.status !== "kicked"
}
