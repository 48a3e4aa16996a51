// A mixed load for some minutes: people who write words and photos, webhooks, a browser at work. Sampled all the time, and
// counted at the end as after a fault.
import { readFileSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { Worker } from "node:worker_threads"
import type { EmulatorEvent } from "../../emulator/feed.ts"
import { memoryVariables } from "../../src/service/unit.ts"
import { comeToRest } from "../../test/support/endurance/endure.ts"
import { Load } from "../../test/support/endurance/load.ts"
import { ModelWatch, type Tally, openWork, tally } from "../../test/support/endurance/tally.ts"
import { text } from "../../test/support/model-server/index.ts"
import { startPagesServer } from "../../test/support/pages-server.ts"
import { type World, createWorld } from "../../test/support/world.ts"
import type { Ends } from "./ends.ts"
import type { Probe } from "./probe.ts"

export interface Sample extends Probe {
  seconds: number
  openWork: number
  /** Age of the oldest work that could run, in seconds. */
  oldestSeconds: number
  /** Slowest answer to a message, of those that came since the last sample. */
  answerP99: number
  browserActions: number
}

export interface MixedRun {
  minutes: number
  people: number
  samples: Sample[]
  found: Tally
  /** Seconds from the end of the load until nothing was open. */
  drainSeconds: number
  browserFailures: string[]
  /** Resident, a minute after the last work. */
  idleMb: number
  /** What the gateway said of stretches above a quarter of a second, with their stacks. */
  hangs: string[]
}

const sampleEveryMs = 2_000
/** Of all people together; the platform takes thirty a second from a bot. */
const messagesPerSecond = 3
const hookRoundsPerSecond = 0.3
const browserPauseMs = 1_500
/** Time that the model thinks. */
const thinkMs = 300
const idleMs = 60_000

interface MixedOptions {
  minutes: number
  people: number
  random: () => number
  say: (line: string) => void
}

export async function runMixedLoad(ends: Ends, options: MixedOptions): Promise<MixedRun> {
  const { minutes, people, random, say } = options
  const { world, load, watch, answers } = await prepare(ends, options)
  const pages = await startPagesServer({ folder: join(import.meta.dirname, "..", "..", "test", "fixtures", "pages") })
  ends.after(() => pages.stop())
  const browser = { actions: 0, failures: [] as string[] }
  const { samples, stop: stopSampling } = sampling(ends, world, { answers, browser, say })
  const stop = new AbortController()
  const timer = setTimeout(() => stop.abort(), minutes * 60_000)
  say(`${people} people, webhooks and a browser for ${minutes} minutes`)
  await Promise.all([
    writeMessages(load, random, stop.signal),
    callWebhooks(load, random, stop.signal),
    browse(world, `${pages.url}/shop/index.html`, { browser, signal: stop.signal }),
  ])
  clearTimeout(timer)
  const began = performance.now()
  const stuck = await comeToRest(world, load)
  const drainSeconds = (performance.now() - began) / 1000
  // Samples of the quiet minute would flatter the slope and the times.
  const judged = samples.length
  await delay(idleMs)
  const idleMb = samples.at(-1)?.memoryMb ?? 0
  await stopSampling()
  const found = tally(world, load, { watch, crashes: false })
  await world.gateway.kill("SIGTERM")
  found.lost.unshift(...stuck)
  const hangs = readHangs(world.stateFolder)
  const told = { found, drainSeconds, idleMb, hangs, browserFailures: browser.failures }
  return { minutes, people, samples: samples.slice(0, judged), ...told }
}

function readHangs(stateFolder: string): string[] {
  const folder = join(stateFolder, "logs")
  const lines = readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n"))
  return lines.filter((line) => line.includes("event loop blocked"))
}

async function prepare(ends: Ends, { people, random, say }: MixedOptions) {
  say("setting up")
  const world = await createWorld(ends, {
    config: {
      logging: { level: "info" },
      session: { dmScope: "per-peer" },
      models: { providers: { test: { models: { small: { vision: true } } } } },
      browser: { enabled: true },
    },
  })
  const persons = [world.ada]
  for (let n = 2; n <= people; n += 1) persons.push(await world.addPerson({ firstName: `Person ${n}` }))
  world.configure({ channels: { chatapp: { allowFrom: persons.map(({ id }) => id) } } })
  const load = new Load(world, { people: persons, random, photoShare: 0.05, messages: 0 })
  const watch = new ModelWatch()
  const answers = new AnswerTimes()
  world.model.script(async (request) => {
    const id = watch.see(request) ?? "nothing"
    if (world.model.requests.length > 50) world.model.requests.length = 0
    await delay(random() * 2 * thinkMs)
    return text(`did ${id}`)
  })
  const end = new AbortController()
  ends.after(() => end.abort())
  void answers.follow(world, end.signal)
  // As the service starts it.
  await world.start({ nodeFlags: [], environment: memoryVariables })
  return { world, load, watch, answers }
}

/** How long people waited for their answers. */
class AnswerTimes {
  readonly #asked = new Map<string, number>()
  #times: number[] = []

  async follow(world: World, signal: AbortSignal): Promise<void> {
    const never = new Promise<undefined>((resolve) => signal.addEventListener("abort", () => resolve(undefined)))
    const look = world.emulator.control.waitForEvent(
      (event) => {
        if (event.type === "message") this.#note(event)
        return undefined
      },
      { timeoutMs: 24 * 60 * 60_000 },
    )
    await Promise.race([look.catch(() => undefined), never])
  }

  #note({ from, message }: Extract<EmulatorEvent, { type: "message" }>): void {
    const words = message.text ?? message.caption ?? ""
    const id = /job-chat-\d+/.exec(words)?.[0]
    if (id === undefined) return
    if (from !== "bot") return void this.#asked.set(id, performance.now())
    const asked = this.#asked.get(id)
    if (asked !== undefined) this.#times.push(performance.now() - asked)
    this.#asked.delete(id)
  }

  /** Of those since the last call. */
  take(): number {
    const sorted = this.#times.toSorted((a, b) => a - b)
    this.#times = []
    return sorted[Math.floor(sorted.length * 0.99)] ?? 0
  }
}

