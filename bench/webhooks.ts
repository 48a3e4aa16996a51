// Webhooks under load: acknowledged means committed and forced to the disk.
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { fileURLToPath } from "node:url"
import { startModelServer } from "../test/support/model-server/index.ts"
import { BenchGateway, hookToken } from "./gateway.ts"
import type { Bench, Figure } from "./figure.ts"
import type { LoadResult, LoadTask } from "./load.ts"
import { round } from "./statistics.ts"

const execute = promisify(execFile)
const loader = fileURLToPath(new URL("./load.ts", import.meta.url))

export const webhooks: Bench = {
  name: "webhooks",
  async run(): Promise<Figure[]> {
    return [await wakes(), await stuckModels()]
  },
}

export async function load(task: LoadTask): Promise<LoadResult> {
  const { stdout } = await execute(process.execPath, [loader, JSON.stringify(task)])
  return JSON.parse(stdout) as LoadResult
}

async function wakes(): Promise<Figure> {
  const gateway = new BenchGateway()
  try {
    await gateway.configure({})
    await gateway.start()
    const task = {
      port: gateway.port,
      path: "/hooks/wake",
      token: hookToken,
      connections: 32,
      body: '{"text":"event {n}","mode":"next-heartbeat"}',
    }
    await load({ ...task, requests: 3_000 })
    const result = await load({ ...task, requests: 30_000 })
    return {
      what: "wake, acknowledged after commit, 32 connections",
      target: "at least 6,000/s, p99 at most 20 ms",
      measured: `${round(result.perSecond, 0)}/s, p50 ${round(result.p50)} ms, p99 ${round(result.p99)} ms`,
      met: result.perSecond >= 6_000 && result.p99 <= 20 && result.statuses["200"] === 30_000,
    }
  } finally {
    await gateway.stop()
  }
}

async function stuckModels(): Promise<Figure> {
  const gateway = new BenchGateway()
  const model = await startModelServer({ script: () => ({ kind: "hang" }) })
  try {
    await gateway.configure({
      models: { providers: { local: { kind: "openai-compatible", baseUrl: model.baseUrl } } },
      agents: { defaults: { model: "local/stuck", heartbeat: { every: "0" } } },
    })
    await gateway.start()
    const task = { port: gateway.port, path: "/hooks/agent", token: hookToken, body: '{"message":"task {n}"}' }
    await load({ ...task, connections: 8, requests: 100 })
    const result = await load({ ...task, connections: 500, requests: 500 })
    return {
      what: "500 concurrent posts while all models are stuck",
      target: "p99 at most 250 ms",
      measured: `p50 ${round(result.p50, 0)} ms, p99 ${round(result.p99, 0)} ms`,
      met: result.p99 <= 250 && result.statuses["202"] === 500,
    }
  } finally {
    await gateway.kill("SIGKILL")
    await gateway.stop()
    await model.stop()
  }
}
