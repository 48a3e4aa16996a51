// Files that nobody asks for again. Pictures, documents and copies below `<state>/media/browser` go after a week, or the
// oldest first when they are too many; parts of downloads and traces that a killed gateway left go when the next one starts.
// Copies that were lent for an upload go after a day. Finished downloads and traces are for people and stay.
import { lstat, readdir, rm } from "node:fs/promises"
import { join } from "node:path"
import { type Background, describeError, type Log } from "../kernel/index.ts"
import { pruneFolder } from "../kernel/prune-folder.ts"
import { unlessMissing } from "../kernel/unless-missing.ts"

export interface LeftoverOptions {
  stateFolder: string
  /** The time by which files are old. */
  pruneTime: () => number
  log: Log
  background: Background
}

const keepMs = 7 * 24 * 60 * 60_000
const maxMediaBytes = 1024 * 1024 * 1024
const lookMs = 6 * 60 * 60_000

/** Looks at once and then four times a day, until the function that it gives is called. */
export async function removeLeftovers(options: LeftoverOptions): Promise<() => void> {
  const { stateFolder, pruneTime, log, background } = options
  const look = () =>
    background.run("browser leftovers", async () => {
      const limits = { now: pruneTime(), keepMs, maxBytes: maxMediaBytes }
      const removed = await pruneFolder(join(stateFolder, "media", "browser"), limits)
      await removeLent(join(stateFolder, "uploads", "lent"), pruneTime())
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

/** Copies that the command line has made for one upload each; a page that has not taken its file by then does not. */
const keepLentMs = 24 * 60 * 60_000

async function removeLent(folder: string, now: number): Promise<void> {
  for (const name of (await unlessMissing(readdir(folder))) ?? []) {
    const path = join(folder, name)
    // One that was taken away meanwhile is no reason to keep those behind it.
    const facts = await unlessMissing(lstat(path))
    if (facts && now - facts.mtimeMs > keepLentMs) await rm(path, { recursive: true, force: true })
  }
}
