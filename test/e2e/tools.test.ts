// The tools as a whole gateway sends them to a model: what providers take, where each is offered, and what the
// configuration takes away.
import assert from "node:assert/strict"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { beforeEach, describe, test } from "node:test"
import { toolNames } from "../../src/main/tools.ts"
import { sandboxToolNames } from "../../src/sandbox/index.ts"
import { type Json, isJsonObject } from "../../src/kernel/index.ts"
import { type RecordedRequest, text } from "../support/model-server/index.ts"
import { lastPrompt } from "../support/prompts.ts"
import { brokenToolRules } from "../support/tool-rules.ts"
import { createWorld, fileContext, until } from "../support/world.ts"

const world = await createWorld(fileContext(), {
  config: { browser: { enabled: true }, channels: { chatapp: { actions: { sticker: true } } } },
})
const skill = join(world.stateFolder, "workspace", "skills", "orders")
mkdirSync(skill, { recursive: true })
writeFileSync(join(skill, "SKILL.md"), "---\ndescription: How to look up an order\n---\nLook.")
await world.start()

beforeEach(() => {
  world.model.requests.length = 0
  world.model.script(() => text("ok"))
})

/** Work in a sandbox is switched off here. */
const offered = toolNames.filter((name) => !(sandboxToolNames as readonly string[]).includes(name))

const toolsOf = (request: RecordedRequest) =>
  (request.body["tools"] as Json[]).map((tool) => {
    const definition = isJsonObject(tool) && isJsonObject(tool["function"]) ? tool["function"] : {}
    const { name = null, description = null, parameters = null } = definition
    return { name, description, inputSchema: parameters }
  })
const namesOf = (request: RecordedRequest) => (request.body["tools"] ? toolsOf(request).map(({ name }) => name) : [])

/** The names of the tools with which a message of hers reaches the model. */
async function offeredTo(words: string): Promise<Json[]> {
  await world.reply("ok", { after: world.say(words) })
  return namesOf(world.model.requests.find((request) => lastPrompt(request).endsWith(words)) ?? assert.fail())
}

test("all of them are sent in the form that every provider takes", async () => {
  assert.deepEqual(await offeredTo("what can you do?"), offered)
  const [request] = world.model.requests
  assert.ok(request)
  const sent = toolsOf(request)
  for (const tool of sent) assert.deepEqual(brokenToolRules(tool), [], String(tool.name))
})

describe("a webhook's turn", () => {
  const ranWith = async (body: object, words: string) => {
    assert.equal((await world.hook("agent", { message: words, ...body })).status, 202)
    const isIt = (request: RecordedRequest) => lastPrompt(request).includes(words)
    return namesOf(await world.model.waitForRequest(isIt))
  }

  test("has the chat tools where it answers a chat, and else none", async () => {
    const to = { deliver: true, channel: "chatapp", to: String(world.ada.id) }
    const withoutMemory = offered.filter((name) => !name.startsWith("memory_") && name !== "schedule")
    assert.deepEqual(await ranWith(to, "tell her of the order"), withoutMemory)
    assert.deepEqual(await ranWith({ deliver: false }, "keep it to yourself"), ["browser", "skill"])
  })

  test("has only what its agent may use", async () => {
    await world.reconfigure({ agents: { defaults: { tools: { deny: ["browser", "shell"] } } } })
    assert.deepEqual(await ranWith({ deliver: false }, "look it up"), ["skill"])
    await until("the wrong name is told", () => world.gateway.log().includes("tool policy names tools") || undefined)
    await world.reconfigure({ agents: { list: [{ id: "main", tools: { allow: ["message"] } }] } })
    assert.deepEqual(await offeredTo("and what now?"), ["message"], "an agent's own list replaces the defaults'")
  })
})

test("a call as a small model writes it does what it says, and one that cannot be read says why", async () => {
  await world.reconfigure({ agents: { defaults: { tools: {} }, list: [{ id: "main", tools: {} }] } })
  world.model.replyWithTool("message", {
    action: "Send",
    message: "From the tool",
    silent: "true",
    threadId: null,
    to: "",
  })
  const sent = world.say("use your tool")
  await world.reply("From the tool", { after: sent })
  world.model.replyWithTool("chatapp", { action: "react" })
  await world.reply("ok", { after: world.say("react to this") })
  const [told] = world.model.requests.flatMap(
    ({ body }) =>
      JSON.stringify(body).match(/The input is not acceptable for the action react: chatId is missing/) ?? [],
  )
  assert.ok(told)
})

test("all that there is costs an owner's chat at most 3,500 tokens", async () => {
  await world.reconfigure({ agents: { defaults: { tools: { deny: [] }, sandbox: { tools: "all" } }, list: [] } })
  assert.deepEqual((await offeredTo("and with everything?")).toSorted(), [...toolNames].toSorted())
  const request = world.model.requests.find((each) => lastPrompt(each).endsWith("and with everything?"))
  const tokens = JSON.stringify(request?.body["tools"]).length / 4
  assert.ok(tokens > 3_000 && tokens <= 3_500, `${tokens} tokens`)
})
