// One poller for each bot, also among gateways with state folders of their own: two polls of one bot end each other.
// A lock of the kernel in a folder that the gateways of one user share; it dies with its process.
import { createHash } from "node:crypto"
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describeError } from "../../kernel/index.ts"
import { type StateLock, tryFileLock } from "../../store/index.ts"

export interface PollerOwner {
  pid: number
  stateFolder: string
  account: string
}

export type PollerLock =
  | { kind: "held"; release(): void }
  | { kind: "busy"; holder: string }
  /** The folder cannot be used: the platform's own refusal (409) has to do. */
  | { kind: "unavailable"; reason: string }

export function takePollerLock(options: {
  folder: string
  apiRoot: string
  botId: string
  owner: PollerOwner
}): PollerLock {
  const { folder, owner } = options
  // The file's name tells nobody which bot it is. Another server may know another bot by the same id.
  const key = createHash("sha256").update(`${options.apiRoot} ${options.botId}`).digest("hex").slice(0, 32)
  const path = join(folder, `poller-${key}`)
  let lock: StateLock | undefined
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    checkOwner(folder)
    lock = tryFileLock(`${path}.lock`)
    if (!lock) return { kind: "busy", holder: readHolder(`${path}.owner`) }
    writeFileSync(`${path}.owner`, JSON.stringify(owner), { mode: 0o600 })
  } catch (error) {
    lock?.release()
    return { kind: "unavailable", reason: describeError(error) }
  }
  const held = lock
  return { kind: "held", release: () => held.release() }
}

/** In a folder that everybody can write to, somebody else may have made it first. */
function checkOwner(folder: string): void {
  const { uid, mode } = statSync(folder)
  const own = process.getuid?.()
  if (own === undefined) return
  if (uid !== own) throw new Error(`${folder} belongs to another user`)
  if ((mode & 0o022) !== 0) throw new Error(`${folder} can be written to by others (chmod 700 ${folder})`)
}

function readHolder(path: string): string {
  try {
    const { pid, stateFolder, account } = JSON.parse(readFileSync(path, "utf8")) as PollerOwner
    return `process ${pid}, account ${account}, state folder ${stateFolder}`
  } catch {
    // The name of the holder is a courtesy; the lock itself has already decided.
    return "another process"
  }
}
