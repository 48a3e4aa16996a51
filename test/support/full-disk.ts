// Fills the file system of a state folder to its last block.
import { execFileSync } from "node:child_process"
import { closeSync, openSync, rmSync, statSync, writeSync } from "node:fs"
import { join } from "node:path"
import { framesOfLog, placeOfFrame } from "./log-frames.ts"

const blockBytes = 4_096

/** Also takes the blocks that the store's log has in store, which nobody may write meanwhile. Returns the way to end it. */
export function fillDiskAndLog(folder: string): () => void {
  emptyRoomOfLog(join(folder, "svc.db"))
  return fillDisk(folder)
}

/** Leaves not one block. Returns the way to end it. */
export function fillDisk(folder: string): () => void {
  const filler = join(folder, "filler")
  const file = openSync(filler, "a")
  try {
    for (const size of [1024 * 1024, 65_536, blockBytes]) writeUntilFull(file, Buffer.alloc(size, 1))
  } finally {
    closeSync(file)
  }
  return () => rmSync(filler)
}

/** What stands there is needed by nobody, and is read as zeros from here on. */
function emptyRoomOfLog(database: string): void {
  const size = statSync(`${database}-wal`, { throwIfNoEntry: false })?.size ?? 0
  if (size === 0) return
  const from = Math.ceil(placeOfFrame(framesOfLog(database)) / blockBytes) * blockBytes
  if (from >= size) return
  execFileSync("fallocate", ["-p", "-o", String(from), "-l", String(size - from), `${database}-wal`])
}

function writeUntilFull(file: number, block: Buffer): void {
  for (;;) {
    try {
      writeSync(file, block)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOSPC") return
      throw error
    }
  }
}
