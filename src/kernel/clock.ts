// Time as a value that is passed in, so that tests are exact. Leases and timeouts use monotonic time:
// it does not jump when the wall clock is set.
import { setTimeout as delay } from "node:timers/promises"

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Milliseconds from an arbitrary start; never goes back. */
  monotonic(): number
  /** Resolves after `ms`; rejects with the signal's reason when aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) => delay(ms, undefined, signal ? { signal } : {}),
}
