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

/** What a cap is about. All are for a day but `month`, and `job`, which is one run. */
export const capScopes = ["day", "month", "agent", "session", "job", "heartbeat", "schedule"] as const
export type CapScope = (typeof capScopes)[number]

/** How much of one unit: dollars, or tokens. */
export interface CapAmount {
  /** As the configuration has it. */
  limit: number
  /** Allowed beyond it by an owner. */
  allowed: number
  spent: number
  /** Held for calls under way. */
  held: number
}

export interface CapState {
  /** `day`, `month`, `heartbeat`, `schedule`, else scope and key: `agent:main`, `session:<key>`, `job:<run id>`. */
  id: string
  scope: CapScope
  key: string
  /** Milliseconds since the epoch; 0 for a run. */
  since: number
  /** When it begins anew; null for a run. */
  until: number | null
  dollars: CapAmount | null
  tokens: CapAmount | null
  /** The larger share that is used of the two, 1 being all. */
  share: number
  /** The unit that is nearer its end: more of the other one would let nothing go on. */
  nearest: "dollars" | "tokens"
  /** Whether lists for people name it: every run has a cap of its own, of which few come near. */
  isListed: boolean
  /** `lifted`: an owner has switched it off until `liftedUntil`. */
  state: "open" | "reached" | "lifted"
  liftedUntil: number | null
}

/** What an owner allows beyond a cap. */
export interface CapAllowance {
  dollars?: number
  tokens?: number
  /** No cap until the next day begins; of a run until it ends. */
  untilTomorrow?: boolean
  /** Only while this is the most that the cap lets through, in dollars or else tokens: a button touched twice raises once. */
  ifMostIs?: number
}

/** How a cap stands after more was to be allowed. */
export interface Allowed {
  cap: CapState
  /** Runs that it had ended and that go on. */
  resumed: number
  /** Nothing was allowed: the cap is no longer what `ifMostIs` said. */
  isChanged?: true
}

/** Something an owner is told of, once. */
export interface CapNotice {
  cap: CapState
  /** 50, 80: a warning, or that heartbeats and schedules have stopped. 100: nothing more is called that it holds for. */
  percent: 50 | 80 | 100
  agentId: string
  sessionKey?: string
  runId?: string
  purpose: string
  /** Of a call that was not made: its model, and that its price is not known. */
  model?: string
  isPriceUnknown?: boolean
  /** What must be free for it, with the shortest reply that is worth a call. */
  needed?: { dollars: number; tokens: number }
}
