// Removes rows that nobody will ask for again and gives their room back to the file system. Works in short stretches:
// a few milliseconds or a few hundred rows of work, all that goes with a row counted, then I/O has its turn and a pause
// lets others write. What is old is found by indexes and by the order of ids, so that looking for it costs nothing.
import type { Clock, Log } from "../kernel/index.ts"
import type { GroupCommit } from "./group-commit.ts"
import { createPruneTime } from "./prune-time.ts"
import type { SqliteHandle } from "./sqlite.ts"
import { type KeepTimes, defaultKeepTimes, sweeps } from "./sweeps.ts"

const everyMs = 10 * 60 * 1000
/** One row is read for it, so it can be often: a sender may bring a hundred megabytes a second. */
const sizeEveryMs = 5_000
/** After a start, so that it does not come on top of what waits there. */
const firstMs = 30 * 1000
/** Work of one stretch. A row can be a megabyte, so time rules as well as number. */
const stretchMs = 4
export const stretchRows = 400
/** By one statement, between two looks at the clock: rows of a megabyte take some milliseconds each. */
const batchRows = 8
/** Of the sweeps that choose their own number. */
const mostBatchRows = 100
/** What takes longer is done in smaller batches. */
const batchMs = 1
/** A pause takes as long as its stretch with the commit: others have at least half of the disk and the processor. */
const minPauseMs = 2
/** Free pages that stay in the file: they are used again soon. */
const keepFreePages = 1_000
/** To take one out of a long list of free pages takes a while. */
const batchPages = 50

export interface PrunerOptions {
  handle: SqliteHandle
  commit: GroupCommit
  clock: Clock
  log: Log
  keep?: (() => Partial<KeepTimes>) | undefined
}

export interface Pruner {
  /** One round over all tables, until nothing old is left. */
  prune(): Promise<void>
  /** The same by the time that the pruner trusts; done by itself every ten minutes. */
  pruneByItself(): Promise<void>
  /** The time by which things are old; see `prune-time.ts`. */
  now(): number
  /** Resolves when a round under way has ended. */
  stop(): Promise<void>
}

export function createPruner(options: PrunerOptions): Pruner {
  const { handle, commit, clock, log } = options
  const ended = new AbortController()
  let running: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined

  /** Does the work in stretches until it finds no more to do; returns how many rows or pages it was. */
  const inStretches = async (work: (limit: number) => number, most: number): Promise<number> => {
    const batches: Batches = { work, limit: 1, most }
    let total = 0
    for (;;) {
      const begun = clock.monotonic()
      const done = await commit.write(async () => stretch(batches, clock))
      total += done.rows
      if (done.finished || ended.signal.aborted) return total
      const pauseMs = Math.max(clock.monotonic() - begun, minPauseMs)
      await clock.sleep(pauseMs, ended.signal).catch(() => undefined)
    }
  }
  const time = createPruneTime({ handle, clock })
  const round = async (now: number) => {
    const keep = { ...defaultKeepTimes, ...options.keep?.() }
    const removed: Record<string, number> = {}
    for (const sweep of sweeps) {
      const keepMs = sweep.keepMs(keep)
      if (keepMs === undefined || ended.signal.aborted) continue
      const rows = await inStretches((limit) => sweep.remove(handle, now - keepMs, limit), batchRows)
      if (rows > 0) removed[sweep.name] = rows
    }
    await pruneSize()
    const pages = await inStretches((limit) => giveBackPages(handle, limit), batchPages)
    // The file becomes shorter when the log of writes is taken over into it.
    if (pages > 0) await commit.checkpoint()
    if (Object.keys(removed).length > 0 || pages > 0) log.info({ removed, freedPages: pages }, "store pruned")
  }
  const prune = async (now: number) => {
    running ??= round(now).finally(() => (running = undefined))
    await running
  }
  const pruneSize = async () => {
    const { hookDeliveriesBytes: most } = { ...defaultKeepTimes, ...options.keep?.() }
    if (bytesOfDeliveries(handle) > most) await inStretches((limit) => removeBeyond(handle, most, limit), batchRows)
  }
  const sizeTimer = setInterval(() => {
    pruneSize().catch((error: unknown) => log.warn({ err: error }, "store prune failed"))
  }, sizeEveryMs)
  sizeTimer.unref()
  const pruneByItself = async () => await prune(await commit.write(async () => time.advance()))
  const schedule = (ms: number) => {
    timer = setTimeout(() => {
      pruneByItself()
        .catch((error: unknown) => log.warn({ err: error }, "store prune failed"))
        .finally(() => {
          if (!ended.signal.aborted) schedule(everyMs)
        })
    }, ms)
    timer.unref()
  }
  schedule(firstMs)
  return {
    prune: () => prune(clock.now()),
    pruneByItself,
    now: time.now,
    async stop() {
      ended.abort()
      clearTimeout(timer)
      clearInterval(sizeTimer)
      await running?.catch(() => undefined)
    },
  }
}

interface Batches {
  /** Returns how much was done; 0: there is nothing left. */
  work: (limit: number) => number
  /** Of the next one. */
  limit: number
  most: number
}

function stretch(batches: Batches, clock: Clock): { rows: number; finished: boolean } {
  const begun = clock.monotonic()
  let rows = 0
  let at = begun
  do {
    const done = batches.work(batches.limit)
    if (done === 0) return { rows, finished: true }
    rows += done
    const now = clock.monotonic()
    const next = now - at > batchMs ? Math.floor(batches.limit / 2) : batches.limit * 2
    batches.limit = Math.min(Math.max(next, 1), batches.most)
    at = now
  } while (rows <= stretchRows - mostBatchRows && at - begun < stretchMs)
  return { rows, finished: false }
}

function bytesOfDeliveries(handle: SqliteHandle): number {
  return Number(handle.prepare("select bytes from hook_kept where id = 1").get()?.["bytes"] ?? 0)
}

/** The oldest kept deliveries, while they take more than they may. */
function removeBeyond(handle: SqliteHandle, most: number, limit: number): number {
  if (bytesOfDeliveries(handle) <= most) return 0
  const sql = "delete from hook_delivery where id in (select id from hook_delivery order by id limit ?)"
  return Number(handle.prepare(sql).run(limit).changes)
}

/** Pages that were freed and are given back to the file system; 0 when few are left or the file cannot shrink. */
function giveBackPages(handle: SqliteHandle, limit: number): number {
  const number = (name: string) => Number(Object.values(handle.prepare(`pragma ${name}`).get() ?? {})[0])
  const free = number("freelist_count")
  if (number("auto_vacuum") !== incremental || free <= keepFreePages) return 0
  handle.raw.exec(`pragma incremental_vacuum(${Math.min(limit, free - keepFreePages)})`)
  return free - number("freelist_count")
}

/** Of `pragma auto_vacuum`. */
const incremental = 2
