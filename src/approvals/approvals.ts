// Approvals: what the agent may not do by itself it can ask an owner for. A question is a row, so a restart loses nothing:
//   call -> asked -> (owner) allowed | denied, or expired -> a turn that is told -> the same call -> used
// Nothing waits in memory. An answer counts once, for exactly the action that was shown, until the time that was told.
import type { Clock, Ids, Log } from "../kernel/index.ts"
import { type ApprovalRow, type JobEnd, type JobRow, type Store, type Write, cancelWaiting } from "../store/index.ts"
import { canonicalJson, describeAction, digestOf } from "./canonical.ts"
import type {
  ApprovalAnswer,
  ApprovalDetail,
  ApprovalLinks,
  ApprovalQuestion,
  ApprovalSummary,
  Decided,
  Decision,
} from "./contract.ts"
import {
  type ApprovalQuery,
  countAsked,
  detailOf,
  findApproval,
  insertApproval,
  listApprovals,
  resolveId,
  sameAction,
  setDecision,
  setState,
  setUsed,
} from "./rows.ts"

export const approvalExpiryKind = "approval-expiry"

/** Nobody can read more; and a page that makes the agent ask must not fill an owner's chat. */
const maxAsked = { ofSession: 5, ofOrigin: 10, all: 20 }

export interface ApprovalsOptions extends ApprovalLinks {
  store: Store
  clock: Clock
  ids: Ids
  log: Log
  validMs: () => number
}

export interface Approvals {
  /** May this call be made now? Uses up what was allowed, or asks. Durable when it resolves. */
  request(question: ApprovalQuestion): Promise<ApprovalAnswer>
  /** An owner's answer; `by` says which owner, or which door it came through. Throws `not-found`, `conflict`. */
  decide(id: string, decision: Decision, by: string): Promise<Decided>
  list(query: ApprovalQuery): { approvals: ApprovalSummary[]; next: number | null }
  /** Throws `not-found`, `conflict`. */
  read(id: string): ApprovalDetail
  /** The handler of jobs of kind `approval-expiry`. */
  expire(job: JobRow): Promise<JobEnd>
}

export function createApprovals(options: ApprovalsOptions): Approvals {
  const { store, clock } = options
  return {
    request: (question) => store.write(async (write) => request(options, write, question)),
    decide: (id, decision, by) => {
      const whole = resolveId(store.handle, id)
      return store.write(async (write) => decide(options, write, { id: whole, decision, by }))
    },
    list: (query) => listApprovals(store.handle, { ...query, now: clock.now() }),
    read(id) {
      const row = findApproval(store.handle, resolveId(store.handle, id)) as ApprovalRow
      return detailOf(row, clock.now())
    },
    expire: async (job) => ({ commit: async (write) => expire(options, write, job) }),
  }
}

function request(options: ApprovalsOptions, write: Write, question: ApprovalQuestion): ApprovalAnswer {
  const { store, log } = options
  const { sessionKey, tool, runId: run } = question
  const digest = digestOf(tool, question.action)
  const earlier = sameAction(store.handle, sessionKey, digest)
  const isRepeat = earlier.some((row) => row.state === "used" && row.used_by === question.callKey)
  if (isRepeat) return { kind: "allowed" }
  const allowed = earlier.find((row) => row.state === "allowed" && row.expires_at > write.now)
  if (allowed && setUsed(write, allowed.id, question.callKey)) {
    log.info({ approval: allowed.id, tool, run }, "approval used")
    return { kind: "allowed" }
  }
  const waiting = earlier.find((row) => row.state === "asked" && row.expires_at > write.now)
  if (waiting) return { kind: "waiting", id: waiting.id, until: waiting.expires_at }
  // An owner who has said no is not asked the same again at once.
  if (earlier.some((row) => row.state === "denied" && (row.decided_at ?? 0) + options.validMs() > write.now))
    return { kind: "denied" }
  const open = countAsked(store.handle, { session: sessionKey, origin: question.origin, now: write.now })
  const isFull = open.ofSession >= maxAsked.ofSession || open.ofOrigin >= maxAsked.ofOrigin || open.all >= maxAsked.all
  if (isFull) return { kind: "full" }
  return ask(options, write, question, digest)
}

function ask(options: ApprovalsOptions, write: Write, question: ApprovalQuestion, digest: string): ApprovalAnswer {
  const { ids, log } = options
  const { tool, runId, action } = question
  const row: ApprovalRow = {
    // Random: the key says nothing of other questions, and its beginning is enough to name it.
    id: ids.uuid().replaceAll("-", "").slice(-16),
    run_id: runId,
    session_key: question.sessionKey,
    agent_id: question.agentId,
    origin: question.origin,
    tool,
    action: canonicalJson(action),
    digest,
    text: describeAction(question.summary, action),
    resume: JSON.stringify(question.resume),
    state: "asked",
    asked_at: write.now,
    expires_at: write.now + options.validMs(),
    decided_by: null,
    decided_at: null,
    used_at: null,
    used_by: null,
  }
  insertApproval(write, row)
  const told = options.tell(write, row)
  write.addJob({
    runId: ids.uuid(),
    kind: approvalExpiryKind,
    laneKey: expiryLane(row.id),
    payload: { id: row.id },
    runAt: row.expires_at,
    urgent: true,
  })
  log.info({ approval: row.id, tool, run: runId, session: row.session_key, told }, "approval asked")
  return { kind: "asked", id: row.id, until: row.expires_at, told }
}

/** A lane of its own: what is to happen in an hour must not hold up the session until then. */
function expiryLane(id: string): string {
  return `approval:${id}`
}

function decide(
  options: ApprovalsOptions,
  write: Write,
  { id, decision, by }: { id: string; decision: Decision; by: string },
): Decided {
  const { store, log } = options
  const row = findApproval(store.handle, id)
  if (!row) return { kind: "unknown" }
  if (row.state !== "asked" || row.expires_at <= write.now) return { kind: "closed", row }
  setDecision(write, id, { decision, by, expiresAt: write.now + options.validMs() })
  const decided = findApproval(store.handle, id) as ApprovalRow
  if (decision === "allow" && options.fulfil?.(write, decided)) setUsed(write, id, `decided by ${by}`)
  cancelWaiting(store, write, expiryLane(id))
  options.resume(write, decided)
  log.info({ approval: id, decision, by, session: row.session_key }, "approval decided")
  return { kind: "decided", row: decided }
}

function expire(options: ApprovalsOptions, write: Write, job: JobRow): void {
  const { id } = JSON.parse(job.payload) as { id: string }
  if (!setState(write, id, "asked", "expired")) return
  const row = findApproval(options.store.handle, id) as ApprovalRow
  options.resume(write, row)
  options.log.info({ approval: id, session: row.session_key }, "approval expired")
}
