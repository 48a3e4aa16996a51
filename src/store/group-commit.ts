// Many writers, one fsync: everything that asks to write during one turn of the event loop shares a transaction, and
// the transactions that are committed while the disk is busy share the next wait for it.
// A unit that fails is rolled back to its savepoint and fails alone; when the commit itself fails, all do.
// Between two transactions the event loop has its turn, also in a chain of writes that never ends.
import { type Transaction, sql } from "kysely"
import { AppError } from "../kernel/index.ts"
import type { Durability } from "./durability.ts"
import type { Database } from "./schema.ts"
import { type SqliteHandle, explainStoreError } from "./sqlite.ts"

export type Trx = Transaction<Database>

interface Unit {
  work: (trx: Trx) => Promise<unknown>
  savepoint: boolean
  force: boolean
  onCommitted: (() => void) | undefined
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}

export interface WriteOptions {
  /**
   * False: resolves when it is committed, before the disk has it. It survives the end of the process, and a loss of power
   * as soon as anything later does: the log has an order. For what nobody is told of and nothing outside is done after.
   */
  force?: boolean
}

export interface UnitOptions extends WriteOptions {
  savepoint?: boolean
  /**
   * Called when it is committed, before the disk has it: for whoever takes up what was written. What they write and force
   * themselves stands later in the log, so nothing of theirs is on the disk without it.
   */
  onCommitted?: () => void
}

export interface GroupCommit {
  /**
   * Resolves with the work's result once it is on the disk. `work` does SQL and nothing else: awaiting anything
   * outside would hold up every other writer.
   */
  write<T>(work: (trx: Trx) => Promise<T>, options?: UnitOptions): Promise<T>
  /** Does the work while no transaction is open; writers wait until it has ended. */
  hold<T>(work: () => Promise<T>): Promise<T>
  /**
   * The same for work that writes beside this connection: what is committed is on the disk first, as a log that is written
   * anew until then (`rewriting.ts`) would be written over what another thread writes.
   */
  holdForced<T>(work: () => Promise<T>): Promise<T>
  /** Takes the write-ahead log over into the database; done by itself when the log has grown. */
  checkpoint(): Promise<void>
  /** Resolves when nothing is waiting to be written, and what was written is on the disk. */
  idle(): Promise<void>
}

/** Bounds one transaction, so that a flood cannot make the first of its writers wait for the last. */
const maxUnits = 256
/** So long a transaction takes in units; the rest goes into the next, and I/O has its turn between. */
const maxStretchMs = 8

export interface GroupCommitOptions {
  handle: SqliteHandle
  monotonic: () => number
  /** Told of each transaction that could not be committed. */
  onFailure: (error: unknown) => void
  /** Without it each commit forces the log by itself (`synchronous = full`). */
  durability?: Durability
}

export function createGroupCommit(options: GroupCommitOptions): GroupCommit {
  const { durability } = options
  let waiting: Unit[] = []
  let flushing: Promise<void> | undefined
  let committing: Promise<unknown> | undefined
  let held: Promise<void> | undefined

  const flush = async (): Promise<void> => {
    while (waiting.length > 0) {
      // Later than the I/O callbacks of this turn, so that their requests are in the same transaction.
      await new Promise((resolve) => setImmediate(resolve))
      while (held) await held
      const units = waiting.slice(0, maxUnits)
      waiting = waiting.slice(maxUnits)
      const committed = commit(options, units)
      committing = committed
      waiting.unshift(...(await committed))
      if (durability?.isCheckpointDue()) await checkpointQuietly()
    }
    flushing = undefined
  }
  const hold: GroupCommit["hold"] = async (work) => {
    while (held) await held
    const { promise, resolve } = Promise.withResolvers<void>()
    held = promise
    try {
      await committing
      return await work()
    } finally {
      held = undefined
      resolve()
    }
  }
  const checkpoint = async () => await hold(async () => await durability?.checkpoint())
  /** What could not be taken over stays in the log, and is tried again with what comes after it. */
  const checkpointQuietly = () => checkpoint().catch(options.onFailure)

  return {
    write: (work, settings) =>
      new Promise((resolve, reject) => {
        const { savepoint = true, force = true, onCommitted } = settings ?? {}
        waiting.push({ work, savepoint, force, onCommitted, resolve: resolve as (value: unknown) => void, reject })
        flushing ??= flush()
      }),
    hold,
    holdForced: (work) =>
      hold(async () => {
        await durability?.flushed()
        return await work()
      }),
    checkpoint,
    async idle() {
      while (flushing ?? held) await (flushing ?? held)
      await durability?.flushed()
    },
  }
}

function notTaken(): AppError {
  return new AppError("storage-failed", "The disk does not take what was written before; nothing was written", {
    retryAfterSeconds: 10,
    hint: "Check the disk and the state folder's file system, then start the gateway again",
  })
}

type Settled = { unit: Unit; ok: true; value: unknown } | { unit: Unit; ok: false; error: unknown }

/** The units that found no room in this transaction. */
async function commit(
  { handle, monotonic, onFailure, durability }: GroupCommitOptions,
  units: Unit[],
): Promise<Unit[]> {
  const begun = monotonic()
  const results: Settled[] = []
  let taken = 0
  const reject = (error: unknown) => {
    for (const unit of units.slice(0, taken)) unit.reject(error)
  }
  try {
    // Only at a stop. The log counts as taken over, so what is written now would stand in the place of what is needed yet.
    if (durability?.isDatabaseForced() === false) throw notTaken()
    await handle.db.transaction().execute(async (trx) => {
      do {
        const unit = units[taken] as Unit
        taken += 1
        results.push(await runUnit(handle, trx, unit, units.length > 1 && unit.savepoint))
      } while (taken < units.length && monotonic() - begun < maxStretchMs)
    })
    for (const { unit, ok } of results) if (ok) unit.onCommitted?.()
    // A disk that fails is to be waited for by all.
    const isForced = ({ unit, ok }: Settled) => durability && ok && (unit.force || durability.problem())
    settle(results.filter((result) => !isForced(result)))
    const forced = results.filter(isForced)
    // The next transaction does not wait for the disk.
    if (durability && forced.length > 0) void durability.flushed().then(() => settle(forced), reject)
  } catch (error) {
    const explained = explainStoreError(error)
    onFailure(explained)
    // When not even the transaction could begin, all of them fail: nothing would be gained by trying again at once.
    if (taken === 0) taken = units.length
    reject(explained)
  }
  return units.slice(taken)
}

function settle(results: readonly Settled[]): void {
  for (const result of results) {
    if (result.ok) result.unit.resolve(result.value)
    else result.unit.reject(result.error)
  }
}

async function runUnit(handle: SqliteHandle, trx: Trx, unit: Unit, savepoint: boolean): Promise<Settled> {
  // Alone in its transaction, a unit needs no savepoint: its failure rolls the transaction back.
  if (!savepoint) return { unit, ok: true, value: await unit.work(trx) }
  await sql`savepoint unit`.execute(trx)
  try {
    const value = await unit.work(trx)
    await sql`release unit`.execute(trx)
    return { unit, ok: true, value }
  } catch (error) {
    // A full disk may have rolled the whole transaction back already: then all units fail, of this very cause.
    if (!handle.raw.isTransaction) throw error
    await sql`rollback to unit`.execute(trx)
    await sql`release unit`.execute(trx)
    return { unit, ok: false, error: explainStoreError(error) }
  }
}
