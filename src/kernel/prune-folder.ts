// Keeps a folder of files within an age and a size.
import { lstat, readdir, rm } from "node:fs/promises"
import { basename, join } from "node:path"
import { isLeftover } from "./durable-file.ts"
import { unlessMissing } from "./unless-missing.ts"

export interface PruneLimits {
  /**
   * Milliseconds since the epoch. What a wrong clock says would make everything old at once: `Store.pruneTime` does not
   * follow one that is far ahead.
   */
  now: number
  keepMs: number
  maxBytes: number
}

/** Between clocks that are right, and rounded times. */
const aheadMs = 60 * 60_000

/**
 * Removes what is too old or was never finished, then the oldest until the rest has room; tells how many. No folder is
 * an empty one. A file from the future was written under a wrong clock: nobody knows its age, so it goes for want of
 * room alone, and first.
 */
export async function pruneFolder(folder: string, { now, keepMs, maxBytes }: PruneLimits): Promise<number> {
  let bytes = 0
  let removed = 0
  const isFuture = ({ at }: { at: number }) => at > now + aheadMs
  const files = (await filesIn(folder)).toSorted(
    (one, other) => Number(isFuture(one)) - Number(isFuture(other)) || other.at - one.at,
  )
  for (const file of files) {
    bytes += file.bytes
    const age = now - file.at
    if (age <= keepMs && bytes <= maxBytes && !isLeftover(basename(file.path), age)) continue
    await rm(file.path, { force: true })
    removed += 1
  }
  return removed
}

async function filesIn(folder: string): Promise<{ path: string; bytes: number; at: number }[]> {
  const files: { path: string; bytes: number; at: number }[] = []
  for (const name of (await unlessMissing(readdir(folder))) ?? []) {
    const path = join(folder, name)
    const facts = await unlessMissing(lstat(path))
    if (facts?.isFile()) files.push({ path, bytes: facts.size, at: facts.mtimeMs })
  }
  return files
}
