// The ledger: provider answered -> record -> one row, written with the journal's step of the same turn of the event
// loop. A row is one call that was really made: it is never written twice, and a step that a crash has lost is asked
// again, which is another call.
import type { Clock } from "../kernel/index.ts"
import type { UsageRecord } from "../models/contract.ts"
import type { Write } from "../store/index.ts"
import type { UsageQuery, UsageRow, UsageSummary, UsageSums } from "./contract.ts"
import { createDays, dayAfter } from "./days.ts"
import { type LateWritesOptions, createLateWrites } from "./late-writes.ts"
import { insertUsage, newestOfRange, sumOfRange, sumOfSession, sumsByColumn } from "./rows.ts"

export interface LedgerParts extends LateWritesOptions {
  clock: Clock
  /** In which days begin and end. */
  timeZone: () => string
}

export interface Ledger {
  /** Never throws and never waits. */
  record(record: UsageRecord, beside?: Beside): void
  summarise(query: UsageQuery): UsageSummary
  today(): UsageSums
  /** All calls of a session, or those from `since` on. */
  session(key: string, since?: number): UsageSums
}

/** What is written in the same transaction, and what is done once it stands. */
export interface Beside {
  also?: (write: Write, at: number) => void
  done?: () => void
}

export function createLedger(parts: LedgerParts): Ledger {
  const { store, clock, timeZone } = parts
  const late = createLateWrites(parts)
  return {
    record(record, { also, done } = {}) {
      const at = clock.now()
      late.add({
        work(write) {
          insertUsage(write, { record, at })
          also?.(write, at)
        },
        done,
      })
    },
    summarise(query) {
      const { by, since, until, limit } = query
      const zone = timeZone()
      const wanted = { since, until, limit: limit + 1 }
      const rows = by === "day" ? sumsByDay(wanted, zone) : sumsByColumn(store, by, wanted)
      const totals = sumOfRange(store, query)
      return { by, since, until, timeZone: zone, rows: rows.slice(0, limit), more: rows.length > limit, totals }
    },
    today() {
      const days = createDays(timeZone())
      const day = days.of(clock.now())
      return sumOfRange(store, { since: days.startOf(day), until: days.startOf(dayAfter(day)) })
    },
    session: (key, since = 0) => sumOfSession(store, key, since),
  }

  /** Newest first, from one day that has calls to the next: an index lookup each. */
  function sumsByDay({ since, until, limit }: Omit<UsageQuery, "by">, zone: string): UsageRow[] {
    const days = createDays(zone)
    const rows: UsageRow[] = []
    let end = until
    while (rows.length < limit) {
      const newest = newestOfRange(store, { since, until: end })
      if (newest === undefined) break
      const day = days.of(newest)
      const start = Math.max(days.startOf(day), since)
      rows.push({ key: day, ...sumOfRange(store, { since: start, until: end }) })
      end = start
    }
    return rows
  }
}
