// Timeouts and aborts for every wait on the outside.
import { AppError } from "./errors.ts"

/** A signal that aborts after `timeoutMs` with an AppError `timeout`, or when `parent` does. Call `clear` when done. */
export function withTimeout(
  timeoutMs: number,
  what: string,
  parent?: AbortSignal,
): { signal: AbortSignal; clear: () => void } {
  const controller = new AbortController()
  const onParentAbort = () => controller.abort(parent?.reason)
  if (parent?.aborted) onParentAbort()
  else parent?.addEventListener("abort", onParentAbort, { once: true })
  const timer = setTimeout(() => {
    controller.abort(new AppError("timeout", `${what} took longer than ${timeoutMs} ms`))
  }, timeoutMs)
  return {
    signal: controller.signal,
    clear: () => {
      clearTimeout(timer)
      parent?.removeEventListener("abort", onParentAbort)
    },
  }
}

/** Runs `work` under a time limit; rejects with the signal's reason at once when it aborts, whatever `work` does. */
export async function runWithTimeout<T>(
  timeoutMs: number,
  what: string,
  work: (signal: AbortSignal) => Promise<T>,
  parent?: AbortSignal,
): Promise<T> {
  const { signal, clear } = withTimeout(timeoutMs, what, parent)
  try {
    return await raceAbort(work(signal), signal)
  } finally {
    clear()
  }
}

/** The promise's result, or a rejection with the signal's reason as soon as it aborts. */
export function raceAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const onAbort = () => reject(signal.reason)
    if (signal.aborted) {
      // The promise is still observed, so that its failure is not an unhandled rejection.
      promise.catch(() => undefined)
      onAbort()
      return
    }
    signal.addEventListener("abort", onAbort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort))
  })
}
