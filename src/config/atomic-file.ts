// Files that are whole or absent: temporary file -> fsync -> rename -> fsync of the folder, mode 600.
// A reader, a crash or a power cut sees the old text or the new one, never a part.
import { randomBytes } from "node:crypto"
import {
  closeSync,
  copyFileSync,
  chmodSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs"
import { basename, dirname, join } from "node:path"

const backupsKept = 5

/**
 * Replaces a file. `beforeRename` is called when the new text is safely on the disk and only the rename is missing;
 * when it returns false the file stays as it is. Returns whether it was replaced.
 */
export function writeFileAtomically(file: string, text: string, beforeRename: () => boolean = () => true): boolean {
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

/** Keeps the present file as `.bak`, older ones as `.bak.1` to `.bak.4`. */
export function rotateBackups(file: string): void {
  if (!existsSync(file)) return
  const name = (index: number) => (index === 0 ? `${file}.bak` : `${file}.bak.${index}`)
  for (let index = backupsKept - 2; index >= 0; index -= 1) {
    if (existsSync(name(index))) renameSync(name(index), name(index + 1))
  }
  const temporary = `${name(0)}.tmp`
  copyFileSync(file, temporary)
  chmodSync(temporary, 0o600)
  renameSync(temporary, name(0))
}

/** Temporary files of writers that were killed. A minute is far longer than any write takes. */
function removeLeftovers(folder: string, name: string): void {
  for (const entry of readdirSync(folder)) {
    if (!entry.startsWith(`.${name}.`) || !entry.endsWith(".tmp")) continue
    const path = join(folder, entry)
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
    if (age > 60_000) rmSync(path, { force: true })
  }
}

function writeAndSync(file: string, text: string): void {
  const descriptor = openSync(file, "wx", 0o600)
  try {
    const bytes = Buffer.from(text)
    let written = 0
    while (written < bytes.length) written += writeSync(descriptor, bytes, written)
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
