// A state folder whose store has just been made. The migrations that make one take longer than most tests, so they are
// run once for a state of the sources, and all test files copy what they made. What is about a first start, or about
// migrations, begins with an empty folder instead.
import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { pino } from "pino"
import { newest } from "../../scripts/newest.ts"
import { noCrash, systemClock, systemIds } from "../../src/kernel/index.ts"
import { temporaryFolder } from "./temporary.ts"

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const cache = join(root, "node_modules", ".cache", "svc-tests", "stores")
/** The database, and the mark of a folder that has been used. */
const files = ["svc.db", "store.json"]
/** Another test file may still be copying an older one. */
const keepMs = 10 * 60 * 1000

let made: Promise<string> | undefined

export async function newStateFolder(): Promise<string> {
  made ??= make()
  const from = await made
  const folder = temporaryFolder()
  for (const file of files) copyFileSync(join(from, file), join(folder, file))
  return folder
}

async function make(): Promise<string> {
  const folder = join(cache, String(newest(join(root, "src", "store"), join(root, "package-lock.json"))))
  if (existsSync(folder)) return folder
  const own = `${folder}-${process.pid}`
  mkdirSync(own, { recursive: true })
  // Loaded by the first test file alone: many of those that start a gateway use nothing of the store.
  const { openStore } = await import("../../src/store/index.ts")
  const log = pino({ level: "silent" })
  const bootId = systemIds.uuid()
  const store = await openStore({ folder: own, bootId, clock: systemClock, ids: systemIds, log, crashPoint: noCrash })
  await store.close()
  try {
    renameSync(own, folder)
  } catch (error) {
    // Another test file was faster.
    if (!existsSync(folder)) throw error
    rmSync(own, { recursive: true, force: true })
  }
  removeOld(folder)
  return folder
}

function removeOld(current: string): void {
  for (const path of readdirSync(cache).map((name) => join(cache, name))) {
    const info = statSync(path, { throwIfNoEntry: false })
    if (path === current || !info || Date.now() - info.mtimeMs < keepMs) continue
    rmSync(path, { recursive: true, force: true })
  }
}
