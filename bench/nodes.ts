// What the way to another machine's browser costs: the same request at the gateway's own browser and at a node's, in turns, on
// loopback, and the memory of a node that waits. Both programs as they are shipped.
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import type { Bench, Figure } from "./figure.ts"
import { BenchGateway, program } from "./gateway.ts"
import { median, round } from "./statistics.ts"

const requests = 200
/** Longer than its browser control stays without anything to do. */
const restMs = 75_000

type Call = (method: string, path: string, body?: object) => Promise<unknown>

export const nodes: Bench = {
  name: "nodes",
  async run(): Promise<Figure[]> {
    const gateway = new BenchGateway()
    const folder = mkdtempSync(join(tmpdir(), "svc-bench-node-"))
    let node: ChildProcess | undefined
    try {
      await gateway.configure({})
      await gateway.start()
      node = await startNode(gateway, folder)
      const way = await wayThere(callOf(gateway))
      return [way, await idleMemory(node)]
    } finally {
      if (node?.exitCode === null) {
        const ended = once(node, "exit")
        node.kill("SIGTERM")
        await ended
      }
      await gateway.stop()
      rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
    }
  },
}

/** Resolves when it was let in. */
async function startNode(gateway: BenchGateway, folder: string): Promise<ChildProcess> {
  const browser = { headless: true, noSandbox: process.getuid?.() === 0 }
  writeFileSync(join(folder, "svc.json"), JSON.stringify({ browser }), { mode: 0o600 })
  const words = ["node", "run", "--gateway", `127.0.0.1:${gateway.port}`, "--name", "bench", "--state-dir", folder]
  const child = spawn(process.execPath, [program, ...words], { stdio: ["ignore", "ignore", "pipe"] })
  let said = ""
  child.stderr.on("data", (data: Buffer) => (said += data.toString()))
  for (let approved = false; !said.includes("connected to"); await delay(20)) {
    if (child.exitCode !== null) throw new Error(`the node ended: ${said}`)
    const code = /approve (\S{4}-\S{4})/.exec(said)?.[1]
    if (code !== undefined && !approved) await gateway.svc("nodes", "approve", code)
    approved ||= code !== undefined
  }
  return child
}

function callOf(gateway: BenchGateway): Call {
  return async (method, path, body) => {
    const response = await fetch(`http://127.0.0.1:${gateway.port + 2}${path}`, {
      method,
      headers: { authorization: `Bearer ${gateway.token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(await response.text())
    return await response.json()
  }
}

async function wayThere(call: Call): Promise<Figure> {
  const evaluate = { kind: "evaluate", fn: "() => 1" }
  const sides = [
    { body: { ...evaluate }, times: [] as number[] },
    { body: { ...evaluate, node: "bench" }, times: [] as number[] },
  ] as const
  for (const { body } of sides) await call("POST", "/tabs/open", { ...body, url: "about:blank" })
  for (let index = 0; index < requests + 10; index += 1) {
    for (const { body, times } of sides) {
      const began = performance.now()
      await call("POST", "/act", body)
      if (index >= 10) times.push(performance.now() - began)
    }
  }
  for (const { body } of sides) await call("POST", "/stop", body)
  const [here, there] = [median(sides[0].times), median(sides[1].times)]
  return {
    what: "a browser request at a node on loopback, above the same at the gateway (median)",
    target: "at most 5 ms",
    measured: `${round(there - here, 2)} ms (${round(there, 2)} against ${round(here, 2)} ms)`,
    met: there - here <= 5,
  }
}

/** After its browser has been used and stopped: of all its processes. */
async function idleMemory(node: ChildProcess): Promise<Figure> {
  const own = node.pid ?? 0
  await delay(restMs)
  const children = readFileSync(`/proc/${own}/task/${own}/children`, "utf8").trim().split(" ").filter(Boolean)
  const all = [own, ...children.map(Number)].map(residentMb).reduce((sum, each) => sum + each, 0)
  return {
    what: "node idle, resident memory of all its processes, after its browser was used",
    target: "at most 60 MB",
    measured: `${round(all, 0)} MB in ${1 + children.length} process(es)`,
    met: all <= 60,
  }
}

function residentMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8")
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024
}
