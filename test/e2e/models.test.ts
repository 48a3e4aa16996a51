// Models in a running gateway: which can be asked, whether they work, and what the operator is told of those that may not.
import assert from "node:assert/strict"
import { test } from "node:test"
import { runProgram } from "../../cli/testing/run-program.ts"
import type { ModelList } from "../../src/gateway/index.ts"
import type { ModelCheck } from "../../src/models/index.ts"
import { text } from "../support/model-server/index.ts"
import { createWorld } from "../support/world.ts"

const key = "a-key-of-the-provider-0123456789"
const report = { name: "report", input: { colour: "orange" } }

test("a model is tested with the tools of the gateway, its answer is counted, and no secret is told", async (context) => {
  const world = await createWorld(context, {
    config: {
      models: { providers: { test: { apiKey: key, models: { small: { vision: true } } } } },
      agents: { defaults: { models: { "test/small": { alias: "tiny" } } } },
      browser: { enabled: true },
    },
  })
  const gateway = await world.start()
  world.model.script(() => ({ kind: "reply", text: "one two three four five", pieces: 5, calls: [report] }))
  const { ok, ...found } = await gateway.call<ModelCheck & { ok: true }>("POST", "/api/models/test", {})
  assert.ok(ok)
  assert.deepEqual(
    [found.model, found.usable, found.key, found.tools, found.pictures, found.failure],
    ["test/small", true, "accepted", "called", "seen", null],
  )
  const tools = world.model.requests[0]?.body["tools"] as { function: { name: string } }[]
  assert.deepEqual(
    tools.map((tool) => tool.function.name),
    ["browser", "message", "chatapp", "schedule", "memory_search", "memory_write", "report"],
  )
  // Chats may not choose it, but an operator may try it.
  const other = await gateway.call<ModelCheck>("POST", "/api/models/test", { model: "test/other" })
  assert.deepEqual([other.model, other.pictures, other.usable], ["test/other", "not-sent", true])
  const counted = await world.until("both are counted", () => {
    const rows = world.rows<{ model: string; purpose: string }>("select model, purpose from usage order by id")
    return rows.length === 2 ? rows : undefined
  })
  assert.deepEqual(
    counted.map(({ model, purpose }) => [model, purpose]),
    [
      ["test/small", "check"],
      ["test/other", "check"],
    ],
  )

  world.model.enqueue({ kind: "status", status: 401, message: `Incorrect API key provided: ${key}` })
  const refused = await gateway.call<ModelCheck>("POST", "/api/models/test", { model: "tiny" })
  assert.deepEqual([refused.model, refused.usable, refused.key], ["test/small", false, "refused"])
  world.model.enqueue({ kind: "hang" })
  const hanging = await gateway.call<ModelCheck>("POST", "/api/models/test", { timeoutSeconds: 1 })
  assert.equal(hanging.failure?.kind, "timeout")
  await assert.rejects(gateway.call("POST", "/api/models/test", { timeout: 1 }), /400 .*bad-request/)
  const list = await gateway.call<ModelList>("GET", "/api/models")
  assert.deepEqual(list.asked, ["test/small"])
  assert.deepEqual([list.models[0]?.alias, list.models[0]?.state], ["tiny", "ready"])
  for (const told of [refused, hanging, list]) assert.ok(!JSON.stringify(told).includes(key))
  assert.ok(!gateway.log().includes(key))

  const printed = await runProgram(["models", "test", "tiny"], { environment: { SVC_STATE_DIR: world.stateFolder } })
  assert.deepEqual([printed.code, printed.stderr], [0, "asking tiny ...\n"])
  assert.match(printed.stdout, /^test\/small: works\n {2}key {8}accepted\n/)
})

test("models that may not work are told at the start, in the status and after a change, and are not offered in chats", async (context) => {
  const fallbacks = ["openai/gpt-5", "tset/large"]
  const world = await createWorld(context, {
    config: {
      models: { providers: { test: { models: { large: {} } } } },
      agents: { defaults: { model: { primary: "test/small", fallbacks } } },
    },
  })
  const gateway = await world.start({ environment: { OPENAI_API_KEY: "" } })
  const warnings = () =>
    gateway
      .log()
      .split("\n")
      .filter((line) => line.includes("model may not work"))
      .map((line) => (JSON.parse(line) as { key: string }).key)
  assert.deepEqual(warnings(), ["agents.defaults.model.fallbacks[0]", "agents.defaults.model.fallbacks[1]"])
  assert.match(gateway.output(), /model may not work.*OPENAI_API_KEY/)
  assert.match(gateway.output(), /model may not work.*Did you mean "test\/large"\?/)
  const status = await runProgram(["status"], { environment: { SVC_STATE_DIR: world.stateFolder } })
  assert.match(
    status.stdout,
    /\nmodel {5}test\/small; today nothing\n {10}may not work: .*OPENAI_API_KEY.*\n {10}may not work: .*tset/,
  )

  world.model.script(() => text("an answer"))
  const listed = await ask("/model list")
  assert.equal(listed, "→ test/small\n• test/large\n• offline/commander")
  await ask("/model test/large")
  assert.match(await ask("/models list"), /^→ test\/large\n• test\/small\n/)

  await world.reconfigure({ agents: { defaults: { model: { primary: "test/small", fallbacks: ["openai/gpt-5"] } } } })
  const model = { primary: "test/small", fallbacks: ["openai/gpt-5"] }
  await world.reconfigure({ agents: { defaults: { model, heartbeat: { model: "nobody/x" } } } })
  await world.until("the new warning is logged", () => (warnings().length === 3 ? true : undefined))
  assert.equal(warnings()[2], "agents.defaults.heartbeat.model")
  const { model: told } = await gateway.call<{ model: { id: string; warnings: string[] } }>("GET", "/api/status")
  assert.equal(told.id, "test/small")
  assert.equal(told.warnings.length, 2)

  async function ask(words: string): Promise<string> {
    const sent = world.say(words)
    return (await world.reply(/./, { after: sent })).text ?? ""
  }
})

test("a session whose model has lost its provider can still choose another", async (context) => {
  const world = await createWorld(context)
  await world.start()
  const models = { providers: { test: { models: { large: {} } } } }
  await world.reconfigure({ models, agents: { defaults: { model: "gone/x" } } })
  const asked = world.say("/model")
  const told = await world.reply(/cannot be used: .*gone/, { after: asked })
  const buttons = told.reply_markup?.inline_keyboard.flat().map((button) => button.text)
  assert.deepEqual(buttons, ["test/large", "offline/commander", "Default"])
})
