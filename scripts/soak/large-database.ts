// A gateway on a database of gigabytes: how long it takes to start after kill -9, and what a backup of it costs and does to
// the running gateway.
import { spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { setTimeout as delay } from "node:timers/promises"
import { Worker } from "node:worker_threads"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { type World, createWorld } from "../../test/support/world.ts"
import type { Ends } from "./ends.ts"
import type { Probe } from "./probe.ts"
import type { Row } from "./table.ts"

const starts = 5
const bytesPerRow = 4_000
const quietMs = 10_000
const cli = join(import.meta.dirname, "..", "..", "cli", "main.ts")

export async function measureLargeDatabase(
  ends: Ends,
  { gigabytes, say }: { gigabytes: number; say: (line: string) => void },
): Promise<Row[]> {
  const world = await createWorld(ends, { config: { logging: { level: "info" } } })
  await world.start()
  await world.settle()
  await world.gateway.kill("SIGTERM")
  say(`filling a database with ${gigabytes} GB`)
  fill(join(world.stateFolder, "svc.db"), gigabytes)
  const restart = await measureRestarts(world, gigabytes)
  say(`backing it up while the gateway runs`)
  return [restart, ...(await measureBackup(ends, world, gigabytes))]
}

/** As a year leaves it: finished runs with their steps, messages of sessions, kept deliveries. */
function fill(path: string, gigabytes: number): void {
  const database = new DatabaseSync(path)
  database.exec("pragma synchronous = off; pragma cache_size = -200000")
  // As little alike as words that were packed before.
  const pool = randomBytes(4 * 1024 * 1024).toString("base64")
  const words = (n: number) => pool.slice((n * 997) % (pool.length - bytesPerRow)).slice(0, bytesPerRow)
  const now = Date.now()
  const job = database.prepare(
    `insert into job (run_id, kind, lane_key, payload, state, created_at, started_at, finished_at, result)
     values (?, 'turn', 'agent:main:main', ?, 'done', ?, ?, ?, ?)`,
  )
  const step = database.prepare("insert into step (job_id, n, kind, data, created_at) values (?, ?, 'prompt', ?, ?)")
  const message = database.prepare(
    "insert into message (session_id, job_id, message, tokens, created_at) values (?, ?, ?, 1000, ?)",
  )
  const inbox = database.prepare(
    "insert into inbox (source, account, delivery_id, received_at, payload) values ('hook', 'fill', ?, ?, ?)",
  )
  for (let rows = 0; rows * bytesPerRow * 4 < gigabytes * 1024 ** 3;) {
    database.exec("begin")
    for (let n = 0; n < 5_000; n += 1, rows += 1) {
      const pad = words(rows)
      const id = job.run(`fill-${rows}`, pad, now, now, now, "done").lastInsertRowid
      step.run(id, 0, pad, now)
      message.run(`session-${rows % 500}`, id, JSON.stringify({ role: "assistant", content: pad }), now)
      inbox.run(`fill-${rows}`, now, pad)
    }
    database.exec("commit")
  }
  database.exec("pragma wal_checkpoint(truncate)")
  database.close()
}

async function measureRestarts(world: World, gigabytes: number): Promise<Row> {
  const times: number[] = []
  for (let n = 0; n < starts; n += 1) {
    const began = performance.now()
    await world.start()
    times.push(performance.now() - began)
    await world.hook("wake", { text: `after start ${n}`, mode: "next-heartbeat" })
    await world.gateway.kill("SIGKILL")
  }
  await world.start()
  const sorted = times.toSorted((a, b) => a - b)
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0
  return {
    what: `restart after \`kill -9\` with a database of ${gigabytes} GB, from the start of the process until it is ready`,
    target: "at most 1 s",
    measured: `${(median / 1000).toFixed(2)} s (slowest of ${starts}: ${((sorted.at(-1) ?? 0) / 1000).toFixed(2)} s)`,
    met: median <= 1_000,
  }
}

async function measureBackup(ends: Ends, world: World, gigabytes: number): Promise<Row[]> {
  const quiet = await watchGateway(ends, world, () => delay(quietMs))
  const made = { seconds: 0, peakMb: 0, archiveMb: 0 }
  const meanwhile = await watchGateway(ends, world, async () => {
    Object.assign(made, await runBackup(world))
  })
  const { seconds, peakMb, archiveMb } = made
  const describe = (seen: typeof quiet) =>
    `p99 ${seen.p99.toFixed(0)} ms, slowest of ${seen.count} webhooks ${seen.slowestMs.toFixed(0)} ms`
  return [
    {
      what: `\`svc backup create\` of a database of ${gigabytes} GB, copied, packed and read back`,
      target: "at most 250 MB of memory",
      measured: `${seconds.toFixed(0)} s, ${peakMb.toFixed(0)} MB of memory, an archive of ${archiveMb.toFixed(0)} MB`,
      met: peakMb <= 250,
    },
    {
      what: "the same: `/healthz` of the gateway and webhooks, one after the other, meanwhile",
      target: "p99 of `/healthz` in nine of ten seconds at most 50 ms, or twice what it was before",
      measured: `${describe(meanwhile)}; before: ${describe(quiet)}`,
      met: meanwhile.p99 <= Math.max(50, 2 * quiet.p99),
    },
  ]
}

/** What a gateway under a light load looks like from outside while something else is done. */
async function watchGateway(ends: Ends, world: World, work: () => Promise<unknown>) {
  const probes: Probe[] = []
  const workerData = {
    pid: world.gateway.process.pid,
    port: world.port,
    stateFolder: world.stateFolder,
    everyMs: 1_000,
  }
  const probe = new Worker(new URL("./probe.ts", import.meta.url), { workerData })
  probe.on("message", (sample: Probe) => probes.push(sample))
  ends.after(() => probe.terminate())
  let isDone = false
  const accepted = acceptMeanwhile(world, () => isDone)
  await work()
  isDone = true
  const { slowestMs, count } = await accepted
  await probe.terminate()
  const seconds = probes.map(({ health }) => health.p99).toSorted((a, b) => a - b)
  return { p99: seconds[Math.floor(seconds.length * 0.9)] ?? 0, slowestMs, count }
}

async function runBackup(world: World) {
  const folder = temporaryFolder()
  const began = performance.now()
  const child = spawn(process.execPath, [cli, "backup", "create", "--folder", folder, "--json"], {
    env: { ...process.env, SVC_STATE_DIR: world.stateFolder },
    stdio: ["ignore", "pipe", "ignore"],
  })
  let output = ""
  child.stdout.on("data", (piece: Buffer) => (output += piece.toString()))
  const peak = followPeak(child.pid ?? 0)
  const [code] = (await once(child, "close")) as [number]
  if (code !== 0) throw new Error(`the backup failed: ${output}`)
  const { archive, bytes } = JSON.parse(output) as { archive: string; bytes: number }
  rmSync(archive)
  return { seconds: (performance.now() - began) / 1000, peakMb: peak(), archiveMb: bytes / 1024 / 1024 }
}

async function acceptMeanwhile(world: World, isDone: () => boolean) {
  let slowestMs = 0
  let count = 0
  while (!isDone()) {
    const began = performance.now()
    await world.hook("wake", { text: `meanwhile ${count}`, mode: "next-heartbeat" })
    slowestMs = Math.max(slowestMs, performance.now() - began)
    count += 1
    await delay(20)
  }
  return { slowestMs, count }
}

/** The kernel remembers the highest; it is gone with the process. */
function followPeak(pid: number): () => number {
  let highest = 0
  const timer = setInterval(() => {
    try {
      highest = readPeak(pid)
    } catch {
      // It has ended: the last value stands.
      clearInterval(timer)
    }
  }, 100)
  return () => highest
}

function readPeak(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8")
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024
}
