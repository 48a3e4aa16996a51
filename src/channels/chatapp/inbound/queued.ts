// A message that comes while a turn of its session runs or waits: what becomes of it is fixed here, with the pause that is
// waited for. Whether a turn is open is asked of the store and of what the same batch has planned.
import { type Queued, queuedBy } from "../../queue.ts"
import type { Place } from "./place.ts"
import type { PlanContext } from "./planned.ts"

export function queuedAt(
  { sessionKey, route }: Place,
  sender: { id: string },
  { earlier, settings, queueChoiceOf }: Pick<PlanContext, "earlier" | "settings" | "queueChoiceOf">,
): Queued | undefined {
  if (!earlier.isTurnOpen(sessionKey)) return undefined
  const { account, chatId, threadId = "" } = route
  const queue = { ...settings.queue, ...queueChoiceOf(sessionKey) }
  return queuedBy(`${account}:${chatId}:${threadId}:${sender.id}`, queue)
}
