// What messages became before this one: rows of the store, and what the same batch has planned and not yet written.
import { type TurnInput, turnJobKind } from "../../../agent/turn-input.ts"
import {
  type JobRow,
  type NewJob,
  type Store,
  hadJoin,
  isAnyJoinOpen,
  isJoinOpen,
  isOpen,
  jobOfMessage,
} from "../../../store/index.ts"

export interface EarlierTurns {
  /** Whether a turn that more may be joined to waits. */
  isJoinOpen(joinKey: string): boolean
  /** Whether any turn ever had this key. */
  hadJoin(joinKey: string): boolean
  /** The input of a turn that waits, by the message that it came from, when that may be part of a cut text. */
  waitingPaste(ref: string): TurnInput | undefined
  /** Whether a turn of this session runs or waits. */
  isTurnOpen(sessionKey: string): boolean
  /** The job that a message became, whatever has become of that. */
  jobOfMessage(ref: string): Pick<JobRow, "payload" | "lane_key" | "attempts"> | undefined
}

/** Far beyond the time between two parts of a paste. */
const pasteMemoryMs = 60_000

/** Lives as long as the intake, with a batch at a time. */
export class Earlier {
  readonly #store: Store
  /** When the last part of a long text came; the start, when one waits from before it. */
  #pasteSeenAt: number

  constructor(store: Store) {
    this.#store = store
    this.#pasteSeenAt = isAnyJoinOpen(store, "paste:") ? store.clock.now() : -Infinity
  }

  beginBatch(): EarlierTurns & { note(jobs: readonly NewJob[] | undefined): void } {
    const store = this.#store
    const keys = new Set<string>()
    const jobs = new Map<string, NewJob>()
    const busy = new Set<string>()
    return {
      note: (planned) => {
        for (const job of planned ?? []) {
          if (job.kind === turnJobKind) busy.add(job.laneKey)
          if (job.ref !== undefined) jobs.set(job.ref, job)
          if (!job.join) continue
          keys.add(job.join.key)
          if (job.join.key.startsWith("paste:")) this.#pasteSeenAt = store.clock.now()
        }
      },
      isJoinOpen: (key) => keys.has(key) || isJoinOpen(store, key),
      isTurnOpen: (sessionKey) => busy.has(sessionKey) || isOpen(store, sessionKey, turnJobKind),
      hadJoin: (key) => keys.has(key) || hadJoin(store, key),
      waitingPaste: (ref) => {
        // Asked for every text: when no long one came lately, none waits to be gone on with.
        if (store.clock.now() - this.#pasteSeenAt > pasteMemoryMs) return undefined
        const planned = jobs.get(ref)
        if (planned) return planned.payload as unknown as TurnInput
        const job = jobOfMessage(store, ref)
        return job?.state === "ready" && job.attempts === 0 ? (JSON.parse(job.payload) as TurnInput) : undefined
      },
      jobOfMessage: (ref) => {
        const planned = jobs.get(ref)
        if (!planned) return jobOfMessage(store, ref)
        return { payload: JSON.stringify(planned.payload), lane_key: planned.laneKey, attempts: 0 }
      },
    }
  }
}
