// A pause of everything: nothing starts, what runs is put back, messages are kept; through a kill, until it is ended.
import assert from "node:assert/strict"
import { test } from "node:test"
import { runProgram, startProgram } from "../../cli/testing/run-program.ts"
import { text } from "../support/model-server/index.ts"
import { createWorld } from "../support/world.ts"

test("messages wait and are told so once, also over a kill; what had begun goes on", async (context) => {
  const world = await createWorld(context)
  const svc = (...words: string[]) => runProgram(words, { environment: { SVC_STATE_DIR: world.stateFolder } })
  await world.start()
  let asked = 0
  world.model.script(() => ((asked += 1) === 1 ? { kind: "hang", afterHeaders: true } : text(`answer ${asked}`)))
  const begun = world.say("this one has begun")
  await world.until("the model is asked", () => (asked === 1 ? true : undefined))
  const bare = await svc("pause")
  assert.match(bare.stderr, /^error: svc pause takes --all/)
  assert.match((await svc("pause", "--all")).stdout, /^paused: nothing starts until svc resume/)
  await world.until("the turn is put back", () =>
    world.rows<{ state: string }>("select state from job where kind = 'turn'")[0]?.state === "ready" ? true : undefined,
  )
  world.say("and this waits")
  await world.reply("I am paused. Your message is kept and waits. Go on with /resume.", { after: begun })
  const again = world.say("so does this")
  const status = world.say("/status")
  assert.match(
    (await world.reply(/Gateway/, { after: again })).text ?? "",
    /everything is paused since .* \(by gateway\)/,
  )
  assert.match((await svc("status")).stdout, /problem +agent: everything is paused .* \(svc resume\)/)
  world.gateway.kill("SIGKILL")
  await world.gateway.ended
  await world.start()
  const third = world.say("/pause")
  await world.reply("I am paused already. Go on with /resume.", { after: third })
  assert.equal(asked, 1)
  assert.equal(world.botTexts(world.ada, begun).filter((words) => words.includes("is kept and waits")).length, 1)
  assert.equal(status.message_id > again.message_id, true)
  const asking = startProgram(["agent", "--session", "aside", "from a terminal"], {
    environment: { SVC_STATE_DIR: world.stateFolder },
  })
  await asking.printed("everything is paused; the answer follows after: ", "stderr")
  const resumed = world.say("/resume")
  await world.reply("I go on. Conversations with something waiting: 2.", { after: resumed })
  const told = await asking.ended
  assert.match(told.stdout, /^answer \d\n$/)
  await world.until("all is answered", () => {
    const left = `select 1 from job where state != 'done' union all select 1 from outbox where state in ('new', 'sending')`
    return world.rows(left).length === 0 ? true : undefined
  })
  const answers = world.botTexts(world.ada, resumed).filter((words) => words.startsWith("answer"))
  assert.deepEqual([...answers, told.stdout.trim()].toSorted(), ["answer 2", "answer 3", "answer 4", "answer 5"])
  assert.match((await svc("resume")).stderr, /Nothing is paused\nhint: .*status/)
})
