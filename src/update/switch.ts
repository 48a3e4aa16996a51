// The switch and the way back: the folders of the two versions change their names, and the database that the old version has
// left is kept beside until the new one is ready. Renames only, so that a kill leaves one version or the other.
import { DatabaseSync } from "node:sqlite"
import { chownSync, existsSync, renameSync, rmSync, fsyncSync, openSync, closeSync } from "node:fs"
import { dirname, join } from "node:path"
import { packageBeside } from "./new-version.ts"
import type { Place, UpdateParts } from "./contract.ts"

/** Everything of an update in the state folder. */
export function workFolder(stateFolder: string): string {
  return join(stateFolder, "update")
}

/** The database as the old version has left it. */
export function keptDatabase(stateFolder: string): string {
  return join(workFolder(stateFolder), "before.db")
}

/** Under its name only when it is whole: what has that name is put back in the place of the one in use. */
export async function keepDatabase({ stateFolder, copyDatabase }: UpdateParts): Promise<void> {
  const kept = keptDatabase(stateFolder)
  await copyDatabase(`${kept}.partial`)
  renameSync(`${kept}.partial`, kept)
  syncFolder(workFolder(stateFolder))
}

export function putNewInPlace(place: Place): void {
  rmSync(place.before, { recursive: true, force: true })
  renameSync(place.package, place.before)
  try {
    renameSync(packageBeside(place), place.package)
  } catch (error) {
    renameSync(place.before, place.package)
    throw error
  }
  syncFolder(dirname(place.package))
}

export function putOldInPlace(place: Place): void {
  if (!existsSync(place.before)) return
  rmSync(place.beside, { recursive: true, force: true })
  if (existsSync(place.package)) renameSync(place.package, place.beside)
  renameSync(place.before, place.package)
  syncFolder(dirname(place.package))
  rmSync(place.beside, { recursive: true, force: true })
}

/** What became of the database on the way back. */
export type DatabaseBack =
  | { kind: "old" }
  /** The new version had taken things in, and the old one can read what it has made: nothing is lost. */
  | { kind: "kept"; accepted: number; copy: string }
  /** It cannot: the old database is back, and what the new version has made lies beside. */
  | { kind: "set-aside"; accepted: number; tried: string }

/** To be called while no gateway runs. */
export function putDatabaseBack(
  parts: Pick<UpdateParts, "stateFolder" | "canUse" | "owner">,
  now: number,
): DatabaseBack {
  const { stateFolder } = parts
  const database = join(stateFolder, "svc.db")
  const before = keptDatabase(stateFolder)
  if (!existsSync(before)) return { kind: "old" }
  const accepted = countAccepted(before, database)
  const time = new Date(now).toISOString().replaceAll(/[:.]/g, "-")
  if (accepted > 0 && canUse(parts, database)) {
    const copy = join(stateFolder, `svc.db.before-update-${time}`)
    renameSync(before, copy)
    return { kind: "kept", accepted, copy }
  }
  const tried = join(stateFolder, `svc.db.tried-update-${time}`)
  for (const end of ["-wal", "-shm"])
    if (existsSync(`${database}${end}`)) renameSync(`${database}${end}`, `${tried}${end}`)
  renameSync(database, tried)
  renameSync(before, database)
  syncFolder(stateFolder)
  if (parts.owner) chownSync(database, parts.owner.uid, parts.owner.gid)
  if (accepted > 0) return { kind: "set-aside", accepted, tried }
  for (const end of ["", "-wal", "-shm"]) rmSync(`${tried}${end}`, { force: true })
  return { kind: "old" }
}

/** A database that the new version has spoilt is none that the old one could go on with. */
function canUse(parts: Pick<UpdateParts, "canUse">, database: string): boolean {
  try {
    return parts.canUse(database)
  } catch {
    return false
  }
}

/** Deliveries, messages and pieces of work that are in the one and not in the other. */
function countAccepted(before: string, after: string): number {
  try {
    return Math.max(0, countRows(after) - countRows(before))
  } catch {
    // What cannot be read has taken nothing in that could be kept.
    return 0
  }
}

function countRows(file: string): number {
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    const sums = ["inbox", "job", "event", "outbox"].map((table) => `(select count(*) from ${table})`)
    const row = database.prepare(`select ${sums.join(" + ")} as n`).get()
    return Number(row?.["n"] ?? 0)
  } finally {
    database.close()
  }
}

function syncFolder(folder: string): void {
  const handle = openSync(folder, "r")
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
