// What the machine says: Node.js, disk, ports, browser, leftovers of a killed gateway, the service, the clock.
import { accessSync, constants, existsSync, readFileSync, statfsSync, statSync } from "node:fs"
import { once } from "node:events"
import { createServer } from "node:net"
import { userInfo } from "node:os"
import { dirname, join } from "node:path"
import pino from "pino"
import { detectBrowser, systemMachine } from "../browser/profiles/detect/index.ts"
import type { Config, Environment } from "../config/index.ts"
import { raceAbort, systemClock, systemIds, toAppError } from "../kernel/index.ts"
import { isProcessAlive } from "../kernel/process-alive.ts"
import { probeSandbox } from "../sandbox/index.ts"
import { type Finding, finding } from "./contract.ts"

/** As package.json has it. */
const oldestNode = [22, 18] as const
const lowBytes = 500 * 1024 * 1024
const mb = 1024 * 1024
/** Tokens and signatures of senders are refused from here on. */
const mostSkewMs = 2 * 60_000

export function lookAtNode(version: string): Finding[] {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  const isOld = major < oldestNode[0] || (major === oldestNode[0] && minor < oldestNode[1])
  if (!isOld) return []
  return [
    finding("node-old", `this is Node.js ${version}; svc needs ${oldestNode.join(".")} or newer`, {
      command: "node --version",
    }),
  ]
}

/** Of the state folder, or the nearest folder above it that exists. */
export function lookAtDisk(stateFolder: string): Finding[] {
  let folder = stateFolder
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder)
  const findings: Finding[] = []
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch {
    findings.push(
      finding("file-unreadable", `${folder} cannot be read or written by this user`, { command: `ls -ld ${folder}` }),
    )
  }
  const { bavail, bsize } = statfsSync(folder)
  const free = bavail * bsize
  if (free < lowBytes)
    findings.push(
      finding("disk-low", `${Math.floor(free / mb)} MB are left for ${stateFolder}`, { command: `df -h ${folder}` }),
    )
  return findings
}

/** While no gateway runs: whether it could take its ports. */
export async function lookAtPorts({ gateway, browser }: Config): Promise<Finding[]> {
  const ports = [gateway.port, ...(browser.enabled ? [gateway.port + 2] : [])]
  const taken = await Promise.all(ports.map(async (port) => ((await isFree(port)) ? undefined : port)))
  return taken.flatMap((port) => {
    if (port === undefined) return []
    const cause = `port ${port} is taken by another program; end it, or move the gateway (gateway.port)`
    return [finding("port-taken", cause, { command: `svc config set gateway.port ${gateway.port + 100}` })]
  })
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  try {
    server.listen({ port, host: "127.0.0.1", exclusive: true })
    await once(server, "listening")
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "EADDRINUSE"
  } finally {
    server.close()
  }
}

export async function lookAtBrowser(
  { browser }: Config,
  environment: Environment,
  configPath: string,
): Promise<Finding[]> {
  if (!browser.enabled || browser.attachOnly) return []
  if (process.getuid?.() === 0 && !browser.noSandbox && browser.defaultProfile === "managed") {
    const cause = "a browser cannot use its own sandbox as root: run svc as an ordinary user, or set browser.noSandbox"
    const fix = { kind: "config" as const, path: configPath, key: ["browser", "noSandbox"], value: true }
    return [finding("browser-root", cause, { command: "svc config set browser.noSandbox true", fix })]
  }
  try {
    const machine = systemMachine({ homeFolder: environment.home, environment: environment.variables })
    await detectBrowser(machine, browser.executablePath)
    return []
  } catch (error) {
    const { message, hint } = toAppError(error)
    return [finding("browser-missing", `${message}. ${hint ?? ""}`, { command: "svc setup --browser yes" })]
  }
}

/** `gateway.json` of a process that is gone. The lock itself is the kernel's, and ends with its process. */
export function lookAtLeftovers(stateFolder: string): Finding[] {
  const path = join(stateFolder, "gateway.json")
  if (!existsSync(path)) return []
  try {
    const { pid } = JSON.parse(readFileSync(path, "utf8")) as { pid?: number }
    if (typeof pid !== "number" || isProcessAlive(pid)) return []
    return [
      finding("lock-stale", `${path} is of process ${pid}, which ended without tidying up`, { command: "svc gateway" }),
    ]
  } catch (error) {
    if (error instanceof SyntaxError)
      return [finding("lock-stale", `${path} cannot be understood`, { command: "svc gateway" })]
    throw error
  }
}

/** By a box that is really made. */
export async function lookAtSandbox(
  { agents }: Config,
  environment: Environment,
  signal: AbortSignal,
): Promise<Finding[]> {
  const { mode, backend, docker } = agents.defaults.sandbox
  if (mode === "off") return []
  const parts = {
    environment: environment.variables,
    clock: systemClock,
    ids: systemIds,
    log: pino({ level: "silent" }),
  }
  const probe = await raceAbort(probeSandbox({ backend, docker }, parts), signal)
  const trouble = probe.browser ?? probe.exec
  if (!trouble) return []
  const effect = mode === undefined ? "turns of strangers go without one" : "what it is wanted for is refused"
  const command = trouble.hint
  return [finding("sandbox-missing", `${trouble.message}; ${effect}`, command === undefined ? {} : { command })]
}

export function lookAtService({ home }: Environment): Finding[] {
  if (process.platform !== "linux") return []
  const findings: Finding[] = []
  const { username } = userInfo()
  const isService = existsSync(join(home, ".config/systemd/user/svc.service"))
  if (isService && !existsSync(join("/var/lib/systemd/linger", username))) {
    findings.push(
      finding("linger-off", `the service of ${username} ends when they log out`, {
        command: `loginctl enable-linger ${username}`,
      }),
    )
  }
  return findings
}

/** By what the chat platform says, and without an answer by the newest file of the folder. */
export async function lookAtClock(
  stateFolder: string,
  address: string | undefined,
  signal: AbortSignal,
): Promise<Finding[]> {
  const told = address === undefined ? undefined : await dateOf(address, signal)
  const skew = told === undefined ? Math.min(0, Date.now() - newestFile(stateFolder)) : Date.now() - told
  if (Math.abs(skew) < mostSkewMs) return []
  const words = `${Math.round(Math.abs(skew) / 60_000)} minutes ${skew > 0 ? "ahead" : "behind"}`
  const by = told === undefined ? "the newest file of the state folder" : new URL(address ?? "").host
  return [finding("clock-off", `the clock is ${words}, by ${by}`, { command: "timedatectl" })]
}

async function dateOf(address: string, signal: AbortSignal): Promise<number | undefined> {
  try {
    const response = await fetch(address, { method: "HEAD", redirect: "manual", signal })
    await response.body?.cancel()
    const date = Date.parse(response.headers.get("date") ?? "")
    return Number.isNaN(date) ? undefined : date
  } catch {
    // Without a network the clock is judged by the disk.
    return undefined
  }
}

function newestFile(folder: string): number {
  const times = ["svc.db", "svc.db-wal", "svc.json"].map(
    (name) => statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0,
  )
  return Math.max(...times)
}
