// One process for a node: two with the same key would put each other out again and again.
import { readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { AppError } from "../../kernel/errors.ts"
import { writePrivateFile } from "../../kernel/private-file.ts"
import { isProcessAlive } from "../../kernel/process-alive.ts"

/** Throws `already-running`. Gives the function that lets go. */
export function takePlace(folder: string): () => void {
  const file = join(folder, "node.pid")
  const before = read(file)
  if (before && before.pid !== process.pid && isProcessAlive(before.pid) && beginOf(before.pid) === before.begin) {
    throw new AppError("already-running", `This node runs already, as process ${before.pid}`, {
      hint: "Stop that one, or give this one a state folder of its own: --state-dir",
    })
  }
  const own = { pid: process.pid, begin: beginOf(process.pid) }
  writePrivateFile(file, JSON.stringify(own))
  return () => {
    if (read(file)?.pid === process.pid) rmSync(file, { force: true })
  }
}

function read(file: string): { pid: number; begin: string } | undefined {
  try {
    const { pid, begin } = JSON.parse(readFileSync(file, "utf8")) as { pid: unknown; begin: unknown }
    return typeof pid === "number" && typeof begin === "string" ? { pid, begin } : undefined
  } catch {
    // None, or one that was cut: nobody's.
    return undefined
  }
}

/** When a process began, where the system tells it: numbers of processes are given again. */
function beginOf(pid: number): string {
  if (process.platform !== "linux") return ""
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? ""
  } catch {
    // It has ended meanwhile.
    return ""
  }
}
