// Files that only their owner may read, whole or absent: temporary file -> fsync -> rename -> fsync of the folder.
// A reader, a crash or a power cut sees the old text or the new one, never a part.
import { randomBytes } from "node:crypto"
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { basename, dirname, join } from "node:path"

/** A temporary file that is older was left by a writer that was killed: a minute is far longer than any write takes. */
const leftoverMs = 60_000

/**
 * Replaces a file, mode 600; its folder is made, mode 700, when it is missing. `beforeRename` is called when the new
 * text is safely on the disk and only the rename is missing; when it returns false the file stays as it is. Several
 * processes may write at once: the last wins. Returns whether it was replaced.
 */
export function writePrivateFile(file: string, text: string, beforeRename: () => boolean = () => true): boolean {
  const folder = dirname(file)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  removeLeftovers(folder, basename(file))
  const temporary = join(folder, `.${basename(file)}.${randomBytes(6).toString("hex")}.tmp`)
  try {
    writeAndSync(temporary, text)
    if (!beforeRename()) return false
    renameSync(temporary, file)
  } finally {
    rmSync(temporary, { force: true })
  }
  syncFolder(folder)
  return true
}

function removeLeftovers(folder: string, name: string): void {
  for (const entry of readdirSync(folder)) {
    if (!entry.startsWith(`.${name}.`) || !entry.endsWith(".tmp")) continue
    const path = join(folder, entry)
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
    if (age > leftoverMs) rmSync(path, { force: true })
  }
}

function writeAndSync(file: string, text: string): void {
  const descriptor = openSync(file, "wx", 0o600)
  try {
    writeFileSync(descriptor, text)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function syncFolder(folder: string): void {
  // Windows cannot open folders; its rename is durable by itself.
  if (process.platform === "win32") return
  const descriptor = openSync(folder, "r")
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
