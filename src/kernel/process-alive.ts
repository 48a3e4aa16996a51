// Whether a process still runs.
import { readFileSync } from "node:fs"

/** False for a zombie too: it holds nothing and only waits to be reaped. Another user's process counts as alive. */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"
  }
  if (process.platform !== "linux") return true
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2))
  } catch (error) {
    // ESRCH: it ended between the opening and the reading. Where /proc may not be read, the signal has told enough.
    return !["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "")
  }
}
