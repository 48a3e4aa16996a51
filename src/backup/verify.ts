// Reads a backup to its end: the manifest, then each member against its size and hash. What becomes of the bytes is the
// caller's: verifying keeps the database only, in a file beside the archive, for SQLite's own check.
import { createHash, randomBytes } from "node:crypto"
import { access, constants, open, rm, stat, statfs } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { AppError } from "../kernel/index.ts"
import { damaged } from "./archive/header.ts"
import { type ArchiveMember, readArchive } from "./archive/read.ts"
import { syncEveryBytes } from "./archive/write.ts"
import {
  type BackupFacts,
  type Manifest,
  type Progress,
  databaseMember,
  manifestMember,
  manifestSchema,
} from "./contract.ts"
import { checkDatabase, checkSchema } from "./database.ts"

/** Of `maxMembers` paths of usual length. */
const maxManifestBytes = 64 * 1024 * 1024

export interface ReadOptions {
  progress: Progress
  signal?: AbortSignal
}

/**
 * Throws `backup-damaged` or `backup-newer`; answers what the backup holds. `at` is where the database is unpacked to, for whoever
 * removes it should this be killed.
 */
export async function verifyBackup(archive: string, options: ReadOptions, at?: string): Promise<BackupFacts> {
  const copy = at ?? join(await roomFor(archive), `.svc-verify-${randomBytes(6).toString("hex")}.partial.db`)
  try {
    const manifest = await unpack(archive, options, async (path) => (path === databaseMember ? copy : undefined))
    options.progress("checking the database")
    checkDatabase(copy, manifest.version)
    return await factsOf(archive, manifest)
  } finally {
    for (const name of [copy, `${copy}-wal`, `${copy}-shm`, `${copy}-journal`]) await rm(name, { force: true })
  }
}

/** Beside the archive, where there was room for one; a read-only medium has none. */
async function roomFor(archive: string): Promise<string> {
  const folder = dirname(resolve(archive))
  return await access(folder, constants.W_OK).then(
    () => folder,
    () => tmpdir(),
  )
}

/** The manifest alone: what stands first in the archive. Throws `backup-damaged`. */
export async function readManifest(archive: string, signal?: AbortSignal): Promise<Manifest> {
  for await (const member of readArchive(archive, signal)) return await parseManifest(member)
  throw damaged("it is empty")
}

export async function factsOf(archive: string, manifest: Manifest): Promise<BackupFacts> {
  const { version, createdAt, gateway, counts, leftOut, members } = manifest
  const { size } = await stat(archive)
  const schema = manifest.schema.at(-1) ?? "none"
  return { archive, bytes: size, version, createdAt, gateway, schema, counts, files: members.length, leftOut }
}

/**
 * Every member in the order of the manifest, none more and none less, each with its size and hash. `place` says where a
 * member is written (a file that does not exist yet), or nothing for one that is only checked.
 */
export async function unpack(
  archive: string,
  { progress, signal }: ReadOptions,
  place: (path: string, manifest: Manifest) => Promise<string | undefined>,
): Promise<Manifest> {
  let manifest: Manifest | undefined
  let index = 0
  let done = 0
  for await (const member of readArchive(archive, signal)) {
    if (!manifest) {
      manifest = await parseManifest(member)
      checkSchema({ schema: manifest.schema, readableFrom: manifest.readableFrom }, manifest.version)
      continue
    }
    const expected = manifest.members[index]
    if (!expected || member.path !== expected.path || member.size !== expected.size) {
      throw damaged("its members are not those of its manifest")
    }
    const total = totalOf(manifest)
    const target = await place(member.path, manifest)
    const sha256 = await take(member, target, (bytes) => {
      done += bytes
      progress("reading the archive", done, total)
    })
    if (sha256 !== expected.sha256) throw damaged(`${expected.path} has been changed`)
    index += 1
  }
  if (!manifest) throw damaged("it is empty")
  if (index !== manifest.members.length) throw damaged("it ends too early")
  return manifest
}

export function totalOf(manifest: Manifest): number {
  return manifest.members.reduce((sum, member) => sum + member.size, 0)
}

/** Refuses before anything is written what the disk could not hold. */
export async function checkRoom(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder)
  if (bytes <= bavail * bsize) return
  const [need, have] = [bytes, bavail * bsize].map((amount) => Math.ceil(amount / 1024 / 1024))
  throw new AppError("storage-full", `The backup needs ${need} MB in ${folder}; ${have} MB are free`, {
    hint: "free some space, or restore to another disk",
  })
}

async function parseManifest(member: ArchiveMember): Promise<Manifest> {
  if (member.path !== manifestMember || member.size > maxManifestBytes) throw damaged("it is not a backup of svc")
  const parts: Buffer[] = []
  for await (const part of member.body) parts.push(part)
  let content: unknown
  try {
    content = JSON.parse(Buffer.concat(parts).toString("utf8"))
  } catch (error) {
    throw damaged("its manifest is no JSON", error)
  }
  const parsed = manifestSchema.safeParse(content)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw damaged(`its manifest is wrong at ${issue?.path.join(".")}: ${issue?.message}`)
  }
  const names = new Set(parsed.data.members.map(({ path }) => path))
  if (names.size !== parsed.data.members.length) throw damaged("its manifest names a file twice")
  if (parsed.data.members.some(({ path }) => folderPaths(path).some((folder) => names.has(folder)))) {
    throw damaged("its manifest names a file as a folder")
  }
  if (!names.has(databaseMember)) throw damaged("it holds no database")
  return parsed.data
}

function folderPaths(path: string): string[] {
  const parts = path.split("/")
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join("/"))
}

/** The hash of a member, which is written to `target`, if any, and is on the disk when this resolves. */
async function take(
  member: ArchiveMember,
  target: string | undefined,
  onBytes: (bytes: number) => void,
): Promise<string> {
  const hash = createHash("sha256")
  const file = target === undefined ? undefined : await open(target, "wx", 0o600)
  try {
    let unsynced = 0
    for await (const chunk of member.body) {
      hash.update(chunk)
      await file?.writeFile(chunk)
      onBytes(chunk.length)
      unsynced += chunk.length
      if (unsynced < syncEveryBytes) continue
      await file?.datasync()
      unsynced = 0
    }
    await file?.sync()
  } finally {
    await file?.close()
  }
  return hash.digest("hex")
}
