// Work that nobody awaits: named, its failure logged, and counted so that a stop can wait for it.
import type { Log } from "./log.ts"

export interface Background {
  run(name: string, work: () => Promise<unknown>): void
  /** Resolves when nothing is running any more. */
  idle(): Promise<void>
}

export function createBackground(log: Log): Background {
  const running = new Set<Promise<void>>()
  return {
    run(name, work) {
      const promise = (async () => {
        try {
          await work()
        } catch (error) {
          log.error({ err: error, work: name }, "background work failed")
        }
      })()
      running.add(promise)
      void promise.finally(() => running.delete(promise))
    },
    async idle() {
      while (running.size > 0) await Promise.all(running)
    },
  }
}
