// kill -9 at every named point of a webhook's and of a chat message's way. After a restart on the same state folder
// the reply arrives once, no finished step is done again, and nothing that was acknowledged is missing.
import assert from "node:assert/strict"
import { join } from "node:path"
import { type TestContext, test } from "node:test"
import type { CrashLabel } from "../../src/kernel/index.ts"
import { endBrowsersOf } from "../support/left-browsers.ts"
import { isLong } from "../support/long.ts"
import { text, toolCall } from "../support/model-server/index.ts"
import { startPagesServer } from "../support/pages-server.ts"
import { lastPrompt, lastRole, lastWords } from "../support/prompts.ts"
import { type HookAnswer, type World, createWorld, until } from "../support/world.ts"

/** Once the first of two model steps is finished, it is not asked again. */
interface Expectation {
  label: CrashLabel
  /** What goes on after it comes by earlier points of the list: a second step of the turn, the update or request once more. */
  comesByEarlier?: true
  /** Requests at the model for the turn of two steps, over both processes. */
  requests: number
}

const both: Expectation[] = [
  { label: "ingest.beforeCommit", comesByEarlier: true, requests: 2 },
  { label: "ingest.committed", comesByEarlier: true, requests: 2 },
  { label: "turn.beforeModel", comesByEarlier: true, requests: 2 },
  // The first words of the second step came and were lost: this step alone is asked again.
  { label: "turn.inModel", comesByEarlier: true, requests: 3 },
  { label: "turn.afterModel", comesByEarlier: true, requests: 2 },
  { label: "turn.beforeTool", comesByEarlier: true, requests: 2 },
  { label: "turn.afterTool", requests: 2 },
  { label: "turn.beforeCommit", requests: 2 },
  // The reply is committed and nothing of it was sent.
  { label: "outbox.sending", requests: 2 },
  // Its answer had come, and stands beside the store.
  { label: "outbox.sent", requests: 2 },
  { label: "outbox.recorded", requests: 2 },
]
const chatOnly: Expectation[] = [
  { label: "poll.fetched", comesByEarlier: true, requests: 2 },
  { label: "poll.committed", comesByEarlier: true, requests: 2 },
]

const answer = "The browser was looked at: "

/** Each point has a task of its own, and all of them one gateway's folder: `started` is what is running now. */
async function taskWorld(context: TestContext): Promise<World> {
  const world = await createWorld(context, { config: { browser: { enabled: true, defaultProfile: "managed" } } })
  world.model.script((request) => {
    const [, label] = /the browser's status \((\S+)\)/.exec(lastPrompt(request)) ?? []
    if (label === undefined) return text("ok")
    return lastRole(request) === "tool" ? text(answer + label) : toolCall("browser", { action: "status" })
  })
  return world
}

const taskFor = ({ label }: Expectation) => `look at the browser's status (${label})`

/** What would come twice has had its time when this is asked. */
function checkOnce(world: World, expectation: Expectation): void {
  const own = answer + expectation.label
  assert.equal(world.botTexts().filter((words) => words === own).length, 1, "the reply came once")
  const requests = world.model.requests.filter((request) => lastPrompt(request).includes(taskFor(expectation)))
  assert.equal(requests.length, expectation.requests, "requests at the model")
  const runs = world.rows<{ state: string }>("select state from job where instr(payload, ?)", taskFor(expectation))
  assert.deepEqual(
    runs.map((run) => run.state),
    ["done"],
  )
}

type Killed = (world: World, point: Expectation, gateway: Awaited<ReturnType<World["start"]>>) => Promise<Goes>
/** What is looked at once the next process runs. */
type Goes = (() => Promise<void>) | undefined

/**
 * From the last point to the first: the process that goes on after one of them comes by later points only (with exceptions),
 * so it can be the one that is killed at the point before.
 */
