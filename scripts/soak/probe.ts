// A thread of its own that looks at a gateway from outside, so that what the load costs does not show as the gateway's:
// how long /healthz takes, memory, handles, sizes. Sends a sample every few seconds.
import { readFileSync, readdirSync, statSync } from "node:fs"
import { Agent, get } from "node:http"
import { join } from "node:path"
import { parentPort, workerData } from "node:worker_threads"
import { type LoopFigures, readLoop } from "../../test/support/endurance/event-loop.ts"

export interface ProbeTask {
  pid: number
  port: number
  stateFolder: string
  everyMs: number
}

export interface Probe {
  memoryMb: number
  handles: number
  threads: number
  /** Of the gateway's own CPU, in seconds since its start. */
  cpuSeconds: number
  /** How long its main thread could have run and other programs had the processors, in seconds since its start. */
  stolenSeconds: number
  /** `times`: of every request, in milliseconds. */
  health: { p50: number; p99: number; max: number; failed: number; times: number[] }
  databaseMb: number
  logMb: number
  filesMb: number
  /** Unset where the gateway does not tell. */
  loop?: LoopFigures
}

const healthEveryMs = 50
const agent = new Agent({ keepAlive: true, maxSockets: 1 })

function askHealth(port: number): Promise<number> {
  const began = performance.now()
  return new Promise((resolve, reject) => {
    const request = get({ port, host: "127.0.0.1", path: "/healthz", agent, timeout: 10_000 }, (response) => {
      response.resume()
      response.on("end", () => resolve(performance.now() - began))
    })
    request.on("timeout", () => request.destroy(new Error("timeout")))
    request.on("error", reject)
  })
}

function sizeMb(path: string): number {
  const facts = statSync(path, { throwIfNoEntry: false })
  if (!facts) return 0
  if (!facts.isDirectory()) return facts.size / 1024 / 1024
  return readdirSync(path).reduce((sum, name) => sum + sizeMb(join(path, name)), 0)
}

function sample({ pid, stateFolder }: ProbeTask, times: number[], failed: number): Probe {
  const status = readFileSync(`/proc/${pid}/status`, "utf8")
  const number = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0)
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? []
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return {
    memoryMb: number("VmRSS") / 1024,
    handles: readdirSync(`/proc/${pid}/fd`).length,
    threads: number("Threads"),
    stolenSeconds: Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[1]) / 1e9,
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / 100,
    health: { p50: at(0.5), p99: at(0.99), max: sorted.at(-1) ?? 0, failed, times: sorted },
    databaseMb: sizeMb(join(stateFolder, "svc.db")) + sizeMb(join(stateFolder, "svc.db-wal")),
    logMb: sizeMb(join(stateFolder, "logs")),
    filesMb: sizeMb(join(stateFolder, "media")),
  }
}

const task = workerData as ProbeTask
let times: number[] = []
let failed = 0
const token = readFileSync(join(task.stateFolder, "gateway-token"), "utf8").trim()
setInterval(() => {
  const seen = sample(task, times, failed)
  times = []
  failed = 0
  void readLoop(`http://127.0.0.1:${task.port}`, token).then((loop) => {
    parentPort?.postMessage(loop === undefined ? seen : { ...seen, loop })
  })
}, task.everyMs)
for (;;) {
  await askHealth(task.port).then(
    (ms) => times.push(ms),
    () => (failed += 1),
  )
  await new Promise((resolve) => setTimeout(resolve, healthEveryMs))
}
