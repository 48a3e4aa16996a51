// When a session starts afresh: at an hour of the day, after a time without turns, or whichever comes first.
import type { ResetRule, SessionConfig } from "./config.ts"

type Kind = "dm" | "group" | "thread"

/** Undefined: it does not end by itself. */
export function resetRuleFor(config: SessionConfig, key: string): ResetRule | undefined {
  const channel = /^agent:[^:]+:([^:]+):/.exec(key)?.[1]
  const byChannel = channel === undefined ? undefined : config.resetByChannel[channel]
  // Whoever posts with the same key goes on with an order or an issue, and these know no nights.
  if (channel === "hook") return byChannel
  return byChannel ?? config.resetByType[kindOf(key)] ?? config.reset
}

function kindOf(key: string): Kind {
  if (key.includes(":thread:") || key.includes(":topic:")) return "thread"
  if (key.includes(":group:") || key.includes(":channel:")) return "group"
  return "dm"
}

export function isFresh(rule: ResetRule | undefined, updatedAt: number, now: number): boolean {
  if (!rule) return true
  if (rule.idleMinutes !== undefined && now - updatedAt >= rule.idleMinutes * 60_000) return false
  return rule.mode === "idle" || updatedAt >= lastResetBefore(now, rule.atHour)
}

/** The latest time, at or before `now`, at which the host's clock showed the full hour. */
function lastResetBefore(now: number, atHour: number): number {
  const reset = new Date(now)
  reset.setHours(atHour, 0, 0, 0)
  if (reset.getTime() > now) reset.setDate(reset.getDate() - 1)
  return reset.getTime()
}
