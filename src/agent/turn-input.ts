// What starts a turn: the payload of a job of kind `turn`, written by whoever lets something in.
import type { Json } from "../kernel/index.ts"
import type { NewJob } from "../store/index.ts"
import type { Origin, Route } from "../sessions/route.ts"
import type { ThinkingLevel } from "../models/contract.ts"

export interface TurnMedia {
  /** Absolute path below the media root. */
  path: string
  mediaType: string
}

export interface TurnInput {
  agentId: string
  sessionKey: string
  purpose: "chat" | "hook" | "heartbeat"
  /** Who wrote the text, set where it entered. */
  origin: Origin
  /** False: the text goes to the model inside the untrusted boundary. */
  trusted: boolean
  /** False: the text is shown without that boundary though it is not trusted. It gives its turn no authority. */
  wrap?: boolean
  /** One line of our own about sender, chat and time; outside the boundary, so free of foreign words. */
  header?: string
  /** Foreign words about the text (sender's name, hook name); shown inside the boundary or escaped. */
  about?: Record<string, string>
  text: string
  media?: TurnMedia[]
  /** Where the reply goes; null when it goes nowhere. Fixed here, changed by nobody. */
  route: Route | null
  /** Why `route` is null although a delivery was asked for; told in the run's result. */
  routeProblem?: string
  /** For webhooks: name in the summary, and whether the main session is woken at once. */
  hook?: {
    name: string
    wakeMode: "now" | "next-heartbeat"
    /** Where the result is posted, and the mapping that says so. */
    callback?: { url: string; mapping: string }
  }
  model?: string
  thinking?: ThinkingLevel
  timeoutSeconds?: number
}

export const turnJobKind = "turn"
export const heartbeatJobKind = "heartbeat"

/** The job of a turn, in the lane of its session. */
export function turnJob(runId: string, input: TurnInput): NewJob {
  return { runId, kind: turnJobKind, laneKey: input.sessionKey, payload: input as unknown as Json }
}

/** A wake of a session: several that wait become one. */
export function heartbeatJob(runId: string, sessionKey: string, reason: "wake" | "interval" | "hook"): NewJob {
  return { runId, kind: heartbeatJobKind, laneKey: sessionKey, payload: { reason }, coalesce: true }
}

/** Sees a turn while it runs (typing indicator, drafts). Must never throw and never delay the turn. */
export interface TurnObserver {
  onDelta?(delta: { kind: "text" | "reasoning"; text: string }): void
  /** Called once, whatever the end was. */
  end(): void
}
