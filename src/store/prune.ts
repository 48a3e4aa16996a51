// Removes rows that nobody will ask for again, a few at a time, so that no query and no disk grows for ever.
import type { Clock, Log } from "../kernel/index.ts"
import type { GroupCommit } from "./group-commit.ts"
import type { SqliteHandle } from "./sqlite.ts"

const day = 24 * 60 * 60 * 1000
/** Delivery ids are remembered for a week: longer than any sender repeats. */
const keepInboxMs = 7 * day
const keepFinishedMs = 30 * day
const keepHookDeliveriesMs = 7 * day
const keepHookDeliveriesBytes = 1024 ** 3
/** What nobody has asked about for a week is no context any more. */
const keepGroupHistoryMs = 7 * day
/** More than a year, so that a month can be held against the same month of the year before. */
const keepUsageMs = 400 * day
const everyMs = 10 * 60 * 1000
/** One row is read for it, so it can be often: a sender may bring a hundred megabytes a second. */
const sizeEveryMs = 5_000
/** Few enough that little more goes than must. */
const sizeBatch = 5
/** Longer than a session that is in use goes on without a message in it. */
const keepSitesMs = 400 * day
/** Small enough that a batch never holds up a waiting writer noticeably. */
const batch = 500
/** Of one table in one go; what is left waits for the next time. */
const maxRounds = 1_000

/** How long rows are kept, for tables where the configuration says; asked each time. */
export interface KeepTimes {
  hookDeliveriesMs: number
  /** What they may take together. */
  hookDeliveriesBytes: number
}

const statements: readonly [string, number | ((keep: KeepTimes) => number)][] = [
  // Ids grow with time, so the oldest rows are found without an index of their own on the way in.
  [
    `delete from inbox where id in
       (select id from (select id, received_at from inbox order by id limit ?2) where received_at < ?1)`,
    (keep) => Math.max(keepInboxMs, keep.hookDeliveriesMs),
  ],
  [
    `delete from hook_delivery where id in
       (select id from (select id, received_at from hook_delivery order by id limit ?2) where received_at < ?1)`,
    (keep) => keep.hookDeliveriesMs,
  ],
  [
    "delete from job where id in (select id from job where finished_at is not null and finished_at < ? limit ?)",
    keepFinishedMs,
  ],
  [
    `delete from outbox where id in
       (select id from outbox where created_at < ? and state not in ('new', 'sending') limit ?)`,
    keepFinishedMs,
  ],
  [
    `delete from event where id in (select id from event
       where created_at < ? and (consumed_by is not null or set_aside_at is not null) limit ?)`,
    keepFinishedMs,
  ],
  [
    `delete from group_history where id in
       (select id from (select id, created_at from group_history order by id limit ?2) where created_at < ?1)`,
    keepGroupHistoryMs,
  ],
  [
    `delete from unreadable_update where id in
       (select id from (select id, received_at from unreadable_update order by id limit ?2) where received_at < ?1)`,
    keepFinishedMs,
  ],
  [
    `delete from approval where id in
       (select id from approval where asked_at < ? limit ?)`,
    keepFinishedMs,
  ],
  [
    `delete from session_site where (session_id, site) in
       (select session_id, site from session_site where created_at < ? limit ?)`,
    keepSitesMs,
  ],
  ["delete from usage where id in (select id from usage where created_at < ? limit ?)", keepUsageMs],
]

const oldestDeliveries = "delete from hook_delivery where id in (select id from hook_delivery order by id limit ?)"

export interface PrunerOptions {
  handle: SqliteHandle
  commit: GroupCommit
  clock: Clock
  log: Log
  keep?: (() => KeepTimes) | undefined
}

/** How long and how much is kept when nobody says. */
const defaultKeep: KeepTimes = {
  hookDeliveriesMs: keepHookDeliveriesMs,
  hookDeliveriesBytes: keepHookDeliveriesBytes,
}

export interface Pruner {
  /** One round over all tables. */
  prune(): Promise<void>
  stop(): void
}

export function createPruner(options: PrunerOptions): Pruner {
  let stopped = false
  const prune = async () => {
    const keep = options.keep?.() ?? defaultKeep
    for (const [sql, kept] of statements) {
      const before = options.clock.now() - (typeof kept === "number" ? kept : kept(keep))
      for (let round = 0; round < maxRounds && !stopped; round += 1) {
        const { changes } = await options.commit.write(async () => options.handle.prepare(sql).run(before, batch))
        if (changes === 0) break
      }
    }
    await pruneSize()
  }
  const pruneSize = async () => {
    const most = (options.keep?.() ?? defaultKeep).hookDeliveriesBytes
    const kept = () => options.handle.prepare("select bytes from hook_kept where id = 1").get() as { bytes: number }
    for (let round = 0; round < maxRounds && !stopped && kept().bytes > most; round += 1) {
      await options.commit.write(async () => options.handle.prepare(oldestDeliveries).run(sizeBatch))
    }
  }
  const every = (ms: number, work: () => Promise<void>) => {
    const run = () => void work().catch((error: unknown) => options.log.warn({ err: error }, "store prune failed"))
    return setInterval(run, ms).unref()
  }
  const timers = [every(everyMs, prune), every(sizeEveryMs, pruneSize)]
  return {
    prune,
    stop() {
      stopped = true
      for (const timer of timers) clearInterval(timer)
    },
  }
}
