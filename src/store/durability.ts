// Forces to the disk what was committed, beside the event loop: a transaction is committed into the write-ahead log
// (the operating system has it) -> a thread of Node's pool forces the log to the disk -> its writers are told. A disk
// that takes its time makes writers wait, and nobody else. The same for checkpoints, which take the log over into the
// database: log on the disk -> room for its pages -> pages into the database -> database on the disk -> the log may begin
// anew. What the disk has refused is written anew before it is forced once more (`rewriting.ts`).
//
// `synchronous = normal` leaves forcing the log at each commit to us, and keeps what only SQLite can do in its place: the
// header of a log that begins anew is on the disk before its first page (https://www.sqlite.org/src/info/ff5be73dee).
import { closeSync, fdatasync, fstatSync, openSync } from "node:fs"
import { promisify } from "node:util"
import { AppError, type Clock, type Log } from "../kernel/index.ts"
import { type SyncFile, makeRoom, rewriteFile, rewritePages } from "./rewriting.ts"
import { type SqliteHandle, explainStoreError } from "./sqlite.ts"

export interface Durability {
  /**
   * Resolves when all that was committed before the call is on the disk, however long the disk fails: it is in the log, and
   * writing it once more would do it twice. Rejects with `NotForced` only after `giveUp`.
   */
  flushed(): Promise<void>
  /** Room for the log. To be called while no transaction is open, and before the first one; never rejects. */
  makeRoom(): Promise<void>
  isCheckpointDue(): boolean
  /** To be called while no transaction is open, and none may begin until it has ended. */
  checkpoint(): Promise<void>
  /** False where pages of the log stand in the database that the disk may not have: the log is needed yet. */
  isDatabaseForced(): boolean
  /** Why the disk does not take what was written; undefined while it does. */
  problem(): AppError | undefined
  /** A disk that fails from here on is not tried again. */
  giveUp(): void
  /** To be called when the database is closed. */
  close(): void
}

/**
 * `storage-failed` or `storage-full` of what is committed all the same, and survives the end of the process: it must not be
 * written once more.
 */
export class NotForced extends AppError {}

export interface DurabilityOptions {
  handle: SqliteHandle
  /** Of the database. */
  path: string
  clock: Clock
  log: Log
  /** False once damage was met: a damaged log that is taken over spoils the database, too. */
  isSound?: () => boolean
  /** Told when the disk does not take what was written. */
  onFailure: (error: AppError) => void
  sync?: SyncFile | undefined
}

/** A transaction has some pages; taking over a thousand keeps the event loop for a few milliseconds. */
const checkpointCommits = 250
/** The room of a log: it is written over each time it begins anew, and grows only by transactions that are large. */
const checkpointBytes = 4 * 1024 * 1024
const firstPauseMs = 100
const longestPauseMs = 1_000

