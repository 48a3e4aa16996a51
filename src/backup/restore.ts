// Makes a state folder of a backup: unpack beside -> check -> make safe to start -> put in place by one rename. A kill at
// any moment leaves the old folder or the new one; what it leaves beside is removed by the next restore.
import { mkdirSync } from "node:fs"
import { mkdir, open, readdir, rename, rm, rmdir, stat } from "node:fs/promises"
import { basename, dirname, join, relative, resolve } from "node:path"
import { AppError, type Clock, type Ids } from "../kernel/index.ts"
import { type StateLock, acquireStateLock, tryFileLock } from "../store/index.ts"
import { damaged } from "./archive/header.ts"
import { syncFolder } from "./archive/write.ts"
import { type Manifest, type OpenWork, type RestoreReport, type Unsent, elsewhereRoot, stateRoot } from "./contract.ts"
import { type Settled, checkDatabase, settleRestored } from "./database.ts"
import { type ReadOptions, checkRoom, factsOf, readManifest, totalOf, unpack } from "./verify.ts"

export interface RestoreOptions extends ReadOptions {
  archive: string
  /** The state folder to be. */
  to: string
  /** Sets a state folder aside that stands there; without it only a new or empty folder is taken. */
  replace: boolean
  openWork: OpenWork
  unsent: Unsent
  clock: Clock
  ids: Ids
}

/** Held in a folder under way by the restore that fills it. */
const workLock = "restore.lock"
const elsewhereFolder = "config-from-elsewhere"

export async function restoreBackup(options: RestoreOptions): Promise<RestoreReport> {
  const to = resolve(options.to)
  const manifest = await readManifest(options.archive, options.signal)
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  const present = await lockPresent(to, options)
  const staging = `${to}.restoring-${options.ids.uuid()}`
  let work: StateLock | undefined
  try {
    await removeLeftovers(to)
    await checkRoom(dirname(to), totalOf(manifest))
    mkdirSync(staging, { mode: 0o700 })
    work = tryFileLock(join(staging, workLock))
    if (!work) throw new AppError("conflict", `Another restore to ${to} is under way`, { hint: "wait for its end" })
    const read = await unpack(options.archive, options, (path) => placeIn(staging, path))
    const settled = settle(staging, read, options)
    await syncTree(staging)
    // Now, because the archive may lie in the folder that is set aside.
    const facts = await factsOf(options.archive, read)
    const setAside = await putInPlace(staging, to, { present, at: options.clock.now() })
    // SQLite's own name for what belongs to the lock, which it cannot find any more.
    for (const name of [workLock, `${workLock}-journal`]) await rm(join(to, name), { force: true })
    const moved = setAside === undefined ? {} : { setAside }
    return { ...facts, folder: to, ...moved, ...settled, elsewhere: listElsewhere(to, read) }
  } finally {
    work?.release()
    await rm(staging, { recursive: true, force: true })
    if (present !== "none") await present.release()
  }
}

/** A state folder that no gateway can start on meanwhile. */
interface Held {
  release(): unknown
}

/** `none`: nothing stands there, or an empty folder. Throws `conflict` or `already-running`. */
async function lockPresent(to: string, { replace, clock, ids }: RestoreOptions): Promise<Held | "none"> {
  const facts = await stat(to).catch(() => undefined)
  if (!facts) return "none"
  const names = facts.isDirectory() ? await readdir(to) : []
  if (facts.isDirectory() && names.length === 0) return "none"
  if (!names.some((name) => name === "svc.db" || name === "svc.json")) {
    throw new AppError("conflict", `${to} is no state folder and not empty`, {
      hint: "name a new folder: --to <folder>",
    })
  }
  // Also without --replace: that a gateway runs there is the more important thing to know.
  const lock: Held = await acquireStateLock(to, {
    pid: process.pid,
    bootId: ids.uuid(),
    startedAt: new Date(clock.now()).toISOString(),
  })
  if (replace) return lock
  await lock.release()
  throw new AppError("conflict", `${to} holds a state folder already`, {
    hint: "name a new folder, or set the present one aside with --replace (it is kept beside, under another name)",
  })
}

/** Folders that killed restores of the same place have filled. */
async function removeLeftovers(to: string): Promise<void> {
  for (const name of await readdir(dirname(to))) {
    if (!name.startsWith(`${basename(to)}.restoring-`)) continue
    const folder = join(dirname(to), name)
    const lock = tryFileLock(join(folder, workLock))
    // Of a restore that runs at this moment.
    if (!lock) continue
    lock.release()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Names were judged when the manifest was read; here nothing may stand in the way. */
async function placeIn(staging: string, path: string): Promise<string> {
  const target = join(staging, placeOf(path))
  if (relative(staging, target).startsWith("..")) throw damaged(`${path} leads out of the folder`)
  try {
    await mkdir(dirname(target), { recursive: true, mode: 0o700 })
  } catch (error) {
    throw damaged(`${path} stands where another file does`, error)
  }
  return target
}

function placeOf(path: string): string {
  const [root, ...rest] = path.split("/")
  return root === stateRoot ? join(...rest) : join(elsewhereFolder, ...rest)
}

function listElsewhere(to: string, manifest: Manifest): RestoreReport["elsewhere"] {
  return manifest.members
    .filter(({ path }) => path.startsWith(`${elsewhereRoot}/`))
    .map(({ path }) => ({ from: path.slice(elsewhereRoot.length), to: join(to, placeOf(path)) }))
}

function settle(staging: string, manifest: Manifest, options: RestoreOptions): Settled {
  const database = join(staging, "svc.db")
  options.progress("checking the database")
  checkDatabase(database, manifest.version)
  const { openWork, unsent, clock } = options
  return settleRestored(database, { openWork, unsent, now: clock.now(), createdAt: manifest.createdAt })
}

/** The files are on the disk already; their names are not. */
async function syncTree(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await syncTree(join(folder, entry.name))
  }
  const database = join(folder, "svc.db")
  const handle = await open(database, "r").catch(() => undefined)
  await handle?.sync()
  await handle?.close()
  await syncFolder(folder)
}

async function putInPlace(
  staging: string,
  to: string,
  { present, at }: { present: Held | "none"; at: number },
): Promise<string | undefined> {
  if (present === "none") {
    // Only an empty folder: anything else came in the meantime, and stays.
    await rmdir(to).catch(ignoreMissing)
    await rename(staging, to).catch(refuseTaken(to))
    await syncFolder(dirname(to))
    return undefined
  }
  const setAside = `${to}.before-restore-${new Date(at).toISOString().replaceAll(/[:.]/g, "-")}`
  await rename(to, setAside).catch(refuseMounted(to))
  try {
    await rename(staging, to)
  } catch (error) {
    await rename(setAside, to)
    throw error
  }
  await syncFolder(dirname(to))
  return setAside
}

function refuseTaken(to: string): (cause: unknown) => never {
  return (cause) => {
    throw new AppError("conflict", `Something came into being at ${to} meanwhile`, {
      cause,
      hint: "name another folder",
    })
  }
}

function refuseMounted(to: string): (cause: unknown) => never {
  return (cause) => {
    throw new AppError("conflict", `${to} cannot be renamed`, {
      cause,
      hint: "it may be a mounted disk: restore to a new folder in it, and start the gateway with SVC_STATE_DIR set to that",
    })
  }
}

/** What is in the folder is met by the rename. */
function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT" && error.code !== "ENOTEMPTY") throw error
}
