// Questions to an owner about one action of the agent each.
import { z } from "zod"
import { before, define, limit, nothing } from "./endpoint.ts"

export const approvalState = z.enum(["asked", "allowed", "denied", "expired", "used"])

export const approvalSummary = z.object({
  id: z.string(),
  state: approvalState,
  tool: z.string(),
  /** What it is about, in our words and then as it is. */
  text: z.string(),
  runId: z.string(),
  session: z.string(),
  agent: z.string(),
  /** Least trusted source of what the turn acts on. */
  origin: z.string(),
  askedAt: z.number(),
  expiresAt: z.number(),
  decidedBy: z.string().nullable(),
  decidedAt: z.number().nullable(),
  usedAt: z.number().nullable(),
})

export const approvalDetail = approvalSummary.extend({ action: z.json(), digest: z.string() })

const params = z.object({ id: z.string().trim().min(4).max(64) })
const decided = z.object({ message: z.string(), approval: approvalDetail })

export const approvalEndpoints = define({
  "GET /api/approvals": {
    summary: "Lists what owners were asked, newest first; `before` is a time",
    query: z.object({ limit, before, state: approvalState.optional() }),
    reply: z.object({ approvals: z.array(approvalSummary), next: z.number().nullable() }),
  },
  "GET /api/approvals/:id": {
    summary: "Shows one question with everything that decides what would be done",
    params,
    reply: approvalDetail,
  },
  "POST /api/approvals/:id/allow": {
    summary: "Allows exactly this, once",
    params,
    body: nothing,
    reply: decided,
  },
  "POST /api/approvals/:id/deny": {
    summary: "Denies it",
    params,
    body: nothing,
    reply: decided,
  },
})
