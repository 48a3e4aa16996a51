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

/** The file of this name below `root`, which is refused when a link leads out to it, over the limit, and when it cannot be opened. */
export function readInside(root: string, name: string, maxBytes: number): InsideFile {
  const path = join(root, name)
  const descriptor = openOrWhyNot(path)
  if (typeof descriptor !== "number") return descriptor
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

function refused(reason: string): Exclude<InsideFile, FileInside> {
  return { kind: "refused", reason }
}

const unusable: Readonly<Record<string, string>> = {
  EACCES: "is not readable for this user",
  EPERM: "is not readable for this user",
  ELOOP: "is a link that leads in a circle",
  ENXIO: "is not a file",
}

/** Never waits: a pipe under the name would hold everything up until somebody wrote into it. */
function openOrWhyNot(path: string): number | Exclude<InsideFile, FileInside> {
  try {
    return openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException
    if (code === "ENOENT" || code === "ENOTDIR") return { kind: "none" }
    const reason = unusable[code]
    if (reason !== undefined) return refused(reason)
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
