// What is done in a tab, one after the other, each within its time.
export interface Operation {
  /** Aborted when the time is up, the caller gives up, a dialog opens, the page crashes or the tab closes. */
  signal: AbortSignal
  /** Monotonic time at which the signal aborts: checks that are repeated give up just before, with a better reason. */
  deadline: number
}

export interface OperationOptions {
  /** For messages: "The click". */
  what: string
  timeoutMs: number
  signal?: AbortSignal | undefined
  /** Works on a crashed page too, because it brings another. */
  renews?: boolean
}
