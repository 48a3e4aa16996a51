// Clean stops and changes of the configuration in the middle of work: no message is lost, no answer comes twice. A few of
// each here; SVC_TEST_STOPS=50 makes it fifty.
import assert from "node:assert/strict"
import { type TestContext, test } from "node:test"
import { setTimeout as delay } from "node:timers/promises"
import type { User } from "grammy/types"
import { text } from "../support/model-server/index.ts"
import { lastPrompt } from "../support/prompts.ts"
import { type World, createWorld, until } from "../support/world.ts"

const rounds = Number(process.env["SVC_TEST_STOPS"] ?? 2)
const limits = { timeout: 60_000 + rounds * 15_000 }

interface Crowd {
  world: World
  people: User[]
  said: { person: User; words: string }[]
}

async function crowd(context: TestContext): Promise<Crowd> {
  const world = await createWorld(context, { config: { logging: { level: "info" } } })
  const people = [world.ada]
  for (let n = 2; n <= 6; n += 1) people.push(await world.addPerson({ firstName: `Person ${n}` }))
  world.configure({ channels: { chatapp: { allowFrom: people.map((person) => person.id) } } })
  world.model.script((request) => text(`echo ${lastPrompt(request).split("\n").at(-1)}`))
  return { world, people, said: [] }
}

/** A message of everybody; the platform takes its time with some of the answers. */
function speak({ world, people, said }: Crowd, round: number): void {
  world.emulator.control.fault({ kind: "slow", method: "sendMessage", delayMs: 120, times: 3 })
  for (const person of people) {
    const words = `message ${round} of ${person.id}`
    world.say(words, person)
    said.push({ person, words })
  }
}

async function check({ world, said }: Crowd): Promise<void> {
  const open = `select 1 from job where state in ('ready', 'running')
    union select 1 from outbox where state in ('new', 'sending')`
  const missing = () => said.filter(({ person, words }) => !world.botTexts(person).includes(`echo ${words}`))
  await until("everything is answered", () => (missing().length === 0 && world.rows(open).length === 0) || undefined)
  const doubled = said.filter(
    ({ person, words }) => world.botTexts(person).filter((each) => each === `echo ${words}`).length !== 1,
  )
  assert.deepEqual(doubled, [], "each answer came once")
  assert.deepEqual(world.rows("select id, state from outbox where state != 'sent'"), [], "nothing is in doubt")
}

test(`${rounds} stops in the middle of work lose nothing and double nothing`, limits, async (context) => {
  const all = await crowd(context)
  const { world } = all
  await world.start()
  for (let round = 0; round < rounds; round += 1) {
    speak(all, round)
    // Wherever it is by then: in the intake, in the turns, in the sends.
    await delay((round * 37) % 160)
    assert.equal(await world.gateway.kill("SIGTERM"), 0)
    await world.start()
  }
  await check(all)
})

test(
  `${rounds} changes that restart the account and the gateway in the middle of work lose nothing and double nothing`,
  limits,
  async (context) => {
    const all = await crowd(context)
    const { world } = all
    await world.start()
    for (let round = 0; round < rounds; round += 1) {
      speak(all, round)
      await delay((round * 37) % 160)
      const starts = () => world.gateway.log().split("channel account started").length
      const before = starts()
      const account = { channels: { chatapp: { network: { autoSelectFamily: round % 4 < 2 } } } }
      world.configure(round % 2 === 0 ? account : { env: { vars: { SVC_TEST_ROUND: String(round) } } })
      await until("the change is in force", () => starts() > before || undefined)
    }
    await check(all)
  },
)
