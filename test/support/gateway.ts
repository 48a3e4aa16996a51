// A real gateway in a process of its own, in a temporary state folder on free ports.
import { type ChildProcess, spawn } from "node:child_process"
import { randomInt } from "node:crypto"
import { once } from "node:events"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import type { AddressInfo } from "node:net"
import { dirname, join } from "node:path"
import type { TestContext } from "node:test"
import { bundleGateway, isFromSources } from "./gateway-bundle.ts"
import { newStateFolder } from "./state-folder.ts"

/** Above 10080, which browsers refuse to open. */
const firstPort = 10_100
const lastPort = 32_700

/** As the runner of the tests: a start makes much that stays, and with little room V8 copies it again and again. */
const startFlags = ["--min-semi-space-size=16"]

export interface GatewaySetup {
  /** Default: one whose store has just been made. */
  stateFolder?: string
  /** Default: a free one. */
  port?: number
  /** Merged over a quiet default: no heartbeat, debug log. */
  config?: Record<string, unknown>
  crashAt?: string
  /** Files and connections that it may open at once. */
  handleLimit?: number
  /** Default: those that make many starts cheap. Whoever measures memory gives those of the service: none. */
  nodeFlags?: readonly string[]
  environment?: Record<string, string>
}

export interface RunningGateway {
  url: string
  controlUrl: string
  port: number
  stateFolder: string
  process: ChildProcess
  token: string
  /** Resolves with the exit code or the signal. */
  ended: Promise<number | string>
  /** Standard error so far. */
  output(): string
  kill(signal: NodeJS.Signals): Promise<number | string>
  /** As `crashAt` of the setup, from now on. */
  crashAt(label: string): Promise<void>
  /** A call with the gateway token; the parsed JSON body. */
  call<T = unknown>(method: string, path: string, body?: unknown): Promise<T>
  log(): string
}

/**
 * A port whose neighbours +2 and +3 are free too. Not one that the system hands out itself (from 32768 on where this is
 * tested): until the gateway has it, any connection of any process could be given it.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const base = randomInt(firstPort, lastPort)
    const all = await Promise.all([base, base + 2, base + 3].map((port) => probe(port).catch(() => 0)))
    if (all.every((port) => port > 0)) return base
  }
}

async function probe(port: number): Promise<number> {
  const server = createServer().listen(port, "127.0.0.1")
  await once(server, "listening")
  const found = (server.address() as AddressInfo).port
  server.close()
  await once(server, "close")
  return found
}

export async function startGateway(
  context: Pick<TestContext, "after">,
  setup: GatewaySetup = {},
): Promise<RunningGateway> {
  const gateway = await spawnGateway(context, setup)
  const ready = await gateway.ready
  // One that is to be killed at a point of its work may come by that point before it is ready.
  if (!ready && setup.crashAt === undefined)
    throw new Error(`the gateway ended at its start (${await gateway.ended}): ${gateway.output()}`)
  return gateway
}

/** Without waiting for readiness: for starts that are meant to fail. */
export async function spawnGateway(context: Pick<TestContext, "after">, setup: GatewaySetup) {
  const stateFolder = setup.stateFolder ?? (await newStateFolder())
  mkdirSync(stateFolder, { recursive: true })
  const port = setup.port ?? (await freePort())
  if (setup.config || setup.stateFolder === undefined) writeConfig(stateFolder, setup.config ?? {})
  const program = await bundleGateway()
  const node = [process.execPath, ...(setup.nodeFlags ?? startFlags), program]
  const [command = "", ...words] =
    setup.handleLimit === undefined ? node : ["sh", "-c", `ulimit -n ${setup.handleLimit}; exec "$0" "$@"`, ...node]
  const child = spawn(command, words, {
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    env: {
      ...process.env,
      SVC_STATE_DIR: stateFolder,
      SVC_GATEWAY_PORT: String(port),
      CHATAPP_BOT_TOKEN: "",
      SVC_RUNTIME_DIR: join(stateFolder, "run"),
      SVC_TEST_PROGRAM: join(import.meta.dirname, "..", "..", "cli", "main.ts"),
      // Written by every process that ends cleanly, beside the bundle.
      ...(isFromSources ? {} : { NODE_COMPILE_CACHE: join(dirname(program), "compiled") }),
      ...(setup.crashAt === undefined ? {} : { SVC_CRASH_AT: setup.crashAt }),
      ...setup.environment,
    },
  })
  let output = ""
  child.stderr?.on("data", (chunk: Buffer) => (output += chunk.toString()))
  const ended = once(child, "exit").then(([code, signal]) => (signal ?? code) as number | string)
  const ready = Promise.race([
    once(child, "message").then(([message]) => message as { port: number; controlPort: number }),
    ended.then(() => undefined),
  ])
  context.after(async () => {
    // One that ends by itself tells where it has been.
    const signal = isFromSources ? "SIGTERM" : "SIGKILL"
    if (child.exitCode === null && child.signalCode === null) child.kill(signal)
    await ended
  })
  const url = `http://127.0.0.1:${port}`
  const gateway = {
    url,
    controlUrl: `http://127.0.0.1:${port + 2}`,
    port,
    stateFolder,
    process: child,
    ready,
    ended,
    output: () => output,
    get token() {
      return readFileSync(join(stateFolder, "gateway-token"), "utf8").trim()
    },
    kill(signal: NodeJS.Signals) {
      child.kill(signal)
      return ended
    },
    async crashAt(label: string) {
      const taken = once(child, "message")
      child.send(label)
      await taken
    },
    async call<T>(method: string, path: string, body?: unknown): Promise<T> {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { authorization: `Bearer ${gateway.token}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const answer = (await response.json()) as T
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`)
      return answer
    },
    log: () => readFileSync(join(stateFolder, "logs", "gateway.log"), "utf8"),
  }
  return gateway
}

export function writeConfig(stateFolder: string, config: Record<string, unknown>): void {
  const root = process.getuid?.() === 0
  const content = {
    logging: { level: "debug" },
    agents: { defaults: { heartbeat: { every: "0" }, sandbox: { mode: "off" } } },
    ...config,
    browser: { headless: true, noSandbox: root, ...(config["browser"] as object | undefined) },
  }
  writeFileSync(join(stateFolder, "svc.json"), JSON.stringify(content, null, 2), { mode: 0o600 })
}
