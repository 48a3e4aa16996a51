// Wire types of kept deliveries, shared with the command line. No runtime.
import type { Json } from "../kernel/index.ts"
import type { RunDelivery } from "../store/run-delivery.ts"
import type { HookVerdict } from "../store/schema.ts"

export interface HookDeliverySummary {
  id: number
  receivedAt: number
  /** Id of the mapping, `wake` or `agent`; empty when nothing matched. */
  mapping: string
  path: string
  method: string
  verdict: HookVerdict
  status: number
  runIds: string[]
  error: string | null
  bytes: number
  replayOf: number | null
  tookMs: number
  /** Who sent it, when nothing was proven; then the row stands for `times` requests of that address in one hour. */
  address: string | null
  times: number
}

export interface HookDeliveryDetail extends HookDeliverySummary {
  headers: Record<string, string>
  query: Record<string, string>
  /** As text; what is not UTF-8 is shown as replacement characters. */
  body: string
  answer: Json
  runs: HookRun[]
}

export interface HookDeliveryPage {
  items: HookDeliverySummary[]
  /** Pass it as `before` for the next, older page; null when there is none. */
  next: number | null
  /** Requests that were turned away since the start, by error code; only some of them are kept. */
  refused: Record<string, number>
}

/** What became of a run. */
export interface HookRun {
  runId: string
  state: "ready" | "running" | "done" | "dead" | "cancelled"
  reply: string | null
  /** What has become of its messages, in words: as the outbox has it now, else why there is none. */
  delivered: string | null
  delivery: RunDelivery
  error: string | null
  createdAt: number
  finishedAt: number | null
}

export interface HookTestRequest {
  path: string
  /** Raw body. */
  body: string
  headers?: Record<string, string> | undefined
  query?: Record<string, string> | undefined
  dryRun?: boolean | undefined
}

/** What a delivery would do. */
export interface HookTestPlan {
  mapping: string
  actions: Json[]
}

export interface HookOutcome {
  status: number
  answer: Json
}
