// An update, in five steps: verified backup -> new version beside the old one -> its migrations on a copy of the database ->
// a start of it on that copy -> the switch. Up to the switch nothing of what runs is touched; from there on, a new version
// that does not become ready costs its place, and the old one goes on with the database that it had left.
import { chmodSync, chownSync, copyFileSync, existsSync, rmSync } from "node:fs"
import { join } from "node:path"
import { AppError, describeError } from "../kernel/index.ts"
import type { UpdateOptions, UpdateParts, UpdateReport } from "./contract.ts"
import { readVersion } from "./place.ts"
import { installBeside, makeFolder, migrateCopy, programBeside, programOf, selfTest } from "./new-version.ts"
import {
  type DatabaseBack,
  isBetweenDatabases,
  keepDatabase,
  keptDatabase,
  putBack,
  putNewInPlace,
  workFolder,
} from "./switch.ts"

/** Throws `update-failed` when a step did not pass, `update-refused` when there is nothing to begin with. */
export async function update(parts: UpdateParts, options: UpdateOptions): Promise<UpdateReport> {
  const { place } = parts
  const lock = parts.tryLock(place.lock)
  if (!lock) throw new AppError("update-refused", "Another update of this program is under way")
  try {
    refuseInterrupted(parts)
    return await updateAlone(parts, options)
  } finally {
    rmSync(place.beside, { recursive: true, force: true })
    lock.release()
  }
}

async function updateAlone(parts: UpdateParts, options: UpdateOptions): Promise<UpdateReport> {
  const { place, runner } = parts
  const from = place.version
  const prepared = await prepare(parts, options)
  if (prepared.to === from && !options.force) return { kind: "current", version: from }
  if (options.check) return { kind: "checked", from, ...prepared }
  parts.progress(`5/5 switching from ${from} to ${prepared.to}`)
  await switchOver(parts, prepared.to)
  rmSync(place.before, { recursive: true, force: true })
  rmSync(workFolder(parts.stateFolder), { recursive: true, force: true })
  return { kind: "updated", from, runner: runner.kind, ...prepared }
}

interface Prepared {
  to: string
  backup: string
  migrations: string[]
}

