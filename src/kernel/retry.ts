// Exponential backoff with jitter, as plain functions.
import type { Clock } from "./clock.ts"

export interface RetryPolicy {
  /** Tries in all, the first included. */
  attempts: number
  minDelayMs: number
  maxDelayMs: number
  /** 0..1: how far a delay may differ from its nominal value, as a share of it. */
  jitter: number
}

/** Milliseconds to wait after the given failed attempt (1-based). */
export function backoffMs(policy: RetryPolicy, attempt: number, random: () => number = Math.random): number {
  const nominal = Math.min(policy.maxDelayMs, policy.minDelayMs * 2 ** (attempt - 1))
  return Math.max(0, Math.round(nominal * (1 + policy.jitter * (2 * random() - 1))))
}

/** What a failed attempt means: try again (after `delayMs` if the other side named one), or give up. */
export type RetryVerdict = { kind: "retry"; delayMs?: number } | { kind: "give-up" }

/** Runs `work` until it succeeds, `judge` gives up, or the attempts are used; the last error is rethrown. */
export async function retry<T>(
  options: { policy: RetryPolicy; clock: Clock; signal?: AbortSignal; judge: (error: unknown) => RetryVerdict },
  work: (attempt: number) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work(attempt)
    } catch (error) {
      const verdict = options.judge(error)
      if (verdict.kind === "give-up" || attempt >= options.policy.attempts || options.signal?.aborted) throw error
      await options.clock.sleep(verdict.delayMs ?? backoffMs(options.policy, attempt), options.signal)
    }
  }
}
