// The chat platform busy, broken, silent or against us. What cannot have arrived is sent again, what may have arrived is
// not; one chat's trouble is not another's; an update is taken once however often it comes.
import assert from "node:assert/strict"
import { join } from "node:path"
import { type TestContext, test } from "node:test"
import type { User } from "grammy/types"
import type { Fault } from "../../emulator/index.ts"
import { startGateway } from "../support/gateway.ts"
import { text } from "../support/model-server/index.ts"
import { lastPrompt } from "../support/prompts.ts"
import { type Settings, type World, createWorld } from "../support/world.ts"

interface Status {
  parts: Record<string, string>
  outbox: { new: number; sending: number; uncertain: number; dead: number }
  channels: { state: string; error?: string }[]
}

/** The model repeats the last line of what it was told. */
async function echoWorld(context: TestContext, chatapp: Settings = {}): Promise<World> {
  const world = await createWorld(context, { config: { channels: { chatapp } } })
  world.model.script((request) => text(`echo ${lastPrompt(request).split("\n").at(-1)}`))
  return world
}

async function withBob(context: TestContext): Promise<{ world: World; bob: User }> {
  const world = await echoWorld(context)
  const bob = await world.addPerson({ firstName: "Bob" })
  world.configure({ channels: { chatapp: { allowFrom: [world.ada.id, bob.id] } } })
  await world.start()
  return { world, bob }
}

const status = (world: World) => world.gateway.call<Status>("GET", "/api/status")
const count = (texts: string[], wanted: string) => texts.filter((words) => words === wanted).length
const callsOf = (world: World, words: string) =>
  world.emulator.control.calls({ method: "sendMessage" }).filter(({ parameters }) => parameters["text"] === words)
    .length
const sends = (world: World, person: User) =>
  world.emulator.control.calls({ method: "sendMessage", chatId: person.id }).filter((call) => call.finishedAt)

test("waits as long as the platform asks for one chat, while another goes on", async (context) => {
  const { world, bob } = await withBob(context)
  world.emulator.control.fault({ kind: "429", method: "sendMessage", chatId: world.ada.id, retryAfter: 2 })
  world.say("to ada")
  await world.emulator.control.waitForCall({ method: "sendMessage", chatId: world.ada.id })
  const refusedAt = performance.now()
  world.say("to bob", bob)
  await world.reply("echo to bob", { person: bob })
  const bobMs = performance.now() - refusedAt
  await world.reply("echo to ada")
  const adaMs = performance.now() - refusedAt
  assert.ok(bobMs < adaMs, `the other chat waited ${Math.round(bobMs)} ms`)
  assert.ok(adaMs >= 1_900, `sent again after ${Math.round(adaMs)} ms`)
  assert.equal(count(world.botTexts(), "echo to ada"), 1)
})

const repeated: (Fault & { name: string })[] = [
  { name: "answers 500", kind: "status", status: 500 },
  { name: "stands behind a proxy that answers 502 with a page", kind: "html", status: 502 },
]
test("sends again what cannot have arrived, once", async (context) => {
  const world = await echoWorld(context)
  await world.start()
  for (const { name, ...fault } of repeated) {
    world.emulator.control.fault({ ...fault, method: "sendMessage", times: 2 })
    world.say(name)
    await world.reply(`echo ${name}`)
    await world.settle()
    assert.equal(count(world.botTexts(), `echo ${name}`), 1, name)
  }
  assert.equal((await status(world)).outbox.uncertain, 0)
})

const doubtful: (Fault & { name: string; arrived: number })[] = [
  { name: "closes the connection after accepting", kind: "cut-after-accept", arrived: 1 },
  { name: "breaks off its answer", kind: "cut-body", arrived: 1 },
  { name: "closes the connection without a word", kind: "cut", arrived: 0 },
  { name: "never answers", kind: "hang", arrived: 0 },
]
test("sends nothing twice that may have arrived, and says so", async (context) => {
  const world = await echoWorld(context, { timeoutSeconds: 3 })
  await world.start()
  for (const [index, { name, arrived, ...fault }] of doubtful.entries()) {
    world.emulator.control.fault({ ...fault, method: "sendMessage" })
    const said = world.say(name)
    await world.until(`the doubt is known when it ${name}`, async () =>
      (await status(world)).outbox.uncertain === index + 1 ? true : undefined,
    )
    await world.reply(/may not have arrived/, { after: said })
    await world.settle()
    assert.equal(count(world.botTexts(), `echo ${name}`), arrived, name)
    assert.equal(callsOf(world, `echo ${name}`), 1, name)
  }
  const { items } = await world.gateway.call<{ items: { preview: string }[] }>("GET", "/api/deliveries?state=uncertain")
  assert.equal(items.length, doubtful.length)
  for (const { name } of doubtful) assert.ok(items.some(({ preview }) => preview.includes(`echo ${name}`)))
})

