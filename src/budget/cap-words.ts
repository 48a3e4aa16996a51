// Caps in words, for chats and terminals.
import { formatCount, formatDollars } from "./amounts.ts"
import type { CapAmount, CapNotice, CapScope, CapState } from "./contract.ts"

const names: Readonly<Record<CapScope, (key: string) => string>> = {
  day: () => "the cap of the day",
  month: () => "the cap of the month",
  agent: (key) => `today's cap of the agent ${key}`,
  session: () => "today's cap of the conversation",
  job: () => "the cap of one run",
  heartbeat: () => "today's cap of heartbeats",
  schedule: () => "today's cap of schedules",
}

/** `the cap of the day`. */
export function describeCap({ scope, key }: { scope: CapScope; key: string }): string {
  return names[scope](key)
}

/** `$4.97 of $5`, `90,000 of 100,000 tokens`, or both. */
export function describeAmounts({ dollars, tokens }: Pick<CapState, "dollars" | "tokens">): string {
  const parts = []
  if (dollars) parts.push(`${formatDollars(dollars.spent)} of ${formatDollars(mostOf(dollars))}`)
  if (tokens) parts.push(`${formatCount(tokens.spent)} of ${formatCount(mostOf(tokens))} tokens`)
  return parts.join(" and ")
}

/** `$4.97 of $5 is used`, `90,000 of 100,000 tokens are used`. */
export function describeUsed(cap: Pick<CapState, "dollars" | "tokens">): string {
  return `${describeAmounts(cap)} ${cap.tokens ? "are" : "is"} used`
}

/** Where caps are set and none is listed. */
export const noCapIsNear = "one for each task; none is near it"

/** What one touch allows beyond a cap at least. */
export const oneMore = { dollars: 1, tokens: 100_000 } as const

export function mostOf({ limit, allowed }: CapAmount): number {
  return limit + allowed
}

/** What to allow beyond a cap: as many of `oneMore` as the call takes that was not made. */
export function enoughMore(
  cap: Pick<CapState, "dollars" | "tokens" | "nearest">,
  needed?: CapNotice["needed"],
): { unit: CapState["nearest"]; amount: number } {
  const missing = (unit: CapState["nearest"]): number => {
    const amount = cap[unit]
    return amount && needed ? Math.max(0, needed[unit] - (mostOf(amount) - amount.spent - amount.held)) : 0
  }
  const other = cap.nearest === "dollars" ? "tokens" : "dollars"
  const unit = missing(cap.nearest) === 0 && missing(other) > 0 ? other : cap.nearest
  return { unit, amount: Math.max(1, Math.ceil(missing(unit) / oneMore[unit])) * oneMore[unit] }
}

/** `, for which $0.0421 and 12,000 tokens must be free`, in the units of the cap. */
export function describeNeeded({ dollars, tokens }: CapState, needed: CapNotice["needed"]): string {
  if (!needed) return ""
  const parts = []
  if (dollars) parts.push(formatDollars(needed.dollars))
  if (tokens) parts.push(`${formatCount(needed.tokens)} tokens`)
  return `, for which ${parts.join(" and ")} must be free`
}

/** `The cap of the day leaves no room for another call, for which $0.0421 must be free: $4.97 of $5 is used`. */
export function describeReached(cap: CapState, needed: Required<CapNotice>["needed"]): string {
  const name = describeCap(cap)
  const held =
    (cap.dollars?.held ?? 0) > 0 || (cap.tokens?.held ?? 0) > 0 ? ", and some is held for calls under way" : ""
  return `${name[0]?.toUpperCase()}${name.slice(1)} leaves no room for another call${describeNeeded(cap, needed)}: ${describeUsed(cap)}${held}`
}