async function killAtEach(context: TestContext, points: readonly Expectation[], killed: Killed): Promise<World> {
  const world = await taskWorld(context)
  const order = points.toReversed()
  let gateway = await world.start({ crashAt: (order[0] as Expectation).label })
  for (const [index, point] of order.entries()) {
    await context.test(point.label, async () => {
      const goes = await killed(world, point, gateway)
      const next = order[index + 1]
      gateway = await world.start(next && !point.comesByEarlier ? { crashAt: next.label } : {})
      await goes?.()
      await world.reply(answer + point.label)
      const open =
        "select 1 from outbox where state != 'sent' union all select 1 from job where state in ('ready', 'running')"
      await until("all is sent and noted", () => (world.rows(open).length === 0 ? true : undefined))
      if (point.comesByEarlier && next) await gateway.crashAt(next.label)
    })
  }
  await world.settle()
  for (const point of points) checkOnce(world, point)
  return world
}

test("a chat message survives kill -9 at each point", { timeout: 240_000 }, async (context) => {
  const points = [...chatOnly, ...both]
  const world = await killAtEach(context, points, async (running, point, gateway) => {
    running.say(taskFor(point))
    assert.equal(await gateway.ended, "SIGKILL")
    return undefined
  })
  for (const { label } of points) {
    const turns = world.rows("select 1 from message where instr(message, ?)", answer + label)
    assert.equal(turns.length, 1, "the transcript has the answer once")
  }
})

/** From the model on a webhook goes the way of a chat message, which is tried at every point. */
const ownOfHooks: readonly CrashLabel[] = [
  "ingest.beforeCommit",
  "ingest.committed",
  "turn.inModel",
  "turn.beforeCommit",
  "outbox.sent",
]
test("a webhook survives kill -9 at each point", { timeout: 240_000 }, async (context) => {
  const points = isLong ? both : both.filter(({ label }) => ownOfHooks.includes(label))
  const world = await killAtEach(context, points, async (running, point, gateway) => {
    const { label } = point
    const to = String(running.ada.id)
    const body = { message: taskFor(point), name: label, channel: "chatapp", to, wakeMode: "next-heartbeat" }
    const post = () => running.hook("agent", body, { "idempotency-key": label })
    const first = await post().catch((): HookAnswer | undefined => undefined)
    assert.equal(await gateway.ended, "SIGKILL")
    const isBeforeAnswer = label.startsWith("ingest.")
    assert.equal(first?.status, isBeforeAnswer ? undefined : 202, "the answer of the process that was killed")
    return async () => {
      // A sender that got no answer sends again; one that got one may do so too.
      const second = await post()
      assert.equal(second.status, label === "ingest.beforeCommit" ? 202 : 200)
      assert.equal(second.body["duplicate"], label === "ingest.beforeCommit" ? undefined : true)
      if (first) assert.equal(second.body["runId"], first.body["runId"])
    }
  })
  for (const { label } of points) {
    const summaries = world.rows("select 1 from event where instr(text, ?)", `Hook ${label}: `)
    assert.equal(summaries.length, 1, "the main session is told once")
  }
})

for (const label of ["outbox.sending:2", "outbox.sent:2"]) {
  test(`a reply of three chunks goes on in order after kill -9 at ${label}`, async (context) => {
    const world = await createWorld(context)
    const paragraph = (n: number) => `part ${n} ${`${n}`.repeat(2_950)}`
    world.model.script((request) =>
      text(lastPrompt(request).includes("tell") ? [1, 2, 3].map(paragraph).join("\n\n") : "ok"),
    )
    const gateway = await world.start({ crashAt: label })
    world.say("tell me everything")
    assert.equal(await gateway.ended, "SIGKILL")
    await world.start()
    await world.reply("part 3")
    await world.settle()
    const order = world.botTexts().flatMap((words) => /^part (\d)/.exec(words)?.[1] ?? [])
    assert.deepEqual(order.map(Number), [1, 2, 3])
    assert.equal(world.model.requests.filter((request) => lastPrompt(request).includes("tell")).length, 1)
  })
}

