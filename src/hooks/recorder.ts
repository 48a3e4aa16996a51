// Keeps what was turned away or repeated: counted always, kept as rows within a rate, never in the way of an answer.
import type { Background, Clock, Log } from "../kernel/index.ts"
import type { Store } from "../store/index.ts"
import { type DeliveryRecord, deliveryRow } from "./store.ts"

export interface Recorder {
  /** Counts a refusal by its error code. */
  count(code: string): void
  keep(record: DeliveryRecord): void
  counts(): Record<string, number>
}

/** A flood of bad requests may not fill the disk: this many rows at once, and this many a second after that. */
const burst = 200
const perSecond = 20

export function createRecorder(options: { store: Store; clock: Clock; log: Log; background: Background }): Recorder {
  const { store, clock, background } = options
  const counted = new Map<string, number>()
  let waiting: DeliveryRecord[] = []
  let credit = burst
  let creditAt = clock.monotonic()
  const mayKeep = (): boolean => {
    const now = clock.monotonic()
    credit = Math.min(burst, credit + ((now - creditAt) / 1000) * perSecond)
    creditAt = now
    if (credit < 1) return false
    credit -= 1
    return true
  }
  const write = async () => {
    const records = waiting
    waiting = []
    await store.write(async (transaction) => {
      for (const record of records) {
        const row = deliveryRow(record)
        transaction.prepare(row.sql).run(...row.values)
      }
    })
  }
  return {
    count: (code) => void counted.set(code, (counted.get(code) ?? 0) + 1),
    counts: () => Object.fromEntries(counted),
    keep(record) {
      // What a stop or a full disk turns away comes again.
      if (record.status === 503 || !store.accepting() || !mayKeep()) return
      waiting.push(record)
      if (waiting.length === 1) background.run("keep hook deliveries", write)
    },
  }
}
