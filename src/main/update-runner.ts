// Who runs the gateway that is to be updated: a service of this machine, nobody, or a person at a terminal, who may let it
// go on in the background.
import { spawn } from "node:child_process"
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs"
import { userInfo } from "node:os"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { readEnvironment } from "../config/index.ts"
import { readGatewayFile } from "../gateway/gateway-file.ts"
import { AppError } from "../kernel/index.ts"
import { isProcessAlive } from "../kernel/process-alive.ts"
import {
  type ServiceParts,
  chooseManager,
  createRunCommand,
  startService,
  stopService,
  waitUntilReady,
} from "../service/index.ts"
import type { Place, Runner, UpdateParts } from "../update/index.ts"

export interface RunnerOptions extends Pick<UpdateParts, "stateFolder" | "owner" | "progress" | "signal"> {
  words: { system?: true; name: string; background?: true; keep?: true; back?: true }
  variables: NodeJS.ProcessEnv
  place: Place
}

/** What a version has from its start to being ready. */
const readyMs = 30_000
/** A clean stop takes ten seconds at most. */
const stopMs = 20_000

/** Throws `update-refused` for a gateway that nobody would start again. */
export async function findRunner(options: RunnerOptions): Promise<Runner> {
  const { stateFolder, words } = options
  const nobody: Runner = { kind: "none", stop: async () => undefined, start: async () => undefined }
  // To stay with what is in place nothing is stopped or started.
  if (words.keep) return nobody
  const gateway = readGatewayFile(stateFolder)
  const isRunning = gateway !== undefined && isProcessAlive(gateway.pid)
  const service = await findService(options)
  if (service && (await service.manager.state()).pid === gateway?.pid && isRunning) return serviceRunner(service)
  if (!isRunning) return nobody
  if (words.background) return backgroundRunner(options)
  throw new AppError(
    "update-refused",
    `The gateway (process ${gateway.pid}) runs in a terminal, or under something else`,
    {
      hint: words.back
        ? "stop it first (svc stop; svc update --back; then start it again), or let it go on in the background: svc update --back --background; a service of another name or of the machine: --name <name>, --system"
        : "make it a service (svc stop; svc service install), stop it for the update (svc stop), or let it go on in the background: svc update --background; a service of another name or of the machine: --name <name>, --system",
    },
  )
}

/** Undefined where there is none. */
async function findService({ words, variables, stateFolder, progress, signal }: RunnerOptions) {
  const { uid, username: userName } = userInfo()
  const { home } = readEnvironment(variables)
  // Once the switch has begun it goes to its end: Ctrl-C does not reach what stops and starts.
  const run = createRunCommand({ variables })
  const parts: ServiceParts = {
    manager: chooseManager({
      platform: process.platform,
      name: words.name,
      scope: words.system ? "system" : "user",
      configHome: variables["XDG_CONFIG_HOME"],
      home,
      uid,
      userName,
      stateFolder,
      run,
    }),
    run,
    stateFolder,
    readGateway: () => readGatewayFile(stateFolder),
    progress,
    signal,
  }
  try {
    await parts.manager.check()
    return parts
  } catch (error) {
    if (error instanceof AppError && error.code === "service-unsupported" && !words.system) return undefined
    throw error
  }
}

function serviceRunner(parts: ServiceParts): Runner {
  const uninterrupted = { ...parts, signal: new AbortController().signal }
  return {
    kind: "service",
    stop: () => stopService(uninterrupted),
    async start(version) {
      const { gateway } = await startService(uninterrupted, readyMs)
      requireVersion(gateway.version, version)
    },
  }
}

/** The same program could answer when something else than the service's file starts it. */
function requireVersion(found: string, wanted: string): void {
  if (found === wanted) return
  throw new Error(`what has started is svc ${found}, not ${wanted}: the service runs another installation`)
}

function backgroundRunner({ stateFolder, owner, place, variables, progress }: RunnerOptions): Runner {
  const log = join(stateFolder, "logs", "background.log")
  return {
    kind: "background",
    async stop() {
      const gateway = readGatewayFile(stateFolder)
      if (!gateway || !isProcessAlive(gateway.pid)) return
      process.kill(gateway.pid, "SIGTERM")
      const end = performance.now() + stopMs
      while (isProcessAlive(gateway.pid)) {
        if (performance.now() > end) throw new Error(`the gateway (process ${gateway.pid}) has not ended`)
        await delay(50)
      }
    },
    async start(version) {
      mkdirSync(join(stateFolder, "logs"), { recursive: true, mode: 0o700 })
      const output = openSync(log, "w", 0o600)
      const words = ["--disable-sigusr1", place.program, "gateway", "--quiet"]
      const stdio = ["ignore", output, output] as ["ignore", number, number]
      const child = spawn(process.execPath, words, {
        env: variables,
        cwd: stateFolder,
        detached: true,
        stdio,
        ...owner,
      })
      closeSync(output)
      child.unref()
      try {
        await waitUntilReady({
          readGateway: () => readGatewayFile(stateFolder),
          isMeant: (gateway) => gateway.pid === child.pid && gateway.version === version,
          async watch() {
            if (child.exitCode !== null || child.signalCode !== null) throw new Error(lastWords(log))
          },
          timeoutMs: readyMs,
          progress,
          signal: new AbortController().signal,
        })
      } catch (error) {
        // One that is not ready may not have written its file either, by which a stop would find it.
        child.kill("SIGKILL")
        throw error
      }
    },
  }
}

function lastWords(log: string): string {
  const lines = readFileSync(log, "utf8").trim().split("\n").slice(-5)
  return `it ended at once: ${lines.join("\n  ") || "without a word"}`
}
