// 200 times kill -9 at a random moment under load. What was answered 2xx or confirmed to the platform is there and ran
// once, no reply comes twice, one whose call was cut by a kill is asked about, and the order of every chat holds.
import assert from "node:assert/strict"
import { once } from "node:events"
import { type TestContext, test } from "node:test"
import { setTimeout as delay } from "node:timers/promises"
import type { User } from "grammy/types"
import { spawnGateway } from "../support/gateway.ts"
import { text } from "../support/model-server/index.ts"
import { lastPrompt } from "../support/prompts.ts"
import { type World, createWorld, until } from "../support/world.ts"

/** With more than this under way nothing is added: what waits is load enough, and the end comes in time. */
const maxBacklog = 25

/** Two state folders at once: a killed gateway's neighbour keeps the other core busy. */
const folders = 2
const killsPerFolder = Number(process.env["SVC_TEST_KILLS"] ?? 100)
const peopleCount = 12
const seed = Number(process.env["SVC_TEST_SEED"] ?? Date.now() % 1_000_000)

test(
  `nothing acknowledged is lost or done twice by ${folders * killsPerFolder} kills at random moments (seed ${seed})`,
  { timeout: 480_000 },
  async (context) => {
    const lives = Array.from({ length: folders }, (_, index) => liveAndDie(context, randomFrom(seed + index)))
    await Promise.all(lives)
  },
)

/** What a prompt asks for; the summaries of other runs that stand before it name theirs in other words. */
const taskOf = (prompt: string) => /please do (job-\w+-\d+)(?![^]*please do)/.exec(prompt)?.[1]

async function liveAndDie(context: TestContext, random: () => number): Promise<void> {
  const world = await createWorld(context, { config: { logging: { level: "warn" } } })
  const people = [world.ada]
  // The platform lets one chat have a message a second: many chats, so that the end does not take minutes.
  for (let n = 2; n <= peopleCount; n += 1) people.push(await world.addPerson({ firstName: `Person ${n}` }))
  const allowFrom = people.map((person) => person.id)
  world.configure({ channels: { chatapp: { allowFrom } } })
  world.model.script((request) => text(`did ${taskOf(lastPrompt(request)) ?? "nothing"}`))
  // A clean life first: it leaves its compiled code behind, which halves what the starts cost.
  await world.start()
  await world.settle()
  await world.gateway.kill("SIGTERM")
  const load = new Load(world, people, random)
  for (let kill = 1; kill <= killsPerFolder; kill += 1) {
    await liveOnce(context, world, load, random)
  }
  await world.start()
  await load.finish()
  // What was running at several kills in a row waits a little before it is tried again.
  await until("all work is done", () => (openWork(world) === 0 ? true : undefined), 180_000)
  await world.settle()
  check(world, load)
  await world.gateway.kill("SIGTERM")
}

async function liveOnce(context: TestContext, world: World, load: Load, random: () => number): Promise<void> {
  const gateway = await spawnGateway(context, { stateFolder: world.stateFolder, port: world.port })
  // One in eight dies while it starts: in the middle of taking over what the one before left.
  const early = random() < 1 / 8
  const ended = once(gateway.process, "exit")
  if (early) await delay(100 + random() * 150)
  else {
    await gateway.ready
    const round = openWork(world) > maxBacklog ? undefined : load.round(() => !gateway.process.killed)
    await delay(random() * 330)
    gateway.process.kill("SIGKILL")
    await round
  }
  gateway.process.kill("SIGKILL")
  const [, signal] = await ended
  assert.equal(signal, "SIGKILL", gateway.output())
}

/** Senders that number what they send, and repeat what was not answered before they send anything else. */
class Load {
  readonly acknowledged: string[] = []
  readonly wakes: string[] = []
  readonly chats: { person: User; ids: string[] }[]
  readonly sessions = ["one", "two", "three"]
  readonly #world: World
  readonly #random: () => number
  readonly #pending = new Map<string, string>()
  #next = 0

  constructor(world: World, people: User[], random: () => number) {
    this.#world = world
    this.#random = random
    this.chats = people.map((person) => ({ person, ids: [] }))
  }

  /** Ends when the gateway is gone or everything was answered. */
  async round(isAlive: () => boolean): Promise<void> {
    const chat = this.chats[Math.floor(this.#random() * this.chats.length)]
    if (chat) {
      const id = this.#newId("chat")
      chat.ids.push(id)
      this.#world.say(`please do ${id}`, chat.person)
    }
    await Promise.all([
      ...this.sessions.map((session) => this.#repeat(() => this.#sendRun(session), isAlive)),
      this.#repeat(() => this.#sendWake(), isAlive),
    ])
  }

  /** Twice, for a flow of work; a connection that died with the process before counts for nothing. */
  async #repeat(send: () => Promise<boolean>, isAlive: () => boolean): Promise<void> {
    for (let sent = 0; sent < 2 && isAlive();) if (await send()) sent += 1
  }

  async finish(): Promise<void> {
    for (const name of this.#pending.keys()) {
      await until(`${name} is answered`, async () => {
        const answered = await (name === "wake" ? this.#sendWake() : this.#sendRun(name))
        return answered ? true : undefined
      })
    }
    assert.equal(this.#pending.size, 0, "the gateway answers at the end")
  }

  /** Ids of a session go round the people. */
  receiverOf(id: string): User | undefined {
    return this.chats[Number(/\d+$/.exec(id)?.[0]) % this.chats.length]?.person
  }

  async #sendRun(session: string): Promise<boolean> {
    const id = this.#pending.get(session) ?? this.#newId(session)
    this.#pending.set(session, id)
    const person = this.receiverOf(id)
    const body = {
      message: `please do ${id}`,
      name: id,
      sessionKey: `hook:${session}`,
      channel: "chatapp",
      to: person?.id,
      wakeMode: "next-heartbeat",
    }
    const isAnswered = await this.#post("agent", id, body)
    if (!isAnswered) return false
    this.#pending.delete(session)
    this.acknowledged.push(id)
    return true
  }

  async #sendWake(): Promise<boolean> {
    const id = this.#pending.get("wake") ?? this.#newId("wake").replace("job-", "event-")
    this.#pending.set("wake", id)
    const isAnswered = await this.#post("wake", id, { text: `${id} happened`, mode: "next-heartbeat" })
    if (!isAnswered) return false
    this.#pending.delete("wake")
    this.wakes.push(id)
    return true
  }

  async #post(path: string, id: string, body: object): Promise<boolean> {
    try {
      const answer = await this.#world.hook(path, body, { "idempotency-key": id })
      assert.ok(answer.status === 200 || answer.status === 202, `answer ${answer.status}`)
      return true
    } catch (error) {
      // The connection ended with the process, or there was none.
      if (error instanceof assert.AssertionError) throw error
      return false
    }
  }

  #newId(kind: string): string {
    this.#next += 1
    return `job-${kind}-${this.#next}`
  }
}

