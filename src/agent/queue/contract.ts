// What becomes of a message that comes while a turn of its session runs. Fixed when it enters, like its route, and kept
// with it: a later change of the settings is for later messages. No runtime.
import type { ModelMessage } from "../../models/contract.ts"
import type { QueueDrop, QueueMode } from "../../sessions/queue-choice.ts"
import type { Origin } from "../../sessions/route.ts"

export interface QueueRule {
  mode: QueueMode
  /** Messages of one person in one chat that may wait. */
  cap: number
  drop: QueueDrop
}

/** A row of the journal: what was put into a running turn. */
export interface SteeredStep {
  message: ModelMessage
  origin: Origin
  /** It holds words of others. */
  foreign?: true
  /** Jobs that end with the turn. */
  jobs: number[]
}
