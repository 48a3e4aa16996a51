// One state folder, one gateway: an exclusive SQLite lock that the kernel releases when the process dies,
// so it is immune to reused pids and stale files.
import { chmodSync, closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs"
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
    if ((error as { errcode?: number }).errcode !== 5) throw error
    return undefined
  }
  return {
    release() {
      database.exec("rollback")
      database.close()
    },
  }
}

/** Throws `already-running`, naming the owner, when another live process holds the folder. */
export function acquireStateLock(folder: string, owner: LockOwner): StateLock {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const ownerPath = join(folder, "gateway.owner")
  const lock = tryFileLock(join(folder, "gateway.lock"))
  if (!lock) {
    const first = readOwner(ownerPath)
    const who = first ? `process ${first.pid}, started ${first.startedAt}` : "another process"
    throw new AppError("already-running", `A gateway already runs on this state folder (${who}): ${folder}`, {
      hint: "Stop it with: svc stop; or use another folder: SVC_STATE_DIR=...",
    })
  }
  writeFileSync(ownerPath, JSON.stringify(owner), { mode: 0o600 })
  chmodSync(ownerPath, 0o600)
  return lock
}

function readOwner(path: string): LockOwner | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as LockOwner
  } catch {
    // The name of the owner is a courtesy; the lock itself has already decided.
    return undefined
  }
}
