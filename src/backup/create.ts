// Makes a backup: lock -> copy of the database -> the other files, hashed -> manifest -> archive -> read back -> retention.
// Runs in a process of its own (`svc backup create`), beside a running gateway or without one.
import { createHash } from "node:crypto"
import { constants, existsSync, readFileSync, realpathSync } from "node:fs"
import { type FileHandle, open, rm, stat } from "node:fs/promises"
import { join } from "node:path"
import type { Variables } from "../config/index.ts"
import { AppError, type Clock, type Ids } from "../kernel/index.ts"
import { isProcessAlive } from "../kernel/process-alive.ts"
import { realPathOfOpen } from "../kernel/read-inside.ts"
import { type StateLock, tryFileLock } from "../store/index.ts"
import { type Source, writeArchive } from "./archive/write.ts"
import { type Collected, type CollectedFile, collectFiles } from "./collect.ts"
import { type BackupFacts, type Manifest, type Progress, databaseMember, manifestMember } from "./contract.ts"
import { copyDatabase } from "./database.ts"
import { archiveName, originOf, partialName, removeLeftovers, removeOldBackups } from "./folder.ts"
import { makeBackupFolder } from "./make-folder.ts"
import { verifyBackup } from "./verify.ts"

export interface CreateOptions {
  stateFolder: string
  configPath: string
  variables: Variables
  /** Absolute; made when it is missing, mode 700. */
  folder: string
  version: string
  /** Made by the gateway's schedule: of these only so many are kept. */
  scheduled?: { keep: number }
  clock: Clock
  ids: Ids
  progress: Progress
  signal?: AbortSignal
}

export interface CreateReport extends BackupFacts {
  removed: string[]
}

/** Files may change between the two times they are read; a third time would mean that something writes all the time. */
const attempts = 3

export async function createBackup(options: CreateOptions): Promise<CreateReport> {
  const { folder, stateFolder, scheduled } = options
  const origin = originOf(stateFolder)
  checkStateFolder(stateFolder)
  await makeBackupFolder(folder)
  const lock = lockBackups(stateFolder)
  const partial = join(folder, partialName(origin, options.ids.uuid()))
  const copy = `${partial}.db`
  try {
    await removeLeftovers(folder, origin)
    const database = await copyDatabase(stateFolder, copy, {
      now: () => options.clock.now(),
      signal: options.signal,
      progress: options.progress,
    })
    const file = join(folder, archiveName(origin, database.createdAt, scheduled !== undefined))
    await packUnchanged(options, { database, copy, partial, file })
    await rm(copy)
    // By a name of ours, as large as the database is: a killed one leaves it to the next, too.
    const facts = await readBack(file, options, `${partial}.read-back.db`)
    const removed = scheduled ? await removeOldBackups(folder, origin, scheduled.keep) : []
    return { ...facts, removed }
  } finally {
    for (const name of [copy, `${copy}-journal`, `${copy}-wal`]) await rm(name, { force: true })
    lock.release()
  }
}

function checkStateFolder(stateFolder: string): void {
  const database = join(stateFolder, "svc.db")
  if (existsSync(database)) return
  throw new AppError("not-found", `There is nothing to back up: ${database} does not exist`, {
    hint: "name the state folder: --state-dir <dir>",
  })
}

/** What does not stand the test is no backup, and must not be taken for the newest one. */
async function readBack(file: string, options: CreateOptions, copy: string): Promise<BackupFacts> {
  try {
    return await verifyBackup(file, options, copy)
  } catch (error) {
    await rm(file, { force: true })
    if (!(error instanceof AppError) || error.code !== "backup-damaged") throw error
    throw new AppError("backup-failed", `The backup did not stand its test: ${error.message}`, {
      cause: error,
      hint: "the database in use may be damaged: stop the gateway and restore an older backup (svc backup list)",
    })
  }
}

/** One at a time for a state folder: what lies about while it is held was left by a killed one. */
function lockBackups(stateFolder: string): StateLock {
  const lock = tryFileLock(join(stateFolder, "backup.lock"))
  if (lock) return lock
  throw new AppError("conflict", "Another backup of this state folder is being made", { hint: "wait for its end" })
}

interface Work {
  database: Awaited<ReturnType<typeof copyDatabase>>
  copy: string
  partial: string
  file: string
}

async function packUnchanged(options: CreateOptions, work: Work): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await pack(options, work)
      return
    } catch (error) {
      if (!(error instanceof ChangedFile)) throw error
      if (attempt < attempts) continue
      throw new AppError("backup-failed", `${error.file} changes while it is backed up`, {
        hint: "try again when nothing writes it, or move it out of the state folder",
      })
    }
  }
}

class ChangedFile extends Error {
  readonly file: string

