// A browser of ours that still runs although its gateway is gone. Known by the record that its gateway wrote; when that
// gateway died before it wrote one, by the folder's lock together with the command line of the process that holds it.
import { commandLineOf, ownsFolder } from "./process-info.ts"
import { proxyPortOf } from "./arguments.ts"
import { readRecord, removeRecord } from "./record.ts"
import { readLock, removeLock } from "./singleton-lock.ts"

export interface LeftBrowser {
  pid: number
  /** Undefined for one at the end of a pipe: nobody can speak to it any more, and it is about to end. */
  door: LeftDoor | undefined
  /** Of the proxy that it was started with. */
  proxyPort: number | undefined
  headless: boolean
  path: string
  /** Below it numbers of elements may have been given; unknown without a record. */
  refsBelow?: number | undefined
}

export interface LeftDoor {
  port: number
  /** Its own, unguessable address, which proves who answers on the port; unknown without a record. */
  webSocketUrl: string | undefined
}

export interface LeftPlaces {
  recordPath: string
  userDataFolder: string
  hostname: string
}

/**
 * Only a browser of which it is proven that a gateway started it for this profile, so that it may be ended when it does
 * not answer. Removes a record that is worth nothing any more.
 */
export async function findLeftBrowser(places: LeftPlaces): Promise<LeftBrowser | undefined> {
  const { recordPath, userDataFolder, hostname } = places
  const record = await readRecord(recordPath)
  if (record) {
    const { pid, headless, path, door, refsBelow } = record
    if (record.host === hostname && (await ownsFolder(pid, userDataFolder)))
      return { pid, headless, path, door, refsBelow, proxyPort: proxyPortOf((await commandLineOf(pid)) ?? "") }
    await removeRecord(recordPath)
    // The state folder has one gateway, and this browser was an earlier one's: its lock is worth nothing now.
    if (record.host !== hostname) await removeLock(userDataFolder)
  }
  const lock = await readLock(userDataFolder, { hostname, ownsFolder: (pid) => ownsFolder(pid, userDataFolder) })
  return lock.kind === "held" ? unrecorded(lock.pid) : undefined
}

/** Switches of our own command line that nobody types: a person who works in the folder by hand is left alone. */
const marks = ["--disable-breakpad", "--hide-crash-restore-bubble", "--password-store=basic"]

async function unrecorded(pid: number): Promise<LeftBrowser | undefined> {
  const line = (await commandLineOf(pid)) ?? ""
  const port = /--remote-debugging-port=(\d{1,5})\b/.exec(line)?.[1]
  const isOurs = port !== undefined || line.includes("--remote-debugging-pipe")
  if (!isOurs || !marks.every((mark) => line.includes(mark))) return undefined
  const [path = ""] = line.split(" ")
  return {
    pid,
    door: port === undefined ? undefined : { port: Number(port), webSocketUrl: undefined },
    proxyPort: proxyPortOf(line),
    headless: / --headless/.test(line),
    path,
  }
}
