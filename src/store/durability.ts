// Forces to the disk what was committed, beside the event loop: a transaction is committed into the write-ahead log
// (the operating system has it) -> a thread of Node's pool forces the log to the disk -> its writers are told. A disk
// that takes its time makes writers wait, and nobody else. The same for checkpoints, which take the log over into the
// database: log on the disk -> pages into the database -> database on the disk -> the log may begin anew.
//
// `synchronous = normal` leaves forcing the log at each commit to us, and keeps what only SQLite can do in its place: the
// header of a log that begins anew is on the disk before its first page (https://www.sqlite.org/src/info/ff5be73dee).
import { closeSync, fdatasync, fstatSync, openSync } from "node:fs"
import { promisify } from "node:util"
import { AppError, type Clock, type Log } from "../kernel/index.ts"
import { type SqliteHandle, explainStoreError } from "./sqlite.ts"

/** Forces a file to the disk, with what is needed to read it again. */
export type SyncFile = (file: number) => Promise<void>

export interface Durability {
  /**
   * Resolves when all that was committed before the call is on the disk, however long the disk fails: it is in the log, and
   * writing it once more would do it twice. Rejects with `NotForced` only after `giveUp`.
   */
  flushed(): Promise<void>
  isCheckpointDue(): boolean
  /** To be called while no transaction is open, and none may begin until it has ended. */
  checkpoint(): Promise<void>
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
/** A log that has begun anew is written over and keeps its size, so growth shows only transactions that are large. */
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
  let problem: AppError | undefined
  let isClosed = false
  let commits = 0
  let sizeAtCheckpoint = 0

  const force = async (file: number): Promise<void> => {
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      try {
        await sync(file)
        if (problem) options.log.info("store is forced to the disk again")
        problem = undefined
        return
      } catch (error) {
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
      takeOver(handle)
      await force(files.database)
      commits = 0
      sizeAtCheckpoint = fstatSync(files.log).size
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
