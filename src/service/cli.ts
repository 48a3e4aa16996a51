// The commands `svc service ...`: words -> plan -> manager -> lines for a person, or JSON.
import type { Command as Program } from "commander"
import { readEnvironment, type Variables } from "../config/index.ts"
import { AppError } from "../kernel/index.ts"
import { shellWord } from "../kernel/shell-word.ts"
import { chooseManager } from "./choose.ts"
import type { Command, ServicePlan } from "./contract.ts"
import { makePlan, ownerOf } from "./plan.ts"
import type { Ready, RunningGateway } from "./ready.ts"
import { createRunCommand } from "./run-command.ts"
import {
  type ServiceParts,
  type ServiceReport,
  describeService,
  installService,
  restartService,
  uninstallService,
} from "./service.ts"

/** What the commands need of the program around them. */
export interface ServiceCommandIo {
  /** One or more lines for people. */
  print(text: string): void
  /** Content of a file: no word of it is changed. */
  printContent(text: string): void
  printJson(value: unknown): void
  /** Progress, on stderr. */
  note(text: string): void
  time(milliseconds: number): string
  variables: Variables
  platform: NodeJS.Platform
  uid: number
  userName: string
  node: string
  /** Real path of the started file. */
  programFile: string
  readGateway(stateFolder: string): RunningGateway | undefined
  /** Aborted by Ctrl-C. */
  interrupted(): AbortSignal
  setExitCode(code: number): void
  /** `--json` and `--state-dir`. */
  addOptions(command: Program): void
  addExamples(command: Program, ...lines: string[]): void
  /** Reads a whole number of at least one. */
  wholeNumber(name: string): (text: string) => number
}

interface Options {
  json?: true
  stateDir?: string
  system?: true
  user?: true
  runAs?: string
  name: string
  timeout: number
  config?: string
  dryRun?: true
  start?: boolean
  force?: true
}

export function registerServiceCommands(program: Program, io: ServiceCommandIo): void {
  const service = program.command("service").description("Run the gateway as a service of this machine")
  addInstall(service, io)
  addUninstall(service, io)
  addStatus(service, io)
  addRestart(service, io)
  io.addExamples(service, "svc service install", "svc service status", "sudo svc service install --system --run-as svc")
}

function addInstall(service: Program, io: ServiceCommandIo): void {
  const command = service.command("install").description("Install the service, start it and wait until it is ready")
  addScope(command, io)
    .option("--config <path>", "configuration file (default: $SVC_CONFIG_PATH, else svc.json in the state folder)")
    .option("--dry-run", "print what would be written and run, and do nothing")
    .option("--no-start", "install it only; it starts with the next session or start of the machine")
    .option("--force", "replace a description of a service that svc has not written")
    .option("--timeout <seconds>", "how long to wait until it is ready", io.wholeNumber("--timeout"), 30)
    .action(async (options: Options) => {
      const plan = planOf(io, options)
      const parts = partsOf(io, options, plan.stateFolder)
      if (options.dryRun) return printPlan(io, options, parts, plan)
      const done = await installService(parts, plan, {
        start: options.start !== false,
        force: options.force === true,
        timeoutMs: options.timeout * 1000,
      })
      const advice = await parts.manager.advice()
      const { file, changed } = done
      const { logs, name } = parts.manager
      if (options.json) return io.printJson({ ok: true, name, file, changed, logs, ...readyFacts(done.ready), advice })
      io.print(done.ready ? describeReady(done.ready) : "installed; start it with: svc service restart")
      io.print(`its log: ${logs}`)
      if (advice !== undefined) io.print(`note: ${advice}`)
    })
  io.addExamples(
    command,
    "svc service install",
    "svc service install --dry-run",
    "sudo svc service install --system --run-as svc",
  )
}

function addUninstall(service: Program, io: ServiceCommandIo): void {
  const command = service.command("uninstall").description("Stop the service and remove it; the state folder stays")
  addScope(command, io)
    .option("--dry-run", "print what would be removed and run, and do nothing")
    .option("--force", "remove a description of a service that svc has not written")
    .action(async (options: Options) => {
      const stateFolder = stateFolderOf(io, options)
      const parts = partsOf(io, options, stateFolder)
      const { manager } = parts
      if (options.dryRun) {
        const { disable, forget } = manager.commands
        const commands = [...disable, ["rm", "-f", manager.file], ...forget]
        if (options.json) return io.printJson({ dryRun: true, file: manager.file, commands })
        return io.print(commands.map(commandLine).join("\n"))
      }
      const removed = await uninstallService(parts, options.force === true)
      if (options.json) return io.printJson({ ok: true, removed, file: manager.file })
      const kept = `${stateFolder} stays as it is`
      io.print(removed ? `removed ${manager.file}; ${kept}` : `there is no service ${manager.name} to remove`)
    })
  io.addExamples(command, "svc service uninstall", "sudo svc service uninstall --system")
}

function addStatus(service: Program, io: ServiceCommandIo): void {
  const command = service
    .command("status")
    .description("Show whether the service runs and is ready; ends with 1 when it does not or is not")
  addScope(command, io).action(async (options: Options) => {
    const report = await describeService(partsOf(io, options, stateFolderOf(io, options)))
    if (!report.ready) io.setExitCode(1)
    if (options.json) return io.printJson(report)
    io.print(statusLines(io, report).join("\n"))
  })
  io.addExamples(command, "svc service status", "svc service status --json")
}

