// 500 sessions with a turn in flight: as many people wait for a model that writes to all of them at once. What the gateway
// holds in memory meanwhile, how long its event loop keeps others waiting, and that each gets its answer in the end.
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { setTimeout as delay } from "node:timers/promises"
import { type Emulator, startEmulator } from "../emulator/index.ts"
import { startModelServer } from "../test/support/model-server/index.ts"
import type { Bench, Figure } from "./figure.ts"
import { BenchGateway } from "./gateway.ts"
import { round } from "./statistics.ts"

const sessions = 500
/** Of each answer; together more than a thousand pieces a second reach the gateway. */
const pieceEveryMs = 400
const pieces = 120
const watchedMs = 10_000
const longestMs = 180_000
const mostMb = 250
const mostLoopMs = 50

export const inFlight: Bench = {
  name: "in-flight",
  async run(): Promise<Figure[]> {
    const emulator = await startEmulator()
    const model = await startModelServer({
      script: () => ({ kind: "drip", text: "word ".repeat(pieces / 5), everyMs: pieceEveryMs }),
    })
    const gateway = new BenchGateway()
    try {
      await configure(gateway, emulator, model.baseUrl)
      await gateway.start()
      const atRest = gateway.residentMb()
      askAll(emulator)
      const openBy = performance.now() + longestMs
      while (model.requests.length < sessions && performance.now() < openBy) await delay(20)
      let ended = 0
      for (const request of model.requests) void request.ended.then(() => (ended += 1))
      const seen = await watch(gateway)
      const open = model.requests.length - ended
      const answered = await answeredIn(gateway)
      return figuresOf({ ...seen, atRest, open, answered })
    } finally {
      await gateway.stop()
      await model.stop()
      await emulator.stop()
    }
  },
}

function configure(gateway: BenchGateway, emulator: Emulator, baseUrl: string): Promise<void> {
  const groups = { groupPolicy: "open", groups: { "*": { requireMention: false } } }
  return gateway.configure({
    channels: { chatapp: { apiRoot: emulator.url, botToken: emulator.token, ...groups } },
    models: { providers: { local: { kind: "openai-compatible", baseUrl } } },
    agents: { defaults: { model: "local/slow", maxConcurrent: sessions, heartbeat: { every: "0" } } },
  })
}

/** Groups of one: every chat is a session of its own, while direct chats share the main one. */
function askAll(emulator: Emulator): void {
  for (let n = 0; n < sessions; n += 1) {
    const { id: userId } = emulator.control.addUser()
    const chat = emulator.control.addChat({ type: "supergroup", members: [userId], botStatus: "administrator" })
    emulator.control.sendText({ userId, chatId: chat.id, text: `question ${n}` })
  }
}

interface Seen {
  resident: number
  /** Bounds in milliseconds that 99 of 100 looks stay below. */
  delayed: number
  worked: number
}

async function watch(gateway: BenchGateway): Promise<Seen> {
  const before = await loopBuckets(gateway)
  let resident = 0
  const end = performance.now() + watchedMs
  while (performance.now() < end) {
    resident = Math.max(resident, gateway.residentMb())
    await delay(100)
  }
  const after = await loopBuckets(gateway)
  const bound = (name: string) => boundOf99(before.get(name) ?? [], after.get(name) ?? [])
  return { resident, delayed: bound("delay"), worked: bound("work") }
}

type Buckets = { ms: number; count: number }[]

async function loopBuckets({ port, token }: BenchGateway): Promise<Map<string, Buckets>> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { authorization: `Bearer ${token}` } })
  const found = new Map<string, Buckets>()
  for (const [, name = "", bound, count] of (await response.text()).matchAll(
    /^svc_event_loop_(delay|work)_seconds_bucket\{le="([^"]+)"\} (\d+)/gm,
  )) {
    const ms = bound === "+Inf" ? Infinity : Number(bound) * 1000
    found.set(name, [...(found.get(name) ?? []), { ms, count: Number(count) }])
  }
  return found
}

function boundOf99(before: Buckets, after: Buckets): number {
  const counts = after.map(({ ms, count }, index) => ({ ms, count: count - (before[index]?.count ?? 0) }))
  const all = counts.at(-1)?.count ?? 0
  return counts.find(({ count }) => all > 0 && count >= 0.99 * all)?.ms ?? Infinity
}

/** How many turns have come to their end, once all have or no time is left. */
async function answeredIn(gateway: BenchGateway): Promise<number> {
  const database = new DatabaseSync(join(gateway.stateFolder, "svc.db"), { readOnly: true })
  try {
    const done = database.prepare("select count(*) as n from job where kind = 'turn' and state = 'done'")
    const end = performance.now() + longestMs
    for (;;) {
      const count = Number(done.get()?.["n"])
      if (count >= sessions || performance.now() > end) return count
      await delay(100)
    }
  } finally {
    database.close()
  }
}

function figuresOf({ resident, delayed, worked, atRest, open, answered }: Seen & Record<string, number>): Figure[] {
  const isWhole = open === sessions && answered === sessions
  const told = `${open} answers were being written, all ${answered} came to their end`
  return [
    {
      what: `${sessions} sessions with a turn in flight, the model writes to all of them: resident memory`,
      target: `at most ${mostMb} MB`,
      measured: `${round(resident, 0)} MB (${round(atRest ?? 0, 0)} MB at rest); ${told}`,
      met: isWhole && resident <= mostMb,
    },
    {
      what: `the same: what the event loop keeps a timer waiting, p99`,
      target: `at most ${mostLoopMs} ms`,
      measured: `below ${delayed} ms (its own work: below ${worked} ms)`,
      met: isWhole && delayed <= mostLoopMs,
    },
  ]
}
