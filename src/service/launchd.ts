// launchd, which runs services on macOS: a property list for the user's session (an agent) or for the machine (a daemon),
// told to it by `launchctl`.
import { join } from "node:path"
import { z } from "zod"
import { AppError, describeError } from "../kernel/index.ts"
import type { Command, ServiceManager, ServicePlan, ServiceState } from "./contract.ts"
import { parsePlist, renderPlist } from "./plist.ts"
import type { CommandResult, RunCommand } from "./run-command.ts"
import { writtenBy } from "./unit.ts"

export interface LaunchdOptions {
  name: string
  scope: "user" | "system"
  home: string
  uid: number
  stateFolder: string
  run: RunCommand
}

const absolute = z.string().startsWith("/")

/** Of the keys in launchd.plist(5), those that we write, with the kinds that launchd wants. */
const agentSchema = z.strictObject({
  Label: z.string().regex(/^[\w.-]{1,200}$/),
  ProgramArguments: z.array(z.string().min(1)).min(1),
  WorkingDirectory: absolute,
  EnvironmentVariables: z.record(z.string().regex(/^[A-Z_][A-Z0-9_]*$/), z.string()),
  UserName: z.string().min(1).optional(),
  RunAtLoad: z.boolean(),
  KeepAlive: z.strictObject({ SuccessfulExit: z.boolean() }),
  ThrottleInterval: z.int().min(1),
  ExitTimeOut: z.int().min(1),
  Umask: z.int().min(0).max(0o777),
  SoftResourceLimits: z.strictObject({ NumberOfFiles: z.int().min(256) }),
  StandardOutPath: absolute,
  StandardErrorPath: absolute,
})

/** Homebrew's two places and the system's. */
const searchPath = "/opt/homebrew/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"

export function createLaunchd(options: LaunchdOptions): ServiceManager {
  const { name, scope, home, uid, stateFolder, run } = options
  const label = labelOf(name)
  const domain = scope === "user" ? `gui/${uid}` : "system"
  const target = `${domain}/${label}`
  const folder = scope === "user" ? join(home, "Library", "LaunchAgents") : "/Library/LaunchDaemons"
  const file = join(folder, `${label}.plist`)
  const log = logFile(stateFolder, name)
  const control = (...words: string[]): Command => ["launchctl", ...words]
  return {
    kind: "launchd",
    name,
    file,
    logs: `tail -f "${log}"`,
    render: renderAgent,
    commands: {
      load: [control("enable", target)],
      clear: [],
      // What is loaded is started (RunAtLoad), and what is unloaded is stopped.
      start: [control("bootstrap", domain, file)],
      stop: [control("bootout", target)],
      restart: [control("kickstart", "-k", target)],
      disable: [control("bootout", target), control("disable", target)],
      forget: [],
    },
    async check() {
      const { code, stderr } = await run(control("print", domain))
      if (code === 0) return
      if (code === undefined) throw new AppError("service-unsupported", "There is no launchctl on this machine")
      throw new AppError("service-unsupported", `launchd does not answer for ${domain}: ${stderr.trim()}`, {
        hint: "log in at the screen of this machine as this user, or use: sudo svc service install --system",
      })
    },
    state: async () => readState(await run(control("print", target))),
    async lastLines() {
      const { stdout } = await run(["tail", "-n", "15", log])
      return stdout.split("\n").filter((line) => line !== "")
    },
    advice: async () => (scope === "user" ? "it ends when you log out, and starts when you log in" : undefined),
  }
}

function labelOf(name: string): string {
  return `local.svc-gateway.${name}`
}

function logFile(stateFolder: string, name: string): string {
  return join(stateFolder, "logs", `service-${name}.log`)
}

/** The property list; written, read back and held against what launchd takes. */
export function renderAgent(plan: ServicePlan): string {
  const { configPath, user } = plan
  const log = logFile(plan.stateFolder, plan.name)
  const content: z.infer<typeof agentSchema> = {
    Label: labelOf(plan.name),
    // --disable-sigusr1: that signal would open Node's inspector.
    ProgramArguments: [plan.node, "--disable-sigusr1", plan.program, "gateway"],
    WorkingDirectory: plan.home,
    EnvironmentVariables: {
      SVC_STATE_DIR: plan.stateFolder,
      ...(configPath === undefined ? {} : { SVC_CONFIG_PATH: configPath }),
      PATH: searchPath,
      HOME: plan.home,
    },
    ...(user === undefined ? {} : { UserName: user }),
    RunAtLoad: true,
    // After a failure, not after svc stop.
    KeepAlive: { SuccessfulExit: false },
    ThrottleInterval: 10,
    // Ten seconds are what a stop takes at most.
    ExitTimeOut: 20,
    Umask: 0o077,
    SoftResourceLimits: { NumberOfFiles: 65_536 },
    StandardOutPath: log,
    StandardErrorPath: log,
  }
  const text = renderPlist(content as Parameters<typeof renderPlist>[0], `${writtenBy} The next one writes it anew.`)
  checkAgent(text)
  return text
}

/** Throws `service-failed` when launchd would not take it as it is meant. */
export function checkAgent(text: string): void {
  try {
    agentSchema.parse(parsePlist(text))
  } catch (error) {
    throw new AppError("service-failed", `The property list is wrong: ${describeError(error)}`, { cause: error })
  }
}

function readState({ code, stdout }: CommandResult): ServiceState {
  const facts = new Map(stdout.split("\n").map((line) => splitOnce(line.trim(), " = ")))
  const fact = (name: string) => facts.get(name)
  const pid = Number(fact("pid") ?? 0) || undefined
  const lastCode = fact("last exit code")
  const isFailed = lastCode !== undefined && !/^(0|\(never exited\))/.test(lastCode)
  const stopped = isFailed ? "failed" : "stopped"
  return {
    installed: code === 0,
    enabled: code === 0,
    active: pid === undefined ? stopped : "running",
    pid,
    restarts: Math.max(0, Number(fact("runs") ?? 1) - 1),
    since: undefined,
    result: isFailed ? `it ended with ${lastCode}` : undefined,
  }
}

function splitOnce(line: string, separator: string): [string, string] {
  const at = line.indexOf(separator)
  return at === -1 ? [line, ""] : [line.slice(0, at), line.slice(at + separator.length)]
}
