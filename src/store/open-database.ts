// From a state folder to a database that is up to date. Nothing that was there is ever replaced unasked: a store that is
// damaged, missing or empty in a folder that was used ends the start, with what is left and the ways out named.
import { chmodSync, existsSync, renameSync, statSync } from "node:fs"
import { join } from "node:path"
import { AppError, type Clock, type CrashPoint, type Log, describeError } from "../kernel/index.ts"
import { repairIndexes, storageDamaged } from "./damage.ts"
import { findLogDamage, keepDamagedLog } from "./log-damage.ts"
import { type LostLog, noteLostLog } from "./lost-log.ts"
import { migrate, recordedMigrations } from "./migrate.ts"
import { migrations, readableFrom } from "./migrations/index.ts"
import { type SqliteHandle, explainStoreError, isCorruption, openSqlite } from "./sqlite.ts"
import { isNoFile, markAsUsed, noFile, storageMissing, wasUsed } from "./used-folder.ts"

export interface OpenOptions {
  folder: string
  clock: Clock
  log: Log
  crashPoint: CrashPoint
  /** Of this program; see `migrate`. */
  version?: string | undefined
  /** Begins anew where the store is damaged, missing or empty; what is there is set aside. A good store stays. */
  newStore?: boolean | undefined
}

export const databaseFileName = "svc.db"

type OnDamage = (error: unknown) => void

/** Throws `storage-missing`, `storage-damaged`, `storage-newer`, `storage-full` or `storage-failed`. */
export async function openDatabase(options: OpenOptions, onDamage: OnDamage): Promise<SqliteHandle> {
  const { folder, clock, log } = options
  try {
    const lost = keepWhatIsLost(options)
    const handle = await openUsable(options, onDamage)
    markAsUsed(folder, isoTime(clock))
    if (lost) noteLostLog(handle, lost)
    giveBackFreedPages(handle, log)
    return handle
  } catch (error) {
    throw explainOpening(error, join(folder, databaseFileName))
  }
}

/** Before SQLite reads the log, as far as it can, and writes it anew. */
function keepWhatIsLost({ folder, clock, log }: OpenOptions): LostLog | undefined {
  const path = join(folder, databaseFileName)
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return undefined
  const damage = findLogDamage(path)
  if (!damage) return undefined
  const kept = keepDamagedLog(path, damage, `.damaged-${isoTime(clock).replaceAll(":", "-")}`)
  const { at, lost } = damage
  const hint = "Look at the backups (svc backup list)"
  log.error({ at, lost, kept, hint }, "store log damaged: what stands behind is left out")
  return { at: clock.now(), lost, kept }
}

/** Names the file: nothing else does before there is a gateway to ask. */
function explainOpening(error: unknown, path: string): unknown {
  const explained = explainStoreError(error)
  if (!(explained instanceof AppError) || explained === error) return explained
  const met = `${path}: ${describeError(error)}`
  if (explained.code === "storage-damaged")
    return storageDamaged(`The store is damaged, or no database (${met})`, error)
  if (explained.code !== "storage-failed") return explained
  if (isNoFile(path)) return noFile(path)
  return new AppError("storage-failed", `The store cannot be opened (${met})`, {
    cause: error,
    hint: "Check the rights of the state folder and of svc.db in it, and their file system (svc doctor)",
  })
}

async function openUsable(options: OpenOptions, onDamage: OnDamage): Promise<SqliteHandle> {
  const path = join(options.folder, databaseFileName)
  const size = statSync(path, { throwIfNoEntry: false })?.size
  const isUsed = wasUsed(options.folder)
  if (!isUsed && !size) return await openAndMigrate(options, path, onDamage)
  if (!size) {
    beginAnew(options, storageMissing(options.folder, size === 0 ? "empty" : "missing"))
    return await openAndMigrate(options, path, onDamage)
  }
  try {
    // A first start that was killed has left a file without a store, and no mark.
    if (!isUsed || holdsStore(path)) return await openAndMigrate(options, path, onDamage)
    beginAnew(options, storageMissing(options.folder, "empty"))
  } catch (error) {
    if (!isCorruption(error)) throw error
    const repair = await repairIndexes({ path, hold: (work) => work() }, AbortSignal.timeout(repairMs))
    if (repair.kind === "damaged") beginAnew(options, storageDamaged(repair.problem, error))
    else options.log.warn({ indexes: repair.rebuilt }, "store repaired: indexes made anew")
  }
  return await openAndMigrate(options, path, onDamage)
}

function holdsStore(path: string): boolean {
  const { raw } = openSqlite(path)
  try {
    return recordedMigrations(raw).length > 0
  } finally {
    raw.close()
  }
}

/** Looking through a store of several gigabytes takes minutes. */
const repairMs = 30 * 60 * 1000

async function openAndMigrate(options: OpenOptions, path: string, onDamage: OnDamage): Promise<SqliteHandle> {
  const handle = openSqlite(path, { onDamage })
  try {
    chmodSync(path, 0o600)
    const run = await migrate({
      handle,
      migrations,
      readableFrom,
      crashPoint: options.crashPoint,
      now: () => isoTime(options.clock),
      version: options.version,
      onFinished: (migration, found) =>
        options.log.warn({ migration, found }, "store schema finished that a killed start had begun"),
    })
    if (run.length > 0) options.log.info({ migrations: run }, "store schema brought up to date")
    return handle
  } catch (error) {
    handle.raw.close()
    throw error
  }
}

/** Throws the reason, unless a new store was asked for: then what is there is set aside, never deleted. */
function beginAnew({ folder, clock, log, newStore }: OpenOptions, reason: Error): void {
  if (!newStore) throw reason
  const path = join(folder, databaseFileName)
  const suffix = `.corrupt-${isoTime(clock).replaceAll(":", "-")}`
  const files = [path, `${path}-wal`, `${path}-shm`].filter((file) => existsSync(file))
  for (const file of files) renameSync(file, `${file}${suffix}`)
  for (const name of ["store.json", "reserve", "gateway.json"]) {
    // What says that the folder was used is about the store that has been set aside.
    if (existsSync(join(folder, name))) renameSync(join(folder, name), join(folder, `${name}${suffix}`))
  }
  log.error({ err: reason, movedTo: files.map((file) => `${file}${suffix}`) }, "store begun anew, as asked")
}

/** Rewriting a file of this size takes less than half a second. */
const smallBytes = 64 * 1024 * 1024
const incremental = 2

/** Files of older programs never become shorter; rewriting them once changes that, and is done where it is quick. */
function giveBackFreedPages({ raw }: SqliteHandle, log: Log): void {
  const number = (name: string) => Number(Object.values(raw.prepare(`pragma ${name}`).get() ?? {})[0])
  if (number("auto_vacuum") === incremental) return
  const bytes = number("page_count") * number("page_size")
  if (bytes > smallBytes) {
    const hint = "stop the gateway and run: sqlite3 svc.db 'pragma auto_vacuum = 2; vacuum;' (needs as much free disk)"
    log.info({ bytes, hint }, "store file does not become shorter when rows go; their room is used again")
    return
  }
  try {
    raw.exec("pragma auto_vacuum = incremental; vacuum")
  } catch (error) {
    // For want of space, say. Everything else works without it.
    log.warn({ err: explainStoreError(error) }, "store file could not be rewritten")
  }
}

function isoTime(clock: Clock): string {
  return new Date(clock.now()).toISOString()
}
