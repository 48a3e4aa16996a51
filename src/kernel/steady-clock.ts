// The one detector of a wall clock that is set: wall minus monotonic time has changed by more than clocks drift. Made at
// the process's edge; to everybody behind it time goes on as before until those who keep times durably have followed the
// step (`takeStep`), so that nothing is due, late or given up because of it.
import type { Clock } from "./clock.ts"

/** Clocks that are adjusted slowly stay below this between two looks; a step below it harms nothing. */
const smallestStepMs = 1_500
/** How often a step is looked for while nobody asks for the time. */
const lookMs = 1_000

export interface SteadyClock extends Clock {
  /** By how much the wall clock was set, and nobody has followed yet; 0: it was not. */
  pendingStep(): number
  /** From now on this clock tells the wall clock's time; returns by how much it was set. */
  takeStep(): number
  /** What `takeStep` has led to could not be kept. */
  undoStep(stepMs: number): void
  /** Calls `follow` for each step, one at a time, again for one that it failed for. Returns the way to end that. */
  watch(follow: () => Promise<void>): () => void
}

export function createSteadyClock(raw: Clock): SteadyClock {
  let ahead = raw.now() - raw.monotonic()
  const pendingStep = () => {
    const differenceMs = raw.now() - raw.monotonic() - ahead
    if (Math.abs(differenceMs) >= smallestStepMs) return differenceMs
    // Slow adjustments are followed as they come.
    ahead += differenceMs
    return 0
  }
  return {
    now() {
      pendingStep()
      return Math.round(raw.monotonic() + ahead)
    },
    monotonic: () => raw.monotonic(),
    sleep: (ms, signal) => raw.sleep(ms, signal),
    pendingStep,
    takeStep() {
      const stepMs = Math.round(pendingStep())
      ahead += stepMs
      return stepMs
    },
    undoStep: (stepMs) => void (ahead -= stepMs),
    watch(follow) {
      let busy = false
      const timer = setInterval(() => {
        if (busy || pendingStep() === 0) return
        busy = true
        void follow().finally(() => (busy = false))
      }, lookMs)
      timer.unref()
      return () => clearInterval(timer)
    },
  }
}
