// Files that nobody asks for again. Pictures, documents and copies below `<state>/media/browser` go after a week, or the
// oldest first when they are too many; parts of downloads and traces that a killed gateway left go when the next one starts.
// Finished downloads and traces are for people and stay.
import { lstat, readdir, rm } from "node:fs/promises"
import { join } from "node:path"
import { type Background, type Clock, describeError, type Log } from "../kernel/index.ts"

export interface LeftoverOptions {
  stateFolder: string
  clock: Clock
  log: Log
  background: Background
}

const keepMs = 7 * 24 * 60 * 60_000
const maxMediaBytes = 1024 * 1024 * 1024
const lookMs = 6 * 60 * 60_000

/** Looks at once and then four times a day, until the function that it gives is called. */
export async function removeLeftovers(options: LeftoverOptions): Promise<() => void> {
  const { stateFolder, clock, log, background } = options
  const look = () =>
    background.run("browser leftovers", async () => {
      const removed = await pruneMedia(join(stateFolder, "media", "browser"), clock.now())
      if (removed > 0) log.info({ removed }, "old browser media removed")
    })
  try {
    // Before anything new is begun in there.
    for (const folder of ["downloads", "traces"])
      await rm(join(stateFolder, folder, ".part"), { recursive: true, force: true })
  } catch (error) {
    log.warn({ reason: describeError(error) }, "parts of files not removed")
  }
  look()
  const timer = setInterval(look, lookMs)
  timer.unref()
  return () => clearInterval(timer)
}

async function pruneMedia(folder: string, now: number): Promise<number> {
  const files = (await filesIn(folder)).toSorted((one, other) => other.at - one.at)
  let bytes = 0
  let removed = 0
  for (const file of files) {
    bytes += file.bytes
    if (now - file.at <= keepMs && bytes <= maxMediaBytes) continue
    await rm(file.path, { force: true })
    removed += 1
  }
  return removed
}

async function filesIn(folder: string): Promise<{ path: string; bytes: number; at: number }[]> {
  const names = await unlessMissing(readdir(folder))
  const files: { path: string; bytes: number; at: number }[] = []
  for (const name of names ?? []) {
    const path = join(folder, name)
    const facts = await unlessMissing(lstat(path))
    if (facts?.isFile()) files.push({ path, bytes: facts.size, at: facts.mtimeMs })
  }
  return files
}

async function unlessMissing<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined
    throw error
  }
}
