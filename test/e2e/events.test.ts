// System events of webhooks, through the whole product: whatever the model does with a prompt that holds them, each is
// shown until it was answered, none is in the way of a chat, and all that wait are shown.
import assert from "node:assert/strict"
import { type TestContext, test } from "node:test"
import { text } from "../support/model-server/index.ts"
import { lastPrompt } from "../support/prompts.ts"
import { type World, createWorld } from "../support/world.ts"

const limit = 64 * 1024

async function eventWorld(context: TestContext, config: Record<string, unknown> = {}): Promise<World> {
  const world = await createWorld(context, { config })
  world.model.script(() => text("HEARTBEAT_OK"))
  return world
}

/** Nothing waits and nothing runs any more. */
const quiet = (world: World) =>
  world.until("no event waits", () => {
    const open = "select 1 from event where consumed_by is null and set_aside_at is null"
    const jobs = "select 1 from job where state in ('ready', 'running')"
    return world.rows(open).length + world.rows(jobs).length === 0 ? true : undefined
  })

test("a wake that is too long is refused with its size, and one of the greatest length is taken", async (context) => {
  const world = await eventWorld(context)
  await world.start()
  const refused = await world.hook("wake", { text: "é".repeat(limit / 2 + 1) })
  assert.equal(refused.status, 413)
  assert.match(JSON.stringify(refused.body), /The wake's text has 65538 bytes, and 65536 are the most/)
  assert.equal((await world.hook("wake", { text: "x".repeat(250_000) })).status, 413)
  assert.equal((await world.hook("wake", { text: "x".repeat(limit) })).status, 200)
  await quiet(world)
  assert.equal(world.rows("select id from event").length, 1)
})

test("more long wakes than the model has room for are shown in the turns that follow", async (context) => {
  const models = { small: { contextTokens: 40_000, maxOutputTokens: 4_000 } }
  const world = await eventWorld(context, { models: { providers: { test: { models } } } })
  await world.start()
  const texts = ["a", "b", "c"].map((letter) => letter.repeat(limit - 1))
  for (const words of texts) assert.equal((await world.hook("wake", { text: words, mode: "now" })).status, 200)
  await quiet(world)
  const shown = world.model.requests
    .map(
      (request) =>
        lastPrompt(request)
          .match(/[abc]{100,}/g)
          ?.join("") ?? "",
    )
    .join("")
  assert.ok(shown === texts.join(""))
  world.say("still there?")
  await world.reply("HEARTBEAT_OK")
})

test("of sixty wakes none is left waiting", async (context) => {
  const world = await eventWorld(context)
  await world.start()
  const answered = Promise.withResolvers<void>()
  world.model.script(async () => {
    await answered.promise
    return text("HEARTBEAT_OK")
  })
  world.say("hello")
  await world.model.waitForRequest(() => true)
  for (let n = 1; n <= 60; n += 1) await world.hook("wake", { text: `wake number ${n}.`, mode: "now" })
  answered.resolve()
  await quiet(world)
  const prompts = world.model.requests.map((request) => lastPrompt(request)).join("\n")
  for (let n = 1; n <= 60; n += 1) assert.equal(prompts.split(`wake number ${n}.`).length, 2)
})

test("a wake that the provider refuses fails no turn, and is set aside where the owner can see it", async (context) => {
  const world = await eventWorld(context)
  world.model.script((request) =>
    lastPrompt(request).includes("poison")
      ? { kind: "status", status: 400, message: "Invalid content in messages" }
      : text(lastPrompt(request).endsWith("hello") ? "hi" : "HEARTBEAT_OK"),
  )
  await world.start()
  await world.hook("wake", { text: "poison", mode: "next-heartbeat" })
  await world.hook("wake", { text: "good news", mode: "next-heartbeat" })
  const hello = world.say("hello")
  await world.reply("hi", { after: hello })
  await quiet(world)
  assert.ok(world.model.requests.some((request) => /from webhook:\n[^]*good news/.test(lastPrompt(request))))
  const { items } = await world.gateway.call<{ items: { state: string; text: string; refusals: number }[] }>(
    "GET",
    "/api/events",
  )
  assert.deepEqual(
    items.map(({ state, text: words, refusals }) => [state, words, refusals]),
    [
      ["shown", "good news", 1],
      ["set-aside", "poison", 3],
    ],
  )
  const status = await world.gateway.call<{ events: object }>("GET", "/api/status")
  assert.deepEqual(status.events, { waiting: 0, setAside: 1 })
  assert.deepEqual(world.botTexts(), ["hi"])
})

test("a wake survives a kill between its prompt and the answer, and is in the conversation once", async (context) => {
  const world = await eventWorld(context)
  world.model.script(() => ({ kind: "hang" }))
  await world.start()
  await world.hook("wake", { text: "the parcel is here", mode: "now" })
  await world.model.waitForRequest((request) => lastPrompt(request).includes("the parcel is here"))
  await world.gateway.kill("SIGKILL")
  assert.deepEqual(
    world.rows("select consumed_by from event").map((row) => ({ ...(row as object) })),
    [{ consumed_by: null }],
  )
  world.model.script(() => text("HEARTBEAT_OK"))
  await world.start()
  await quiet(world)
  const told = world.rows<{ message: string }>("select message from message where message like '%the parcel is here%'")
  assert.equal(told.length, 1)
})
