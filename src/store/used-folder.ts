// Whether a state folder was used before: a store that is missing or empty there has been lost, and is never replaced
// by a new one unasked. `store.json` is the mark; folders of programs that made none are known by what they leave.
import { existsSync, readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { AppError, writePrivateFile } from "../kernel/index.ts"

export const markFileName = "store.json"

/** What an older program leaves in its folder once it has made a store. */
const leftBehind = ["reserve", "gateway.json"]

export function markAsUsed(folder: string, createdAt: string): void {
  const path = join(folder, markFileName)
  if (existsSync(path)) return
  const note = "This folder holds a store (svc.db). While this file is here, a missing or empty store is not made anew."
  writePrivateFile(path, `${JSON.stringify({ createdAt, note }, null, 2)}\n`)
}

export function wasUsed(folder: string): boolean {
  const names = list(folder)
  // Without its database a log of writes is all that is left of one; beside an empty one it may be the first start's.
  const left = names.includes("svc.db") ? leftBehind : [...leftBehind, "svc.db-wal"]
  return names.some((name) => name === markFileName || left.includes(name) || name.startsWith("svc.db.corrupt-"))
}

export function storageMissing(folder: string, what: "missing" | "empty"): AppError {
  const found = findBackups(folder)
  const backups = found.length > 0 ? `Found here: ${found.join(", ")}` : "No backup was found in the folder"
  return new AppError(
    "storage-missing",
    `The store is ${what}, though this folder was used before: ${join(folder, "svc.db")}. ${backups}`,
    {
      hint: "Restore a backup into a folder of its own (svc backup list, then svc backup restore <archive> --to <folder>), or put svc.db back. To begin anew, without the conversations, runs and approved senders of before: svc gateway --new-store",
    },
  )
}

/** Whether something stands there that can be no database, such as a folder. */
export function isNoFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === false
}

/** Nobody but a person knows what that is, so it is neither opened nor set aside. */
export function noFile(path: string): AppError {
  return new AppError("storage-failed", `The store cannot be opened: ${path} is a folder, or no ordinary file`, {
    hint: "Move it away, and put svc.db back or restore a backup (svc backup list)",
  })
}

/** Older copies that a person may restore, newest first. */
export function findBackups(folder: string): string[] {
  const isCopy = (name: string) =>
    (name.startsWith("svc.db.") && !/^\d+$/.test(name.slice("svc.db.".length))) ||
    name.startsWith("svc.db-old") ||
    name.startsWith("svc.db-b")
  const own = list(folder).filter(isCopy)
  const kept = list(join(folder, "backups")).map((name) => join("backups", name))
  const at = (name: string) => statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0
  return [...own, ...kept].toSorted((one, other) => at(other) - at(one)).slice(0, 10)
}

function list(folder: string): string[] {
  return statSync(folder, { throwIfNoEntry: false })?.isDirectory() ? readdirSync(folder) : []
}
