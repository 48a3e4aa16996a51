// What approvals are to the rest: a call that is asked about, the answers, and how a row is shown. No runtime.
import type { Json } from "../kernel/index.ts"
import type { Origin } from "../sessions/route.ts"
import type { ApprovalRow, ApprovalState, Write } from "../store/index.ts"

/** A call that may not be made by itself. */
export interface ApprovalQuestion {
  runId: string
  sessionKey: string
  agentId: string
  /** Least trusted source of what the turn acts on. */
  origin: Origin
  tool: string
  /** Everything that decides what the call does. What is allowed is exactly this. */
  action: Json
  /** One line in our words; the owner reads it above the action itself. */
  summary: string
  /** Which call of which run it is: the same call made again after a crash is still allowed. */
  callKey: string
  /** How the turn begins that is told the answer; in a shape of the agent's own. */
  resume: Json
}

export type ApprovalAnswer =
  /** The owner has allowed it; from now on it is used up. */
  | { kind: "allowed" }
  /** `told`: the owner has the question in a chat. */
  | { kind: "asked"; id: string; until: number; told: boolean }
  /** It had been asked already. */
  | { kind: "waiting"; id: string; until: number }
  | { kind: "denied" }
  /** Too many questions are open. */
  | { kind: "full" }

export type Decision = "allow" | "deny"

export type Decided =
  | { kind: "decided"; row: ApprovalRow }
  | { kind: "unknown" }
  /** It was decided before, or the time is over. */
  | { kind: "closed"; row: ApprovalRow }

export interface ApprovalSummary {
  id: string
  state: ApprovalState
  tool: string
  text: string
  runId: string
  session: string
  agent: string
  origin: string
  askedAt: number
  expiresAt: number
  decidedBy: string | null
  decidedAt: number | null
  usedAt: number | null
}

export interface ApprovalDetail extends ApprovalSummary {
  action: Json
  digest: string
}

export interface ApprovalLinks {
  /** Does what an owner has just allowed where that is no call but a change of ours; false: a turn has to make the call. */
  fulfil?(write: Write, row: ApprovalRow): boolean
  /** Puts the question to an owner, in the transaction that keeps it; false when there is no chat to ask in. */
  tell(write: Write, row: ApprovalRow): boolean
  /** Begins the turn that is told how it ended, in the transaction that ends it. */
  resume(write: Write, row: ApprovalRow): void
}