const pollFaults: (Fault & { name: string })[] = [
  { name: "answers 500", kind: "status", status: 500 },
  { name: "is hidden by a web page", kind: "html" },
  { name: "closes connections", kind: "cut" },
  { name: "breaks off its answers", kind: "cut-body" },
  { name: "asks to wait", kind: "429", retryAfter: 1 },
]
test("loses and doubles no message when polling fails, however it fails, nor when the platform is gone for a while", async (context) => {
  const world = await echoWorld(context)
  await world.start()
  const { control } = world.emulator
  const expected: string[] = []
  for (const { name, ...fault } of [...pollFaults, { name: "is gone" }]) {
    if ("kind" in fault) control.fault({ ...(fault as Fault), method: "getUpdates", times: 2 })
    else await control.restart({ downMs: 300 })
    const texts = ["first", "second", "last"].map((which) => `when it ${name}, ${which}`)
    for (const words of texts.slice(0, 2)) world.say(words)
    await world.reply(`echo ${texts[1]}`)
    // The poll that was open has brought these; what comes now has to wait for the faults to pass.
    world.say(texts[2] ?? "")
    await world.reply(`echo ${texts[2]}`)
    assert.deepEqual(control.faults(), [], `it ${name}`)
    expected.push(...texts.map((words) => `echo ${words}`))
  }
  await world.settle()
  const texts = world.botTexts().filter((words) => words.startsWith("echo when"))
  assert.deepEqual(texts, expected)
})

test("another poller of the bot is waited for with one warning, on a connection of its own each time", async (context) => {
  const world = await echoWorld(context)
  const times = 4
  const conflictMs = 300
  const description =
    "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
  world.emulator.control.fault({ kind: "status", status: 409, description, method: "getUpdates", times })
  await world.start({ environment: { SVC_POLL_TIMING: JSON.stringify({ conflictMs }) } })
  const seen = await world.until("the status tells of the conflict", async () => {
    const [account] = (await status(world)).channels
    return account?.state === "waiting" ? account : undefined
  })
  assert.match(seen.error ?? "", /409 Conflict/)
  world.say("patience")
  await world.reply("echo patience")
  const [account] = (await status(world)).channels
  assert.equal(account?.state, "running")
  const refused = world.emulator.control.calls({ method: "getUpdates" }).filter((call) => call.status === 409)
  assert.equal(refused.length, times)
  assert.equal(new Set(refused.map((call) => call.connection)).size, times)
  for (const [index, call] of refused.slice(1).entries()) {
    const pauseMs = call.startedAt - (refused[index]?.startedAt ?? 0)
    assert.ok(pauseMs >= conflictMs - 5, `asked again after ${pauseMs} ms`)
  }
  assert.equal(world.gateway.log().match(/polling conflict, will wait/g)?.length, 1)
})

test("a second gateway of the same bot waits, names the first, and takes over when that is killed", async (context) => {
  const world = await echoWorld(context)
  const environment = {
    SVC_RUNTIME_DIR: join(world.stateFolder, "shared"),
    SVC_POLL_TIMING: JSON.stringify({ lockRetryMs: 100 }),
  }
  await world.start({ environment })
  world.say("to the first")
  await world.reply("echo to the first")
  await world.settle()
  const second = await startGateway(context, { config: world.config, environment })
  const waiting = await world.until("the second waits", async () => {
    const [account] = (await second.call<Status>("GET", "/api/status")).channels
    return account?.state === "waiting" ? account : undefined
  })
  assert.match(waiting.error ?? "", new RegExp(`process ${world.gateway.process.pid}`))
  await world.gateway.kill("SIGKILL")
  world.say("to the second")
  await world.reply("echo to the second")
  const conflicts = world.emulator.control.calls({ method: "getUpdates" }).filter((call) => call.status === 409)
  assert.deepEqual(conflicts, [])
})

