// What the thread beside the event loop and the loop's own watch tell each other.

/** What the thread notes of a hang that has not ended. */
export interface Hang {
  bootId: string
  /** When the loop stopped, ISO text. */
  since: string
  /** How long it had hung when this was written. */
  ms: number
  /** Ids that were given to `beginWork` and had not ended: the cause is most likely among them. */
  work: string[]
  /** Innermost first; empty when the main thread was inside native code. */
  stack: string[]
}
