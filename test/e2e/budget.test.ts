// Spending is bounded, as people meet it: warnings, the stop with its buttons, going on, the command line; and a kill.
import assert from "node:assert/strict"
import { test } from "node:test"
import { runProgram } from "../../cli/testing/run-program.ts"
import type { CapState } from "../../src/budget/contract.ts"
import { text } from "../support/model-server/index.ts"
import { type World, createWorld } from "../support/world.ts"

/** Four dollars for a million tokens of either kind. */
const models = { providers: { test: { models: { small: { prices: { input: 4, output: 4 } } } } } }

const look = async (world: World) =>
  await world.gateway.call<{ caps: CapState[]; cut: { calls: number } }>("GET", "/api/budget")

test("an owner is warned, told once with buttons, and what was stopped goes on when more is allowed", async (context) => {
  const world = await createWorld(context, { config: { models, budget: { day: { dollars: 1 } } } })
  const bob = await world.addPerson({ id: 1002, firstName: "Bob" })
  world.configure({ channels: { chatapp: { allowFrom: [world.ada.id, "@nobody"], dmPolicy: "allowlist" } } })
  await world.start()
  const spend = async (thousands: number, words: string) => {
    world.model.script(() => ({
      kind: "reply",
      text: `answer to ${words}`,
      usage: { input: thousands * 1000, output: 0 },
    }))
    const sent = world.say(words)
    await world.reply(`answer to ${words}`, { after: sent })
    return sent
  }
  const warned = await spend(130, "one")
  await world.reply(/^52 % of the cap of the day is used: \$0\.5200 of \$1\.00\.$/, { after: warned })
  await spend(30, "two")
  const nearly = await spend(40, "three")
  await world.reply(/^80 % of the cap of the day .* Heartbeats and schedules have stopped/, { after: nearly })
  await spend(49, "four")
  const asked = world.model.requests.length

  const fifth = world.say("five")
  const stop = await world.reply(
    /^I have stopped for today: the cap of the day leaves no room for the next call, for which \$\d\.\d+ must be free\. \$0\.9960 of \$1\.00 is used/,
    {
      after: fifth,
    },
  )
  const sixth = world.say("six")
  await world.reply(/^Not answered\. The cap of the day .* See \/usage/, { after: sixth })
  assert.equal(world.model.requests.length, asked)
  const told = world.botTexts(world.ada, fifth)
  assert.deepEqual(told.length, 2, "one message about the cap, and one answer to what came after it")
  const problems = await runProgram(["status"], { environment: { SVC_STATE_DIR: world.stateFolder } })
  assert.match(
    problems.stdout,
    /problem +budget: the cap of the day leaves no room for another call: \$0\.9960 of \$1\.00 is used \(svc usage allow day --until-tomorrow\)/,
  )
  assert.doesNotMatch(problems.stdout, /failed for good \(svc/)

  world.model.script(() => text("the sixth goes on"))
  const touch = () =>
    world.emulator.control.click({
      userId: world.ada.id,
      chatId: stop.chat.id,
      messageId: stop.message_id,
      text: "Allow $1 more",
    })
  touch()
  touch()
  await world.reply(/^The cap of the day is now: \$0\.9960 of \$2\.00 used\. What I had stopped goes on \(1\)\.$/, {
    after: sixth,
  })
  await world.reply(/^The cap of the day was raised already, and is now: .* of \$2\.00 used\./, { after: sixth })
  await world.reply("the sixth goes on", { after: sixth })
  world.model.script(() => text("something else"))
  await world.settle()
  const after = world.botTexts(world.ada, sixth).filter((words) => words.includes("goes on"))
  assert.equal(after.length, 2, "the fifth is left to its owner: another came after it")

  const shown = world.say("/usage")
  assert.match((await world.reply(/Cap/, { after: shown })).text ?? "", /Cap day \$0\.996\d of \$2\.00 \(49 %\)/)
  const cli = await runProgram(["usage"], { environment: { SVC_STATE_DIR: world.stateFolder } })
  assert.match(cli.stdout, /\nday {2}\$0\.996\d of \$2\.00 \(49 %\)/)
  const more = world.say("/usage more day $0.50")
  await world.reply(/^The cap of the day is now: .* of \$2\.50 used/, { after: more })
  await world.reply(/^I do not know what to allow[^]*more <cap> \[\$5 \| 50000 tokens\]/, {
    after: world.say("/usage more day 5"),
  })
  const nothing = await runProgram(["usage", "allow", "day"], { environment: { SVC_STATE_DIR: world.stateFolder } })
  assert.match(nothing.stderr, /Say what to allow: --dollars, --tokens or --until-tomorrow/)
  const lifted = await runProgram(["usage", "allow", "day", "--until-tomorrow"], {
    environment: { SVC_STATE_DIR: world.stateFolder },
  })
  assert.match(lifted.stdout, /lifted until/)
  const [cap] = (await look(world)).caps
  assert.deepEqual([cap?.id, cap?.state, cap?.dollars?.held], ["day", "lifted", 0])
  const wrong = await runProgram(["usage", "allow", "week", "--dollars", "1"], {
    environment: { SVC_STATE_DIR: world.stateFolder },
  })
  assert.match(wrong.stderr, /There is no cap "week"\nhint: There are: day/)
  assert.equal(world.botTexts(bob).length, 0)
})

test("the button allows as much as the call takes that was not made", async (context) => {
  const prices = { input: 1000, output: 2000 }
  const dear = { providers: { test: { models: { small: { prices } } } } }
  const world = await createWorld(context, { config: { models: dear, budget: { day: { dollars: 2 } } } })
  world.model.script(() => text("answered in the end"))
  await world.start()
  const asked = world.say("hello")
  const stop = await world.reply(/^I have stopped for today/, { after: asked })
  const needed = Number(/for which \$([\d.]+) must be free/.exec(stop.text ?? "")?.[1])
  assert.ok(needed > 3, `a dollar more would not do: ${needed}`)
  const more = Math.ceil(needed - 2)
  const button = { userId: world.ada.id, chatId: stop.chat.id, messageId: stop.message_id, text: `Allow $${more} more` }
  world.emulator.control.click(button)
  await world.reply(`The cap of the day is now: $0 of $${2 + more}.00 used. What I had stopped goes on (1).`, {
    after: asked,
  })
  await world.reply("answered in the end", { after: asked })
  const typed = world.say("/usage more day 100,000 tokens")
  await world.reply(/is in dollars, not in tokens/, { after: typed })
})

test("a model whose price is not known counts as the dearest, until the key that the message names is set", async (context) => {
  const world = await createWorld(context, { config: { budget: { day: { dollars: 0.01 } } } })
  await world.start()
  const asked = world.say("hello")
  const stop = await world.reply(/^I have stopped for today/, { after: asked })
  const key = /price of test\/small is not known, .*: set it with (\S+)\.$/.exec(stop.text ?? "")?.[1]
  assert.equal(key, "models.providers.test.models.small.prices")
  const set = await runProgram(["config", "set", key, '{"input": 0, "output": 0}'], {
    environment: { SVC_STATE_DIR: world.stateFolder },
  })
  assert.equal(set.code, 0, set.stderr)
  await world.until("it is taken up", () => (/config changed/.test(world.gateway.log()) ? true : undefined))
  const again = world.say("hello again")
  await world.reply("ok", { after: again })
})

test("a kill during a call counts as what was held, so that crashes do not pass a cap", async (context) => {
  const world = await createWorld(context, { config: { models, budget: { day: { tokens: 60_000 } } } })
  world.model.script(() => text("an answer"))
  for (let kills = 0; kills < 2; kills += 1) {
    const gateway = await world.start({ crashAt: "turn.inModel" })
    if (kills === 0) world.say("hello")
    assert.equal(await gateway.ended, "SIGKILL")
  }
  await world.start()
  const cut = await world.until("the kills are counted", async () => {
    const { cut: lost } = await look(world)
    return lost.calls === 2 ? lost : undefined
  })
  assert.equal(cut.calls, 2)
  await world.until("the turn is over", () => {
    const [job] = world.rows<{ state: string }>("select state from job where kind = 'turn'")
    return job?.state === "done" || job?.state === "dead" ? true : undefined
  })
  const [cap] = (await look(world)).caps
  const { limit = 0, spent = 0, held = 0 } = cap?.tokens ?? {}
  assert.ok(spent > 16_000, `two calls count: ${spent}`)
  assert.ok(spent + held <= limit, `${spent} of ${limit}`)
})