export function createDurability(options: DurabilityOptions): Durability {
  const { handle, clock, sync = promisify(fdatasync) } = options
  handle.raw.exec("pragma synchronous = normal; pragma wal_autocheckpoint = 0")
  // Closing any descriptor of a file takes away the locks that the process has on it, SQLite's too; so these stay open
  // for as long as the database (https://www.sqlite.org/howtocorrupt.html, 2.2).
  const files = { log: openSync(`${options.path}-wal`, "r+"), database: openSync(options.path, "r+") }
  const ended = new AbortController()
  /** Files that hold what the disk has refused; a log that was there before may be such a one. */
  const suspect = new Set<number>(fstatSync(files.log).size > 0 ? [files.log] : [])
  let problem: AppError | undefined
  let isClosed = false
  let isDatabaseForced = true
  /** SQLite's own descriptors are told of a failure, too, when it next forces anything by itself. */
  let isSqliteToBeTold = false
  let commits = 0
  let sizeAtCheckpoint = 0

  const rewritten = async (file: number): Promise<void> => {
    if (file === files.log) await rewriteFile(file)
    else await rewritePages(files.log, file)
  }
  const force = async (file: number): Promise<void> => {
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      try {
        // Another thread that makes indexes anew waits for this (`holdForced`).
        if (suspect.has(file)) await rewritten(file)
        await sync(file)
        suspect.delete(file)
        if (problem) options.log.info("store is forced to the disk again")
        problem = undefined
        return
      } catch (error) {
        suspect.add(file)
        isSqliteToBeTold = true
        const explained = explainSync(error)
        if (!problem) options.log.error({ err: explained, hint: explained.hint }, "store cannot be forced to the disk")
        problem = explained
        options.onFailure(explained)
        if (ended.signal.aborted) throw explained
        await clock.sleep(pauseMs, ended.signal).catch(() => undefined)
      }
    }
  }
  const flushed = sharedByLateCallers(() => force(files.log))
  return {
    flushed() {
      commits += 1
      return flushed()
    },
    isCheckpointDue() {
      if (isClosed || options.isSound?.() === false) return false
      return commits >= checkpointCommits || fstatSync(files.log).size > Math.max(checkpointBytes, sizeAtCheckpoint)
    },
    async checkpoint() {
      await flushed()
      await makeRoom(files.database, bytesOf(handle), sync).catch((error: unknown) => {
        // Not with each transaction: the log takes what comes.
        commits = 0
        sizeAtCheckpoint = fstatSync(files.log).size
        throw explainSync(error)
      })
      if (isSqliteToBeTold) takeOverForced(handle)
      isSqliteToBeTold = false
      takeOver(handle)
      isDatabaseForced = false
      await force(files.database)
      isDatabaseForced = true
      commits = 0
      sizeAtCheckpoint = fstatSync(files.log).size
    },
    isDatabaseForced: () => isDatabaseForced,
    async makeRoom() {
      await makeRoom(files.log, checkpointBytes, sync).catch((error: unknown) => {
        // As long as it was, it still takes what comes; a disk that fails is told of with the next transaction.
        suspect.add(files.log)
        options.log.warn({ err: explainSync(error) }, "store log gets no room")
      })
    },
    problem: () => problem,
    giveUp: () => ended.abort(),
    close() {
      isClosed = true
      closeSync(files.log)
      closeSync(files.database)
    },
  }
}

/**
 * As far as nobody reads what is older. SQLite forces nothing meanwhile: the log is on the disk, and the database is before
 * anything more is written.
 */
function takeOver({ raw }: SqliteHandle): void {
  raw.exec("pragma synchronous = off")
  try {
    raw.exec("pragma wal_checkpoint(passive)")
  } catch (error) {
    throw explainStoreError(error)
  } finally {
    raw.exec("pragma synchronous = normal")
  }
}

/**
 * As far as nobody reads, by SQLite alone. Each of its two files may tell of what the disk has refused before, and was
 * written anew since: that costs a try, and nothing else.
 */
export function takeOverForced({ raw }: SqliteHandle, mode: "passive" | "truncate" = "passive"): void {
  for (let tries = 3; ; tries -= 1) {
    try {
      raw.exec(`pragma synchronous = full; pragma wal_checkpoint(${mode})`)
      return
    } catch (error) {
      if (tries === 1) throw explainStoreError(error)
    } finally {
      raw.exec("pragma synchronous = normal")
    }
  }
}

/** Of the database, once all of the log is taken over. */
function bytesOf({ raw }: SqliteHandle): number {
  const number = (name: string) => Number(Object.values(raw.prepare(`pragma ${name}`).get() ?? {})[0])
  return number("page_count") * number("page_size")
}

/** One run at a time. A caller's run begins after the call; all who call before it begins share it. */
function sharedByLateCallers(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  const begin = async (): Promise<void> => {
    await running?.catch(() => undefined)
    next = undefined
    running = run()
    await running
  }
  return () => (next ??= begin())
}

function explainSync(error: unknown): NotForced {
  const code = (error as NodeJS.ErrnoException).code ?? "EIO"
  const isFull = ["ENOSPC", "EDQUOT"].includes(code)
  return new NotForced(
    isFull ? "storage-full" : "storage-failed",
    `The disk does not take what was written (${code})`,
    {
      cause: error,
      retryAfterSeconds: 10,
      hint: isFull
        ? "Free some space in the state folder's file system; the gateway goes on by itself"
        : "Check the disk and the state folder's file system; the gateway goes on by itself when it works",
    },
  )
}