/** The four steps that change nothing of what runs. */
async function prepare(parts: UpdateParts, options: UpdateOptions): Promise<Prepared> {
  const { stateFolder, owner, progress } = parts
  const folder = workFolder(stateFolder)
  const copy = join(folder, "copy")
  try {
    progress("1/5 making a backup, and reading it back")
    const backup = await passing("1, the backup", parts, () => parts.createBackup())
    progress(`2/5 installing ${options.from} beside ${parts.place.version}`)
    const to = await passing("2, the installation beside", parts, () => installBeside(parts, options.from))
    if (to === parts.place.version && !options.force) return { to, backup, migrations: [] }
    progress(`3/5 running the migrations of ${to} on a copy of the database`)
    rmSync(folder, { recursive: true, force: true })
    makeFolder(folder, owner)
    makeFolder(copy, owner)
    const migrations = await passing("3, its migrations on a copy of the database", parts, async () => {
      await parts.copyDatabase(join(copy, "svc.db"))
      if (owner) chownSync(join(copy, "svc.db"), owner.uid, owner.gid)
      copyVariables(stateFolder, copy, owner)
      return await migrateCopy(parts, programBeside(parts.place), copy)
    })
    progress(`4/5 starting ${to} on the copy, with channels off`)
    await passing("4, its start on the copy", parts, () => selfTest(parts, copy))
    return { to, backup, migrations }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The configuration refers to them, and they are looked for in the state folder. The copy goes with the rest of it. */
function copyVariables(stateFolder: string, copy: string, owner: UpdateParts["owner"]): void {
  const file = join(stateFolder, ".env")
  if (!existsSync(file)) return
  const target = join(copy, ".env")
  copyFileSync(file, target)
  chmodSync(target, 0o600)
  if (owner) chownSync(target, owner.uid, owner.gid)
}

/** An error of a step with its number, and what that means for what runs. */
async function passing<T>(step: string, { place, progress }: UpdateParts, work: () => Promise<T>): Promise<T> {
  const untouched = `nothing was changed: svc ${place.version} goes on as before`
  try {
    return await work()
  } catch (error) {
    if (error instanceof AppError && error.code === "aborted") {
      progress(`stopped in step ${step}; ${untouched}`)
      throw error
    }
    throw new AppError("update-failed", `Step ${step}, did not pass: ${describeError(error)}`, {
      cause: error,
      hint: untouched,
    })
  }
}

/** Step 5. Throws `update-failed` when it went back. */
export async function switchOver(parts: UpdateParts, to: string): Promise<void> {
  const { place, runner, stateFolder, progress, owner } = parts
  const from = place.version
  if (runner.kind === "none") return putNewInPlace(place)
  await runner.stop()
  let trouble: unknown
  try {
    rmSync(workFolder(stateFolder), { recursive: true, force: true })
    makeFolder(workFolder(stateFolder), owner)
    await keepDatabase(parts)
    putNewInPlace(place)
    progress(`waiting until ${to} is ready`)
    return await runner.start(to)
  } catch (error) {
    trouble = error
  }
  progress(`${to} did not become ready: going back to ${from}`)
  const why = `Step 5, the switch, did not pass: ${describeError(trouble)}`
  const back = await goBack(parts, `${why}; and `)
  throw new AppError("update-failed", why, {
    cause: trouble,
    hint: describeBack(back, `svc ${from} is in place again and ready`),
  })
}

/** Throws when even the old version does not start, with both reasons, and what became of the database all the same. */
async function goBack(parts: UpdateParts, why = ""): Promise<DatabaseBack> {
  const { place, runner, stateFolder } = parts
  await runner.stop()
  const back = putBack(parts, Date.now())
  rmSync(workFolder(stateFolder), { recursive: true, force: true })
  // Of the version that is back, which is not the one that runs this when an update was cut off.
  const version = readVersion(place.package)
  try {
    await runner.start(version)
  } catch (error) {
    throw new AppError("update-failed", `${why}svc ${version} does not start again: ${describeError(error)}`, {
      cause: error,
      hint: describeBack(back, `svc ${version} is in place again, and does not run`),
    })
  }
  return back
}

/** What became of the database, behind what runs now. */
export function describeBack(back: DatabaseBack, running: string): string {
  if (back.kind === "old") return `${running}, with its own database`
  if (back.kind === "kept") {
    return `${running}; the database of the new version is kept, as ${back.accepted} things were accepted meanwhile and this version can read it; the one before: ${back.copy}`
  }
  return `${running}, with its own database; ${back.accepted} things that the new version had accepted are only in ${back.tried}`
}

/** A kill between the switch and its end leaves both versions, and a person to decide. */
function refuseInterrupted({ place, stateFolder }: UpdateParts): void {
  refuseBetween(stateFolder)
  if (!existsSync(place.before)) return
  throw new AppError("update-refused", `An update to ${place.version} was cut off after the switch`, {
    hint: `if svc status is well: svc update --keep; else, back to the version before with the database in ${workFolder(stateFolder)}: svc update --back`,
  })
}

/** Neither version has a database to go on with, and the work folder has the only one of the version before. */
function refuseBetween(stateFolder: string): void {
  if (!isBetweenDatabases(stateFolder)) return
  throw new AppError("update-refused", "The way back from an update was cut off before its database was back", {
    hint: "go on with it: svc update --back",
  })
}

/** Ends an update that was cut off: with the new version, or with the one before. */
export async function settleInterrupted(
  parts: UpdateParts,
  wanted: "keep" | "back",
): Promise<DatabaseBack | undefined> {
  const { place, stateFolder } = parts
  const lock = parts.tryLock(place.lock)
  if (!lock) throw new AppError("update-refused", "Another update of this program is under way")
  try {
    const isBetween = isBetweenDatabases(stateFolder)
    if (!existsSync(place.before) && !isBetween) throw new AppError("not-found", "No update was cut off here")
    if (wanted === "back") {
      const isUsable = existsSync(keptDatabase(stateFolder)) && !isBetween && (await canBeforeUse(parts))
      return await goBack({ ...parts, canUse: () => isUsable })
    }
    refuseBetween(stateFolder)
    rmSync(place.before, { recursive: true, force: true })
    rmSync(workFolder(stateFolder), { recursive: true, force: true })
    return undefined
  } finally {
    lock.release()
  }
}

/** Asked of the version before itself, as this is the new one, which knows more; while whatever runs goes on. */
async function canBeforeUse(parts: UpdateParts): Promise<boolean> {
  const { place, stateFolder, owner, progress } = parts
  const copy = join(workFolder(stateFolder), "copy")
  progress("trying the version before on a copy of the database as it is now")
  rmSync(copy, { recursive: true, force: true })
  makeFolder(copy, owner)
  try {
    await parts.copyDatabase(join(copy, "svc.db"))
    if (owner) chownSync(join(copy, "svc.db"), owner.uid, owner.gid)
    await migrateCopy(parts, programOf(place.before), copy)
    return true
  } catch (error) {
    if (parts.signal.aborted) throw error
    progress(`it cannot use it: ${describeError(error)}`)
    return false
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}
