// Waiting for something to happen in the emulator: by event, never by asking again and again.
import type { EmulatorEvent, Feed, NumberedEvent } from "../feed.ts"
import { ControlError } from "./control-error.ts"

export interface WaitOptions {
  /** Default a minute. */
  timeoutMs?: number | undefined
  signal?: AbortSignal | undefined
}

export const defaultWaitMs = 60_000

/** Resolves with the first value that `select` finds in an event from now on; rejects on timeout or abort. */
export function waitForEvent<Value>(
  feed: Feed,
  select: (event: EmulatorEvent, numbered: NumberedEvent) => Value | undefined,
  { timeoutMs = defaultWaitMs, signal, what }: WaitOptions & { what: string },
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const finish = () => {
      clearTimeout(timer)
      unsubscribe()
      signal?.removeEventListener("abort", abort)
    }
    const abort = () => {
      finish()
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      finish()
      reject(new ControlError("timeout", `no ${what} within ${timeoutMs} ms`))
    }, timeoutMs)
    const unsubscribe = feed.subscribe((numbered) => {
      const value = select(numbered.event, numbered)
      if (value === undefined) return
      finish()
      resolve(value)
    })
    if (signal?.aborted) abort()
    else signal?.addEventListener("abort", abort, { once: true })
  })
}
