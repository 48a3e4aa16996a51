// Where processes listen, as every other process of the machine can see it.
import { readdirSync, readFileSync, readlinkSync } from "node:fs"

/** Local addresses, as the kernel writes them, of the sockets on which these processes listen. */
export function listeningOf(pids: number[]): string[] {
  const held = new Set(pids.flatMap(socketsOf))
  const tables = ["tcp", "tcp6"].map((name) => readFileSync(`/proc/net/${name}`, "utf8")).join("\n")
  return tables.split("\n").flatMap((row) => {
    const [, local = "", , state, , , , , , inode = ""] = row.trim().split(/\s+/)
    return state === "0A" && held.has(inode) ? local : []
  })
}

/** Their inodes. */
function socketsOf(pid: number): string[] {
  const descriptors = orGone(() => readdirSync(`/proc/${pid}/fd`)) ?? []
  return descriptors.flatMap((name) => {
    const target = orGone(() => readlinkSync(`/proc/${pid}/fd/${name}`)) ?? ""
    return /^socket:\[(\d+)\]$/.exec(target)?.[1] ?? []
  })
}

/** Undefined for what ended, or was closed, while we looked. */
function orGone<Value>(look: () => Value): Value | undefined {
  try {
    return look()
  } catch (error) {
    if (["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined
    throw error
  }
}
