// Events are consumed by an answer and by nothing else: whatever becomes of a prompt that held them, they are shown until
// a model has answered, and what no model takes is in nobody's way.
import assert from "node:assert/strict"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, test } from "node:test"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { AppError } from "../kernel/index.ts"
import type { ModelRequest } from "../models/contract.ts"
import { countEvents } from "../store/index.ts"
import {
  type Answer,
  type TestAgent,
  call,
  main,
  promptOf,
  scriptedModels,
  smallTool,
  startAgent,
  stuckAnswer,
} from "./agent.fixture.ts"

interface Row {
  text: string
  consumed_by: number | null
  held_by: number | null
  refusals: number
  set_aside_at: number | null
}

const rows = ({ store }: TestAgent) => store.handle.prepare("select * from event order by id").all() as unknown as Row[]

const foreign = { trusted: false, origin: "webhook" }
const refusal = () => new AppError("model-failed", "No model could answer. test/model: HTTP 400")
const tooLong = () => new AppError("model-failed", "No model could answer. test/model: too long", { status: 413 })

/** A model that answers as the rule says, however often it is asked. */
function modelThat(rule: (prompt: string) => string, contextTokens?: number) {
  const models = scriptedModels([], contextTokens)
  const answer: Answer = async (request: ModelRequest) => rule(promptOf(request))
  models.answers.shift = () => answer
  return models
}

const hates =
  (words: string) =>
  (prompt: string): string => {
    if (prompt.includes(words)) throw refusal()
    return "HEARTBEAT_OK"
  }

/** Every character of the events that prompts have shown, in order. */
function shownText(agent: TestAgent): string {
  const inside = /<untrusted-content id="([^"]+)" source="event">\n([^]*?)\n<\/untrusted-content id="\1">/g
  return agent.models.requests
    .flatMap((request) => [...promptOf(request).matchAll(inside)].map((match) => match[2]))
    .join("")
}

