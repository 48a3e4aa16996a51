// Looks every few seconds whether the state folder, its lock and its store are still the ones that were opened. What is
// written into files that have been removed or replaced is lost with the process, so whoever is told stops at once.
import { type BigIntStats, statSync } from "node:fs"
import { stat } from "node:fs/promises"
import { join } from "node:path"
import { AppError } from "../kernel/index.ts"
import { lockFileName } from "./lock.ts"
import { databaseFileName } from "./open-database.ts"

/** Within five seconds, also when one look comes late. */
const defaultEveryMs = 2_000

/** The write-ahead log of an open database, and the index of it that its readers share. */
const logFiles = ["-wal", "-shm"] as const

export interface FolderWatch {
  stop(): void
}

/** `log`: only what stands beside the database, whose content an open database can still take over. */
export type Lost = "store" | "log"

/** `onLost` is called once, with a `storage-lost` that says what has gone. Takes what is there now for right. */
export function watchStateFolder(options: {
  folder: string
  onLost: (error: AppError, lost: Lost) => void
  everyMs?: number
}): FolderWatch {
  const { folder } = options
  const database = join(folder, databaseFileName)
  const paths = [folder, join(folder, lockFileName), database, ...logFiles.map((suffix) => `${database}${suffix}`)]
  const opened = paths.flatMap((path) => {
    const status = statSync(path, { bigint: true, throwIfNoEntry: false })
    return status ? [{ path, inode: inodeOf(status) }] : []
  })
  let looking = false
  let isStopped = false
  const look = async () => {
    for (const { path, inode } of opened) {
      const what = await changeOf(path, inode)
      // A clean end removes some of them by itself.
      if (isStopped) return
      if (what === undefined) continue
      clearInterval(timer)
      const isLog = logFiles.some((suffix) => path.endsWith(suffix))
      options.onLost(isLog ? logLost(path, what) : lost(path, what), isLog ? "log" : "store")
      return
    }
  }
  const timer = setInterval(() => {
    // A network file system may take its time.
    if (looking) return
    looking = true
    void look().finally(() => (looking = false))
  }, options.everyMs ?? defaultEveryMs)
  timer.unref()
  return {
    stop() {
      isStopped = true
      clearInterval(timer)
    },
  }
}

async function changeOf(path: string, inode: string): Promise<"removed" | "replaced" | undefined> {
  try {
    return inodeOf(await stat(path, { bigint: true })) === inode ? undefined : "replaced"
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // Any other failure (a disk error, a network drive that is away) says nothing about what is there.
    return code === "ENOENT" || code === "ENOTDIR" ? "removed" : undefined
  }
}

function inodeOf(status: BigIntStats): string {
  return `${status.dev}:${status.ino}`
}

function lost(path: string, what: "removed" | "replaced"): AppError {
  return new AppError("storage-lost", `${path} was ${what} while the gateway ran on it; nothing more is accepted`, {
    hint: "The gateway stops. Put the folder back as it was, or restore a backup, and start again; a store that was lost is saved beside its place as svc.db.saved-...",
    retryAfterSeconds: 60,
  })
}

function logLost(path: string, what: "removed" | "replaced"): AppError {
  return new AppError("storage-lost", `${path} was ${what} while the gateway ran on it; nothing more is accepted`, {
    hint: "The gateway stops, and what the file held is written into svc.db first. Start again; nobody but the gateway may touch this file",
    retryAfterSeconds: 60,
  })
}
