// Variables that a person has set in the profile of the login shell, for a gateway that something else has started
// (`env.shellEnv`). The shell is asked once a process: what it said goes on in the environment, with a mark.
import { spawnSync } from "node:child_process"
import { isAbsolute } from "node:path"
import type { Variables } from "./environment.ts"

export type ShellVariables = { kind: "read"; variables: Record<string, string> } | { kind: "failed"; reason: string }

/** Set where the shell has been asked already. */
export const shellMark = "SVC_SHELL_ENV_READ"

/** Whatever a profile prints stands before it. */
const begin = "\0svc-environment\0"
const defaultTimeoutMs = 15_000
const maxBytes = 4 * 1024 * 1024

/** Those that are missing in `variables` are for the caller to pick. Waits for the shell, at a start only. */
export function readLoginShell(variables: Variables, timeoutMs: number): ShellVariables {
  const shell = variables["SHELL"] ?? "/bin/sh"
  if (!isAbsolute(shell)) return { kind: "failed", reason: `SHELL is no absolute path: ${shell}` }
  const { stdout, error, status } = spawnSync(shell, ["-l", "-c", "printf '\\0svc-environment\\0'; env -0"], {
    env: { ...variables },
    stdio: ["ignore", "pipe", "ignore"],
    timeout: timeoutMs === 0 ? defaultTimeoutMs : timeoutMs,
    killSignal: "SIGKILL",
    maxBuffer: maxBytes,
    encoding: "utf8",
  })
  if (error) {
    const isLate = (error as NodeJS.ErrnoException).code === "ETIMEDOUT"
    return {
      kind: "failed",
      reason: isLate ? `${shell} took longer than env.shellEnv.timeoutMs` : `${shell}: ${error.message}`,
    }
  }
  const start = stdout.lastIndexOf(begin)
  if (start < 0) return { kind: "failed", reason: `${shell} ended with ${status ?? "a signal"} before it told them` }
  const entries = stdout
    .slice(start + begin.length)
    .split("\0")
    .flatMap((entry): [string, string][] => {
      const at = entry.indexOf("=")
      return at > 0 ? [[entry.slice(0, at), entry.slice(at + 1)]] : []
    })
  return { kind: "read", variables: Object.fromEntries(entries) }
}
