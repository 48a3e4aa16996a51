// Reads a file of a folder that others may put things into, and nothing but files of that folder: no link leads out of
// it. What was opened is looked at, not what the name stands for by then, so that nothing can be exchanged in between.
import { closeSync, constants, fstatSync, openSync, readFileSync, readlinkSync, realpathSync, statSync } from "node:fs"
import { join, sep } from "node:path"

export type InsideFile =
  | FileInside
  | { kind: "none" }
  /** `reason` as `is ...`. */
  | { kind: "refused"; reason: string }

export interface FileInside {
  kind: "file"
  data: Buffer
  /** Without links. */
  path: string
  /** Changes whenever the file does. */
  version: string
}

/** The file of this name below `root`, which is refused when a link leads out to it, and over the limit. */
export function readInside(root: string, name: string, maxBytes: number): InsideFile {
  const path = join(root, name)
  const descriptor = openOrNothing(path)
  if (descriptor === undefined) return { kind: "none" }
  try {
    const info = fstatSync(descriptor)
    if (!info.isFile()) return refused("is not a file")
    const real = realPathOfOpen(descriptor, path)
    if (real === undefined || !real.startsWith(realpathSync(root) + sep)) {
      return refused("is reached by a link that leads out of its folder")
    }
    if (info.size > maxBytes) return refused(`is larger than ${maxBytes} bytes`)
    return {
      kind: "file",
      data: readFileSync(descriptor),
      path: real,
      version: `${info.mtimeMs}:${info.size}:${info.ino}`,
    }
  } finally {
    closeSync(descriptor)
  }
}

function refused(reason: string): InsideFile {
  return { kind: "refused", reason }
}

/** Never waits: a pipe under the name would hold everything up until somebody wrote into it. */
function openOrNothing(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === "ENOENT" || code === "ENOTDIR") return undefined
    throw error
  }
}

/** Where the open file really lies; undefined when that cannot be told for certain. */
export function realPathOfOpen(descriptor: number, path: string): string | undefined {
  if (process.platform === "linux") return readlinkSync(`/proc/self/fd/${descriptor}`)
  // Elsewhere the name is followed once more, and must still lead to what is open.
  const real = realpathSync(path)
  const opened = fstatSync(descriptor, { bigint: true })
  const named = statSync(real, { bigint: true })
  return opened.ino === named.ino && opened.dev === named.dev ? real : undefined
}
