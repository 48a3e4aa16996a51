// What becomes of a message that comes while a turn of its session runs, as people choose it. No runtime.

/**
 * `collect`: one next turn for all that has come. `followup`: a turn each. `steer`: into the running turn, before its
 * next question to the model. `steer-backlog`: that, and a turn of its own. `interrupt`: the running turn is stopped.
 */
export type QueueMode = "collect" | "followup" | "steer" | "steer-backlog" | "interrupt"

/** At the cap: the newest is refused, the oldest dropped, or the oldest dropped and a line of it kept. */
export type QueueDrop = "summarize" | "old" | "new"

/** What `/queue` has set for a session. */
export interface QueueChoice {
  mode?: QueueMode
  /** How long nothing more must have come before what waits is taken up. */
  debounceMs?: number
  cap?: number
  drop?: QueueDrop
}
