// Keeps what was turned away or repeated: counted always, kept as rows within a rate, never in the way of an answer.
// What has proven nothing is kept once for an address and hour (strangers.ts).
import { clientOf } from "../kernel/http/index.ts"
import type { Background, Clock, Log } from "../kernel/index.ts"
import type { Store } from "../store/index.ts"
import { type DeliveryRecord, deliveryRow } from "./store.ts"
import { type Stranger, createStrangers, cutForStranger } from "./strangers.ts"

export interface Recorder {
  /** Counts a refusal by its error code. */
  count(code: string): void
  keep(record: DeliveryRecord): void
  /** Keeps a request that has proven nothing. */
  keepStranger(record: DeliveryRecord, address: string): void
  counts(): Record<string, number>
  /** Writes what is only counted so far. */
  stop(): Promise<void>
}

/** A flood of bad requests may not fill the disk: this many rows at once, and this many a second after that. */
const burst = 200
const perSecond = 20
/** How long a count may be ahead of its row. */
const countEveryMs = 5_000

interface Waiting {
  record: DeliveryRecord
  stranger?: Stranger
}

export function createRecorder(options: { store: Store; clock: Clock; log: Log; background: Background }): Recorder {
  const { store, clock, background } = options
  const counted = new Map<string, number>()
  const strangers = createStrangers(clock)
  const mayKeep = createRate(clock)
  let waiting: Waiting[] = []
  let timer: NodeJS.Timeout | undefined
  const write = async () => {
    const records = waiting
    waiting = []
    await store.write(async (transaction) => {
      for (const { record, stranger } of records) {
        const row = deliveryRow(record)
        const { lastInsertRowid } = transaction.prepare(row.sql).run(...row.values)
        if (stranger) stranger.id = Number(lastInsertRowid)
      }
    })
  }
  const add = (each: Waiting) => {
    // What a stop or a full disk turns away comes again.
    if (each.record.status === 503 || !store.accepting() || !mayKeep()) return
    waiting.push(each)
    if (waiting.length === 1) background.run("keep hook deliveries", write)
  }
  const writeCounts = async () => {
    clearTimeout(timer)
    timer = undefined
    const changed = strangers.changed().filter(({ id }) => id !== undefined)
    if (changed.length === 0 || !store.accepting()) return
    await store.write(async (transaction) => {
      const update = transaction.prepare("update hook_delivery set times = ? where id = ?")
      for (const stranger of changed) {
        update.run(stranger.times, stranger.id as number)
        stranger.written = stranger.times
      }
    })
  }
  return {
    count: (code) => void counted.set(code, (counted.get(code) ?? 0) + 1),
    counts: () => Object.fromEntries(counted),
    keep: (record) => add({ record }),
    keepStranger(record, address) {
      const found = strangers.count(address, record.delivery.mapping)
      if (found?.isNew) {
        const cut = { ...record, address: clientOf(address), delivery: cutForStranger(record.delivery) }
        add({ record: cut, stranger: found.entry })
      } else if (found && timer === undefined) {
        timer = setTimeout(() => background.run("count refused hook requests", writeCounts), countEveryMs)
        timer.unref()
      }
    },
    stop: writeCounts,
  }
}

function createRate(clock: Clock): () => boolean {
  let credit = burst
  let creditAt = clock.monotonic()
  return () => {
    const now = clock.monotonic()
    credit = Math.min(burst, credit + ((now - creditAt) / 1000) * perSecond)
    creditAt = now
    if (credit < 1) return false
    credit -= 1
    return true
  }
}
