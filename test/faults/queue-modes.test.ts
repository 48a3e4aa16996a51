// kill -9 while messages wait in every mode of the queue (SVC_TEST_QUEUE_KILLS for more): nothing is lost, nothing is shown
// twice, each person's order holds, and nothing is left in a queue. One gateway, a person for each mode.
import assert from "node:assert/strict"
import { test } from "node:test"
import { setTimeout as delay } from "node:timers/promises"
import type { User } from "grammy/types"
import { randomFrom } from "../support/endurance/load.ts"
import { text, toolCall } from "../support/model-server/index.ts"
import { resultsOf } from "../support/obedient-model.ts"
import { type World, createWorld } from "../support/world.ts"

const modes = ["collect", "followup", "steer", "steer-backlog", "interrupt"] as const
const kills = Number(process.env["SVC_TEST_QUEUE_KILLS"] ?? 2)
const seed = Number(process.env["SVC_TEST_SEED"] ?? Date.now() % 1_000_000)
const perLife = 4
const thinkMs = 60

test(`messages that wait outlive ${kills} kills in every mode of the queue (seed ${seed})`, async (context) => {
  const random = randomFrom(seed)
  const world = await createWorld(context, {
    config: { session: { dmScope: "per-peer" }, messages: { queue: { mode: "collect", debounceMs: 20, cap: 100 } } },
  })
  const people: User[] = [world.ada]
  while (people.length < modes.length) people.push(await world.addPerson({ firstName: `Person ${people.length}` }))
  world.configure({ channels: { chatapp: { allowFrom: people.map(({ id }) => id) } } })
  world.model.script(async (request) => {
    await delay(thinkMs)
    return resultsOf(request).length === 0 ? toolCall("look_up", {}) : text("done")
  })
  await world.start()
  for (const [index, person] of people.entries()) {
    const set = world.say(`/queue ${modes[index]}`, person)
    await world.reply(/From now on/, { after: set, person })
  }
  let said = 0
  for (let life = 0; life <= kills; life += 1) {
    for (let n = 0; n < perLife; n += 1) {
      said += 1
      for (const person of people) world.say(`word-${said}.`, person)
      await delay(random() * thinkMs)
    }
    if (life === kills) break
    await delay(random() * 3 * thinkMs)
    await world.gateway.kill("SIGKILL")
    await world.start()
  }
  await Promise.all(people.map((person) => world.settle(person)))
  await world.until("nothing is left", () => (openTurns(world) === 0 ? true : undefined))
  for (const [index, person] of people.entries()) check(world, person, { mode: modes[index] as string, said })
})

function openTurns(world: World): number {
  return world.rows("select 1 from job where kind = 'turn' and state in ('ready', 'running')").length
}

function check(world: World, person: User, { mode, said }: { mode: string; said: number }): void {
  const rows = world.rows<{ message: string }>(
    `select message.message from message join session using (session_id)
     where session.key = ? and message.message ->> '$.role' = 'user' order by message.id`,
    `agent:main:dm:${person.id}`,
  )
  const shown = rows.flatMap(({ message }) => [...message.matchAll(/word-(\d+)\./g)].map(([, n]) => Number(n)))
  const wanted = Array.from({ length: said }, (_, index) => index + 1)
  assert.deepEqual([...new Set(shown)], wanted, `${mode}: nothing lost, and in order`)
  const most = mode === "steer-backlog" ? 2 : 1
  for (const n of wanted)
    assert.ok(shown.filter((each) => each === n).length <= most, `${mode}: word-${n} is shown once`)
  assert.match(world.botTexts(person).join("\n"), /done/, mode)
}
