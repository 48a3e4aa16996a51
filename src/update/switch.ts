// The switch and the way back: the folders of the two versions change their names, and the database that the old version has
// left is kept beside until the new one is ready. Renames only, so that a kill leaves one version or the other.
import { DatabaseSync } from "node:sqlite"
import { chownSync, existsSync, renameSync, rmSync, statSync, fsyncSync, openSync, closeSync } from "node:fs"
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

function putOldInPlace(place: Place): void {
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

/**
 * To be called while no gateway runs. Cut off anywhere, it goes on from there when it is called again: while neither database is
 * in use neither version starts, so that none writes into what the other is to go on with.
 */
export function putBack(
  parts: Pick<UpdateParts, "place" | "stateFolder" | "canUse" | "owner">,
  now: number,
): DatabaseBack {
  const { place, stateFolder, owner } = parts
  const database = databaseInUse(stateFolder)
  const before = keptDatabase(stateFolder)
  if (!existsSync(before)) {
    putOldInPlace(place)
    return { kind: "old" }
  }
  if (existsSync(database)) {
    const accepted = countAccepted(before, database)
    if (accepted > 0 && canUse(parts, database)) {
      const copy = join(stateFolder, `svc.db.before-update-${fileTime(now)}`)
      renameSync(before, copy)
      putOldInPlace(place)
      return { kind: "kept", accepted, copy }
    }
  }
  const tried = setAside(stateFolder, now)
  const accepted = countAccepted(before, tried)
  putOldInPlace(place)
  if (owner) chownSync(before, owner.uid, owner.gid)
  renameSync(before, database)
  syncFolder(stateFolder)
  if (accepted > 0) return { kind: "set-aside", accepted, tried }
  for (const end of ["", "-wal", "-shm"]) rmSync(`${tried}${end}`, { force: true })
  return { kind: "old" }
}

/** The database in use was set aside on a way back that was cut off before the kept one had its place. */
export function isBetweenDatabases(stateFolder: string): boolean {
  return existsSync(keptDatabase(stateFolder)) && !existsSync(databaseInUse(stateFolder))
}

export function databaseInUse(stateFolder: string): string {
  return join(stateFolder, "svc.db")
}

/** Under a name that is found again when this is cut off; the database before its log, without which it is not whole. */
function setAside(stateFolder: string, now: number): string {
  const database = databaseInUse(stateFolder)
  const nameAt = (time: number) => join(stateFolder, `svc.db.tried-update-${fileTime(time)}`)
  const usual = nameAt(statSync(keptDatabase(stateFolder)).mtimeMs)
  const isThere = existsSync(database)
  // What a person has put there since is not what was set aside.
  const tried = isThere && existsSync(usual) ? nameAt(now) : usual
  if (isThere) renameSync(database, tried)
  for (const end of ["-wal", "-shm"])
    if (existsSync(`${database}${end}`)) renameSync(`${database}${end}`, `${tried}${end}`)
  syncFolder(stateFolder)
  return tried
}

function fileTime(time: number): string {
  return new Date(time).toISOString().replaceAll(/[:.]/g, "-")
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
