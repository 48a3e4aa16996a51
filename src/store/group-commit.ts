// Many writers, one fsync: everything that asks to write during one turn of the event loop shares a transaction.
// A unit that fails is rolled back to its savepoint and fails alone; when the commit itself fails, all do.
import { type Transaction, sql } from "kysely"
import type { Database } from "./schema.ts"
import { type SqliteHandle, explainStoreError } from "./sqlite.ts"

export type Trx = Transaction<Database>

interface Unit {
  work: (trx: Trx) => Promise<unknown>
  savepoint: boolean
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}

export interface GroupCommit {
  /**
   * Resolves with the work's result once it is on the disk. `work` does SQL and nothing else: awaiting anything
   * outside would hold up every other writer.
   */
  write<T>(work: (trx: Trx) => Promise<T>, options?: { savepoint?: boolean }): Promise<T>
  /** Resolves when nothing is waiting to be written. */
  idle(): Promise<void>
}

/** Bounds one transaction, so that a flood cannot make the first of its writers wait for the last. */
const maxUnits = 256

export function createGroupCommit(handle: SqliteHandle, onFailure: (error: unknown) => void): GroupCommit {
  let waiting: Unit[] = []
  let flushing: Promise<void> | undefined

  const flush = async (): Promise<void> => {
    // Later than the I/O callbacks of this turn, so that their requests are in the same transaction.
    await new Promise((resolve) => setImmediate(resolve))
    while (waiting.length > 0) {
      const units = waiting.slice(0, maxUnits)
      waiting = waiting.slice(maxUnits)
      await commit(handle, units, onFailure)
    }
    flushing = undefined
  }

  return {
    write: (work, options) =>
      new Promise((resolve, reject) => {
        const savepoint = options?.savepoint ?? true
        waiting.push({ work, savepoint, resolve: resolve as (value: unknown) => void, reject })
        flushing ??= flush()
      }),
    async idle() {
      while (flushing) await flushing
    },
  }
}

type Settled = { unit: Unit; ok: true; value: unknown } | { unit: Unit; ok: false; error: unknown }

async function commit(handle: SqliteHandle, units: Unit[], onFailure: (error: unknown) => void): Promise<void> {
  try {
    const settled = await handle.db.transaction().execute(async (trx) => {
      const results: Settled[] = []
      for (const unit of units) results.push(await runUnit(handle, trx, unit, units.length > 1 && unit.savepoint))
      return results
    })
    for (const result of settled) {
      if (result.ok) result.unit.resolve(result.value)
      else result.unit.reject(result.error)
    }
  } catch (error) {
    const explained = explainStoreError(error)
    onFailure(explained)
    for (const unit of units) unit.reject(explained)
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
