// What the ledger tells of the calls of models; also what travels as JSON. Types, and the list of groups.

/** What sums are made by. `job` is one run of the agent, by its run id. */
export const usageGroups = ["day", "model", "session", "job", "agent", "purpose"] as const
export type UsageGroup = (typeof usageGroups)[number]

/** Sums over what is known; null when none of the calls' values is. */
export interface UsageSums {
  calls: number
  /** All of the prompts, read from a cache or not. */
  input: number | null
  /** All of the replies, reasoning included. */
  output: number | null
  cacheRead: number | null
  cacheWrite: number | null
  reasoning: number | null
  /** US dollars. */
  cost: number | null
  /** Calls whose provider has not said how many tokens they took. */
  uncounted: number
  /** Calls whose cost is not known, because their model's prices or their tokens are not. */
  unpriced: number
}

export interface UsageRow extends UsageSums {
  /** `2026-11-21` of a day, else what the group says; null for calls that belong to none (no session, no run). */
  key: string | null
}

export interface UsageRange {
  /** Milliseconds since the epoch; the first one that counts. */
  since: number
  /** The first one that counts no more. */
  until: number
}

export interface UsageQuery extends UsageRange {
  by: UsageGroup
  limit: number
}

export interface UsageSummary extends UsageRange {
  by: UsageGroup
  /** In which days begin and end. */
  timeZone: string
  /** Days newest first, others costliest first. */
  rows: UsageRow[]
  /** Whether there are more rows than were asked for. */
  more: boolean
  /** Over all calls of the range, also of rows that were left out. */
  totals: UsageSums
}
