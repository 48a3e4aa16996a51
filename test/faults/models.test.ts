// A model that is down, slow, busy or talks nonsense: the chat gets one short error, the lane goes on with the next
// message, and webhooks are acknowledged meanwhile as if nothing were wrong.
import assert from "node:assert/strict"
import { test } from "node:test"
import { freePort } from "../support/gateway.ts"
import { type ScriptedReply, busy, text } from "../support/model-server/index.ts"
import { lastPrompt } from "../support/prompts.ts"
import { type World, createWorld, fileContext } from "../support/world.ts"

/** Far below the time that the model is stuck for; how quick it is, the benchmarks say. */
const maxAckMs = 15_000

/** One gateway for the faults that a turn of so many seconds is long enough for. */
const worlds = new Map<number, Promise<World>>()
function worldOf(timeoutSeconds: number): Promise<World> {
  const known = worlds.get(timeoutSeconds) ?? startWorld(timeoutSeconds)
  worlds.set(timeoutSeconds, known)
  return known
}

const file = fileContext()
async function startWorld(timeoutSeconds: number): Promise<World> {
  const world = await createWorld(file, { config: { agents: { defaults: { timeoutSeconds } } } })
  await world.start()
  return world
}

const countSorry = (world: World) => world.botTexts().filter((words) => words.startsWith("Sorry")).length

/** Every prompt that ends in the first message is met with the fault. */
async function checkOneError(world: World, name: string, fault: ScriptedReply, expected: RegExp): Promise<void> {
  const [question, before] = [`first, and it ${name}`, countSorry(world)]
  world.model.script((request) => (lastPrompt(request).endsWith(question) ? fault : text("fine")))
  const first = world.say(question)
  const second = world.say("second")
  await checkAcknowledged(world)
  const sorry = await world.reply(/^Sorry/, { after: first, timeoutMs: 30_000 })
  assert.match(sorry.text ?? "", expected)
  assert.ok((sorry.text ?? "").length < 300, "short")
  await world.reply("fine", { after: second })
  await world.settle()
  assert.equal(countSorry(world) - before, 1)
  const runs = world.rows<{ state: string }>("select state from job where instr(payload, ?)", `"text":"${question}"`)
  assert.deepEqual(
    runs.map((run) => run.state),
    ["dead"],
  )
}

/** The first request opens a connection and is not measured. */
async function checkAcknowledged(world: World): Promise<void> {
  const post = () => world.hook("wake", { text: "while the model is stuck", mode: "next-heartbeat" })
  await post()
  for (let n = 0; n < 5; n += 1) {
    const started = performance.now()
    assert.equal((await post()).status, 200)
    const tookMs = performance.now() - started
    assert.ok(tookMs < maxAckMs, `acknowledged after ${Math.round(tookMs)} ms`)
  }
}

const faults: { name: string; fault: ScriptedReply; expected: RegExp; timeoutSeconds?: number }[] = [
  { name: "answers 500", fault: { kind: "status", status: 500 }, expected: /could not answer/ },
  { name: "answers 429 for ever", fault: busy("1"), expected: /could not answer/ },
  { name: "never answers", fault: { kind: "hang" }, expected: /took too long/, timeoutSeconds: 2 },
  {
    name: "sends headers and no more",
    fault: { kind: "hang", afterHeaders: true },
    expected: /took too long/,
    timeoutSeconds: 2,
  },
  {
    name: "drips slower than the turn may take",
    fault: { kind: "drip", text: "slowly".repeat(20), everyMs: 100 },
    expected: /took too long/,
    timeoutSeconds: 2,
  },
  { name: "sends garbage", fault: { kind: "garbage" }, expected: /could not answer/ },
  { name: "sends a web page", fault: { kind: "html" }, expected: /could not answer/ },
  { name: "sends text without end", fault: { kind: "endless" }, expected: /could not answer|took too long/ },
  { name: "cuts its answer", fault: { kind: "cut", text: "half an ans" }, expected: /could not answer/ },
]

for (const { name, fault, expected, timeoutSeconds } of faults) {
  test(`tells the chat once when the model ${name}`, async () => {
    await checkOneError(await worldOf(timeoutSeconds ?? 20), name, fault, expected)
  })
}

