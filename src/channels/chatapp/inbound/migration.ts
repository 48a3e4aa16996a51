// The two messages by which the platform tells that a group has become a supergroup. They are the platform's own: no
// member can write them, and a move changes only what is kept of the old chat.
import type { Message, Update } from "grammy/types"
import { type PlanContext, type Planned, entryOf } from "./planned.ts"

export function planMigration(update: Update, message: Message, context: PlanContext): Planned | undefined {
  const { chat, migrate_to_chat_id: to, migrate_from_chat_id: from } = message
  const move =
    to === undefined
      ? from === undefined
        ? undefined
        : { oldId: String(from), newId: String(chat.id) }
      : { oldId: String(chat.id), newId: String(to) }
  if (!move || move.oldId === move.newId) return undefined
  context.onChatMoved(move)
  const entry = entryOf(update, context, {
    kind: "message",
    chat: String(chat.id),
    movedFrom: move.oldId,
    to: move.newId,
  })
  return { kind: "noted", entry, what: "chat-moved", chatId: move.newId, move }
}
