// What can be known of a process by its number: whether it lives, and whether it is the one we think it is.
import { execFile } from "node:child_process"
import { readFile } from "node:fs/promises"

/** False for a zombie too: it holds nothing and only waits to be reaped. */
export async function isProcessAlive(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"
  }
  if (process.platform !== "linux") return true
  try {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8")
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2))
  } catch {
    // Gone between the two looks.
    return false
  }
}

/** The command line, or undefined when it cannot be known. */
export async function commandLineOf(pid: number): Promise<string | undefined> {
  if (process.platform === "linux") {
    try {
      return (await readFile(`/proc/${pid}/cmdline`, "utf8")).replaceAll("\0", " ")
    } catch {
      return undefined
    }
  }
  if (process.platform === "win32") return undefined
  return new Promise((resolve) => {
    execFile("ps", ["-p", String(pid), "-o", "command="], { timeout: 2_000 }, (error, stdout) =>
      resolve(error ? undefined : stdout),
    )
  })
}

/** Whether the process is a browser that works in this user-data folder. */
export async function ownsFolder(pid: number, userDataFolder: string): Promise<boolean> {
  if (!(await isProcessAlive(pid))) return false
  const line = await commandLineOf(pid)
  return line !== undefined && ` ${line} `.includes(`--user-data-dir=${userDataFolder} `)
}
