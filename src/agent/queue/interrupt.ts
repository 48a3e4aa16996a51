// A message of mode `interrupt` ends the turn that its sender waits for: at once when it comes, and again when a turn goes
// on after a restart in front of one. It loses nothing: what was asked and done stays in the conversation, and whatever
// waits is answered by the turn that follows.
import type { JobRow, Store } from "../../store/index.ts"
import { TurnStopped } from "../stopped.ts"
import { type TurnInput, senderKey } from "../turn-input.ts"
import { waitingOf } from "./waiting.ts"

export interface InterruptWatch {
  /** Aborted with `TurnStopped` when such a message waits behind the job. */
  signal: AbortSignal
  end(): void
}

export type WatchInterrupts = (job: JobRow, input: TurnInput) => InterruptWatch

/** One for all turns of a store. */
export function createInterrupts(store: Store): WatchInterrupts {
  const byLane = new Map<string, Set<() => void>>()
  store.onAdded(({ lanes }) => {
    for (const lane of lanes) for (const look of byLane.get(lane) ?? []) look()
  })
  return (job, input) => {
    const abort = new AbortController()
    const look = () => {
      if (!abort.signal.aborted && isInterrupted(store, job, input))
        abort.abort(new TurnStopped({ isInterrupted: true }))
    }
    look()
    const looks = byLane.get(job.lane_key) ?? new Set()
    byLane.set(job.lane_key, looks.add(look))
    return {
      signal: abort.signal,
      end() {
        looks.delete(look)
        if (looks.size === 0) byLane.delete(job.lane_key)
      },
    }
  }
}

function isInterrupted(store: Store, job: JobRow, input: TurnInput): boolean {
  if (input.purpose !== "chat") return false
  const waiting = waitingOf(store, job.lane_key, { sender: senderKey(input), after: job.id, passesOthers: true })
  return waiting.some(({ inputs }) => inputs.some(({ queue }) => queue?.mode === "interrupt"))
}
