// The SQL of caps: totals that grow with the ledger, holds for calls under way, what owners have allowed, what was told.
// Everything here runs inside a transaction of the store, one after another: what is read is what holds.
import type { PlannedCall, Spent } from "../models/contract.ts"
import type { Store, Write } from "../store/index.ts"
import type { CallFacts, CapPlace } from "./caps.ts"
import type { CapScope } from "./contract.ts"

export interface HoldRow {
  id: string
  boot_id: string
  state: "open" | "lost"
  created_at: number
  agent_id: string
  session_key: string | null
  run_id: string | null
  purpose: string
  model: string
  tokens: number
  nano_dollars: number
}

export interface Grant extends Spent {
  liftedUntil: number | null
}

/** What the sum of a cap holds so far. The first question of a period adds the ledger up; from then on it is kept. */
export function totalOf(store: Store, write: Pick<Write, "prepare" | "now">, place: CapPlace): Spent {
  const known = readTotal(store, place)
  if (known) return known
  const spent = addUp(store, place)
  write
    .prepare(
      "insert into budget_total (scope, key, since, tokens, nano_dollars, updated_at) values (?, ?, ?, ?, ?, ?) on conflict do nothing",
    )
    .run(place.scope, place.key, place.since, spent.tokens, spent.nanoDollars, write.now)
  return spent
}

/** The same without writing anything. */
export function peekTotal(store: Store, place: CapPlace): Spent {
  return readTotal(store, place) ?? addUp(store, place)
}

function readTotal({ handle }: Store, { scope, key, since }: CapPlace): Spent | undefined {
  const row = handle
    .prepare("select tokens, nano_dollars as nanoDollars from budget_total where scope = ? and key = ? and since = ?")
    .get(scope, key, since)
  return row && { tokens: Number(row["tokens"]), nanoDollars: Number(row["nanoDollars"]) }
}

const columnOf: Partial<Record<CapScope, string>> = { agent: "agent_id", session: "session_key", job: "run_id" }

/** A run begins with nothing, as no index of the ledger finds its calls; the others are a day's or a month's. */
function addUp({ handle }: Store, { scope, key, since }: CapPlace): Spent {
  if (scope === "job") return { tokens: 0, nanoDollars: 0 }
  const column = columnOf[scope] ?? (scope === "heartbeat" || scope === "schedule" ? "purpose" : undefined)
  const value = scope === "heartbeat" || scope === "schedule" ? scope : key
  const where = `created_at >= ?${column === undefined ? "" : ` and ${column} = ?`}`
  const values = column === undefined ? [since] : [since, value]
  const counted = `coalesce(counted_tokens, coalesce(input_tokens, 0) + coalesce(output_tokens, 0))`
  const answered = handle
    .prepare(
      `select coalesce(sum(${counted}), 0) as tokens,
         coalesce(sum(coalesce(counted_nano_dollars, cost_nano_dollars)), 0) as nanoDollars
       from usage indexed by ${scope === "session" ? "usage_session" : "usage_age"} where ${where}`,
    )
    .get(...values)
  const lost = handle
    .prepare(
      `select coalesce(sum(tokens), 0) as tokens, coalesce(sum(nano_dollars), 0) as nanoDollars
       from budget_hold where state = 'lost' and ${where}`,
    )
    .get(...values)
  const sum = (name: string) => Number(answered?.[name] ?? 0) + Number(lost?.[name] ?? 0)
  return { tokens: sum("tokens"), nanoDollars: sum("nanoDollars") }
}

/** Sums that somebody has asked for grow; the others are added up when somebody does. */
export function addToTotals(write: Write, places: readonly CapPlace[], { tokens, nanoDollars }: Spent): void {
  const statement = write.prepare(
    `update budget_total set tokens = tokens + ?, nano_dollars = nano_dollars + ?, updated_at = ?
     where scope = ? and key = ? and since = ?`,
  )
  for (const { scope, key, since } of places) statement.run(tokens, nanoDollars, write.now, scope, key, since)
}

