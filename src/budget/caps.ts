// Which caps hold for a call, from when to when, and how much of them. No SQL, no state.
import type { PlannedCall } from "../models/contract.ts"
import type { BudgetConfig } from "./config.ts"
import type { CapScope } from "./contract.ts"
import { createDays, dayAfter } from "./days.ts"

/** Whose a call is: what of it decides its caps. */
export type CallFacts = Pick<PlannedCall, "agentId" | "usedFor">

export interface CapPlace {
  scope: CapScope
  /** Agent, session or run; empty where there is one for all. */
  key: string
  /** First moment that counts; 0 for a run. */
  since: number
  until: number | null
}

/** In tokens and billionths of a dollar; undefined is without limit. */
export interface CapLimits {
  tokens: number | undefined
  nanoDollars: number | undefined
}

export interface Cap extends CapPlace {
  limits: CapLimits
}

export const nano = 1e9

/** A day and a month, as the user's time zone has them. */
export interface Calendar {
  day: { since: number; until: number }
  month: { since: number; until: number }
}

export function calendarAt(now: number, timeZone: string): Calendar {
  const days = createDays(timeZone)
  const today = days.of(now)
  const first = `${today.slice(0, 7)}-01`
  // The 32nd day after the first of a month lies in the next.
  const next = `${dayAfter(first, 32).slice(0, 7)}-01`
  return {
    day: { since: days.startOf(today), until: days.startOf(dayAfter(today)) },
    month: { since: days.startOf(first), until: days.startOf(next) },
  }
}

/** Every sum that a call is part of, whether or not it has a cap. */
export function placesOf({ agentId, usedFor }: CallFacts, { day, month }: Calendar): CapPlace[] {
  const { purpose, sessionKey, runId } = usedFor
  return [
    { scope: "day", key: "", ...day },
    { scope: "month", key: "", ...month },
    { scope: "agent", key: agentId, ...day },
    ...(sessionKey === undefined ? [] : [{ scope: "session" as const, key: sessionKey, ...day }]),
    ...(runId === undefined ? [] : [{ scope: "job" as const, key: runId, since: 0, until: null }]),
    ...(isTimer(purpose) ? [{ scope: purpose, key: "", ...day }] : []),
  ]
}

/** Those of them that are capped. What runs by the clock may use a share of what is everybody's. */
export function capsOf(call: CallFacts, calendar: Calendar, config: BudgetConfig): Cap[] {
  return placesOf(call, calendar).flatMap((place): Cap[] => {
    const written = limitsOf(place, config)
    if (!written) return []
    const isOwn = place.scope === "heartbeat" || place.scope === "schedule" || place.scope === "job"
    const share = isTimer(call.usedFor.purpose) && !isOwn ? config.timersUpTo : 1
    const limits = {
      tokens: written.tokens === undefined ? undefined : Math.floor(written.tokens * share),
      nanoDollars: written.nanoDollars === undefined ? undefined : Math.floor(written.nanoDollars * share),
    }
    return [{ ...place, limits }]
  })
}

/** As the configuration has it; undefined where it has none. */
export function limitsOf({ scope, key }: Pick<CapPlace, "scope" | "key">, config: BudgetConfig): CapLimits | undefined {
  const own = scope === "agent" && Object.hasOwn(config.agents, key) ? config.agents[key] : undefined
  const { dollars, tokens } = own ?? config[scope] ?? {}
  if (dollars === undefined && tokens === undefined) return undefined
  return { tokens, nanoDollars: dollars === undefined ? undefined : Math.round(dollars * nano) }
}

export function isTimer(purpose: string): purpose is "heartbeat" | "schedule" {
  return purpose === "heartbeat" || purpose === "schedule"
}

/** How a cap is named where people write it. */
export function capId({ scope, key }: Pick<CapPlace, "scope" | "key">): string {
  return key === "" ? scope : `${scope}:${key}`
}

/** Least that one reply is given room for: with less it would be cut in its first sentences. */
const leastReply = 1_000
/** Most replies are shorter; what lies between this and the model's own limit is held only where there is plenty. */
const usualReply = 8_192

export interface Room {
  limits: CapLimits
  spent: { tokens: number; nanoDollars: number }
  held: { tokens: number; nanoDollars: number }
}

export type Fit =
  /** Tokens that the reply may have. */
  | { kind: "fits"; outputTokens: number }
  /** It will fit when calls under way have taken less than was held for them. */
  | { kind: "waits" }
  | { kind: "refused"; at: number }

/** Whether a call fits under all of its caps, and how long its reply may be. `at` names the narrowest by its place. */
export function fitCall(plan: PlannedCall, rooms: readonly Room[]): Fit {
  const least = Math.min(leastReply, plan.outputTokens)
  let narrowest = 0
  let most = Infinity
  let mostWithoutHolds = Infinity
  for (const [index, { limits, spent, held }] of rooms.entries()) {
    const free = replyRoom(plan, limits, spent)
    const now = replyRoom(plan, limits, {
      tokens: spent.tokens + held.tokens,
      nanoDollars: spent.nanoDollars + held.nanoDollars,
    })
    if (free < mostWithoutHolds) narrowest = index
    mostWithoutHolds = Math.min(mostWithoutHolds, free)
    most = Math.min(most, now)
  }
  if (mostWithoutHolds < least) return { kind: "refused", at: narrowest }
  if (most < least) return { kind: "waits" }
  return { kind: "fits", outputTokens: Math.min(plan.outputTokens, most, Math.max(usualReply, Math.floor(most / 2))) }
}

/** Tokens of reply for which there is room behind the prompt; negative where there is none for the prompt. */
function replyRoom(plan: PlannedCall, limits: CapLimits, used: { tokens: number; nanoDollars: number }): number {
  const tokens = limits.tokens === undefined ? Infinity : limits.tokens - used.tokens - plan.inputTokens
  if (limits.nanoDollars === undefined) return tokens
  const left = limits.nanoDollars - used.nanoDollars - plan.inputTokens * plan.inputPrice
  const bought = plan.outputPrice > 0 ? Math.floor(left / plan.outputPrice) : left < 0 ? -1 : Infinity
  return Math.min(tokens, bought)
}

/** Without this much room the call is not made. */
export function leastOf(plan: PlannedCall): { tokens: number; nanoDollars: number } {
  return worstOf(plan, Math.min(leastReply, plan.outputTokens))
}

/** What is held for a call whose reply is this long at most. */
export function worstOf(plan: PlannedCall, outputTokens: number): { tokens: number; nanoDollars: number } {
  return {
    tokens: plan.inputTokens + outputTokens,
    nanoDollars: plan.inputTokens * plan.inputPrice + outputTokens * plan.outputPrice,
  }
}
