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
    try {
      // What is not committed has no row: its number becomes another one's.
      const ids = await store.write(async (transaction) =>
        records.map(({ record }) => {
          const row = deliveryRow(record)
          return Number(transaction.prepare(row.sql).run(...row.values).lastInsertRowid)
        }),
      )
      for (const [index, { stranger }] of records.entries()) if (stranger) stranger.id = ids[index]
    } finally {
      for (const { stranger } of records) if (stranger) stranger.isWriting = false
    }
  }
  const add = (each: Waiting) => {
    // What a stop or a full disk turns away comes again.
    if (each.record.status === 503 || !store.accepting() || !mayKeep()) return
    if (each.stranger) each.stranger.isWriting = true
    waiting.push(each)
    if (waiting.length === 1) background.run("keep hook deliveries", write)
  }
  const writeCounts = async () => {
    clearTimeout(timer)
    timer = undefined
    const changed = strangers.changed().map((stranger) => ({ stranger, times: stranger.times }))
    if (changed.length === 0 || !store.accepting()) return
    await store.write(async (transaction) => {
      const update = transaction.prepare("update hook_delivery set times = ? where id = ?")
      for (const { stranger, times } of changed) update.run(times, stranger.id as number)
    })
    for (const { stranger, times } of changed) stranger.written = times
  }
  return {
    count: (code) => void counted.set(code, (counted.get(code) ?? 0) + 1),
    counts: () => Object.fromEntries(counted),
    keep: (record) => add({ record }),
    keepStranger(record, address) {
      const stranger = strangers.count(address, record.delivery.mapping)
      if (!stranger) return
      if (stranger.id === undefined && !stranger.isWriting) {
        const cut = { ...record, address: clientOf(address), delivery: cutForStranger(record.delivery) }
        add({ record: cut, stranger })
      }
      if (stranger.times > stranger.written && timer === undefined) {
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