test("a reply whose call was cut by kill -9 is asked about, and sent again by the button below", async (context) => {
  const world = await createWorld(context)
  world.model.script((request) => text(`answer to ${lastPrompt(request).split("\n").at(-1)}`))
  // The platform has taken the message, and its answer is never noted.
  const gateway = await world.start({ crashAt: "outbox.answered" })
  const sent = world.say("one")
  assert.equal(await gateway.ended, "SIGKILL")
  await world.start()
  const question = await world.reply(/may not have arrived/, { after: sent })
  const [row] = world.rows<{ state: string }>("select state from outbox order by id")
  assert.equal(row?.state, "uncertain")
  const status = await world.gateway.call<{ outbox: { uncertain: number } }>("GET", "/api/status")
  assert.equal(status.outbox.uncertain, 1)
  const { channels } = await world.gateway.call<{ channels: { uncertain: number }[] }>("GET", "/api/channels")
  assert.equal(channels[0]?.uncertain, 1)
  assert.equal(world.botTexts().filter((words) => words === "answer to one").length, 1)
  const keyboard = question.reply_markup?.inline_keyboard ?? []
  const { callback_data: data } = keyboard.flat()[0] as { callback_data: string }
  const touch = { userId: world.ada.id, chatId: world.ada.id, messageId: question.message_id, data }
  world.emulator.control.click(touch)
  await world.reply("answer to one", { after: question })
  await world.settle()
  world.emulator.control.click(touch)
  await world.settle()
  assert.equal(world.botTexts().filter((words) => words === "answer to one").length, 2)
  // The agent was told with the next message.
  const prompts = world.model.requests.map(lastPrompt)
  assert.equal(prompts.filter((prompt) => prompt.includes("may not have arrived")).length, 1)
  assert.ok(!prompts.some((prompt) => prompt.includes("callback_data")), "the button is no message for the model")
})

for (const { label, visits, told } of [
  { label: "turn.beforeTool", visits: 0, told: /restarted during this call/ },
  { label: "turn.afterTool", visits: 1, told: /\/visited/ },
]) {
  test(`a tool call with an effect is not repeated after kill -9 at ${label}`, async (context) => {
    const pages = await startPagesServer({ folder: join(import.meta.dirname, "..", "fixtures", "pages") })
    context.after(() => pages.stop())
    const world = await createWorld(context, { config: { browser: { enabled: true, defaultProfile: "managed" } } })
    context.after(() => endBrowsersOf(world.stateFolder))
    world.model.script((request) => {
      if (lastRole(request) === "tool") return text("The page was opened.")
      if (!lastPrompt(request).includes("open it")) return text("ok")
      return toolCall("browser", { action: "open", url: `${pages.url}/visited` })
    })
    const gateway = await world.start({ crashAt: label })
    world.say("open it")
    assert.equal(await gateway.ended, "SIGKILL")
    await world.start()
    await world.reply("The page was opened.", { timeoutMs: 20_000 })
    await world.settle()
    assert.equal(pages.requests.filter((request) => request.url === "/visited").length, visits)
    const afterTool = world.model.requests.filter((request) => lastRole(request) === "tool")
    assert.equal(afterTool.length, 1)
    assert.match(afterTool.map(lastWords).join(), told)
    await world.gateway.kill("SIGTERM")
  })
}

test("a turn that ends the process each time is given up with a word to its chat, and the lane goes on", async (context) => {
  const world = await createWorld(context)
  const sent = world.say("poison")
  world.say("and what now?")
  for (let start = 1; start <= 3; start += 1) {
    const gateway = await world.start({ crashAt: "turn.beforeModel" })
    assert.equal(await gateway.ended, "SIGKILL")
  }
  // Three deaths would not be held against it; twenty are.
  world.change("update job set attempts = 20 where state = 'running'")
  world.model.script((request) => text(`answer to ${lastPrompt(request).split("\n").at(-1)}`))
  await world.start()
  await world.reply("answer to and what now?", { after: sent })
  await world.settle()
  const texts = world.botTexts()
  assert.match(texts[0] ?? "", /^Sorry, something went wrong/)
  assert.equal(texts.filter((words) => words.startsWith("Sorry")).length, 1)
  assert.deepEqual(
    world.model.requests.filter((request) => lastPrompt(request).endsWith("poison")),
    [],
  )
  assert.deepEqual(
    world.rows("select error from job where state = 'dead'").map((row) => ({ ...(row as object) })),
    [{ error: "the gateway died 20 times while running it" }],
  )
})
