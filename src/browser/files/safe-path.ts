// Paths that may be read or written: only below one root, whatever links, dots or names of servers say.
import { constants } from "node:fs"
import { lstat, mkdir, open, realpath } from "node:fs/promises"
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path"
import { AppError, moveDurableFile } from "../../kernel/index.ts"
import { safeName } from "./safe-name.ts"

/** The absolute path below `root` that a caller means; its folders are made. Throws `bad-request` for any other. */
export async function pathToWrite(root: string, wanted: string): Promise<string> {
  await mkdir(root, { recursive: true, mode: 0o700 })
  const realRoot = await realpath(root)
  const path = below(root, realRoot, wanted)
  const folder = dirname(path)
  await checkFolders(realRoot, folder)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  if (!isInside(realRoot, await realpath(folder), true)) throw outside(root)
  await refuseLink(path, root)
  return path
}

/** The absolute path of a plain file below `root`. Asked again when the file is used. */
export async function pathToRead(root: string, wanted: string): Promise<string> {
  await mkdir(root, { recursive: true, mode: 0o700 })
  const realRoot = await realpath(root)
  const path = below(root, realRoot, wanted)
  try {
    if ((await realpath(path)) !== path) throw outside(root)
    // Opened without following a link, so that what was looked at is what is meant, and without waiting at a pipe.
    const file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
    try {
      const state = await file.stat()
      if (!state.isFile() || state.nlink > 1) throw outside(root)
    } finally {
      await file.close()
    }
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new AppError("bad-request", `There is no file that may be uploaded under this name`, {
      cause: error,
      hint: `Put it into ${root}`,
    })
  }
  return path
}

/** Moves a finished file to its place in one step. What stands there is replaced, never written through. */
export async function moveInto(from: string, root: string, wanted: string): Promise<string> {
  const path = await pathToWrite(root, wanted)
  await moveDurableFile(from, path)
  return path
}

function below(root: string, realRoot: string, wanted: string): string {
  if (wanted.includes("\0")) throw outside(root)
  const given = isAbsolute(wanted) ? wanted : join(realRoot, wanted)
  const rest = isInside(resolve(root), resolve(given), false) ? relative(resolve(root), resolve(given)) : undefined
  const path = rest === undefined ? resolve(given) : join(realRoot, rest)
  if (!isInside(realRoot, path, false) || basename(path) !== safeName(basename(path))) throw outside(root)
  return path
}

function isInside(root: string, path: string, orEqual: boolean): boolean {
  const rest = relative(root, path)
  if (rest === "") return orEqual
  return rest !== ".." && !rest.startsWith(`..${sep}`) && !isAbsolute(rest)
}

/** No folder on the way may be a link, also where the rest does not exist yet. */
async function checkFolders(realRoot: string, folder: string): Promise<void> {
  let path = realRoot
  for (const part of relative(realRoot, folder).split(sep).filter(Boolean)) {
    path = join(path, part)
    const state = await stateOf(path)
    if (!state) return
    if (!state.isDirectory()) throw outside(realRoot)
  }
}

async function refuseLink(path: string, root: string): Promise<void> {
  const state = await stateOf(path)
  if (state && (!state.isFile() || state.nlink > 1)) throw outside(root)
}

async function stateOf(path: string) {
  try {
    return await lstat(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined
    throw error
  }
}

function outside(root: string): AppError {
  return new AppError("bad-request", "path: is not a plain file below the folder that is meant for it", {
    hint: `Give a name, or a path below ${root}; links are not followed`,
  })
}
