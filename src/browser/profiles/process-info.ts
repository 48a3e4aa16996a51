// What can be known of a process by its number: whether it lives, and whether it is the one we think it is.
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { isProcessAlive } from "../../kernel/process-alive.ts"

/** The command line, or undefined when it cannot be known. */
export async function commandLineOf(pid: number): Promise<string | undefined> {
  if (process.platform === "linux") {
    try {
      return (await readFile(`/proc/${pid}/cmdline`, "utf8")).replaceAll("\0", " ")
    } catch {
      return undefined
    }
  }
  const [program, words] =
    process.platform === "win32" ? askWindows(pid) : ["ps", ["-p", String(pid), "-o", "command="]]
  return new Promise((resolve) => {
    execFile(program, words, { timeout: 5_000, windowsHide: true }, (error, stdout) =>
      resolve(error ? undefined : stdout.trim()),
    )
  })
}

function askWindows(pid: number): [string, string[]] {
  const query = `(Get-CimInstance Win32_Process -Filter 'ProcessId=${pid}').CommandLine`
  return ["powershell.exe", ["-NoProfile", "-NonInteractive", "-Command", query]]
}

/** Whether the process has been stopped by a signal; false where that cannot be seen. */
export function isStopped(pid: number): boolean {
  if (process.platform !== "linux") return false
  try {
    // pid (name) state: the name may hold anything, also a bracket.
    return /^\) [TtZX]/.test(/\) \w [^)]*$/.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))?.[0] ?? "")
  } catch {
    return true
  }
}

/** Whether the process is a browser that works in this user-data folder. */
export async function ownsFolder(pid: number, userDataFolder: string): Promise<boolean> {
  if (!isProcessAlive(pid)) return false
  const line = await commandLineOf(pid)
  return line !== undefined && worksIn(line, userDataFolder)
}

/** Windows puts quotes around an argument with spaces; elsewhere they are gone. */
export function worksIn(commandLine: string, userDataFolder: string): boolean {
  return [" ", '"'].some((end) => ` ${commandLine} `.includes(`--user-data-dir=${userDataFolder}${end}`))
}
