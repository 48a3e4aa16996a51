// The job that sums a conversation up.
import type { Json } from "../../kernel/index.ts"
import type { Route } from "../../sessions/index.ts"
import type { NewJob } from "../../store/index.ts"

export const compactJobKind = "compact"

/** The payload of its job. */
export interface CompactInput {
  agentId: string
  sessionKey: string
  /** What matters, in the words of whoever has asked. */
  instructions?: string
  /** Messages that the parts before this one stand for, where the past is too long for one. */
  done?: number
  /** Who is told how it went; unset: nobody, the run has it. */
  route?: Route
}

export function compactJob(runId: string, input: CompactInput): NewJob {
  return { runId, kind: compactJobKind, laneKey: input.sessionKey, payload: input as unknown as Json }
}
