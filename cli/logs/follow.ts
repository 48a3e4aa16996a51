// Follows the log across its rotation: the open file is read to its end, and when its name has moved on, all newer
// files are read in order, so that no line is missed however often it has rotated meanwhile.
import { statSync } from "node:fs"
import { setTimeout as wait } from "node:timers/promises"
import { closeLog, listLogs, openLog, readOn, type OpenLog } from "./files.ts"
import type { Tail } from "./tail.ts"

// Short enough to feel immediate; a look costs two system calls.
const lookEveryMs = 100

export interface FollowOptions {
  folder: string
  /** Where the tail has ended. */
  from: Pick<Tail, "newest" | "splitter">
  signal: AbortSignal
  onLine: (line: string) => void
  /** Called after each look; a slow reader makes us wait here instead of filling the memory. */
  onPause: () => Promise<void>
}

/** Runs until the signal. */
export async function followLog(options: FollowOptions): Promise<void> {
  const { folder, signal, onLine, onPause } = options
  const { splitter } = options.from
  let current = options.from.newest
  const readToEnd = async (log: OpenLog) => {
    for (const piece of readOn(log)) {
      for (const line of splitter.split(piece)) onLine(line)
      await onPause()
    }
  }
  try {
    while (!signal.aborted) {
      if (current) await readToEnd(current)
      for (const next of newerLogs(folder, current)) {
        if (current) {
          // Written between our last look and the rotation.
          await readToEnd(current)
          for (const line of splitter.finish()) onLine(line)
          closeLog(current)
        }
        current = next
        await readToEnd(current)
      }
      await pause(signal)
    }
  } finally {
    if (current) closeLog(current)
  }
}

/** The files that came after `current`, oldest first, open; usually none. */
function newerLogs(folder: string, current: OpenLog | undefined): OpenLog[] {
  const paths = listLogs(folder)
  const newer: string[] = []
  for (const path of paths) {
    // When the current file has been rotated out altogether, all that are left are newer.
    if (statSync(path, { throwIfNoEntry: false })?.ino === current?.inode) break
    newer.unshift(path)
  }
  return newer.map((path) => openLog(path)).filter((log) => log !== undefined)
}

async function pause(signal: AbortSignal): Promise<void> {
  await wait(lookEveryMs, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error
  })
}
