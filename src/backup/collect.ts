// What of a state folder goes into a backup: everything but what is made anew, what cannot be copied while it is used, and
// the database, which is copied in its own way. New kinds of files are in by themselves.
import { type Dirent, lstatSync, readdirSync, realpathSync } from "node:fs"
import { join, relative, resolve, sep } from "node:path"
import { type Variables, loadConfigFile } from "../config/index.ts"
import { AppError } from "../kernel/index.ts"
import { elsewhereRoot, maxMembers, stateRoot } from "./contract.ts"

/** At the top of the state folder: what belongs to one process, or is made anew. */
const excluded = new Set([
  "gateway.owner",
  "gateway.json",
  "in-flight",
  "hanging.json",
  "hanging.json.tmp",
  "reserve",
  "logs",
  "traces",
  "run",
  "update",
])
const databaseOrLock = /^svc\.db|\.lock(-\w+)?$/

export interface CollectedFile {
  /** In the archive. */
  path: string
  file: string
  /** Where it lay without links when it was listed: whatever its name leads to by the time it is read, only this counts. */
  real: string
}

export interface Collected {
  files: CollectedFile[]
  leftOut: string[]
}

export function collectFiles(options: {
  stateFolder: string
  configPath: string
  variables: Variables
  /** Never part of a backup, wherever it lies. */
  backupFolder: string
}): Collected {
  const found: Collected = { files: [], leftOut: [] }
  walk({ folder: options.stateFolder, real: realpathSync(options.stateFolder), path: stateRoot }, options, found)
  addConfiguration(options, found)
  return found
}

interface Place {
  folder: string
  real: string
  path: string
}

function walk({ folder, real, path }: Place, options: { backupFolder: string }, found: Collected): void {
  const isTop = path === stateRoot
  for (const entry of entriesOf(folder).toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const file = join(folder, entry.name)
    if (file === options.backupFolder || isTemporary(entry.name)) continue
    if (isTop && (excluded.has(entry.name) || databaseOrLock.test(entry.name))) continue
    if (isTop && entry.name === "browser") {
      found.leftOut.push(`${file}: data of managed browsers, which only a closed browser could give away`)
      continue
    }
    const inside = { path: `${path}/${entry.name}`, real: join(real, entry.name) }
    if (entry.isDirectory()) walk({ folder: file, ...inside }, options, found)
    else if (entry.isFile()) add(found, { file, ...inside })
    else found.leftOut.push(`${file}: ${entry.isSymbolicLink() ? "a link; links are not followed" : "not a file"}`)
  }
}

/** None of one that is gone by now, as those of a command or of a session that is over may be. */
function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return []
    throw error
  }
}

/** Of a file that is being written: it is whole under its own name or not there yet. */
function isTemporary(name: string): boolean {
  return (name.startsWith(".") && name.endsWith(".tmp")) || name.endsWith(".partial")
}

function add(found: Collected, file: CollectedFile): void {
  if (found.files.length >= maxMembers - 1) {
    throw new AppError("backup-failed", `The state folder holds more than ${maxMembers} files`, {
      hint: "move what does not belong there out of it",
    })
  }
  found.files.push(file)
}

/** Files of the configuration that the walk has not met: those outside the state folder, and linked ones. */
function addConfiguration(options: Parameters<typeof collectFiles>[0], found: Collected): void {
  const { stateFolder, configPath, variables } = options
  const loaded = loadConfigFile({ path: configPath, env: variables })
  // A broken configuration is backed up as it is.
  const files = loaded.kind === "ok" ? loaded.snapshot.files : loaded.files
  const met = new Set(found.files.map(({ file }) => realPathOf(file)))
  const main = lstatSync(configPath, { throwIfNoEntry: false }) ? realpathSync(configPath) : undefined
  for (const file of files) {
    if (met.has(file) || !lstatSync(file, { throwIfNoEntry: false })?.isFile()) continue
    const shown = file === main ? resolve(configPath) : file
    const inside = relative(stateFolder, shown)
    const isInside = !inside.startsWith("..") && !inside.startsWith(sep)
    const path = isInside ? `${stateRoot}/${slashes(inside)}` : `${elsewhereRoot}${slashes(resolve(shown))}`
    add(found, { path, file, real: realPathOf(file) })
  }
  found.leftOut = found.leftOut.filter((line) => !line.startsWith(`${resolve(configPath)}: a link`))
}

/** A file may go while others are looked at: then its own path is as good, and whoever reads it begins anew. */
function realPathOf(file: string): string {
  try {
    return realpathSync(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return file
    throw error
  }
}

function slashes(path: string): string {
  return sep === "/" ? path : path.replaceAll(sep, "/")
}
