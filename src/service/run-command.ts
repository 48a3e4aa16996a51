// Runs one program of the system and gathers what it says. Nothing goes through a shell.
import { execFile } from "node:child_process"
import type { Variables } from "../config/index.ts"
import { AppError } from "../kernel/index.ts"
import type { Command } from "./contract.ts"

export interface CommandResult {
  /** Undefined when there is no such program. */
  code: number | undefined
  stdout: string
  stderr: string
}

export type RunCommand = (command: Command, timeoutMs?: number) => Promise<CommandResult>

/** Starting waits for the manager only, stopping for the gateway's clean end. */
const defaultTimeoutMs = 60_000

export function createRunCommand(options: { variables: Variables; signal?: AbortSignal }): RunCommand {
  const { variables, signal } = options
  // Whatever the language and the time zone of the machine: some of what they say is read.
  const env = { ...variables, LC_ALL: "C", TZ: "UTC", SYSTEMD_PAGER: "", SYSTEMD_COLORS: "0" }
  return ([program = "", ...words], timeoutMs = defaultTimeoutMs) =>
    new Promise((resolve, reject) => {
      execFile(program, words, { env, timeout: timeoutMs, ...(signal ? { signal } : {}) }, (error, stdout, stderr) => {
        const code = error?.code
        if (signal?.aborted) return reject(new AppError("aborted", "Stopped"))
        if (error?.killed) return reject(tooSlow([program, ...words], timeoutMs))
        if (code === "ENOENT") return resolve({ code: undefined, stdout, stderr })
        if (typeof code === "string") return reject(error)
        resolve({ code: code ?? (error ? 1 : 0), stdout, stderr })
      })
    })
}

/** Runs commands one after another; throws `service-failed` with what the first that failed has said. */
export async function runAll(run: RunCommand, commands: readonly Command[]): Promise<void> {
  for (const command of commands) {
    const { code, stdout, stderr } = await run(command)
    if (code === 0) continue
    const said = (stderr.trim() || stdout.trim() || `it ended with ${code ?? "no such program"}`).split("\n")[0]
    throw new AppError("service-failed", `${command.join(" ")}: ${said}`, {
      hint: "run it by hand to see the whole answer, then try again",
    })
  }
}

function tooSlow(command: Command, timeoutMs: number): AppError {
  return new AppError("timeout", `${command.join(" ")} has not ended after ${timeoutMs / 1000} s`, {
    hint: "the manager of services may be busy: look at it by hand, then try again",
  })
}
