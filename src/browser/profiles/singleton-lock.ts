// Chromium's lock of a user-data folder: a link named SingletonLock that points to `<host>-<pid>`. It is left behind
// by a crash, and then would make the next browser refuse to start. It is removed only when its owner is proven gone.
import { readlink, rm } from "node:fs/promises"
import { join } from "node:path"

export type LockState =
  | { kind: "free" }
  | { kind: "stale" }
  /** A living browser works in the folder. */
  | { kind: "held"; pid: number }
  /** Made on another host: whether its owner lives cannot be seen from here. */
  | { kind: "foreign-host"; host: string; pid: number }

export interface LockProbe {
  hostname: string
  /** Whether the process is a living browser of this very folder. */
  ownsFolder(pid: number): Promise<boolean>
}

export async function readLock(userDataFolder: string, probe: LockProbe): Promise<LockState> {
  let target: string
  try {
    target = await readlink(join(userDataFolder, "SingletonLock"))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { kind: "free" }
    // Not a link: nothing that Chromium made or would respect.
    return { kind: "stale" }
  }
  const owner = parseLock(target)
  if (!owner) return { kind: "stale" }
  if (owner.host !== probe.hostname) return { kind: "foreign-host", ...owner }
  return (await probe.ownsFolder(owner.pid)) ? { kind: "held", pid: owner.pid } : { kind: "stale" }
}

export function parseLock(target: string): { host: string; pid: number } | undefined {
  const match = /^(.+)-(\d+)$/.exec(target)
  return match ? { host: match[1] as string, pid: Number(match[2]) } : undefined
}

export async function removeLock(userDataFolder: string): Promise<void> {
  const names = ["SingletonLock", "SingletonCookie", "SingletonSocket"]
  await Promise.all(names.map((name) => rm(join(userDataFolder, name), { force: true })))
}
