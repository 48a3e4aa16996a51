// What the commands do: install, uninstall, restart, tell. Each looks first, changes second and says what it has done.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { AppError } from "../kernel/index.ts"
import { isProcessAlive } from "../kernel/process-alive.ts"
import type { Command, ServiceManager, ServicePlan, ServiceState } from "./contract.ts"
import { type Readiness, type Ready, type RunningGateway, askReadiness, waitUntilReady } from "./ready.ts"
import { type RunCommand, runAll } from "./run-command.ts"
import { writtenBy } from "./unit.ts"

export interface ServiceParts {
  manager: ServiceManager
  run: RunCommand
  stateFolder: string
  /** What `<state>/gateway.json` says, also when its process has ended. */
  readGateway: () => RunningGateway | undefined
  progress: (line: string) => void
  signal: AbortSignal
}

export interface Installed {
  file: string
  /** False when the file was there and said the same. */
  changed: boolean
  ready: Ready | undefined
}

/** Throws `conflict`, `service-failed`, `not-ready`. */
export async function installService(
  parts: ServiceParts,
  plan: ServicePlan,
  options: { start: boolean; force: boolean; timeoutMs: number },
): Promise<Installed> {
  const { manager, run, progress } = parts
  const text = manager.render(plan)
  await manager.check()
  const before = await manager.state()
  refuseForeign(manager.file, options.force)
  refuseOtherGateway(parts, before)
  const changed = writeIfChanged(manager.file, text)
  progress(changed ? `wrote ${manager.file}` : `${manager.file} is as it should be`)
  await runAll(run, manager.commands.load)
  if (!options.start) return { file: manager.file, changed, ready: undefined }
  const runs = before.active === "running"
  if (runs && !changed) return { file: manager.file, changed, ready: await waitForService(parts, options.timeoutMs) }
  // What is loaded keeps its old description until it is stopped.
  if (before.installed) await tolerate(run, manager.commands.stop)
  return { file: manager.file, changed, ready: await startService(parts, options.timeoutMs) }
}

/** Starts it, which may take in what has failed before, and waits until it is ready. */
export async function startService(parts: ServiceParts, timeoutMs: number): Promise<Ready> {
  await tolerate(parts.run, parts.manager.commands.clear)
  await runAll(parts.run, parts.manager.commands.start)
  return await waitForService(parts, timeoutMs)
}

export async function stopService({ manager, run }: ServiceParts): Promise<void> {
  await runAll(run, manager.commands.stop)
}

export async function restartService(parts: ServiceParts, timeoutMs: number): Promise<Ready> {
  const { manager, run } = parts
  await requireInstalled(parts)
  await tolerate(run, manager.commands.clear)
  await runAll(run, manager.commands.restart)
  return await waitForService(parts, timeoutMs)
}

/** Says whether there was something; the state folder is left alone. */
export async function uninstallService({ manager, run }: ServiceParts, force: boolean): Promise<boolean> {
  await manager.check()
  const { installed } = await manager.state()
  const isThere = existsSync(manager.file)
  if (!isThere && !installed) return false
  refuseForeign(manager.file, force)
  await tolerate(run, manager.commands.disable)
  rmSync(manager.file, { force: true })
  await runAll(run, manager.commands.forget)
  return true
}

export interface ServiceReport extends ServiceState {
  manager: ServiceManager["kind"]
  name: string
  file: string
  logs: string
  ready: boolean
  readiness: Readiness | undefined
  version: string | undefined
  advice: string | undefined
}

export async function describeService(parts: ServiceParts): Promise<ServiceReport> {
  const { manager, readGateway } = parts
  await manager.check()
  const state = await manager.state()
  const gateway = readGateway()
  const isOurs = gateway !== undefined && gateway.pid === state.pid && isProcessAlive(gateway.pid)
  const readiness = isOurs ? await askReadiness(gateway) : undefined
  return {
    ...state,
    installed: state.installed && existsSync(manager.file),
    manager: manager.kind,
    name: manager.name,
    file: manager.file,
    logs: manager.logs,
    ready: readiness?.ok === true,
    readiness,
    version: isOurs ? gateway.version : undefined,
    advice: state.installed ? await manager.advice() : undefined,
  }
}

/** Ready is the process that the manager runs now, and no other. */
async function waitForService(parts: ServiceParts, timeoutMs: number): Promise<Ready> {
  const { manager, readGateway, progress, signal } = parts
  const first = await manager.state()
  let current = first
  return await waitUntilReady({
    readGateway,
    isMeant: (gateway) => gateway.pid === current.pid,
    timeoutMs,
    progress,
    signal,
    async watch() {
      current = await manager.state()
      const isGivenUp = current.active === "failed" || current.active === "stopped"
      if (isGivenUp || current.restarts > first.restarts) throw await didNotStart(manager, current)
    },
  })
}

async function didNotStart(manager: ServiceManager, state: ServiceState): Promise<AppError> {
  const lines = await manager.lastLines()
  const said = lines.length === 0 ? "" : `; its last words:\n  ${lines.join("\n  ")}`
  return new AppError(
    "service-failed",
    `The service did not start: ${state.result ?? "its process has ended"}${said}`,
    {
      hint: `read on: ${manager.logs}; a wrong configuration: svc config validate`,
    },
  )
}

async function requireInstalled({ manager }: ServiceParts): Promise<void> {
  await manager.check()
  if ((await manager.state()).installed) return
  throw new AppError("not-found", `There is no service ${manager.name}`, { hint: "make it: svc service install" })
}

/** What somebody has written by hand stays. */
function refuseForeign(file: string, force: boolean): void {
  if (force || !existsSync(file)) return
  if (readFileSync(file, "utf8").includes(writtenBy)) return
  throw new AppError("conflict", `${file} is there and was not written by svc`, {
    hint: "look at it; --force replaces it, --name <other> puts the service beside it",
  })
}

/** One state folder has one gateway: one that runs in a terminal would keep the service from starting. */
function refuseOtherGateway({ readGateway, stateFolder }: ServiceParts, state: ServiceState): void {
  const gateway = readGateway()
  if (!gateway || gateway.pid === state.pid || !isProcessAlive(gateway.pid)) return
  throw new AppError("already-running", `A gateway runs on ${stateFolder} already (process ${gateway.pid})`, {
    hint: "end it first: svc stop; then: svc service install",
  })
}

function writeIfChanged(file: string, text: string): boolean {
  if (existsSync(file) && readFileSync(file, "utf8") === text) return false
  mkdirSync(dirname(file), { recursive: true })
  // It holds no secret, and managers want to read it whoever they run as.
  writeFileSync(file, text, { mode: 0o644 })
  return true
}

/** What may fail because there is nothing to do. */
async function tolerate(run: RunCommand, commands: readonly Command[]): Promise<void> {
  for (const command of commands) await run(command)
}