function sampling(
  ends: Ends,
  world: World,
  parts: { answers: AnswerTimes; browser: { actions: number }; say: (line: string) => void },
): { samples: Sample[]; stop: () => Promise<unknown> } {
  const samples: Sample[] = []
  const { port, stateFolder } = world
  const workerData = { pid: world.gateway.process.pid, port, stateFolder, everyMs: sampleEveryMs }
  const probe = new Worker(new URL("./probe.ts", import.meta.url), { workerData })
  ends.after(() => probe.terminate())
  const began = performance.now()
  let actionsBefore = 0
  probe.on("message", (found: Probe) => {
    const seconds = (performance.now() - began) / 1000
    const browserActions = parts.browser.actions - actionsBefore
    actionsBefore = parts.browser.actions
    const rest = { openWork: openWork(world), oldestSeconds: oldest(world), answerP99: parts.answers.take() }
    samples.push({ ...found, ...rest, seconds, browserActions })
    if (samples.length % 15 === 0) parts.say(describe(samples.at(-1) as Sample))
  })
  probe.on("error", (error) => parts.say(`no more samples: ${error.message}`))
  return { samples, stop: () => probe.terminate() }
}

function oldest(world: World): number {
  const [row] = world.rows<{ at: number | null }>(
    "select min(created_at) as at from job where state in ('ready', 'running')",
  )
  return row ? (Date.now() - (row.at ?? Date.now())) / 1000 : 0
}

function describe(sample: Sample): string {
  const { seconds, memoryMb, handles, health, openWork: open } = sample
  return `  ${Math.round(seconds)} s: ${Math.round(memoryMb)} MB, ${handles} handles, /healthz p99 ${health.p99.toFixed(0)} ms, ${open} open`
}

async function writeMessages(load: Load, random: () => number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const chat = load.chats[Math.floor(random() * load.chats.length)]
    if (chat) load.say(chat)
    await delay((random() * 2_000) / messagesPerSecond)
  }
}

async function callWebhooks(load: Load, random: () => number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await load.round(() => !signal.aborted)
    await delay((random() * 2_000) / hookRoundsPerSecond)
  }
}

async function browse(
  world: World,
  url: string,
  { browser, signal }: { browser: { actions: number; failures: string[] }; signal: AbortSignal },
): Promise<void> {
  const call = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${world.gateway.controlUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${world.gateway.token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const answer = await response.text()
    if (response.ok) browser.actions += 1
    else browser.failures.push(`${method} ${path}: ${answer.slice(0, 200)}`)
    return answer
  }
  while (!signal.aborted) {
    await call("POST", "/navigate", { url, timeoutMs: 30_000 })
    await call("GET", "/snapshot?mode=efficient")
    await call("POST", "/screenshot", {})
    await delay(browserPauseMs)
  }
}
