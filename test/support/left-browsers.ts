// Browsers that outlive a killed gateway: found by the state folder in their command line, ended by their pid.
import { readFileSync, readdirSync } from "node:fs"

export function browsersOf(stateFolder: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && commandOf(name).includes(`${stateFolder}/browser/`))
    .map(Number)
}

export function endBrowsersOf(stateFolder: string): void {
  for (const pid of browsersOf(stateFolder)) {
    try {
      process.kill(pid, "SIGKILL")
    } catch (error) {
      // A child that ended with its parent.
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error
    }
  }
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8")
  } catch (error) {
    // It ended while we looked.
    if (["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "")) return ""
    throw error
  }
}
