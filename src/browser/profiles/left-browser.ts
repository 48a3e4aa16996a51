// A browser of ours that still runs although its gateway is gone. Known by the record that its gateway wrote; when that
// gateway died before it wrote one, by the folder's lock together with the command line of the process that holds it.
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { commandLineOf, ownsFolder } from "./process-info.ts"
import { type BrowserRecord, readRecord, removeRecord } from "./record.ts"
import { readLock, removeLock } from "./singleton-lock.ts"

export interface LeftBrowser {
  pid: number
  /** Where it can be attached to; undefined when it never came so far. */
  record: BrowserRecord | undefined
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
    if (record.host === hostname && (await ownsFolder(record.pid, userDataFolder))) return { pid: record.pid, record }
    await removeRecord(recordPath)
    // The state folder has one gateway, and this browser was an earlier one's: its lock is worth nothing now.
    if (record.host !== hostname) await removeLock(userDataFolder)
  }
  const lock = await readLock(userDataFolder, { hostname, ownsFolder: (pid) => ownsFolder(pid, userDataFolder) })
  return lock.kind === "held" ? unrecorded(lock.pid, places) : undefined
}

/** Switches of our own command line that nobody types: a person who works in the folder by hand is left alone. */
const marks = [
  "--remote-debugging-port=",
  "--disable-breakpad",
  "--hide-crash-restore-bubble",
  "--password-store=basic",
]

async function unrecorded(pid: number, { userDataFolder, hostname }: LeftPlaces): Promise<LeftBrowser | undefined> {
  const line = (await commandLineOf(pid)) ?? ""
  if (!marks.every((mark) => line.includes(mark))) return undefined
  const endpoint = await activePort(userDataFolder)
  if (!endpoint) return { pid, record: undefined }
  const record = {
    pid,
    ...endpoint,
    host: hostname,
    headless: / --headless/.test(line),
    path: line.split(" ")[0] ?? "",
  }
  return { pid, record }
}

/** What Chromium writes into its folder once it listens: the port, and the path of its WebSocket. */
async function activePort(userDataFolder: string): Promise<{ port: number; webSocketUrl: string } | undefined> {
  let text: string
  try {
    text = await readFile(join(userDataFolder, "DevToolsActivePort"), "utf8")
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined
    throw error
  }
  const [port, path] = text.split("\n")
  if (!/^\d{1,5}$/.test(port ?? "") || !path?.startsWith("/devtools/browser/")) return undefined
  return { port: Number(port), webSocketUrl: `ws://127.0.0.1:${port}${path.trim()}` }
}
