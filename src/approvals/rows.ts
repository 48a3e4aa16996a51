// The SQL of approvals. Only this feature writes the table; every change of a state names the state before it, so that
// of two who decide at once one comes too late.
import { AppError, type Json } from "../kernel/index.ts"
import type { ApprovalRow, ApprovalState, Store, Write } from "../store/index.ts"
import type { ApprovalDetail, ApprovalSummary, Decision } from "./contract.ts"

type Handle = Pick<Store["handle"], "prepare">

export interface ApprovalQuery {
  state?: ApprovalState | undefined
  limit: number
  /** Only those that were asked before this time. */
  before?: number | undefined
}

export function insertApproval(write: Write, row: ApprovalRow): void {
  write
    .prepare(
      `insert into approval (id, run_id, session_key, agent_id, origin, tool, action, digest, text, resume,
         asked_at, expires_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    .run(
      row.id,
      row.run_id,
      row.session_key,
      row.agent_id,
      row.origin,
      row.tool,
      row.action,
      row.digest,
      row.text,
      row.resume,
      row.asked_at,
      row.expires_at,
    )
}

export function findApproval(handle: Handle, id: string): ApprovalRow | undefined {
  return handle.prepare("select * from approval where id = ?").get(id) as ApprovalRow | undefined
}

/** All that was asked in a session about this very action, newest first. */
export function sameAction(handle: Handle, sessionKey: string, digest: string): ApprovalRow[] {
  return handle
    .prepare("select * from approval where session_key = ? and digest = ? order by asked_at desc, id desc limit 20")
    .all(sessionKey, digest) as unknown as ApprovalRow[]
}

/** How many questions wait for an answer: of this session, of this source, and of all. */
export function countAsked(
  handle: Handle,
  { session, origin, now }: { session: string; origin: string; now: number },
): { ofSession: number; ofOrigin: number; all: number } {
  const row = handle
    .prepare(
      `select count(*) as n, sum(session_key = ?) as s, sum(origin = ?) as o from approval
       where state in ('asked', 'allowed') and state = 'asked' and expires_at > ?`,
    )
    .get(session, origin, now)
  return { ofSession: Number(row?.["s"]), ofOrigin: Number(row?.["o"]), all: Number(row?.["n"]) }
}

/** False when somebody was faster. */
export function setState(write: Write, id: string, from: ApprovalState, to: ApprovalState): boolean {
  return write.prepare("update approval set state = ? where id = ? and state = ?").run(to, id, from).changes > 0
}

export function setDecision(
  write: Write,
  id: string,
  { decision, by, expiresAt }: { decision: Decision; by: string; expiresAt: number },
): void {
  const state = decision === "allow" ? "allowed" : "denied"
  write
    .prepare(
      `update approval set state = ?, decided_by = ?, decided_at = ?, expires_at = ? where id = ? and state = 'asked'`,
    )
    .run(state, by, write.now, expiresAt, id)
}

export function setUsed(write: Write, id: string, callKey: string): boolean {
  const { changes } = write
    .prepare("update approval set state = 'used', used_at = ?, used_by = ? where id = ? and state = 'allowed'")
    .run(write.now, callKey, id)
  return changes > 0
}

/** Newest first; those of one millisecond come together, because the cursor is a time. */
export function listApprovals(
  handle: Handle,
  { state, limit, before = Number.MAX_SAFE_INTEGER, now }: ApprovalQuery & { now: number },
): { approvals: ApprovalSummary[]; next: number | null } {
  // Few are open, and have an index of their own: `+` keeps the one by age from being walked instead.
  const isOpen = state === "asked" || state === "allowed"
  const wanted = isOpen ? "state in ('asked', 'allowed') and state = ?1" : "(?1 is null or state = ?1)"
  const age = isOpen ? "+asked_at" : "asked_at"
  const rows = handle
    .prepare(`select * from approval where ${age} < ?3 and ${wanted} order by ${age} desc, id desc limit ?2`)
    .all(state ?? null, limit, before) as unknown as ApprovalRow[]
  const last = rows.at(-1)
  const isWhole = rows.length < limit || !last
  const same = isWhole
    ? []
    : (handle
        .prepare(`select * from approval where asked_at = ?2 and id < ?3 and ${wanted} order by id desc`)
        .all(state ?? null, last.asked_at, last.id) as unknown as ApprovalRow[])
  return {
    approvals: [...rows, ...same].map((row) => summaryOf(row, now)),
    next: isWhole ? null : last.asked_at,
  }
}

/** An id as it is shown, or its beginning where only one has it. Throws `not-found`, `conflict`. */
export function resolveId(handle: Handle, idOrPrefix: string): string {
  const prefix = idOrPrefix.trim().toLowerCase()
  const rows = /^[0-9a-f]{4,32}$/.test(prefix)
    ? (handle.prepare("select id from approval where id >= ? and id < ? limit 2").all(prefix, `${prefix}g`) as {
        id: string
      }[])
    : []
  const [only, other] = rows
  if (only && !other) return only.id
  if (only) throw new AppError("conflict", `Several approvals begin with ${prefix}`, { hint: "Give more of the id" })
  throw new AppError("not-found", `There is no approval ${idOrPrefix.slice(0, 40)}`, {
    hint: "They are listed by: svc approvals list",
  })
}

export function detailOf(row: ApprovalRow, now: number): ApprovalDetail {
  return { ...summaryOf(row, now), action: JSON.parse(row.action) as Json, digest: row.digest }
}

/** What was allowed and not done in time has lapsed, whoever looks first. */
function summaryOf(row: ApprovalRow, now: number): ApprovalSummary {
  const isLapsed = (row.state === "allowed" || row.state === "asked") && row.expires_at <= now
  return {
    id: row.id,
    state: isLapsed ? "expired" : row.state,
    tool: row.tool,
    text: row.text,
    runId: row.run_id,
    session: row.session_key,
    agent: row.agent_id,
    origin: row.origin,
    askedAt: row.asked_at,
    expiresAt: row.expires_at,
    decidedBy: row.decided_by,
    decidedAt: row.decided_at,
    usedAt: row.used_at,
  }
}
