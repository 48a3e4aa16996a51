// A message that comes while a turn of its session runs or waits: what becomes of it is fixed here, with the pause that is
// waited for. Whether a turn is open is asked of the store and of what the same batch has planned.
import type { QueueRule } from "../../../agent/queue/contract.ts"
import { pauseKeyPrefix } from "../../../agent/queue/waiting.ts"
import type { Place } from "./place.ts"
import type { PlanContext } from "./planned.ts"

export interface Queued {
  rule: QueueRule
  hold?: { key: string; holdMs: number; maxHoldMs: number }
}

/** A person who never pauses is answered all the same. */
const maxHolds = 10

export function queuedAt(
  { sessionKey, route }: Place,
  sender: { id: string },
  { earlier, settings, queueChoiceOf }: Pick<PlanContext, "earlier" | "settings" | "queueChoiceOf">,
): Queued | undefined {
  if (!earlier.isTurnOpen(sessionKey)) return undefined
  const { debounceMs, ...rule } = { ...settings.queue, ...queueChoiceOf(sessionKey) }
  if (debounceMs === 0 || rule.mode === "interrupt") return { rule }
  const { account, chatId, threadId = "" } = route
  const key = `${pauseKeyPrefix}${account}:${chatId}:${threadId}:${sender.id}`
  return { rule, hold: { key, holdMs: debounceMs, maxHoldMs: debounceMs * maxHolds } }
}
