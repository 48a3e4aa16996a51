// A message of mode `interrupt` ends the turn that its sender waits for: at once when it comes, and again when a turn goes
// on after a restart in front of one. It loses nothing: what was asked and done stays in the conversation, and whatever
// waits is answered by the turn that follows.
import { type JobRow, type Store, isStorageFailure } from "../../store/index.ts"
import { TurnStopped } from "../stopped.ts"
import type { TurnInput } from "../turn-input.ts"
import { waitingBehind } from "./waiting.ts"

export interface InterruptWatch {
  /** Aborted with `TurnStopped` when such a message waits behind the job. */
  signal: AbortSignal
  end(): void
}

export type WatchInterrupts = (job: JobRow, input: TurnInput) => InterruptWatch

/** One for all turns of a store. What comes is looked for by the lane it came to, however many turns there are. */
export function createInterrupts(store: Store): WatchInterrupts {
  const looks = new Map<number, () => void>()
  const lookAt = (lane: string) => {
    // Asked of the rows: a chat, and its lane, may have got another id since the turn began.
    const running = store.handle.prepare("select id from job where lane_key = ? and state = 'running'").all(lane)
    for (const { id } of running) looks.get(Number(id))?.()
  }
  store.onAdded(({ lanes }) => {
    if (looks.size === 0) return
    try {
      for (const lane of lanes) lookAt(lane)
    } catch (error) {
      // No fault of whoever has written: what they wrote is committed, and has its turn.
      if (!isStorageFailure(error)) throw error
    }
  })
  return (job, input) => {
    const abort = new AbortController()
    const look = () => {
      if (!abort.signal.aborted && isInterrupted(store, job, input))
        abort.abort(new TurnStopped({ isInterrupted: true }))
    }
    look()
    looks.set(job.id, look)
    return {
      signal: abort.signal,
      end() {
        // It may be at work again by now.
        if (looks.get(job.id) === look) looks.delete(job.id)
      },
    }
  }
}

function isInterrupted(store: Store, job: JobRow, input: TurnInput): boolean {
  if (input.purpose !== "chat") return false
  return waitingBehind(store, job, input).some(({ inputs }) => inputs.some(({ queue }) => queue?.mode === "interrupt"))
}
