// What a machine has and lacks, asked so that nothing in its surroundings (a folder on PATH that may not be read, a home
// that is missing, a disk that is full) ends the set-up with anything but a line that says what to do.
// Whatever is imported by name must be there in the oldest Node that gets a line, too.
import * as fs from "node:fs"
import { homedir, tmpdir } from "node:os"
import { delimiter, join } from "node:path"

const { accessSync, constants, existsSync, mkdtempSync, rmSync, statSync } = fs

/** Folders in which programs are looked for: those of PATH, and where Debian puts what not everybody's PATH has. */
export function programFolders(...more) {
  return [...(process.env.PATH ?? "").split(delimiter), ...more].filter(Boolean)
}

/** A folder that may not be looked into has nothing for us. */
export function findProgram(names, folders) {
  for (const folder of folders) {
    const found = names.map((name) => join(folder, name)).find(isFile)
    if (found !== undefined) return found
  }
  return undefined
}

function isFile(path) {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
  } catch {
    return false
  }
}

export function isWritable(folder) {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Undefined where it is not told. */
export function freeMb(folder) {
  try {
    const { bavail, bsize } = fs.statfsSync(folder)
    return Math.floor((bavail * bsize) / 1024 / 1024)
  } catch {
    return undefined
  }
}

/**
 * Where npm keeps what it has fetched: in the home, when there is one to write in; else in a folder for this run alone.
 * That goes with the run, however it ends.
 */
export function npmEnvironment() {
  const set = process.env.npm_config_cache ?? ""
  const home = homeFolder()
  if (set !== "" || (home !== undefined && canKeep(join(home, ".npm"), home))) return {}
  const folder = mkdtempSync(join(tmpdir(), "svc-npm-"))
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }))
  // Without a home npm would look for its own settings in a folder that is not there.
  return { npm_config_cache: folder, ...(home === undefined ? { HOME: folder } : {}) }
}

function canKeep(folder, home) {
  return existsSync(folder) ? isWritable(folder) : isWritable(home)
}

function homeFolder() {
  try {
    const home = homedir()
    return home !== "" && existsSync(home) ? home : undefined
  } catch {
    // No HOME, and nobody of this user id in the list of users.
    return undefined
  }
}

/** What apt-get reads is written in small letters. */
export function aptEnvironment(own = process.env) {
  const { HTTP_PROXY, HTTPS_PROXY, NO_PROXY } = own
  return {
    ...(HTTP_PROXY ? { http_proxy: HTTP_PROXY } : {}),
    ...(HTTPS_PROXY ? { https_proxy: HTTPS_PROXY } : {}),
    ...(NO_PROXY ? { no_proxy: NO_PROXY } : {}),
    ...own,
    DEBIAN_FRONTEND: "noninteractive",
  }
}

/** Undefined when all is well; the programs put their files of a run there. */
export function temporaryFolderProblem() {
  const folder = tmpdir()
  try {
    rmSync(mkdtempSync(join(folder, "svc-setup-")), { recursive: true })
    return undefined
  } catch (error) {
    return `the folder for temporary files, ${folder}, cannot be used (${error.code}): set TMPDIR to one that can`
  }
}
