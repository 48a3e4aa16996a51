// When a conversation is summed up by itself: a turn has ended with a past that fills what its model is shown.
import type { Ids } from "../../kernel/index.ts"
import { type Store, type Write, isOpen } from "../../store/index.ts"
import type { TurnInput } from "../turn-input.ts"
import { compactJob, compactJobKind } from "./job.ts"

export interface CompactRule {
  /** Share of the room for the past. */
  at: number
}

export interface DueOptions {
  store: Store
  ids: Ids
  /** Unset: never. */
  compactRule?: () => CompactRule | undefined
}

/** Room kept for the reply and the tools' schemas, as a share of the model's context. */
const historyShare = 0.6
/** Some models take a million tokens, at double the price from here on; what is older is seldom what is asked about. */
const maxHistoryTokens = 200_000

/** Tokens that the past of a conversation may have with a model. */
export function roomForPast(promptTokens: number): number {
  return Math.max(1_000, Math.min(maxHistoryTokens, promptTokens * historyShare))
}

/** After one that came to nothing: whatever was the cause, an hour later it may be another. */
const pauseMs = 60 * 60_000

/**
 * In the transaction that ends the turn. Nobody waits for it: it begins when its lane is free, and makes way for people.
 * Webhooks begin anew each time, and heartbeats are followed by turns of people.
 */
export function compactWhenFull(
  { store, ids, compactRule }: DueOptions,
  write: Write,
  { input, fullness = 0 }: { input: TurnInput; fullness?: number },
): void {
  const rule = compactRule?.()
  if (!rule || fullness < rule.at || input.purpose !== "chat") return
  const { agentId, sessionKey } = input
  if (isOpen(store, sessionKey, compactJobKind) || hasFailed(store, sessionKey, write.now - pauseMs)) return
  write.addJob({ ...compactJob(ids.uuid(), { agentId, sessionKey }), class: "timers", coalesce: true })
}

function hasFailed({ handle }: Store, laneKey: string, after: number): boolean {
  const row = handle
    .prepare("select 1 from job where state = 'dead' and kind = ? and lane_key = ? and finished_at > ? limit 1")
    .get(compactJobKind, laneKey, after)
  return row !== undefined
}
