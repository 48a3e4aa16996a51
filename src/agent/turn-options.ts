// What turns need of the gateway, and what they hand over. Types only.
import type { Clock, CrashPoint, Ids, Log } from "../kernel/index.ts"
import type { ModelRegistry } from "../models/contract.ts"
import type { Approvals } from "../approvals/index.ts"
import type { Sessions } from "../sessions/index.ts"
import type { Store, Write } from "../store/index.ts"
import type { CompactRule } from "./compact/due.ts"
import type { ToolSources } from "./offered-tools.ts"
import type { WorkspaceFile } from "./prompt/workspace.ts"
import type { ConfirmRule } from "./confirm.ts"
import type { ToolPlace } from "./tool.ts"
import type { ToolPolicy } from "./tool-policy.ts"
import type { TurnLimits } from "./turn-limits.ts"
import type { TurnInput, TurnObserver, TurnPreparation, TurnView } from "./turn-input.ts"

export interface AgentProfile {
  name: string
  manner?: string
  timeoutSeconds: number
  limits: TurnLimits
  /** Which tools its turns may use, wherever they are; unset: all. */
  tools?: ToolPolicy
  /** Calls that an owner wants to be asked about. */
  confirm?: readonly ConfirmRule[]
}

export interface TurnOptions extends ToolSources {
  store: Store
  sessions: Sessions
  models: ModelRegistry
  /** Waits a short time for tools of a turn in this place that are on their way; unset: none ever are. */
  toolsReady?: (place: ToolPlace, signal: AbortSignal) => Promise<void>
  /** Where an owner is asked about what a turn may not do by itself; without it nobody can be asked. */
  approvals?: Approvals
  profile: (agentId: string) => AgentProfile
  clock: Clock
  /** How the model is shown a time, in milliseconds since the epoch. */
  timeText: (ms: number) => string
  ids: Ids
  log: Log
  crashPoint: CrashPoint
  /** Writes the outbox rows of a finished turn; called inside its last transaction. Says what it did, for the run's result. */
  deliver: (write: Write, delivery: TurnDelivery) => string
  /** Typing, drafts. */
  observe: (input: TurnInput, runId: string, view: TurnView) => TurnObserver
  /** The channel's part in making the prompt; undefined when it has none. */
  preparation: (input: TurnInput) => TurnPreparation | undefined
  /** Whether the sender may still be heard with the standing that the message was taken in with; unset: yes. */
  isHeard?: (input: TurnInput) => boolean
  /** When conversations are summed up by themselves; unset: never. */
  compactRule?: () => CompactRule | undefined
  /** How long an acknowledgment may be that says that nothing needs attention; unset: 300 characters. */
  ackMaxChars?: () => number
  /** What the agent's owner has written down for its prompt; unset: nothing. */
  workspaceFiles?: (agentId: string, place: { isPrivate: boolean }) => readonly WorkspaceFile[]
}

export interface TurnDelivery {
  input: TurnInput
  jobId: number
  text: string
  /** Files that this turn's tools made: the only ones that its reply may send. */
  media: Set<string>
  isError: boolean
  /** The model's thinking, where the conversation wants to read it. */
  reasoning?: string
  /** Questions that were put to the model; the text is the answer to the last. */
  modelSteps?: number
  /** Words of others were part of what the text was written from: it must not make anything be fetched. */
  isTainted?: boolean
  /** Somebody has stopped it: the text is what had been written by then. */
  isStopped?: boolean
  /** Of a heartbeat: its acknowledgment is sent too, its thinking as a message of its own. */
  showsAck?: boolean
  isReasoningApart?: boolean
}