describe("an event that a model refuses", () => {
  test("fails no turn: it is asked without, then the event is shown alone, in short, and set aside", async (context) => {
    const models = modelThat(hates("poison"))
    const agent = await startAgent(context, { models })
    const poison = `poison ${"x".repeat(2_000)}`
    await agent.addEvent("good news", foreign)
    await agent.addEvent(poison, foreign)
    const job = await agent.say("hello")
    assert.equal(job.state, "done")
    assert.equal(agent.replies()[0]?.text, "HEARTBEAT_OK")
    const prompts = models.requests.map(promptOf)
    assert.match(prompts[0] ?? "", /good news[^]*poison[^]*hello$/)
    assert.equal(prompts[1], "hello")
    // What follows are heartbeats: the good one alone and answered; the bad one alone, in short, without.
    const held = prompts.map((prompt) => [
      prompt.includes("good news"),
      prompt.includes("poison"),
      prompt.length > 1_500,
    ])
    assert.deepEqual(held.slice(2), [
      [true, false, false],
      [false, true, true],
      [false, false, false],
      [false, true, false],
      [false, false, false],
    ])
    const [good, bad] = rows(agent)
    assert.ok(good?.consumed_by !== null && good?.set_aside_at === null)
    assert.ok(bad?.consumed_by === null && bad.held_by === null && bad.set_aside_at !== null)
    assert.deepEqual(countEvents(agent.store), { waiting: 0, setAside: 1 })
    await agent.say("and now?")
    assert.equal(promptOf(models.requests.at(-1)), "and now?")
  })

  test("is asked about no more where a person was sent some of the answer", async (context) => {
    const fails = async ({ onDelta }: ModelRequest) => {
      onDelta?.({ kind: "text", text: "The door" })
      throw refusal()
    }
    const observe = () => ({ onRestart: () => "The door", end: () => undefined })
    const models = scriptedModels([fails, "HEARTBEAT_OK"])
    const agent = await startAgent(context, { models, observe })
    await agent.addEvent("the door is open", foreign)
    assert.equal((await agent.say("anything new?")).state, "dead")
    assert.equal(models.requests.filter((request) => promptOf(request).endsWith("anything new?")).length, 1)
  })

  test("is not to blame where the model refuses the prompt without it as well", async (context) => {
    const agent = await startAgent(context, {
      models: scriptedModels([() => Promise.reject(refusal()), () => Promise.reject(refusal()), "fine"]),
    })
    await agent.addEvent("the door is open", foreign)
    assert.equal((await agent.say("words that no model takes")).state, "dead")
    assert.deepEqual(
      rows(agent).map(({ refusals, held_by: held }) => [refusals, held]),
      [[0, null]],
    )
    await agent.say("anything new?")
    assert.match(promptOf(agent.models.requests.at(-1)), /the door is open[^]*anything new\?$/)
    assert.notEqual(rows(agent)[0]?.consumed_by, null)
  })

  test("in a session without heartbeats is tried by its next turns, one event at a time", async (context) => {
    const models = modelThat(hates("poison"))
    const agent = await startAgent(context, { models })
    const sessionKey = "agent:main:test:group:-1"
    await agent.store.write(async (write) => {
      for (const text of ["poison", "news"])
        write.addEvent({ sessionKey, text, origin: "group-member", trusted: false })
    })
    for (const words of ["one", "two", "three", "four"]) {
      assert.equal((await agent.say(words, { sessionKey })).state, "done")
    }
    assert.deepEqual(
      rows(agent).map(({ refusals, set_aside_at: aside }) => [refusals, aside !== null]),
      [
        [3, true],
        [1, false],
      ],
    )
    assert.notEqual(rows(agent)[1]?.consumed_by, null)
  })

  test("is tried where nobody waits for an answer, if there is such a place", async (context) => {
    const group = "agent:main:test:group:-1"
    const models = modelThat(() => "HEARTBEAT_OK")
    const agent = await startAgent(context, { models })
    await agent.addEvent("refused before", foreign)
    await agent.store.write(async (write) => {
      write.addEvent({ sessionKey: group, text: "refused too", origin: "group-member", trusted: false })
      write.prepare("update event set refusals = 1").run()
    })
    await agent.say("hello")
    await agent.say("hello", { sessionKey: group })
    await agent.wake("manual")
    assert.deepEqual(
      models.requests.map((request) => /refused (before|too)/.exec(promptOf(request))?.[0]),
      [undefined, "refused too", "refused before"],
    )
  })

  test("so that its turn takes too long is shown alone from then on, and set aside in the end", async (context) => {
    const models = scriptedModels([])
    const answer: Answer = async (request: ModelRequest) => {
      if (!promptOf(request).includes("poison")) return "HEARTBEAT_OK"
      return await new Promise((_resolve, reject) => {
        request.signal.addEventListener("abort", () => reject(request.signal.reason), { once: true })
      })
    }
    models.answers.shift = () => answer
    const agent = await startAgent(context, { models, timeoutSeconds: 0.05 })
    await agent.addEvent("poison", foreign)
    await agent.say("hello")
    assert.deepEqual(countEvents(agent.store), { waiting: 0, setAside: 1 })
    assert.equal((await agent.say("hello")).state, "done")
  })
})