test("a platform that has gone silent is told at the first look, also while a poll is held open", async (context) => {
  const world = await echoWorld(context)
  await world.start()
  world.say("before")
  await world.reply("echo before")
  await world.settle()
  assert.equal((await status(world)).channels[0]?.state, "running")
  const answered = () => world.emulator.control.calls({ method: "getMe" }).length
  const before = answered()
  world.emulator.control.fault({ kind: "hang", times: 0 })
  // Nobody has looked for longer than what is known stays fresh.
  await world.until("the platform is asked anew", async () => {
    await world.gateway.call("GET", "/api/channels")
    return answered() > before ? true : undefined
  })
  const [account] = (await status(world)).channels
  assert.equal(account?.state, "waiting")
  assert.match(account.error ?? "", /no answer/)
  world.emulator.control.clearFaults()
  await world.until("it runs again", async () =>
    (await status(world)).channels[0]?.state === "running" ? true : undefined,
  )
  world.say("after")
  await world.reply("echo after")
})

test("a refused token stops the account, and nothing else", async (context) => {
  const world = await echoWorld(context)
  await world.start()
  world.say("before")
  await world.reply("echo before")
  world.emulator.control.revokeToken({ botId: world.emulator.bot.id })
  world.emulator.control.restart({ downMs: 0 })
  const channel = await world.until("the account has stopped", async () => {
    const [account] = (await status(world)).channels
    return account?.state === "stopped" ? account : undefined
  })
  assert.match(channel.error ?? "", /401/)
  assert.equal((await fetch(`${world.gateway.url}/healthz`)).status, 200)
  const answer = await world.hook("agent", { message: "still there?", deliver: false, wakeMode: "next-heartbeat" })
  assert.equal(answer.status, 202)
  await world.model.waitForRequest((request) => lastPrompt(request).includes("still there?"))
})

test("a chat that has blocked the bot gets no second try, and the others go on", async (context) => {
  const { world, bob } = await withBob(context)
  world.say("hello")
  await world.reply("echo hello")
  const before = sends(world, world.ada).length
  world.emulator.control.block({ userId: world.ada.id })
  const to = String(world.ada.id)
  await world.hook("agent", { message: "news", channel: "chatapp", to, wakeMode: "next-heartbeat" })
  await world.until("the delivery is given up", async () =>
    (await status(world)).outbox.dead === 1 ? true : undefined,
  )
  world.say("and me?", bob)
  await world.reply("echo and me?", { person: bob })
  await world.settle(bob)
  assert.equal(sends(world, world.ada).length, before + 1, "one call, no second")
  const dead = await world.gateway.call<{ items: { error: string }[] }>("GET", "/api/deliveries?state=dead")
  assert.match(dead.items[0]?.error ?? "", /403/)
  assert.equal((await status(world)).outbox.dead, 1)
})

test("a batch of a hundred updates that comes twice is taken once, in order", async (context) => {
  const world = await echoWorld(context)
  // Few messages a chat: the platform lets one chat have a message a second.
  const people = [world.ada]
  for (let n = 2; n <= 25; n += 1) people.push(await world.addPerson({ firstName: `Person ${n}` }))
  world.configure({ channels: { chatapp: { allowFrom: people.map((person) => person.id) } } })
  for (let n = 0; n < 4; n += 1) for (const person of people) world.say(`m${n}`, person)
  world.emulator.control.duplicateUpdates({ count: 100 })
  await world.start()
  for (const person of people) await world.reply(/^echo m3$/, { person, timeoutMs: 30_000 })
  await world.until("the repeats have come", async () => {
    const [account] = await world.gateway
      .call<{ channels: { counters: Record<string, number> }[] }>("GET", "/api/channels")
      .then(({ channels }) => channels)
    return (account?.counters["duplicate"] ?? 0) >= 100 ? true : undefined
  })
  await world.settle()
  for (const person of people) {
    const texts = world.botTexts(person).filter((words) => /^echo m\d/.test(words))
    assert.deepEqual(texts, ["echo m0", "echo m1", "echo m2", "echo m3"])
  }
})
