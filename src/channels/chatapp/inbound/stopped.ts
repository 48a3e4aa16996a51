// The stop button of a draft: only the person of a private chat has one, and it ends only the turn that answers there.
// Nothing of it waits in a lane.
import type { Update } from "grammy/types"
import { type PlanContext, type Planned, entryOf, skip } from "./planned.ts"

/** Pure. Undefined when the update is of another kind. */
export function planStopped(update: Update, context: Pick<PlanContext, "botId">): Planned | undefined {
  const stopped = update.stopped_message_generation
  if (!stopped) return undefined
  const { chat, draft_id: draftId } = stopped
  const seen = { kind: "stopped_message_generation", chat: String(chat.id), draft: draftId }
  if (chat.type !== "private") return skip(update, context, "other-kind", seen)
  const chatId = String(chat.id)
  return {
    kind: "noted",
    what: "stopped",
    chatId,
    entry: entryOf(update, context, seen),
    effects: [{ kind: "stop-turn", chatId, draftId }],
  }
}
