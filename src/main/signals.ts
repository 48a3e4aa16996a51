// When the gateway ends: a signal or a request begins a clean stop, a second signal ends it at once. One that comes while it
// ends only to begin anew is the first.
import type { AppError, Clock, Log } from "../kernel/index.ts"

export interface StopRequest {
  /** Resolves with why, the first time somebody asks. */
  requested: Promise<string>
  request(reason: string): void
  /** To begin anew, unless somebody asks for the end meanwhile. */
  restart(reason: string): void
  /** Whether nobody has asked for more than that. */
  isRestart(): boolean
  /** As `request`, because going on is impossible; the first such error. */
  fail(error: AppError): void
  failure(): AppError | undefined
  dispose(): void
}

const signals = ["SIGTERM", "SIGINT", "SIGHUP"] as const

/**
 * Node.js answers SIGUSR1 by opening its inspector, a port that runs any code for any user of the machine. A listener
 * takes its place; it stays for as long as the process does. `--disable-sigusr1` does the same from the first moment,
 * but not every way of starting the program can name it.
 */
export function keepInspectorClosed(): void {
  if (process.platform !== "win32") process.on("SIGUSR1", () => undefined)
}

/**
 * One wish to stop comes more than once: the terminal signals all of its processes, and what stands above the gateway (npm,
 * `timeout`, a service manager) signals it too. Nobody presses a key twice in this time.
 */
const sameWishMs = 250

export function listenForStop({ log, clock }: { log: Log; clock: Clock }, exitNow: () => void): StopRequest {
  const { promise, resolve } = Promise.withResolvers<string>()
  let isEnd = false
  let signalledAt = Number.NEGATIVE_INFINITY
  let failure: AppError | undefined
  const request = (reason: string) => {
    isEnd = true
    resolve(reason)
  }
  const onSignal = (signal: NodeJS.Signals) => {
    const since = clock.monotonic() - signalledAt
    if (!isEnd) {
      signalledAt = clock.monotonic()
      request(signal)
      return
    }
    if (since < sameWishMs) return
    log.warn({ signal }, "second signal: ending at once")
    exitNow()
  }
  for (const signal of signals) process.on(signal, onSignal)
  return {
    requested: promise,
    request,
    restart: (reason) => resolve(`restart: ${reason}`),
    isRestart: () => !isEnd,
    fail(error) {
      failure ??= error
      request(error.message)
    },
    failure: () => failure,
    dispose() {
      for (const signal of signals) process.off(signal, onSignal)
    },
  }
}
