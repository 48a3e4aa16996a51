// The bot was added to a chat, or removed, or its rights changed: told to the operator, of no meaning to the agent.
import type { ChatMemberUpdated, Update } from "grammy/types"
import { isDirect } from "./place.ts"
import { type PlanContext, type Planned, entryOf } from "./planned.ts"

export function planMember(update: Update, change: ChatMemberUpdated, context: PlanContext): Planned {
  const { chat, from, old_chat_member: before, new_chat_member: after } = change
  const facts = {
    kind: "my_chat_member",
    chat: String(chat.id),
    by: from.id,
    before: before.status,
    status: after.status,
  }
  return { kind: "noted", entry: entryOf(update, context, facts), what: whatHappened(change), chatId: String(chat.id) }
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
