// Where backups lie and what they are called: svc-backup-<folder>-<time>[-scheduled].tar.gz. `<folder>` is eight digits of
// the state folder's path, so that gateways which share a backup folder do not remove each other's.
import { createHash } from "node:crypto"
import { readdir, rm, stat } from "node:fs/promises"
import { join, resolve } from "node:path"
import { AppError } from "../kernel/index.ts"

const pattern = /^svc-backup-([0-9a-f]{8})-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z)(-scheduled)?\.tar\.gz$/

export interface FoundArchive {
  file: string
  bytes: number
  createdAt: number
  scheduled: boolean
  /** Of the state folder that it was made from. */
  origin: string
}

export function originOf(stateFolder: string): string {
  return createHash("sha256").update(resolve(stateFolder)).digest("hex").slice(0, 8)
}

export function archiveName(origin: string, createdAt: number, scheduled: boolean): string {
  const time = new Date(createdAt).toISOString().replaceAll(/[:.]/g, "-")
  return `svc-backup-${origin}-${time}${scheduled ? "-scheduled" : ""}.tar.gz`
}

/** Newest first; by their names alone. A folder that is not there holds none. */
export async function findArchives(folder: string): Promise<FoundArchive[]> {
  const found: FoundArchive[] = []
  for (const name of await namesIn(folder)) {
    const [, origin, time, scheduled] = pattern.exec(name) ?? []
    if (origin === undefined || time === undefined) continue
    const file = join(folder, name)
    const { size } = await stat(file).catch(() => ({ size: 0 }))
    found.push({ file, bytes: size, createdAt: timeOf(time), scheduled: scheduled !== undefined, origin })
  }
  return found.toSorted((one, other) => other.createdAt - one.createdAt)
}

/** A path, a name in the folder, or `latest`. Throws `not-found`. */
export async function resolveArchive(folder: string, wanted: string): Promise<string> {
  if (wanted === "latest") {
    const [newest] = await findArchives(folder)
    if (newest) return newest.file
    throw new AppError("not-found", `There is no backup in ${folder}`, { hint: "make one: svc backup create" })
  }
  for (const file of [resolve(wanted), join(folder, wanted)]) {
    const facts = await stat(file).catch(() => undefined)
    if (facts?.isFile()) return file
  }
  throw new AppError("not-found", `There is no backup ${wanted}`, { hint: `look at them: svc backup list` })
}

/** Removes the oldest scheduled ones of this state folder beyond `keep`; tells which. */
export async function removeOldBackups(folder: string, origin: string, keep: number): Promise<string[]> {
  const own = (await findArchives(folder)).filter((archive) => archive.scheduled && archive.origin === origin)
  const old = own.slice(keep).map(({ file }) => file)
  for (const file of old) await rm(file, { force: true })
  return old
}

export function partialName(origin: string, random: string): string {
  return `.svc-backup-${origin}-${random}.partial`
}

/** What a killed `create` of this state folder has left. To be called while no other runs. */
export async function removeLeftovers(folder: string, origin: string): Promise<void> {
  for (const name of await namesIn(folder)) {
    if (name.startsWith(`.svc-backup-${origin}-`) && name.includes(".partial")) await rm(join(folder, name))
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return []
    throw new AppError("not-found", `The backup folder ${folder} cannot be read`, {
      cause: error,
      hint: "check backup.folder and its rights",
    })
  }
}

function timeOf(time: string): number {
  return Date.parse(time.replace(/T(\d\d)-(\d\d)-(\d\d)-(\d{3})Z/, "T$1:$2:$3.$4Z"))
}
