// kill -9 while something that comes in parts has come in part: the rest is joined after the restart, in one turn.
import assert from "node:assert/strict"
import { type TestContext, test } from "node:test"
import type { Json } from "../../src/kernel/index.ts"
import { text } from "../support/model-server/index.ts"
import { lastPrompt, messagesOf } from "../support/prompts.ts"
import { type Settings, type World, createWorld } from "../support/world.ts"

const picture = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
)

async function begin(context: TestContext, config: Settings = {}): Promise<World> {
  const seeing = { models: { providers: { test: { models: { small: { vision: true } } } } } }
  const world = await createWorld(context, { config: { ...seeing, ...config } })
  world.model.script((_request, n) => text(`answer ${n}`))
  return world
}

/** The first part is taken in by a gateway that dies at that; the others come while nobody listens. */
async function dieBetween(world: World, send: (part: number) => void): Promise<string> {
  const gateway = await world.start({ crashAt: "ingest.committed" })
  send(0)
  assert.equal(await gateway.ended, "SIGKILL")
  send(1)
  send(2)
  await world.start()
  await world.reply("answer 1")
  await world.settle()
  assert.equal(world.model.requests.length, 2, "one turn for all parts, one for the marker")
  return lastPrompt(world.model.requests[0] ?? assert.fail())
}

test("an album is completed after kill -9 in its middle", async (context) => {
  const world = await begin(context)
  const prompt = await dieBetween(world, (part) => {
    const caption = part === 0 ? { caption: "our trip" } : {}
    world.emulator.control.sendMedia({ userId: world.ada.id, kind: "photo", data: picture, albumId: "7", ...caption })
  })
  assert.match(prompt, /an album of 3 messages\]/)
  const content = messagesOf(world.model.requests[0] ?? assert.fail()).at(-1)?.content as Json[]
  assert.equal(content.filter((part) => (part as { type?: string }).type === "image_url").length, 3)
})

test("a long text is completed after kill -9 in its middle", async (context) => {
  const world = await begin(context)
  const whole = "0123456789".repeat(1_000)
  const date = Math.floor(Date.now() / 1000)
  const prompt = await dieBetween(world, (part) => {
    const words = whole.slice(part * 4096, (part + 1) * 4096)
    world.emulator.control.sendRaw({ userId: world.ada.id, message: { text: words, date } })
  })
  assert.match(prompt, new RegExp(`\\n${whole}$`))
})

test("a burst of short messages is completed after kill -9 in its middle", async (context) => {
  const world = await begin(context, { messages: { inbound: { debounceMs: 1_000 } } })
  const prompt = await dieBetween(world, (part) => void world.say(`part ${part}`))
  assert.match(prompt, /\npart 0\npart 1\npart 2$/)
})

test("a download that kill -9 has cut is done again, and the message answered once", async (context) => {
  const world = await begin(context)
  const gateway = await world.start()
  world.emulator.control.fault({ kind: "hang", method: "getFile", times: 1 })
  world.emulator.control.sendMedia({ userId: world.ada.id, kind: "photo", data: picture })
  await world.emulator.control.waitForCall({ method: "getFile", phase: "started" }, { timeoutMs: 15_000 })
  await gateway.kill("SIGKILL")
  await world.start()
  await world.reply("answer 1")
  await world.settle()
  assert.equal(world.botTexts().filter((words) => words === "answer 1").length, 1)
  assert.match(lastPrompt(world.model.requests[0] ?? assert.fail()), /\[file, photo: image\/png/)
})
