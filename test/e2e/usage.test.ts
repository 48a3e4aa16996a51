// What the calls of models took, from the provider's answer to the ledger, the API and the chat; also over a crash.
import assert from "node:assert/strict"
import { test } from "node:test"
import type { UsageSummary } from "../../src/budget/index.ts"
import { text } from "../support/model-server/index.ts"
import { createWorld } from "../support/world.ts"

// What the model server says of each of its answers.
const tokens = { input: 11, output: 7 }

test("each answered call is counted once, and the chat, the API and the status tell it", async (context) => {
  const config = { channels: { chatapp: { allowFrom: [1001, "@bob"] } } }
  const world = await createWorld(context, { config })
  const bob = await world.addPerson({ firstName: "Bob", username: "bob" })
  world.model.script(() => text("an answer"))
  await world.start()
  assert.match((await ask("/status")) ?? "", /Usage this session nothing; today nothing/)
  await ask("hello")
  await ask("hello again")
  const { rows, totals } = await world.gateway.call<UsageSummary>("GET", "/api/usage?by=session")
  assert.deepEqual(
    rows.map(({ key, calls, input, output }) => [key, calls, input, output]),
    [["agent:main:main", 2, 2 * tokens.input, 2 * tokens.output]],
  )
  assert.deepEqual([totals.calls, totals.cost, totals.unpriced], [2, null, 2])
  const [row] = world.rows<Record<string, unknown>>("select * from usage limit 1")
  const { model, purpose, origin, agent_id: agent } = row ?? {}
  assert.deepEqual([model, purpose, origin, agent], ["test/small", "chat", "owner", "main"])
  const runs = world.rows("select 1 from usage join job using (run_id)")
  assert.equal(runs.length, 2)
  assert.match(
    (await ask("/status")) ?? "",
    /Usage this session 36 tokens, cost unknown; today 36 tokens, cost unknown/,
  )
  await ask("/new")
  await ask("another")
  assert.match((await ask("/status")) ?? "", /Usage this session 18 tokens, cost unknown; today 54 tokens/)
  const asked = world.say("/status", bob)
  const told = (await world.reply(/./, { after: asked, person: bob })).text ?? ""
  assert.match(told, /Usage this session/)
  assert.doesNotMatch(told, /today/, "what all use is the owner's to know")
  const status = await world.gateway.call<{ usage: { today: { calls: number } } }>("GET", "/api/status")
  assert.equal(status.usage.today.calls, 3)

  async function ask(words: string): Promise<string | undefined> {
    const sent = world.say(words)
    return (await world.reply(/./, { after: sent })).text
  }
})

test("a call that was answered before a crash is counted once after it", async (context) => {
  const world = await createWorld(context)
  world.model.script(() => text("an answer"))
  const gateway = await world.start({ crashAt: "turn.afterModel" })
  world.say("hello")
  assert.equal(await gateway.ended, "SIGKILL")
  await world.start()
  await world.reply("an answer")
  assert.equal(world.model.requests.length, 1)
  assert.equal(world.rows("select 1 from usage").length, 1)
})
