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

/**
 * The files that came after `current`, oldest first, open; usually none. Taken only when nothing was renamed meanwhile:
 * else a file could move past the look.
 */
function newerLogs(folder: string, current: OpenLog | undefined): OpenLog[] {
  const [newest] = listLogs(folder)
  // The usual look.
  if (newest === undefined || (current && inodeOf(newest) === current.inode)) return []
  const mostTries = 20
  for (let tries = 0; tries < mostTries; tries += 1) {
    const there = namesOf(folder)
    // When the current file has been rotated out altogether, all that are left are newer.
    const known = there.findIndex(({ inode }) => inode === current?.inode)
    const newer = there.slice(0, known < 0 ? there.length : known).toReversed()
    const opened = newer.map(({ path }) => openLog(path))
    const logs = opened.filter((log) => log !== undefined)
    const areThose = newer.every(({ inode }, index) => opened[index]?.inode === inode)
    if (areThose && JSON.stringify(namesOf(folder)) === JSON.stringify(there)) return logs
    logs.forEach(closeLog)
  }
  // The next look may find them still.
  return []
}

/** Newest first. One that has gone since it was listed is left out. */
function namesOf(folder: string): { path: string; inode: number }[] {
  return listLogs(folder).flatMap((path) => {
    const inode = inodeOf(path)
    return inode === undefined ? [] : [{ path, inode }]
  })
}

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino
}

async function pause(signal: AbortSignal): Promise<void> {
  await wait(lookEveryMs, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error
  })
}
