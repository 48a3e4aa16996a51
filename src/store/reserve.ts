// A file that holds back some disk space. When the disk is full it is given up, so that running work can be
// recorded; until it could be made again nothing new is accepted.
import { closeSync, fsyncSync, openSync, rmSync, statSync, writeSync } from "node:fs"
import { join } from "node:path"
import type { Log } from "../kernel/index.ts"

/** Room for the records of some hundred running jobs. */
const reserveBytes = 1024 * 1024
const checkMs = 2_000

export interface Reserve {
  /** False while the disk is full: nothing new may be accepted. */
  accepting(): boolean
  /** Called when a write failed for want of space. */
  spend(): void
  stop(): void
}

export function createReserve(options: { folder: string; log: Log; onRecovered: () => void }): Reserve {
  const path = join(options.folder, "reserve")
  let accepting = fill(path)
  let timer: NodeJS.Timeout | undefined
  const watch = () => {
    timer ??= setInterval(() => {
      if (!fill(path)) return
      clearInterval(timer)
      timer = undefined
      accepting = true
      options.log.info("store space recovered")
      options.onRecovered()
    }, checkMs)
    timer.unref()
  }
  if (!accepting) watch()
  return {
    accepting: () => accepting,
    spend() {
      if (accepting) options.log.error({ hint: "free some disk space" }, "store disk full")
      accepting = false
      rmSync(path, { force: true })
      watch()
    },
    stop: () => clearInterval(timer),
  }
}

/** True when the reserve is on the disk in full length. */
function fill(path: string): boolean {
  if (statSync(path, { throwIfNoEntry: false })?.size === reserveBytes) return true
  let file: number | undefined
  try {
    file = openSync(path, "w", 0o600)
    const block = Buffer.alloc(64 * 1024)
    for (let written = 0; written < reserveBytes; written += block.length) writeSync(file, block)
    fsyncSync(file)
    return true
  } catch {
    // No space (or no right to write): the same answer, the reserve does not stand.
    rmSync(path, { force: true })
    return false
  } finally {
    if (file !== undefined) closeSync(file)
  }
}
