// A message of mode `interrupt` ends the turn that its sender waits for: at once when it comes, and again when a turn goes
// on after a restart in front of one. It loses nothing: what was asked and done stays in the conversation, and whatever
// waits is answered by the turn that follows.
import { type JobRow, type Store, isStorageFailure } from "../../store/index.ts"
import { TurnStopped } from "../stopped.ts"
import type { TurnInput } from "../turn-input.ts"
import { laneOf, waitingBehind } from "./waiting.ts"

export interface InterruptWatch {
  /** Aborted with `TurnStopped` when such a message waits behind the job. */
  signal: AbortSignal
  end(): void
}

export type WatchInterrupts = (job: JobRow, input: TurnInput) => InterruptWatch

/** One for all turns of a store. */
export function createInterrupts(store: Store): WatchInterrupts {
  const looks = new Set<(lanes: ReadonlySet<string>) => void>()
  store.onAdded(({ lanes }) => {
    if (lanes.size > 0) for (const look of looks) look(lanes)
  })
  return (job, input) => {
    const abort = new AbortController()
    const look = () => {
      if (isInterrupted(store, job, input)) abort.abort(new TurnStopped({ isInterrupted: true }))
    }
    const lookAt = (lanes: ReadonlySet<string>) => {
      try {
        if (!abort.signal.aborted && lanes.has(laneOf(store, job))) look()
      } catch (error) {
        // No fault of whoever has written: what they wrote is committed, and has its turn.
        if (!isStorageFailure(error)) throw error
      }
    }
    look()
    looks.add(lookAt)
    return { signal: abort.signal, end: () => void looks.delete(lookAt) }
  }
}

function isInterrupted(store: Store, job: JobRow, input: TurnInput): boolean {
  if (input.purpose !== "chat") return false
  return waitingBehind(store, job, input).some(({ inputs }) => inputs.some(({ queue }) => queue?.mode === "interrupt"))
}
