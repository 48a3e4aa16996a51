// What is seen of a turn while it runs, and what is left of one that its person has stopped.
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { type Answer, call, main, scriptedModels, smallTool, startAgent, stuckAnswer } from "./agent.fixture.ts"
import type { ModelDelta } from "../models/contract.ts"
import { TurnStopped } from "./stopped.ts"
import type { TurnView } from "./turn-input.ts"
import type { TurnDelivery, TurnOptions } from "./turn.ts"

/** Writes the words, then waits until the turn is aborted. */
function unfinished(text: string, written: () => void): Answer {
  return stuckAnswer(({ onDelta }) => {
    onDelta?.({ kind: "text", text })
    written()
  }).answer
}

function recorder() {
  const deliveries: TurnDelivery[] = []
  const deliver: TurnOptions["deliver"] = (_write, delivery) => {
    deliveries.push(delivery)
    return "delivered"
  }
  return { deliveries, deliver }
}

describe("a turn that was stopped by who watched it", () => {
  test("sends what was seen, marks it, and remembers it for the next turn", async (context) => {
    const written = Promise.withResolvers<void>()
    const look = smallTool("look")
    const models = scriptedModels([[call("look")], unfinished("Once upon", written.resolve), "next"])
    const { deliveries, deliver } = recorder()
    const agent = await startAgent(context, { models, tools: [look], deliver })
    await agent.addEvent("the bell rang")
    const runId = await agent.enqueue({ text: "tell me a story" })
    await written.promise
    assert.equal(agent.runner.abortRun(runId, new TurnStopped({ wasSeen: true })), true)
    assert.equal((await agent.settle(runId)).state, "cancelled")
    assert.deepEqual([deliveries[0]?.text, deliveries[0]?.isStopped], ["Once upon", true])
    await agent.say("and?")
    const told = JSON.stringify(models.requests.at(-1)?.messages)
    assert.match(told, /the bell rang.*tell me a story.*look done.*Once upon\\n\\n\[Stopped here/)
    assert.equal(told.match(/the bell rang/g)?.length, 1)
    assert.equal(deliveries[1]?.isStopped, false)
  })

  test("during a tool leaves no call without a result", async (context) => {
    const called = Promise.withResolvers<void>()
    const stuck = smallTool("stuck", {
      run: () => {
        called.resolve()
        return new Promise(() => undefined)
      },
    })
    const models = scriptedModels([[call("stuck"), call("stuck", {}, "second")], "next"])
    const { deliveries, deliver } = recorder()
    const agent = await startAgent(context, { models, tools: [stuck], deliver })
    const runId = await agent.enqueue({ text: "work" })
    await called.promise
    agent.runner.abortRun(runId, new TurnStopped({ wasSeen: true }))
    await agent.settle(runId)
    assert.equal(deliveries[0]?.text, "")
    const [, assistant, tool, last] = agent.history()
    assert.ok(assistant?.role === "assistant" && tool?.role === "tool" && last?.role === "assistant")
    assert.deepEqual(
      tool.results.map(({ callId, isError }) => [callId, isError]),
      [
        ["call-stuck", true],
        ["second", true],
      ],
    )
    assert.match(last.text, /^\[Stopped here/)
  })
})

describe("what is left of a stopped turn", () => {
  const hook = { purpose: "hook", origin: "webhook", trusted: false, sessionKey: "agent:main:hook:orders" } as const

  for (const wasSeen of [true, false]) {
    test(`of a webhook's is ${wasSeen ? "what somebody saw of it" : "nothing where nobody saw it"}`, async (context) => {
      const written = Promise.withResolvers<void>()
      const { deliveries, deliver } = recorder()
      const models = scriptedModels([unfinished("42 so", written.resolve)])
      const agent = await startAgent(context, { models, deliver })
      const runId = await agent.enqueue({ text: "sales?", ...hook })
      await written.promise
      agent.runner.abortRun(runId, new TurnStopped({ wasSeen }))
      assert.equal((await agent.settle(runId)).state, "cancelled")
      assert.deepEqual(
        deliveries.map(({ text }) => text),
        wasSeen ? ["42 so"] : [],
      )
      assert.equal(agent.history(hook.sessionKey).length, wasSeen ? 2 : 0)
    })
  }

  test("is each word once: what a step has said, and what the one under way was writing", async (context) => {
    const written = Promise.withResolvers<void>()
    const saying: Answer = async ({ onDelta }) => {
      onDelta?.({ kind: "text", text: "Let me look." })
      return "unused"
    }
    const models = scriptedModels([saying, unfinished("Once upon", written.resolve)])
    const ask = models.complete.bind(models)
    models.complete = async (selection, request) => {
      const quiet = { ...request, onDelta: (delta: ModelDelta) => delta.text !== "unused" && request.onDelta?.(delta) }
      const reply = await ask(selection, quiet)
      return { ...reply, text: "Let me look.", toolCalls: [call("look")], finishReason: "tool-calls" }
    }
    const { deliveries, deliver } = recorder()
    const agent = await startAgent(context, { models, tools: [smallTool("look")], deliver })
    const runId = await agent.enqueue({ text: "tell me" })
    await written.promise
    agent.runner.abortRun(runId, new TurnStopped({ wasSeen: true }))
    await agent.settle(runId)
    assert.equal(deliveries[0]?.text, "Let me look.\n\nOnce upon")
  })

  for (const sent of ["", "Once"]) {
    test(`of which a model has begun anew is ${sent === "" ? "the new" : "the new behind what was sent for good"}`, async (context) => {
      const written = Promise.withResolvers<void>()
      const anew = stuckAnswer(({ onDelta, onRestart }) => {
        onDelta?.({ kind: "text", text: "Once upon" })
        onRestart?.()
        onDelta?.({ kind: "text", text: " there was" })
        written.resolve()
      })
      const observe: TurnOptions["observe"] = () => ({ onRestart: () => sent, end: () => undefined })
      const { deliveries, deliver } = recorder()
      const agent = await startAgent(context, { models: scriptedModels([anew.answer]), deliver, observe })
      const runId = await agent.enqueue({ text: "tell me" })
      await written.promise
      agent.runner.abortRun(runId, new TurnStopped({ wasSeen: true }))
      await agent.settle(runId)
      assert.equal(deliveries[0]?.text, `${sent} there was`)
    })
  }
})

describe("a turn that was stopped by a command", () => {
  test("sends nothing and is remembered; events that no model has answered to are shown again, once", async (context) => {
    const written = Promise.withResolvers<void>()
    const models = scriptedModels([unfinished("Once upon", written.resolve), "next"])
    const { deliveries, deliver } = recorder()
    const agent = await startAgent(context, { models, deliver })
    await agent.addEvent("the bell rang")
    const runId = await agent.enqueue({ text: "tell me a story" })
    await written.promise
    agent.runner.abortRun(runId, new TurnStopped())
    assert.equal((await agent.settle(runId)).state, "cancelled")
    assert.deepEqual(deliveries, [])
    await agent.say("a shorter one")
    const told = JSON.stringify(models.requests.at(-1)?.messages)
    assert.match(told, /tell me a story.*\[Stopped here.*the bell rang.*a shorter one/)
    assert.equal(told.match(/the bell rang/g)?.length, 1)
  })

  test("after a tool was called remembers what that has done", async (context) => {
    const written = Promise.withResolvers<void>()
    const models = scriptedModels([[call("buy")], unfinished("It is", written.resolve), "next"])
    const agent = await startAgent(context, { models, tools: [smallTool("buy")] })
    await agent.addEvent("the milk is empty")
    const runId = await agent.enqueue({ text: "see to it" })
    await written.promise
    agent.runner.abortRun(runId, new TurnStopped())
    await agent.settle(runId)
    await agent.say("what have you done?")
    const told = JSON.stringify(models.requests.at(-1)?.messages)
    assert.match(told, /the milk is empty.*see to it.*buy done.*\[Stopped here.*what have you done/)
    assert.equal(told.match(/the milk is empty/g)?.length, 1)
  })
})

describe("whoever watches a turn", () => {
  test("is told of each step, and what the one before has said; also after a restart", async (context) => {
    const seen: string[] = []
    const observe: TurnOptions["observe"] = () => ({
      onStep: ({ number, before }) => void seen.push(`${number} after ${before}`),
      end: () => void seen.push("end"),
    })
    const down = Promise.withResolvers<void>()
    const look = smallTool("look", { repeatable: () => true })
    const talking: Answer = async ({ onDelta }) => {
      onDelta?.({ kind: "text", text: "hm" })
      return "unused"
    }
    const first = scriptedModels([talking, unfinished("x", down.resolve)])
    const ask = first.complete.bind(first)
    first.complete = async (selection, request) => {
      const reply = await ask(selection, request)
      return { ...reply, text: "Let me look.", toolCalls: [call("look")], finishReason: "tool-calls" }
    }
    const agent = await startAgent(context, { models: first, tools: [look], observe })
    await agent.enqueue({ text: "go" })
    await down.promise
    await agent.stop()
    const again = await startAgent(context, {
      folder: agent.folder,
      models: scriptedModels(["done"]),
      tools: [look],
      observe,
    })
    await again.settle("none")
    assert.deepEqual(seen, ["0 after undefined", "1 after Let me look.", "end", "1 after Let me look.", "end"])
  })

  test("is given the thinking of all steps, in their order", async (context) => {
    const { deliveries, deliver } = recorder()
    const models = scriptedModels([[call("look")], "done"])
    const ask = models.complete.bind(models)
    let step = 0
    models.complete = async (...given) => ({ ...(await ask(...given)), reasoning: `Thought ${(step += 1)}.` })
    const agent = await startAgent(context, { models, deliver, tools: [smallTool("look")] })
    await agent.choose({ reasoning: "on" })
    await agent.say("hello")
    assert.equal(deliveries[0]?.reasoning, "Thought 1.\n\nThought 2.")
  })

  test("learns whether thinking is wanted; with `on` it is part of the reply", async (context) => {
    const views: TurnView[] = []
    const { deliveries, deliver } = recorder()
    const models = scriptedModels(["one", "two"])
    const ask = models.complete.bind(models)
    models.complete = async (...given) => ({ ...(await ask(...given)), reasoning: "I think" })
    const observe: TurnOptions["observe"] = (_input, _runId, view) => {
      views.push(view)
      return { end: () => undefined }
    }
    const agent = await startAgent(context, { models, deliver, observe })
    await agent.say("hello")
    const session = agent.sessions.find(main)
    assert.ok(session)
    await agent.store.write(async (write) => agent.sessions.saveSettings(write, session, { reasoning: "on" }))
    await agent.say("hello")
    assert.deepEqual(
      views.map(({ reasoning }) => reasoning),
      ["off", "on"],
    )
    assert.deepEqual(
      deliveries.map(({ reasoning }) => reasoning),
      [undefined, "I think"],
    )
  })
})