function openWork(world: World): number {
  const sql = `select (select count(*) from job where state in ('ready', 'running')) +
    (select count(*) from outbox where state in ('new', 'sending')) as n`
  return world.rows<{ n: number }>(sql)[0]?.n ?? 0
}

function check(world: World, load: Load): void {
  const everything = [...load.acknowledged, ...load.chats.flatMap((chat) => chat.ids)]
  assert.ok(
    load.acknowledged.length > killsPerFolder / 10,
    `only ${load.acknowledged.length} webhooks were accepted: hardly any load`,
  )
  const jobs = world.rows<{ state: string; payload: string }>("select state, payload from job where kind = 'turn'")
  const runs = countBy(jobs.map((job) => /please do (job-\w+-\d+)/.exec(job.payload)?.[1] ?? ""))
  const failed = jobs.filter((job) => job.state !== "done")
  assert.deepEqual(failed, [], "every run came to its end")
  const isAnswer = "json_extract(message, '$.role') = 'assistant'"
  const answers = world.rows<{ message: string }>(`select message from message where ${isAnswer}`)
  const transcript = countBy(answers.map((row) => /did (job-\w+-\d+)/.exec(row.message)?.[1] ?? ""))
  const rows = world.rows<{ payload: string; state: string; doubt: string | null }>(
    "select payload, state, doubt from outbox",
  )
  const sends = new Map(rows.map((row) => [/did (job-\w+-\d+)/.exec(row.payload)?.[1] ?? "", row]))
  const texts = load.chats.map((chat) => world.botTexts(chat.person))
  const copies = countBy(texts.flat().map((words) => words.replace("did ", "")))
  const asked = new Set(world.model.requests.map((request) => taskOf(lastPrompt(request))))
  let doubts = 0
  for (const id of everything) {
    assert.equal(runs.get(id), 1, `${id} is a run`)
    assert.ok(asked.has(id), `${id} came to the model`)
    assert.equal(transcript.get(id), 1, `${id} took effect once`)
    const row = sends.get(id)
    // Only a call that a kill has cut is in doubt, and then its chat is asked.
    const inDoubt = row?.state === "uncertain" && row.doubt !== null
    assert.ok(row?.state === "sent" || inDoubt, `${id} is ${row?.state}`)
    doubts += inDoubt ? 1 : 0
    const arrived = copies.get(id) ?? 0
    assert.ok(arrived >= (inDoubt ? 0 : 1) && arrived <= 1, `${id} arrived ${arrived} times`)
  }
  // At most the calls that were under way at a kill: one a chat.
  assert.ok(doubts <= killsPerFolder, `${doubts} deliveries in doubt`)
  checkWakes(world, load)
  for (const [index, chat] of load.chats.entries()) {
    checkOrder(texts[index] ?? [], /^did (job-chat-(\d+))$/, chat.ids)
    for (const session of load.sessions) {
      const isHere = (id: string) => id.startsWith(`job-${session}-`) && load.receiverOf(id) === chat.person
      checkOrder(texts[index] ?? [], new RegExp(`^did (job-${session}-(\\d+))$`), load.acknowledged.filter(isHere))
    }
  }
}

/** Each event stands in the prompt of one turn. */
function checkWakes(world: World, load: Load): void {
  const prompts = world.rows<{ data: string }>("select data from step where kind = 'prompt'")
  const shown = countBy(prompts.flatMap((row) => row.data.match(/event-wake-\d+ happened/g) ?? []))
  const waiting = countBy(
    world.rows<{ text: string }>("select text from event where consumed_by is null").map((row) => row.text),
  )
  for (const id of load.wakes) {
    const words = `${id} happened`
    assert.equal((shown.get(words) ?? 0) + (waiting.get(words) ?? 0), 1, `${words} is shown once or still waits`)
  }
}

function checkOrder(texts: string[], pattern: RegExp, expected: string[]): void {
  const seen = texts.flatMap((words) => pattern.exec(words)?.[1] ?? [])
  // A repeat follows what it repeats.
  const order = seen.filter((id, index) => id !== seen[index - 1])
  const missing = expected.filter((id) => !order.includes(id))
  assert.deepEqual(
    order,
    expected.filter((id) => !missing.includes(id)),
  )
}

function countBy(values: string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return counts
}

/** mulberry32 */
function randomFrom(start: number): () => number {
  let state = start
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