  constructor(file: string) {
    super(`${file} has changed`)
    this.file = file
  }
}

async function pack(options: CreateOptions, { database, copy, partial, file }: Work): Promise<void> {
  const { stateFolder, configPath, progress, signal } = options
  const found = collectFiles({ stateFolder, configPath, variables: options.variables, backupFolder: options.folder })
  // Last, so that a file which changes on the way is met before the long part.
  const ofDatabase = { path: databaseMember, file: copy, real: realpathSync(copy) }
  const hashed = await hashFiles([...found.files, ofDatabase], options)
  const manifest = describe(options, database, found, hashed)
  const text = Buffer.from(`${JSON.stringify(manifest, null, 1)}\n`)
  const first: Source = { path: manifestMember, size: text.length, mtimeMs: database.createdAt, read: () => once(text) }
  const total = hashed.reduce((sum, source) => sum + source.size, 0)
  let done = 0
  await writeArchive(file, partial, [first, ...hashed], {
    signal,
    onBytes(bytes) {
      done += bytes
      progress("packing", Math.min(done, total), total)
    },
  })
}

async function* once(text: Buffer): AsyncGenerator<Buffer> {
  yield text
}

function describe(
  options: CreateOptions,
  database: Work["database"],
  found: Collected,
  hashed: readonly HashedSource[],
): Manifest {
  return {
    product: "svc",
    format: 1,
    version: options.version,
    createdAt: database.createdAt,
    gateway: isGatewayRunning(options.stateFolder) ? "running" : "stopped",
    stateFolder: options.stateFolder,
    configPath: options.configPath,
    schema: database.schema,
    ...(database.readableFrom === undefined ? {} : { readableFrom: database.readableFrom }),
    counts: database.counts,
    members: hashed.map(({ path, size, sha256 }) => ({ path, size, sha256 })),
    leftOut: found.leftOut.slice(0, 1_000),
  }
}

interface HashedSource extends Source {
  sha256: string
}

async function hashFiles(
  files: readonly CollectedFile[],
  { signal, progress }: CreateOptions,
): Promise<HashedSource[]> {
  const sources: HashedSource[] = []
  for (const { path, ...found } of files) {
    const { file } = found
    signal?.throwIfAborted()
    progress("reading files", sources.length, files.length)
    const hash = createHash("sha256")
    let size = 0
    const mtimeMs = (await stat(file).catch(() => undefined))?.mtimeMs
    // Removed since the folder was listed.
    if (mtimeMs === undefined) continue
    for await (const chunk of readWhole(found)) {
      signal?.throwIfAborted()
      hash.update(chunk)
      size += chunk.length
    }
    const sha256 = hash.digest("hex")
    sources.push({ path, size, mtimeMs, sha256, read: () => readAsHashed(found, { size, sha256 }) })
  }
  return sources
}

/** Throws ChangedFile rather than give more, less or other bytes than were hashed. */
async function* readAsHashed(found: Found, expected: { size: number; sha256: string }): AsyncGenerator<Buffer> {
  const { file } = found
  const hash = createHash("sha256")
  let size = 0
  for await (const chunk of readWhole(found)) {
    size += chunk.length
    if (size > expected.size) throw new ChangedFile(file)
    hash.update(chunk)
    yield chunk
  }
  if (size !== expected.size || hash.digest("hex") !== expected.sha256) throw new ChangedFile(file)
}

type Found = Omit<CollectedFile, "path">

const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants
/** Gone, a link, or reached by what is no folder any more. */
const changedCodes = new Set(["ENOENT", "ELOOP", "ENOTDIR", "ENXIO"])

/**
 * Commands in a sandbox may put a link or a pipe in the place of a file that was listed: neither is followed, nor waited for.
 */
async function* readWhole({ file, real }: Found): AsyncGenerator<Buffer> {
  let handle: FileHandle
  try {
    handle = await open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  } catch (error) {
    if (changedCodes.has((error as NodeJS.ErrnoException).code ?? "")) throw new ChangedFile(file)
    throw error
  }
  try {
    const isThere = (await handle.stat()).isFile() && realPathOfOpen(handle.fd, file) === real
    if (!isThere) throw new ChangedFile(file)
    for (;;) {
      const { bytesRead, buffer } = await handle.read({ buffer: Buffer.allocUnsafe(256 * 1024) })
      if (bytesRead === 0) return
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    await handle.close()
  }
}

/** For people; what a restore may do does not hang on it. */
function isGatewayRunning(stateFolder: string): boolean {
  try {
    const { pid } = JSON.parse(readFileSync(join(stateFolder, "gateway.json"), "utf8")) as { pid: number }
    return isProcessAlive(pid)
  } catch {
    return false
  }
}
