// What a delivery asks for, after its payload was read. Built-in endpoints make actions from their own fields;
// everything after this point is the same for whoever made the action.
import type { PromptSegment } from "../agent/turn-input.ts"
import type { ThinkingLevel } from "../models/contract.ts"

export type WakeMode = "now" | "next-heartbeat"

export interface WakeAction {
  kind: "wake"
  text: string
  /** The text in pieces, when a template made it, or when it is to be shown without a boundary. */
  segments?: readonly PromptSegment[]
  mode: WakeMode
  /** The heartbeat that shows it may be given the main session's history. Set by the configuration alone. */
  shareHistory?: true
}

export interface AgentAction {
  kind: "agent"
  message: string
  /** The message in pieces, when a template made it and its values are to be marked. */
  segments?: readonly PromptSegment[]
  /** One line, at most 100 characters, free of control characters; still foreign words. */
  name: string
  /** As the caller wrote it; it only ever names a session of its own below `hook:`. */
  sessionKey: string | undefined
  wakeMode: WakeMode
  deliver: boolean
  /** `last`, or the name of a channel, lower-case. */
  channel: string
  to: string | undefined
  model: string | undefined
  /** Taken when none is asked for, as far as it can be had and is allowed. */
  preferredModel?: string | undefined
  thinking: ThinkingLevel | undefined
  timeoutSeconds: number | undefined
  /** Shown to the model without the boundary for foreign text. Set by the configuration of a mapping alone. */
  unwrapped?: true
  /** The heartbeat that shows its summary may be given the main session's history. Set by the configuration alone. */
  shareHistory?: true
  /** Where the result is posted when the run has ended, as the mapping had it when the delivery came. */
  callbackUrl?: string
}

export type HookAction = WakeAction | AgentAction
