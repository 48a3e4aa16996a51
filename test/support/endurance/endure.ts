// Lives of a gateway under load that end, or are disturbed, at random moments; afterwards everything is counted.
import { once } from "node:events"
import type { TestContext } from "node:test"
import { setTimeout as delay } from "node:timers/promises"
import { spawnGateway } from "../gateway.ts"
import { text } from "../model-server/index.ts"
import { type World, createWorld, until } from "../world.ts"
import { CutDisk } from "./cut-disk.ts"
import { readLoop } from "./event-loop.ts"
import { FailingDisk } from "./failing-disk.ts"
import { Load } from "./load.ts"
import { ModelWatch, type Tally, openWork, tally } from "./tally.ts"

export type Disturbance = "kill" | "cut" | "stop" | "reload" | "disk-error"

export interface EnduranceOptions {
  disturbance: Disturbance
  times: number
  random: () => number
  people?: number
  onRound?: (done: number) => void
}

/** With more than this under way nothing is added: what waits is load enough, and the end comes in time. */
const maxBacklog = 25
/** For everything to be done at the end. */
const restMs = 180_000
/** What comes in a round beside the webhooks. */
const loads: Record<Disturbance, { messages: number; photoShare: number }> = {
  kill: { messages: 1, photoShare: 0.2 },
  cut: { messages: 4, photoShare: 0.5 },
  stop: { messages: 1, photoShare: 0.2 },
  reload: { messages: 1, photoShare: 0.2 },
  "disk-error": { messages: 1, photoShare: 0.2 },
}
/** Longest time under load before the next disturbance. */
const maxRoundMs = 330
/** The model's time for a photo that it has not seen yet. */
const lookMs = 1_200

export async function endure(context: Pick<TestContext, "after">, options: EnduranceOptions): Promise<Tally> {
  const { disturbance, times, random } = options
  const cuttable = disturbance === "cut" ? new CutDisk(context) : undefined
  const failing = disturbance === "disk-error" ? new FailingDisk(context) : undefined
  const { world, load, watch } = await begin(context, options, cuttable?.folder ?? failing?.folder)
  cuttable?.sync()
  const disturb: Record<Disturbance, () => Promise<void>> = {
    kill: () => kill(context, world, load, random),
    cut: () => cut(context, world, load, { random, disk: cuttable as CutDisk }),
    stop: () => stop(context, world, load, random),
    reload: () => reload(world, load, random),
    "disk-error": () => failDisk(world, load, { random, disk: failing as FailingDisk }),
  }
  const lives = disturbance === "reload" || disturbance === "disk-error"
  if (lives) await world.start()
  for (let done = 1; done <= times; done += 1) {
    await disturb[disturbance]()
    options.onRound?.(done)
  }
  if (!lives) await world.start()
  const stuck = await comeToRest(world, load)
  const found = tally(world, load, { watch, crashes: disturbance === "kill" || disturbance === "cut" })
  const loop = await readLoop(world.gateway.url, world.gateway.token)
  await world.gateway.kill("SIGTERM")
  return { ...found, lost: [...stuck, ...found.lost], ...(loop === undefined ? {} : { loop }) }
}

/** Until everything that was sent has come in and nothing is open; what does not come to rest is told. */
export async function comeToRest(world: World, load: Load): Promise<string[]> {
  const waits: readonly [string, () => Promise<unknown>][] = [
    ["webhooks are not accepted any more", () => load.finish()],
    ["messages of chats did not come in", () => until("they come in", () => haveComeIn(world, load), restMs)],
    // What was running at several kills in a row waits a little before it is tried again.
    ["work did not end", () => until("it ends", () => (openWork(world) === 0 ? true : undefined), restMs)],
    ["a chat is dead", () => world.settle()],
    ["the last work did not end", () => until("it ends", () => (openWork(world) === 0 ? true : undefined))],
  ]
  for (const [what, wait] of waits) {
    try {
      await wait()
    } catch (error) {
      return [`${what}: ${String(error)}`]
    }
  }
  return []
}

function haveComeIn(world: World, load: Load): true | undefined {
  const payloads = world.rows<{ payload: string }>("select payload from job where payload like '%please do job-chat-%'")
  const here = new Set(payloads.map(({ payload }) => /please do (job-chat-\d+)/.exec(payload)?.[1]))
  return load.chats.every(({ ids }) => ids.every((id) => here.has(id))) ? true : undefined
}

