// One state folder, one gateway. Two kinds of locks, both given back by the kernel when the process dies, so that
// neither reused pids nor stale files matter: an exclusive SQLite lock on `gateway.lock`, which holds between
// containers too, and on Linux two names that no file stands behind, of the folder's path and of its inode, which
// nobody can remove or replace.
import { createHash } from "node:crypto"
import { once } from "node:events"
import { chmodSync, closeSync, mkdirSync, openSync, readFileSync, realpathSync, statSync, writeFileSync } from "node:fs"
import { type Server, createServer } from "node:net"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { AppError } from "../kernel/index.ts"

export interface LockOwner {
  pid: number
  bootId: string
  startedAt: string
}

export interface StateLock {
  release(): void
}

export interface FolderLock {
  release(): Promise<void>
}

export const lockFileName = "gateway.lock"

// SQLite's result codes: https://www.sqlite.org/rescode.html
const busyCode = 5
const notADatabaseCode = 26

/** Undefined while another process holds it, or another part of this one. The file stays; only the lock comes and goes. */
export function tryFileLock(path: string): StateLock | undefined {
  // SQLite would make it as wide as the umask allows, and a lock that others can open is one that they can hold.
  closeSync(openSync(path, "a", 0o600))
  chmodSync(path, 0o600)
  const database = new DatabaseSync(path)
  try {
    database.exec("pragma busy_timeout = 0; pragma locking_mode = exclusive; begin exclusive")
  } catch (error) {
    database.close()
    const { errcode } = error as { errcode?: number }
    if (errcode === busyCode) return undefined
    if (errcode !== notADatabaseCode) throw error
    throw new AppError("storage-failed", `The lock ${path} cannot be used: it holds something else`, {
      cause: error,
      hint: `There is nothing of yours in it. Remove it and try again: rm ${path}`,
    })
  }
  return {
    release() {
      database.exec("rollback")
      database.close()
    },
  }
}

/** Throws `already-running`, naming the owner, when another live process holds the folder. */
export async function acquireStateLock(folder: string, owner: LockOwner): Promise<FolderLock> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, lockFileName)
  const names: Server[] = []
  let lock: StateLock | undefined
  const release = async () => {
    lock?.release()
    for (const server of names) {
      server.close()
      await once(server, "close")
    }
  }
  try {
    for (const name of kernelNames(folder)) {
      const server = await takeName(name)
      if (server === "taken") throw alreadyRunning(folder)
      if (server) names.push(server)
    }
    const before = inodeOf(path)
    lock = tryFileLock(path)
    // Somebody who takes the file away between the two looks leaves us with a lock on what nobody will look at.
    if (!lock || (before !== undefined && inodeOf(path) !== before)) throw alreadyRunning(folder)
    writeFileSync(join(folder, ownerFileName), JSON.stringify(owner), { mode: 0o600 })
    chmodSync(join(folder, ownerFileName), 0o600)
  } catch (error) {
    await release()
    throw error
  }
  return { release }
}

const ownerFileName = "gateway.owner"

function alreadyRunning(folder: string): AppError {
  const first = readOwner(join(folder, ownerFileName))
  const who = first ? `process ${first.pid}, started ${first.startedAt}` : "another process"
  return new AppError("already-running", `A gateway already runs on this state folder (${who}): ${folder}`, {
    hint: "Stop it with: svc stop; or use another folder: SVC_STATE_DIR=...",
  })
}

/** Names in Linux's abstract socket namespace; none elsewhere. */
function kernelNames(folder: string): string[] {
  if (process.platform !== "linux") return []
  return [`path ${realpathSync(folder)}`, `inode ${inodeOf(folder)}`].map(
    (text) => `\0svc-gateway-${createHash("sha256").update(text).digest("hex").slice(0, 40)}`,
  )
}

async function takeName(name: string): Promise<Server | "taken" | undefined> {
  const server = createServer((socket) => socket.destroy())
  server.unref()
  try {
    server.listen(name)
    await once(server, "listening")
    return server
  } catch (error) {
    // Where such names may not be used at all, the lock on the file has to do.
    return (error as NodeJS.ErrnoException).code === "EADDRINUSE" ? "taken" : undefined
  }
}

/** Device and inode; undefined where there is nothing. */
function inodeOf(path: string): string | undefined {
  const status = statSync(path, { throwIfNoEntry: false, bigint: true })
  return status && `${status.dev}:${status.ino}`
}

function readOwner(path: string): LockOwner | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as LockOwner
  } catch {
    // The name of the owner is a courtesy; the lock itself has already decided.
    return undefined
  }
}
