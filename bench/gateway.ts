// The shipped gateway in a process of its own, with the emulator and an instant model where a bench wants them.
import { type ChildProcess, execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { memoryVariables } from "../src/service/unit.ts"
import { freePort } from "../test/support/gateway.ts"

export const root = dirname(dirname(fileURLToPath(import.meta.url)))
export const program = join(root, "dist", "svc.cjs")
const execute = promisify(execFile)
export const hookToken = "bench-hook-token-of-this-run"

export class BenchGateway {
  readonly stateFolder = mkdtempSync(join(tmpdir(), "svc-bench-"))
  port = 0
  process: ChildProcess | undefined

  async configure(config: Record<string, unknown>): Promise<void> {
    this.port = await freePort()
    const content = {
      gateway: { port: this.port },
      logging: { level: "info" },
      hooks: { enabled: true, token: hookToken },
      agents: { defaults: { heartbeat: { every: "0" } } },
      ...config,
      browser: { headless: true, noSandbox: process.getuid?.() === 0 },
    }
    writeFileSync(join(this.stateFolder, "svc.json"), JSON.stringify(content), { mode: 0o600 })
  }

  /** Milliseconds from the start of the process to the first 200 of /readyz. */
  async start(): Promise<number> {
    const began = performance.now()
    this.process = spawn(process.execPath, [program, "gateway", "--quiet"], {
      stdio: "ignore",
      env: this.environment(),
    })
    for (;;) {
      const response = await fetch(`http://127.0.0.1:${this.port}/readyz`).catch(() => undefined)
      if (response?.ok) return performance.now() - began
      if (this.process.exitCode !== null) throw new Error("the gateway ended at its start")
      await delay(3)
    }
  }

  async kill(signal: NodeJS.Signals): Promise<void> {
    const gateway = this.process
    if (!gateway || gateway.exitCode !== null || gateway.signalCode !== null) return
    const ended = once(gateway, "exit")
    gateway.kill(signal)
    await ended
  }

  async stop(): Promise<void> {
    await this.kill("SIGTERM")
    rmSync(this.stateFolder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  }

  get token(): string {
    return readFileSync(join(this.stateFolder, "gateway-token"), "utf8").trim()
  }

  residentMb(): number {
    const status = readFileSync(`/proc/${this.process?.pid}/status`, "utf8")
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024
  }

  /** As the service starts it. */
  environment(): NodeJS.ProcessEnv {
    return {
      ...process.env,
      ...memoryVariables,
      SVC_STATE_DIR: this.stateFolder,
      SVC_GATEWAY_PORT: "",
      CHATAPP_BOT_TOKEN: "",
    }
  }

  async svc(...parameters: string[]): Promise<string> {
    return (await execute(process.execPath, [program, ...parameters], { env: this.environment() })).stdout
  }
}

/** Time of processors since its start, in milliseconds; Linux counts in hundredths of a second. */
export function workOf({ process: running }: BenchGateway): number {
  const fields = readFileSync(`/proc/${running?.pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ")
  return (Number(fields[11]) + Number(fields[12])) * 10
}

/** Milliseconds of a whole process, start to end. */
export async function timeProcess(file: string, parameters: string[], env: NodeJS.ProcessEnv): Promise<number> {
  const began = performance.now()
  const child = spawn(file, parameters, { stdio: "ignore", env })
  const [code] = (await once(child, "exit")) as [number]
  if (code !== 0) throw new Error(`${file} ${parameters.join(" ")} ended with ${code}`)
  return performance.now() - began
}
