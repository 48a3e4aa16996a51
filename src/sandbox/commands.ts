// Commands of the agent and of its owner, each in a box of its own with the workspace in it.
import type { SandboxSettings } from "./settings.ts"
import type { Sandbox } from "./sandbox.ts"
import { workFolder } from "./contract.ts"
import { type RunResult, runInBox } from "./run.ts"
import type { Asker, Workspaces } from "./workspace.ts"

export interface CommandOptions {
  sandbox: Sandbox
  workspaces: Workspaces
  settings(agentId: string): SandboxSettings
  /** Unix socket of the filtering proxy; listens from the first call on. */
  proxySocket(): Promise<string>
}

export interface Command {
  argv: readonly string[]
  stdin?: string | Buffer
  timeoutMs?: number | undefined
  maxOutputBytes?: number
  network?: boolean
  signal?: AbortSignal | undefined
}

export type RunCommand = (asker: Asker, command: Command) => Promise<RunResult>

/** A file that a command makes may have at most this size. */
export const maxFileBytes = 1024 * 1024 * 1024

export function createCommands({ sandbox, workspaces, settings, proxySocket }: CommandOptions): RunCommand {
  return async (asker, command) => {
    const own = settings(asker.agentId)
    const { exec } = own
    const limitMs = exec.timeoutSeconds * 1000
    return await runInBox(
      sandbox,
      {
        kind: "exec",
        session: asker.sessionKey,
        agentId: asker.agentId,
        argv: command.argv,
        mounts: workspaces.mounts(asker),
        folder: workFolder,
        environment: { TERM: "dumb" },
        ...(command.network ? { proxySocket: await proxySocket() } : {}),
        limits: { memoryMb: exec.memoryMb, tasks: exec.maxTasks },
      },
      own,
      {
        timeoutMs: Math.min(command.timeoutMs ?? limitMs, limitMs),
        maxOutputBytes: command.maxOutputBytes ?? exec.maxOutputKb * 1024,
        ...(command.stdin === undefined ? {} : { stdin: command.stdin }),
        signal: command.signal,
      },
    )
  }
}

/** A line for the shell of the box. `ulimit` counts in halves of a kilobyte. */
export function shellLine(line: string): string[] {
  return ["/bin/sh", "-c", `ulimit -f ${maxFileBytes / 512}; exec 2>&1; eval "$1"`, "sh", line]
}

export function describeEnd({ end, ms }: RunResult, timeoutMs: number): string {
  switch (end.kind) {
    case "ended":
      return `exit ${end.code} after ${ms} ms`
    case "killed":
      return `killed by ${end.signal} after ${ms} ms: it took more memory than it may, or ended itself`
    case "timeout":
      return `ended after ${timeoutMs / 1000} s, its time limit, with all that it had started`
    case "output":
      return `ended after ${ms} ms: it wrote without end`
  }
}