describe("events that do not fit", () => {
  test("are shown oldest first as far as there is room, and the rest by turns that follow", async (context) => {
    const models = modelThat(() => "HEARTBEAT_OK", 20_000)
    const agent = await startAgent(context, { models })
    const texts = ["a", "b", "c"].map((letter) => letter.repeat(250_000))
    for (const text of texts) await agent.addEvent(text, foreign)
    await agent.addEvent("the last one", foreign)
    await agent.wake("wake")
    assert.ok(shownText(agent) === `${texts.join("")}the last one`)
    assert.ok(models.requests.every((request) => promptOf(request).length < 20_000 * 3.5))
    assert.match(promptOf(models.requests[0]), /\n {2}\(\d+ more characters follow with the next turn\)/)
    assert.match(promptOf(models.requests[1]), /from webhook \(what was left of it\):/)
    assert.deepEqual(countEvents(agent.store), { waiting: 0, setAside: 0 })
  })

  test("have the room that the words of their turn leave", async (context) => {
    const models = modelThat(() => "HEARTBEAT_OK", 20_000)
    const agent = await startAgent(context, { models })
    await agent.addEvent("e".repeat(15_000), foreign)
    await agent.say("w".repeat(20_000))
    assert.match(promptOf(models.requests[0]), /more characters follow with the next turn[^]*w{20000}$/)
    assert.ok(promptOf(models.requests[0]).length < 20_000 * 0.4 * 3.5)
  })

  test("leave the pictures of their turn to it, and are left out of it for good, also behind a stop", async (context) => {
    const path = join(temporaryFolder(), "cat.png")
    writeFileSync(path, "png")
    const { asked, answer } = stuckAnswer()
    const models = scriptedModels([() => Promise.reject(refusal()), answer, "a cat", "HEARTBEAT_OK", "HEARTBEAT_OK"])
    const earlier = await startAgent(context, { models })
    await earlier.addEvent("poison", foreign)
    const runId = await earlier.enqueue({ text: "what is this?", media: [{ path, mediaType: "image/png" }] })
    await asked
    await earlier.stop()
    const agent = await startAgent(context, { models, folder: earlier.folder })
    assert.equal((await agent.settle(runId)).state, "done")
    const prompts = models.requests.slice(0, 3).map(promptOf)
    assert.match(prompts[0] ?? "", /poison[^]*what is this\?\n<image\/png>$/)
    assert.deepEqual(
      prompts.slice(1),
      Array.from({ length: 2 }, () => "what is this?\n<image/png>"),
    )
  })

  test("though they should are made smaller until the model takes them", async (context) => {
    const models = modelThat((prompt) => {
      if (prompt.length > 9_000) throw tooLong()
      return "HEARTBEAT_OK"
    })
    const agent = await startAgent(context, { models })
    await agent.addEvent("z".repeat(30_000), foreign)
    assert.equal((await agent.say("hello")).state, "done")
    await agent.wake("wake")
    const answered = agent.models.requests.map(promptOf).filter((prompt) => prompt.length <= 9_000)
    assert.equal(
      answered
        .join("")
        .match(/z{20,}/g)
        ?.join("").length,
      30_000,
    )
    assert.deepEqual(
      rows(agent).map(({ refusals }) => refusals),
      [0],
    )
  })

  test("never split a character, and keep the operator's words and the payload's apart", async (context) => {
    const models = modelThat(() => "HEARTBEAT_OK", 1_000)
    const agent = await startAgent(context, { models })
    const segments = [
      { kind: "operator", text: "Report: " },
      { kind: "value", text: "😀".repeat(2_000) },
    ]
    const text = segments.map((each) => each.text).join("")
    await agent.store.write(async (write) => {
      write.addEvent({ sessionKey: main, text, segments, origin: "webhook", trusted: false })
    })
    await agent.wake("wake")
    const prompts = models.requests.map(promptOf)
    assert.equal(prompts.join("").match(/😀/gu)?.length, 2_000)
    assert.ok(prompts.every((prompt) => prompt.isWellFormed()) && prompts.length > 2)
    assert.equal(prompts.filter((prompt) => prompt.includes("from webhook: Report:")).length, 1)
  })
})

describe("events", () => {
  test("more than a turn shows are shown by turns that follow until none waits", async (context) => {
    const models = modelThat(() => "HEARTBEAT_OK")
    const agent = await startAgent(context, { models })
    for (let n = 1; n <= 120; n += 1) await agent.addEvent(`wake ${n}.`, foreign)
    await agent.wake("wake")
    assert.equal(models.requests.length, 3)
    assert.equal(shownText(agent), Array.from({ length: 120 }, (_, n) => `wake ${n + 1}.`).join(""))
    assert.deepEqual(countEvents(agent.store), { waiting: 0, setAside: 0 })
  })

  test("are consumed by the answer, not by the prompt", async (context) => {
    const answered = Promise.withResolvers<string>()
    const asked = Promise.withResolvers<void>()
    const models = scriptedModels([
      async () => {
        asked.resolve()
        return await answered.promise
      },
    ])
    const agent = await startAgent(context, { models })
    await agent.addEvent("the door is open", foreign)
    const turn = agent.say("hello")
    await asked.promise
    const [before] = rows(agent)
    assert.ok(before?.consumed_by === null && before.held_by !== null)
    answered.resolve("seen")
    const { id } = await turn
    assert.deepEqual(
      rows(agent).map(({ consumed_by: by, held_by: held }) => [by, held]),
      [[id, null]],
    )
  })

  test("of a turn that failed after a model had answered are not shown again", async (context) => {
    const models = scriptedModels([[call("look")], () => Promise.reject(refusal()), "fine"])
    const agent = await startAgent(context, { models, tools: [smallTool("look")] })
    await agent.addEvent("the door is open", foreign)
    assert.equal((await agent.say("hello")).state, "dead")
    await agent.say("and now?")
    assert.equal(promptOf(models.requests.at(-1)), "and now?")
  })

  test("of a job that ended without its last writes wait again", async (context) => {
    const agent = await startAgent(context, { models: scriptedModels(["one", "two"]) })
    await agent.say("hello")
    await agent.addEvent("the door is open", foreign)
    agent.store.handle.prepare("update event set held_by = (select max(id) from job)").run()
    await agent.say("anything new?")
    assert.match(promptOf(agent.models.requests[1]), /the door is open/)
  })
})
