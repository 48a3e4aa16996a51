// The SQL of the ledger. All of it is answered from an index on time or session: no question reads the whole table
// unless it is about the whole time.
import type { UsageRecord } from "../models/contract.ts"
import type { Store, Write } from "../store/index.ts"
import type { UsageGroup, UsageQuery, UsageRange, UsageRow, UsageSums } from "./contract.ts"

/** Larger numbers are nonsense of a server, and count as unknown; sums of a year stay exact. */
const maxTokens = 1e9
const maxDollars = 1e4
const maxMs = 1e9
const nano = 1e9

export interface UsageEntry {
  record: UsageRecord
  /** When the provider had answered. */
  at: number
}

export function insertUsage(write: Write, { record, at }: UsageEntry): void {
  const { usedFor, usage } = record
  const statement = write.prepare(
    `insert into usage (created_at, session_key, run_id, agent_id, purpose, origin, model, input_tokens, output_tokens,
       cache_read_tokens, cache_write_tokens, reasoning_tokens, cost_nano_dollars, ms,
       counted_tokens, counted_nano_dollars)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  statement.run(
    at,
    usedFor.sessionKey ?? null,
    usedFor.runId ?? null,
    record.agentId,
    usedFor.purpose,
    usedFor.origin ?? null,
    record.model,
    whole(usage.inputTokens, maxTokens),
    whole(usage.outputTokens, maxTokens),
    whole(usage.cacheReadTokens, maxTokens),
    whole(usage.cacheWriteTokens, maxTokens),
    whole(usage.reasoningTokens, maxTokens),
    whole(record.cost === undefined ? undefined : record.cost * nano, maxDollars * nano),
    whole(record.ms, maxMs),
    whole(record.counted?.tokens, 2 * maxTokens),
    whole(record.counted?.nanoDollars, maxDollars * nano),
  )
}

/** Null for what is no amount at all. */
function whole(amount: number | undefined, most: number): number | null {
  return amount !== undefined && amount >= 0 && amount <= most ? Math.round(amount) : null
}

const sums = `count(*) as calls, sum(input_tokens) as input, sum(output_tokens) as output,
  sum(cache_read_tokens) as cacheRead, sum(cache_write_tokens) as cacheWrite, sum(reasoning_tokens) as reasoning,
  sum(cost_nano_dollars) / 1e9 as cost, count(*) - count(input_tokens + output_tokens) as uncounted,
  count(*) - count(cost_nano_dollars) as unpriced`

const inRange = `from usage indexed by usage_age where created_at >= ? and created_at < ?`

const columns: Readonly<Record<Exclude<UsageGroup, "day">, string>> = {
  model: "model",
  session: "session_key",
  job: "run_id",
  agent: "agent_id",
  purpose: "purpose",
}

export function sumOfRange({ handle }: Store, { since, until }: UsageRange): UsageSums {
  return toSums(handle.prepare(`select ${sums} ${inRange}`).get(since, until))
}

export function sumOfSession({ handle }: Store, key: string, since: number): UsageSums {
  const question = `select ${sums} from usage indexed by usage_session where session_key = ? and created_at >= ?`
  return toSums(handle.prepare(question).get(key, since))
}

/** The costliest groups first; among those of unknown cost the ones with the most tokens. */
export function sumsByColumn(
  { handle }: Store,
  by: Exclude<UsageGroup, "day">,
  { since, until, limit }: Pick<UsageQuery, "since" | "until" | "limit">,
): UsageRow[] {
  const question = `select ${columns[by]} as key, ${sums} ${inRange} group by 1
    order by coalesce(cost, 0) desc, coalesce(input, 0) + coalesce(output, 0) desc, key limit ?`
  const rows = handle.prepare(question).all(since, until, limit)
  return rows.map((row) => ({ key: row["key"] as string | null, ...toSums(row) }))
}

/** When the newest call of a range was answered. */
export function newestOfRange({ handle }: Store, { since, until }: UsageRange): number | undefined {
  const row = handle.prepare(`select created_at ${inRange} order by created_at desc limit 1`).get(since, until)
  return row && Number(row["created_at"])
}

/** Where nothing was called nothing is unknown. */
function toSums(row: Readonly<Record<string, unknown>> | undefined): UsageSums {
  const calls = Number(row?.["calls"] ?? 0)
  const of = (name: string) => (calls === 0 ? 0 : (row?.[name] as number | null))
  return {
    calls,
    input: of("input"),
    output: of("output"),
    cacheRead: of("cacheRead"),
    cacheWrite: of("cacheWrite"),
    reasoning: of("reasoning"),
    cost: of("cost"),
    uncounted: Number(row?.["uncounted"] ?? 0),
    unpriced: Number(row?.["unpriced"] ?? 0),
  }
}
