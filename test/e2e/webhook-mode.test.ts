// The chat platform sends its updates to the gateway: through kills, refused ports and a change back to polling nothing
// is lost and nothing is taken twice.
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer } from "node:net"
import { type TestContext, test } from "node:test"
import { freePort, spawnGateway } from "../support/gateway.ts"
import { text } from "../support/model-server/index.ts"
import { lastPrompt } from "../support/prompts.ts"
import { type World, createWorld } from "../support/world.ts"

async function webhookWorld(context: TestContext): Promise<{ world: World; port: number }> {
  const port = await freePort()
  const chatapp = {
    webhookUrl: `http://127.0.0.1:${port}/updates`,
    webhookPath: "/updates",
    webhookBind: `127.0.0.1:${port}`,
  }
  // A server of one's own: it takes http and any port.
  const world = await createWorld(context, { emulator: { localMode: true }, config: { channels: { chatapp } } })
  world.model.script((request) => text(`echo ${lastPrompt(request).split("\n").at(-1)}`))
  return { world, port }
}

const count = (texts: string[], wanted: string) => texts.filter((words) => words === wanted).length

test("messages that come by webhook are answered, also those from while the gateway was dead", async (context) => {
  const { world } = await webhookWorld(context)
  await world.start()
  world.say("hello")
  await world.reply("echo hello")
  await world.settle()
  await world.gateway.kill("SIGKILL")
  world.say("are you there?")
  await world.start()
  await world.reply("echo are you there?", { timeoutMs: 30_000 })
  await world.settle()
  assert.equal(count(world.botTexts(), "echo hello"), 1)
  assert.equal(count(world.botTexts(), "echo are you there?"), 1)
  const { channels } = await world.gateway.call<{ channels: { channel: string; mode: string; state: string }[] }>(
    "GET",
    "/api/channels",
  )
  assert.deepEqual(
    channels.filter(({ channel }) => channel === "chatapp").map(({ mode, state }) => [mode, state]),
    [["webhook", "running"]],
  )
})

for (const label of ["ingest.beforeCommit", "ingest.committed"]) {
  test(`a kill at ${label} loses no message and takes none twice`, async (context) => {
    const { world } = await webhookWorld(context)
    await world.start({ crashAt: label })
    world.say("once")
    assert.equal(await world.gateway.ended, "SIGKILL")
    await world.start()
    await world.reply("echo once", { timeoutMs: 30_000 })
    await world.settle()
    assert.equal(count(world.botTexts(), "echo once"), 1)
  })
}

test("a taken port ends the start, naming port and key", async (context) => {
  const { world, port } = await webhookWorld(context)
  const other = createServer().listen(port, "127.0.0.1")
  await once(other, "listening")
  context.after(() => void other.close())
  const gateway = await spawnGateway(context, { stateFolder: world.stateFolder, port: world.port })
  assert.equal(await gateway.ended, 1)
  assert.match(gateway.output(), new RegExp(`Port ${port} is in use.*channels\\.chatapp\\.webhookBind`))
})

test("taking the webhook out of the configuration polls on, without a restart", async (context) => {
  const { world } = await webhookWorld(context)
  await world.start()
  world.say("by webhook")
  await world.reply("echo by webhook")
  const { webhookUrl: _url, ...chatapp } = (world.config["channels"] as { chatapp: Record<string, unknown> }).chatapp
  world.config = { ...world.config, channels: { chatapp } }
  world.configure({})
  await world.emulator.control.waitForCall({ method: "deleteWebhook" }, { timeoutMs: 20_000 })
  world.say("by poll")
  await world.reply("echo by poll", { timeoutMs: 20_000 })
  assert.equal(count(world.botTexts(), "echo by webhook"), 1)
})
