// Writes that nobody waits for and that must not be lost while the disk takes nothing: each is tried at once, and those that
// fail are kept in their order and tried again with the next one, and when the store works again. Calls wait for what the
// end of others leaves free, so a write that nobody tried again would keep them waiting for ever.
import type { Background, Log } from "../kernel/index.ts"
import type { Store, Write } from "../store/index.ts"

export interface LateWrite {
  work: (write: Write) => void
  /** Called once it stands. */
  done?: (() => void) | undefined
}

export interface LateWrites {
  /** Never throws and never waits. */
  add(write: LateWrite): void
}

export interface LateWritesOptions {
  store: Store
  log: Log
  background: Background
  /** Tells when the store can be written again; without it only the next write tries the others again. */
  onRecovered?: ((listener: () => void) => void) | undefined
}

/** While the disk is full calls go on for a while; more than this would only fill the memory too. */
const maxUnwritten = 1_000

export function createLateWrites({ store, log, background, onRecovered }: LateWritesOptions): LateWrites {
  let unwritten: LateWrite[] = []
  /** Each in a unit of its own: all share a transaction, and one that fails fails alone. */
  const write = async (entries: readonly LateWrite[]): Promise<void> => {
    const outcomes = await Promise.allSettled(
      entries.map(async ({ work, done }) => {
        await store.write(async (transaction) => work(transaction))
        done?.()
      }),
    )
    const failure = outcomes.find((outcome) => outcome.status === "rejected")
    if (!failure) return
    const waiting = [...unwritten, ...entries.filter((_, index) => outcomes[index]?.status === "rejected")]
    unwritten = waiting.slice(-maxUnwritten)
    const fields = { err: failure.reason, waiting: unwritten.length, lost: waiting.length - unwritten.length }
    log.warn(fields, "usage not written, tried again when the store works")
  }
  const begin = (more: readonly LateWrite[]) => {
    const entries = [...unwritten, ...more]
    unwritten = []
    if (entries.length > 0) background.run("write usage", () => write(entries))
  }
  onRecovered?.(() => begin([]))
  return { add: (entry) => begin([entry]) }
}
