// update -> what it leads to, by its kind. Pure but for the pairing book, and quick: a batch is planned in memory and
// written in one transaction.
import type { Update } from "grammy/types"
import { planMessage } from "./plan-message.ts"
import { type PlanContext, type Planned, skip } from "./planned.ts"

export function planUpdate(update: Update, context: PlanContext): Planned {
  if (update.message) return planMessage(update, update.message, context)
  const edited = update.edited_message !== undefined
  return skip(update, context, edited ? "edited" : "other-kind", { kind: kindOf(update) })
}

function kindOf(update: Update): string {
  return Object.keys(update).find((key) => key !== "update_id") ?? "empty"
}
