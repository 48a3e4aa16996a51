// Small files that only their owner may read, whole or absent: temporary file -> fsync -> rename -> fsync of the folder.
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"

export function writePrivateFile(path: string, text: string): void {
  const folder = dirname(path)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  // One gateway owns the state folder, so the name need not be random; a leftover of a killed one is replaced.
  const temporary = `${path}.tmp`
  rmSync(temporary, { force: true })
  const file = openSync(temporary, "wx", 0o600)
  try {
    writeFileSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(temporary, path)
  syncFolder(folder)
}

function syncFolder(folder: string): void {
  // Windows cannot open folders; its rename is durable by itself.
  if (process.platform === "win32") return
  const file = openSync(folder, "r")
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
