// systemd: a user's own manager or that of the system, asked by `systemctl` and nothing else.
import { existsSync } from "node:fs"
import { join } from "node:path"
import { AppError } from "../kernel/index.ts"
import type { Command, ServiceManager, ServiceState } from "./contract.ts"
import type { CommandResult, RunCommand } from "./run-command.ts"
import { renderUnit } from "./unit.ts"

export interface SystemdOptions {
  name: string
  scope: "user" | "system"
  /** Of the user whose service it is. */
  configHome: string
  /** Whose sessions a user's service hangs on. */
  userName: string
  run: RunCommand
}

const properties = [
  "LoadState",
  "ActiveState",
  "UnitFileState",
  "MainPID",
  "NRestarts",
  "Result",
  "ExecMainStatus",
  "StateChangeTimestamp",
]

export function createSystemd(options: SystemdOptions): ServiceManager {
  const { name, scope, run } = options
  const unit = `${name}.service`
  const mode = scope === "user" ? ["--user"] : []
  const control = (...words: string[]): Command => ["systemctl", ...mode, ...words]
  const file = scope === "user" ? join(options.configHome, "systemd", "user", unit) : join("/etc/systemd/system", unit)
  return {
    kind: "systemd",
    name,
    file,
    logs: ["journalctl", ...mode, "-u", name].join(" "),
    render: renderUnit,
    commands: {
      load: [control("daemon-reload"), control("enable", unit)],
      clear: [control("reset-failed", unit)],
      start: [control("start", unit)],
      stop: [control("stop", unit)],
      restart: [control("restart", unit)],
      // A failed unit would be known as failed for as long as the machine runs, also without its file.
      disable: [control("disable", "--now", unit), control("reset-failed", unit)],
      forget: [control("daemon-reload")],
    },
    async check() {
      // What systemd itself goes by (sd_booted): the program may be installed where another one starts things.
      if (!existsSync("/run/systemd/system")) throw noSystemd()
      explainUnreachable(await run(control("show", "--property=Version")), options)
    },
    state: async () => readState(await run(control("show", unit, `--property=${properties.join(",")}`))),
    async lastLines() {
      const { code, stdout } = await run(["journalctl", ...mode, "-u", name, "-n", "15", "-o", "cat", "--no-pager"])
      return code === 0 ? stdout.split("\n").filter((line) => line !== "" && !line.startsWith("-- No entries")) : []
    },
    advice: async () => (scope === "user" ? await adviseLinger(options) : undefined),
  }
}

/** Without it a user's manager, and all that it runs, ends with the last session. */
async function adviseLinger({ run, userName }: SystemdOptions): Promise<string | undefined> {
  const { stdout } = await run(["loginctl", "show-user", userName, "--property=Linger", "--value"])
  if (stdout.trim() !== "no") return undefined
  return `it ends when you log out, and starts when you log in; to keep it running: sudo loginctl enable-linger ${userName}`
}

function explainUnreachable({ code, stderr }: CommandResult, { scope, userName }: SystemdOptions): void {
  if (code === 0) return
  if (code === undefined) throw noSystemd()
  const said = stderr.trim().split("\n")[0] ?? ""
  if (scope === "system") throw new AppError("service-unsupported", `systemd does not answer: ${said}`)
  throw new AppError("service-unsupported", `Your own systemd (systemctl --user) cannot be reached: ${said}`, {
    hint: `log in as this user rather than by su or sudo, or run: sudo loginctl enable-linger ${userName} && export XDG_RUNTIME_DIR=/run/user/$(id -u); or use: sudo svc service install --system --run-as ${userName}`,
  })
}

function noSystemd(): AppError {
  return new AppError("service-unsupported", "This machine does not run systemd", {
    hint: `let what starts programs here run "svc gateway" (it stays in the foreground and ends on SIGTERM); containers: docs/guides/docker.md`,
  })
}

const activeStates: Record<string, ServiceState["active"]> = {
  active: "running",
  reloading: "running",
  activating: "starting",
  deactivating: "stopping",
  failed: "failed",
}

function readState({ stdout }: CommandResult): ServiceState {
  const facts = new Map(
    stdout.split("\n").map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  )
  const number = (name: string) => Number(facts.get(name) ?? 0) || 0
  const since = Date.parse(facts.get("StateChangeTimestamp") ?? "")
  const result = facts.get("Result") ?? "success"
  const status = number("ExecMainStatus")
  const words = result === "exit-code" ? `it ended with ${status}` : result
  return {
    installed: facts.get("LoadState") === "loaded",
    enabled: facts.get("UnitFileState") === "enabled",
    active: activeStates[facts.get("ActiveState") ?? ""] ?? "stopped",
    pid: number("MainPID") || undefined,
    restarts: number("NRestarts"),
    since: Number.isNaN(since) ? undefined : since,
    result: result === "success" ? undefined : words,
  }
}