export function insertHold(write: Write, hold: Omit<HoldRow, "state" | "created_at">): void {
  write
    .prepare(
      `insert into budget_hold (id, boot_id, created_at, agent_id, session_key, run_id, purpose, model, tokens, nano_dollars)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    .run(
      hold.id,
      hold.boot_id,
      write.now,
      hold.agent_id,
      hold.session_key,
      hold.run_id,
      hold.purpose,
      hold.model,
      hold.tokens,
      hold.nano_dollars,
    )
}

/** Whether it was still there. */
export function removeHold(write: Write, id: string): boolean {
  return write.prepare("delete from budget_hold where id = ? and state = 'open'").run(id).changes > 0
}

export function loseHold(write: Write, id: string, { tokens, nanoDollars }: Spent): void {
  write
    .prepare("update budget_hold set state = 'lost', tokens = ?, nano_dollars = ? where id = ? and state = 'open'")
    .run(tokens, nanoDollars, id)
}

/** A few: one for each call under way. */
export function openHolds({ handle }: Store): HoldRow[] {
  return handle.prepare("select * from budget_hold where state = 'open'").all() as unknown as HoldRow[]
}

export function factsOf(hold: HoldRow): CallFacts {
  return {
    agentId: hold.agent_id,
    usedFor: {
      purpose: hold.purpose as PlannedCall["usedFor"]["purpose"],
      ...(hold.session_key === null ? {} : { sessionKey: hold.session_key }),
      ...(hold.run_id === null ? {} : { runId: hold.run_id }),
    },
  }
}

/** Calls that were cut and whose cost nobody has told. */
export function lostSince({ handle }: Store, since: number): Spent & { calls: number } {
  const row = handle
    .prepare(
      `select count(*) as calls, coalesce(sum(tokens), 0) as tokens, coalesce(sum(nano_dollars), 0) as nanoDollars
       from budget_hold where state = 'lost' and created_at >= ?`,
    )
    .get(since)
  return {
    calls: Number(row?.["calls"] ?? 0),
    tokens: Number(row?.["tokens"] ?? 0),
    nanoDollars: Number(row?.["nanoDollars"] ?? 0),
  }
}

export function grantOf({ handle }: Store, { scope, key, since }: CapPlace): Grant {
  const row = handle
    .prepare(
      `select tokens, nano_dollars as nanoDollars, lifted_until as liftedUntil from budget_grant
       where scope = ? and key = ? and since = ?`,
    )
    .get(scope, key, since) as unknown as Grant | undefined
  return row ?? { tokens: 0, nanoDollars: 0, liftedUntil: null }
}

export function addGrant(write: Write, { scope, key, since }: CapPlace, grant: Grant & { by: string }): void {
  write
    .prepare(
      `insert into budget_grant (scope, key, since, tokens, nano_dollars, lifted_until, granted_by, granted_at)
       values (?, ?, ?, ?, ?, ?, ?, ?)
       on conflict do update set tokens = tokens + excluded.tokens, nano_dollars = nano_dollars + excluded.nano_dollars,
         lifted_until = coalesce(excluded.lifted_until, lifted_until),
         granted_by = excluded.granted_by, granted_at = excluded.granted_at`,
    )
    .run(scope, key, since, grant.tokens, grant.nanoDollars, grant.liftedUntil, grant.by, write.now)
}

/** False when it was told before. `most` is the limit of which it is told: one that was raised is told of anew. */
export function addNotice(write: Write, place: CapPlace, percent: number, most: string): boolean {
  return (
    write
      .prepare(
        "insert into budget_notice (scope, key, since, percent, most, created_at) values (?, ?, ?, ?, ?, ?) on conflict do nothing",
      )
      .run(place.scope, place.key, place.since, percent, most, write.now).changes > 0
  )
}

export function wasTold({ handle }: Store, place: CapPlace, percent: number, most: string): boolean {
  const question =
    "select 1 from budget_notice where scope = ? and key = ? and since = ? and percent = ? and most = ? limit 1"
  return handle.prepare(question).get(place.scope, place.key, place.since, percent, most) !== undefined
}

export function addStopped(write: Write, runId: string, { scope, key }: CapPlace): void {
  write
    .prepare("insert into budget_stopped (run_id, scope, key, created_at) values (?, ?, ?, ?) on conflict do nothing")
    .run(runId, scope, key, write.now)
}

/** Whether a run that a cap has refused still waits for more to be allowed. */
export function isStopped({ handle }: Store, runId: string, { scope, key }: CapPlace): boolean {
  const question = "select 1 from budget_stopped where run_id = ? and scope = ? and key = ?"
  return handle.prepare(question).get(runId, scope, key) !== undefined
}

/** Runs that a cap has ended since, oldest first; they are told once. */
export function takeStopped(write: Write, { scope, key }: CapPlace, since: number): string[] {
  const rows = write
    .prepare("select run_id from budget_stopped where scope = ? and key = ? and created_at >= ? order by created_at")
    .all(scope, key, since)
  write.prepare("delete from budget_stopped where scope = ? and key = ?").run(scope, key)
  return rows.map((row) => String(row["run_id"]))
}

/** Keys of a scope whose sums are kept from then on, most used first. */
export function keysOf({ handle }: Store, scope: CapScope, since: number, limit: number): string[] {
  const order = "order by nano_dollars desc, tokens desc"
  const recent = scope === "job" ? "since = 0 and updated_at >= ?" : "since = ?"
  return handle
    .prepare(`select key from budget_total where scope = ? and ${recent} ${order} limit ?`)
    .all(scope, since, limit)
    .map((row) => String(row["key"]))
}