test("tells the chat once when nothing listens at the model's address, and works again when it does", async (context) => {
  const world = await createWorld(context)
  const address = { test: { kind: "openai-compatible", baseUrl: `http://127.0.0.1:${await freePort()}/v1` } }
  world.configure({ models: { providers: address } })
  await world.start()
  const first = world.say("first")
  await checkAcknowledged(world)
  await world.reply(/^Sorry, I could not answer/, { after: first })
  world.configure({ models: { providers: { test: { baseUrl: world.model.baseUrl } } } })
  await world.until(
    "the model is asked",
    async () => {
      const again = world.say("again")
      const answer = await world.reply(/^(Sorry|ok)/, { after: again })
      return answer.text === "ok" ? true : undefined
    },
    15_000,
  )
})

const elsewhere: { name: string; fault: ScriptedReply; expected: RegExp }[] = [
  { name: "a web page", fault: { kind: "html" }, expected: /could not be read|web page|text\/html/ },
  {
    name: "a redirect",
    fault: { kind: "status", status: 307, headers: { location: "http://127.0.0.1:1/v1" } },
    expected: /sends requests on to another one/,
  },
  { name: "an error of no such model", fault: { kind: "status", status: 404 }, expected: /404/ },
]
for (const { name, fault, expected } of elsewhere) {
  test(`the status says what keeps the model from answering when ${name} is its answer, until it has another`, async () => {
    const world = await worldOf(20)
    const problemOf = async () => {
      const status = await world.gateway.call<{
        parts: Record<string, string>
        problems: { part: string; problem: string; next?: string }[]
      }>("GET", "/api/status")
      const told = status.problems.find(({ part, problem }) => part === "agent" && problem.startsWith("No model"))
      assert.equal(status.parts["agent"], told ? "failed" : "ready")
      return told
    }
    world.model.script(() => fault)
    const first = world.say(`before ${name}`)
    await world.reply(/^Sorry, I could not answer/, { after: first })
    const told = await problemOf()
    assert.match(told?.problem ?? "", expected)
    assert.ok(told?.next, "with the next step")
    world.model.script(() => text("ok"))
    const second = world.say(`after ${name}`)
    await world.reply("ok", { after: second })
    assert.equal(await problemOf(), undefined)
  })
}

test("waits as long as a busy model asks, then answers as if nothing had been", async (context) => {
  const world = await createWorld(context)
  world.model.enqueue(busy("1"))
  await world.start()
  world.say("first")
  await world.reply("ok")
  await world.settle()
  const [first, second] = world.model.requests
  const waitedMs = (second?.at ?? 0) - (first?.at ?? 0)
  assert.ok(waitedMs >= 1_000, `asked again after ${Math.round(waitedMs)} ms`)
  assert.equal(countSorry(world), 0)
})

test("what a fallback has answered is one answer, and its run tells which model failed before it, and why", async () => {
  const world = await worldOf(20)
  await world.reconfigure({
    models: { retry: { attempts: 1 } },
    agents: { defaults: { model: { primary: "test/small", fallbacks: ["test/large"] } } },
  })
  world.model.script(({ body }) =>
    body.model === "small" ? { kind: "cut", text: "The first half, which is cut" } : text("The whole answer"),
  )
  const asked = world.say("who answers?")
  await world.reply("The whole answer", { after: asked })
  await world.settle()
  assert.deepEqual(world.botTexts(world.ada, asked).slice(0, 1), ["The whole answer"])
  const { items } = await world.gateway.call<{ items: { runId: string; asked: string }[] }>("GET", "/api/runs?limit=5")
  const runId = items.find((run) => run.asked === "who answers?")?.runId ?? ""
  type Step = { kind: string; data: { model?: string; failedBefore?: { model: string; reason: string }[] } }
  const { steps } = await world.gateway.call<{ steps: Step[] }>("GET", `/api/runs/${runId}`)
  const { model, failedBefore = [] } = steps.find(({ kind }) => kind === "assistant")?.data ?? {}
  assert.deepEqual([model, failedBefore.map((failed) => failed.model)], ["test/large", ["test/small"]])
  assert.match(failedBefore[0]?.reason ?? "", /cut|closed|ended|broken/i)
})
