// update -> what it leads to, by its kind. Pure but for the pairing book, and quick: a batch is planned in memory and
// written in one transaction.
import type { Update } from "grammy/types"
import { planClick } from "./click.ts"
import { planEdit } from "./plan-edit.ts"
import { planMember } from "./member.ts"
import { planMigration } from "./migration.ts"
import { planMessage } from "./plan-message.ts"
import { planStopped } from "./stopped.ts"
import { type PlanContext, type Planned, skip } from "./planned.ts"
import { planReaction } from "./reaction.ts"

export function planUpdate(update: Update, context: PlanContext): Planned {
  const message = update.message ?? update.channel_post
  if (message) return planMigration(update, message, context) ?? planMessage(update, message, context)
  if (update.my_chat_member) return planMember(update, update.my_chat_member, context)
  if (update.callback_query) return planClick(update, update.callback_query, context)
  if (update.message_reaction) return planReaction(update, update.message_reaction, context)
  const stopped = planStopped(update, context)
  if (stopped) return stopped
  const edited = update.edited_message ?? update.edited_channel_post
  if (edited) return planEdit(update, edited, context)
  return skip(update, context, "other-kind", { kind: kindOf(update) })
}

function kindOf(update: Update): string {
  return Object.keys(update).find((key) => key !== "update_id") ?? "empty"
}
