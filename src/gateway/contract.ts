// Wire types of the gateway's own HTTP API, shared with the CLI. No runtime.
import type { UsageSums } from "../budget/contract.ts"

/** `<state>/gateway.json`, written when the gateway is ready, removed on a clean stop; mode 600. */
export interface GatewayFile {
  pid: number
  bootId: string
  host: string
  port: number
  controlPort: number
  /** Absolute path of the file that holds the gateway token. */
  tokenFile: string
  startedAt: string
  version: string
}

export type PartState = "starting" | "ready" | "failed" | "off"

/** What keeps a part from its work, or wants a look. */
export interface Problem {
  part: string
  problem: string
  /** What a person does about it. */
  next?: string
}

export interface Readiness {
  /** False while a part starts, one does not work that takes things in (a model or a browser is none), or all stops. */
  ok: boolean
  parts: Record<string, PartState>
  problems?: Problem[]
}

export interface GatewayStatus {
  version: string
  pid: number
  bootId: string
  startedAt: string
  stateFolder: string
  configPath: string
  port: number
  controlPort: number
  parts: Record<string, PartState>
  /** Asked when they are told, or in the five seconds before. */
  problems: Problem[]
  /** The last configuration error while the last good one stays in force. */
  configProblem?: string
  store: {
    accepting: boolean
    /** Why nothing is accepted or written now, and what to do. */
    problem?: string
    /** Results of runs and sends that wait for it. */
    unwritten?: number
  }
  /** Failures are those of the last seven days that nobody has dismissed. */
  jobs: { ready: number; running: number; dead: number }
  outbox: { new: number; sending: number; uncertain: number; dead: number }
  /** System events; those set aside no model took. */
  events: { waiting: number; setAside: number }
  /** What a person has to answer. */
  waiting: { approvals: number; pairing: number }
  /** Where `useIndicator` wants them shown. */
  heartbeats: {
    agentId: string
    everyMs: number
    nextAt?: number
    last?: { runId: string; at: number; reason: string; outcome: string }
  }[]
  channels: unknown[]
  /** `warnings`: what may not work of the models that the configuration names. */
  model: ({ id: string } | { error: string }) & { warnings?: string[] }
  /** What the calls of models took. */
  usage: { today: UsageSums }
  /** Absent while no schedule is set. Times in milliseconds since the epoch. */
  backup?: {
    everyMs: number
    running: boolean
    last: { createdAt: number; archive?: string; bytes?: number } | null
    failure: { at: number; error: string } | null
  }
  memoryMb: number
}
