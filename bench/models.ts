// What a model's stream costs: 10,000 deltas through the registry, against reading the same bytes and parsing each event.
// The model server is a process of its own, so that the CPU that is counted is the gateway's alone.
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { createTestRegistry, userRequest } from "../test/support/model-server/index.ts"
import type { ProviderSettings } from "../src/models/index.ts"
import type { Bench, Figure } from "./figure.ts"
import { median, round } from "./statistics.ts"

const deltas = 10_000
const rounds = 7
const target = 60

const interfaces: readonly { kind: ProviderSettings["kind"]; path: string; model: string }[] = [
  { kind: "openai-compatible", path: "/v1", model: "some-model" },
  { kind: "openai", path: "/v1", model: "gpt-5.1" },
  { kind: "anthropic", path: "/v1", model: "claude-sonnet-4-5" },
  { kind: "google", path: "/v1", model: "gemini-2.5-flash" },
]

export const models: Bench = {
  name: "models",
  async run(): Promise<Figure[]> {
    const server = await startServer()
    try {
      const figures: Figure[] = []
      for (const each of interfaces) figures.push(await measure(server.origin, each))
      return figures
    } finally {
      server.stop()
    }
  },
}

async function measure(origin: string, { kind, path, model }: (typeof interfaces)[number]): Promise<Figure> {
  const provider = { kind, baseUrl: `${origin}${path}`, apiKey: "key-0123456789" }
  const { registry } = createTestRegistry({ providers: { mine: provider }, defaultModel: `mine/${model}` })
  let seen = 0
  const stream = async () => {
    seen = 0
    const request = userRequest("go on", { signal: AbortSignal.timeout(60_000), onDelta: () => void (seen += 1) })
    await registry.complete({ agentId: "main" }, request)
    if (seen < deltas * 0.9) throw new Error(`${kind}: ${seen} deltas came`)
  }
  const cost = await perDelta(stream)
  const floor = await perDelta(() => readPlain(`${origin}/v1/chat/completions`))
  return {
    what: `a delta of a stream of ${deltas}, kind \`${kind}\``,
    target: `at most ${target} us CPU`,
    measured: `${round(cost)} us CPU (reading and parsing alone, Chat Completions: ${round(floor)} us)`,
    met: cost <= target,
  }
}

/** Microseconds of CPU, the median of some streams after a first one. */
async function perDelta(work: () => Promise<void>): Promise<number> {
  await work()
  const costs: number[] = []
  for (let n = 0; n < rounds; n += 1) {
    const before = process.cpuUsage()
    await work()
    const { user, system } = process.cpuUsage(before)
    costs.push((user + system) / deltas)
  }
  return median(costs)
}

async function readPlain(url: string): Promise<void> {
  const body = JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content: "go on" }] })
  const response = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body })
  const decoder = new TextDecoder()
  let rest = ""
  for await (const chunk of response.body ?? []) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) if (line.startsWith("data: {")) JSON.parse(line.slice(6))
  }
}

async function startServer(): Promise<{ origin: string; stop: () => void }> {
  const program = new URL("../test/support/model-server/main.ts", import.meta.url).pathname
  const child = spawn(process.execPath, [program, "--script", "long"], { stdio: ["pipe", "pipe", "inherit"] })
  const [first] = (await once(createInterface({ input: child.stdout }), "line")) as [string]
  const { port } = JSON.parse(first) as { port: number }
  return { origin: `http://127.0.0.1:${port}`, stop: () => void child.kill() }
}