function addRestart(service: Program, io: ServiceCommandIo): void {
  const command = service.command("restart").description("Restart the service and wait until it is ready")
  addScope(command, io)
    .option("--dry-run", "print what would be run, and do nothing")
    .option("--timeout <seconds>", "how long to wait until it is ready", io.wholeNumber("--timeout"), 30)
    .action(async (options: Options) => {
      const parts = partsOf(io, options, stateFolderOf(io, options))
      const { restart } = parts.manager.commands
      if (options.dryRun) {
        if (options.json) return io.printJson({ dryRun: true, commands: restart })
        return io.print(restart.map(commandLine).join("\n"))
      }
      const ready = await restartService(parts, options.timeout * 1000)
      if (options.json) return io.printJson({ ok: true, ...readyFacts(ready) })
      io.print(describeReady(ready))
    })
  io.addExamples(command, "svc service restart")
}

function addScope(command: Program, io: ServiceCommandIo): Program {
  io.addOptions(command)
  return command
    .option("--user", "a service of your own, without root (the default)")
    .option("--system", "a service of the machine, which starts without anybody logged in; needs root")
    .option("--run-as <user>", "whom a system service runs as (default: who called sudo)")
    .option("--name <name>", "its name, when there are several", "svc")
}

function planOf(io: ServiceCommandIo, options: Options): ServicePlan {
  return makePlan({ ...wordsOf(options), config: options.config }, factsOf(io))
}

function wordsOf(options: Options) {
  if (options.system && options.user) throw new AppError("bad-request", "Take one of --user and --system")
  const scope = options.system ? ("system" as const) : ("user" as const)
  return { name: options.name, scope, runAs: options.runAs, stateDir: options.stateDir }
}

function factsOf(io: ServiceCommandIo) {
  const { variables, platform, uid, userName, node } = io
  return { variables, platform, uid, userName, node, program: io.programFile }
}

/** Without root too: whoever only looks at a system's service need not be the one it belongs to. */
function stateFolderOf(io: ServiceCommandIo, options: Options): string {
  const words = wordsOf(options)
  const isOthers = words.scope === "system" && (words.runAs ?? io.variables["SUDO_USER"]) !== undefined
  const home = isOthers ? ownerOf(words, { ...factsOf(io), uid: 0 }).home : undefined
  return readEnvironment({
    ...io.variables,
    ...(home === undefined ? {} : { HOME: home }),
    ...(options.stateDir === undefined ? {} : { SVC_STATE_DIR: options.stateDir }),
  }).stateFolder
}

function partsOf(io: ServiceCommandIo, options: Options, stateFolder: string): ServiceParts {
  const { variables, platform, uid, userName } = io
  const signal = io.interrupted()
  const run = createRunCommand({ variables, signal })
  const { scope, name } = wordsOf(options)
  const { home } = readEnvironment(variables)
  const configHome = variables["XDG_CONFIG_HOME"]
  return {
    manager: chooseManager({ platform, name, scope, home, configHome, uid, userName, stateFolder, run }),
    run,
    stateFolder,
    readGateway: () => io.readGateway(stateFolder),
    progress: io.note,
    signal,
  }
}

function printPlan(io: ServiceCommandIo, options: Options, { manager }: ServiceParts, plan: ServicePlan): void {
  const { load, start } = manager.commands
  const commands = [...load, ...(options.start === false ? [] : start)]
  const content = manager.render(plan)
  if (options.json) return io.printJson({ dryRun: true, file: manager.file, content, commands, logs: manager.logs })
  io.print(`would write ${manager.file}:\n`)
  io.printContent(content)
  io.print(`would run:\n${commands.map(commandLine).join("\n")}`)
}

/** For people: as one would type it. */
function commandLine(command: Command): string {
  return command.map(shellWord).join(" ")
}

function readyFacts(ready: Ready | undefined) {
  return ready ? { ready: true, pid: ready.gateway.pid, port: ready.gateway.port, version: ready.gateway.version } : {}
}

function describeReady({ gateway, readiness }: Ready): string {
  const ready = `ready: svc ${gateway.version}, process ${gateway.pid}, port ${gateway.port}`
  const problems = (readiness.problems ?? []).map(({ part, problem }) => `  ${part}: ${problem}`)
  return [ready, ...problems].join("\n")
}

function statusLines(io: ServiceCommandIo, report: ServiceReport): string[] {
  if (!report.installed && report.active === "stopped") {
    return [`there is no service ${report.name} (looked for ${report.file}); make it: svc service install`]
  }
  const since = report.since === undefined ? "" : ` since ${io.time(report.since)}`
  const process = report.pid === undefined ? "" : `, process ${report.pid}`
  const again = report.restarts === 0 ? "" : `, started again ${report.restarts} times by itself`
  const result = report.result === undefined ? "" : ` (${report.result})`
  const problems = (report.readiness?.problems ?? []).map(({ part, problem }) => `${part}: ${problem}`)
  const ready = report.ready ? "yes" : "no"
  const rows: [string, string][] = [
    ["service", `${report.active}${result}${since}${process}${again}`],
    ["starts", report.enabled ? "by itself" : "not by itself: svc service install"],
    ["ready", [ready, ...problems].join("; ")],
    ...(report.version === undefined ? [] : [["version", report.version] as [string, string]]),
    ["file", report.file],
    ["log", report.logs],
    ...(report.advice === undefined ? [] : [["note", report.advice] as [string, string]]),
  ]
  return rows.map(([name, value]) => `${name.padEnd(10)}${value}`)
}