/** A world with a clean life behind it, which leaves its compiled code and halves what the starts cost. */
async function begin(context: Pick<TestContext, "after">, options: EnduranceOptions, stateFolder?: string) {
  const config = {
    logging: { level: "warn" },
    models: { providers: { test: { models: { small: { vision: true } } } } },
    ...(options.disturbance === "cut" ? { session: { dmScope: "per-peer" } } : {}),
  }
  const world = await createWorld(context, { config, ...(stateFolder === undefined ? {} : { stateFolder }) })
  const people = [world.ada]
  // The platform lets one chat have a message a second: many chats, so that the end does not take minutes.
  for (let n = 2; n <= (options.people ?? 12); n += 1) people.push(await world.addPerson({ firstName: `Person ${n}` }))
  world.configure({ channels: { chatapp: { allowFrom: people.map((person) => person.id) } } })
  const { random, disturbance } = options
  const load = new Load(world, { people, random, ...loads[disturbance] })
  const looked = new Set<string>()
  const watch = new ModelWatch()
  world.model.script(async (request) => {
    const id = watch.see(request) ?? "nothing"
    // Whole prompts of a long run, each with all that was said before, would fill the memory.
    if (world.model.requests.length > 50) world.model.requests.length = 0
    // Long enough for the power to go while a photo is looked at: then it is read again, from the disk.
    if (disturbance === "cut" && load.photos.has(id) && !looked.has(id)) await delay(lookMs)
    looked.add(id)
    return text(`did ${id}`)
  })
  await world.start()
  await world.settle()
  await world.gateway.kill("SIGTERM")
  return { world, load, watch }
}

async function roundOf(world: World, load: Load, isAlive: () => boolean): Promise<void> {
  if (openWork(world) <= maxBacklog) await load.round(isAlive)
}

async function kill(context: Pick<TestContext, "after">, world: World, load: Load, random: () => number) {
  const gateway = await spawnGateway(context, { stateFolder: world.stateFolder, port: world.port })
  const ended = once(gateway.process, "exit")
  let round: Promise<void> | undefined
  // One in eight dies while it starts: in the middle of taking over what the one before left.
  if (random() < 1 / 8) await delay(100 + random() * 150)
  else {
    await gateway.ready
    round = roundOf(world, load, () => !gateway.process.killed)
    await delay(random() * maxRoundMs)
  }
  gateway.process.kill("SIGKILL")
  await round
  const [, signal] = await ended
  if (signal !== "SIGKILL") throw new Error(`the gateway ended by itself: ${gateway.output()}`)
  forgetDeaths(world)
}

async function cut(
  context: Pick<TestContext, "after">,
  world: World,
  load: Load,
  { random, disk }: { random: () => number; disk: CutDisk },
) {
  const gateway = await spawnGateway(context, { stateFolder: world.stateFolder, port: world.port })
  if (!(await gateway.ready)) throw new Error(`no start after a power cut: ${gateway.output()}`)
  let isAlive = true
  const round = roundOf(world, load, () => isAlive)
  // Names are written every second: most cuts come after that, some before.
  await delay(600 + random() * 800)
  isAlive = false
  await disk.cut(gateway.process)
  await round
  forgetDeaths(world)
}

/** A job that is killed three times in over a minute is given up. On a busy machine this takes longer than that. */
function forgetDeaths(world: World): void {
  world.change(`update job set started_at = ${Date.now()} where state = 'running'`)
}

async function stop(context: Pick<TestContext, "after">, world: World, load: Load, random: () => number) {
  const gateway = await spawnGateway(context, { stateFolder: world.stateFolder, port: world.port })
  await gateway.ready
  let isAlive = true
  const round = roundOf(world, load, () => isAlive)
  await delay(random() * maxRoundMs)
  gateway.process.kill("SIGTERM")
  isAlive = false
  const code = await gateway.ended
  await round
  if (code !== 0) throw new Error(`a clean stop ended with ${code}: ${gateway.output()}`)
}

/** A change that only a restart inside the process can apply. */
async function reload(world: World, load: Load, random: () => number) {
  const round = roundOf(world, load, () => true)
  await delay(random() * maxRoundMs)
  const before = await bootId(world)
  world.configure({ env: { vars: { ROUND: String(Math.floor(random() * 1e9)) } } })
  await until("the gateway has restarted", async () => {
    const now = await bootId(world)
    return now !== undefined && now !== before ? true : undefined
  })
  await round
}

async function bootId(world: World): Promise<string | undefined> {
  const status = await world.gateway.call<{ bootId: string }>("GET", "/api/status").catch(() => undefined)
  return status?.bootId
}

/** For a moment; the process lives through it and needs nobody. */
async function failDisk(world: World, load: Load, { random, disk }: { random: () => number; disk: FailingDisk }) {
  const round = roundOf(world, load, () => true)
  await delay(random() * maxRoundMs)
  const heal = disk.fail(world.gateway.process, random)
  await delay(100 + random() * 900)
  heal()
  await until("the gateway is ready again", async () => {
    const response = await fetch(`${world.gateway.url}/readyz`).catch(() => undefined)
    return response?.ok ? true : undefined
  })
  await round
}
