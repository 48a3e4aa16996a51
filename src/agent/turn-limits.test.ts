// How far a turn may go, through turns with a scripted model.
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import type { ModelRequest } from "../models/contract.ts"
import { call, scriptedModels, smallTool, startAgent } from "./agent.fixture.ts"

const echo = smallTool("echo", { repeatable: () => true })
/** What the model is shown of its last calls. */
const lastResults = ({ messages }: ModelRequest) => {
  const last = messages.findLast((message) => message.role === "tool")
  const parts = last?.results.flatMap(({ content }) => content) ?? []
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("\n")
}
/** Never the same twice. */
const words = (count: number) => Array.from({ length: count }, (_, n) => [call("echo", { word: `${n}` }, `c${n}`)])

describe("the limit of steps", () => {
  test("tells the model to answer with what it has", async (context) => {
    let told = ""
    const answer = async (request: ModelRequest) => {
      told = lastResults(request)
      return "what I have"
    }
    const models = scriptedModels([...words(3), answer])
    const agent = await startAgent(context, { models, tools: [echo], limits: { steps: 3 } })
    await agent.say("go")
    assert.match(told, /Not done: a turn has 3 steps at most.*Answer now with what you have/)
    assert.equal(agent.replies()[0]?.text, "what I have")
  })

  test("ends a turn that calls tools all the same, in words", async (context) => {
    const models = scriptedModels(words(5))
    const agent = await startAgent(context, { models, tools: [echo], limits: { steps: 3 } })
    await agent.say("go")
    assert.equal(models.requests.length, 5)
    assert.equal(agent.replies()[0]?.text, "I have stopped: 3 steps have brought no answer.")
  })
})

describe("the limit of tool calls", () => {
  test("counts calls of all steps, and makes none beyond", async (context) => {
    let made = 0
    const counting = smallTool("echo", {
      repeatable: () => true,
      run: async () => ({ content: [{ type: "text", text: `${(made += 1)}` }] }),
    })
    const many = [call("echo", { word: "a" }, "a"), call("echo", { word: "b" }, "b"), call("echo", { word: "c" }, "c")]
    const models = scriptedModels([many, many, async (request) => lastResults(request)])
    const agent = await startAgent(context, { models, tools: [counting], limits: { toolCalls: 4 } })
    await agent.say("go")
    assert.equal(made, 4)
    assert.match(agent.replies()[0]?.text ?? "", /^4\nNot done: a turn makes 4 tool calls at most/)
  })

  test("ends a turn that goes on calling", async (context) => {
    const models = scriptedModels(words(5))
    const agent = await startAgent(context, { models, tools: [echo], limits: { toolCalls: 2 } })
    await agent.say("go")
    assert.equal(models.requests.length, 5)
    assert.equal(agent.replies()[0]?.text, "I have stopped: 2 tool calls have brought no answer.")
  })
})

describe("equal calls", () => {
  const same = () => [call("echo", { word: "again" })]

  test("with equal results are noticed, and the model is told", async (context) => {
    const models = scriptedModels([same(), same(), same(), async (request) => lastResults(request)])
    const agent = await startAgent(context, { models, tools: [echo], limits: { repeatedCalls: 2 } })
    await agent.say("go")
    assert.match(agent.replies()[0]?.text ?? "", /this very call was made 2 times .* go another way/)
  })

  test("that go on end the turn as a loop, and the person is told", async (context) => {
    const models = scriptedModels(Array.from({ length: 5 }, same))
    const agent = await startAgent(context, { models, tools: [echo], limits: { repeatedCalls: 2 } })
    await agent.say("go")
    assert.equal(models.requests.length, 5)
    assert.equal(
      agent.replies()[0]?.text,
      "I have stopped: I was going in circles, with the tool echo again and again.",
    )
  })

  test("with new results each time are no loop; words of others are compared without their boundary", async (context) => {
    let made = 0
    const page = (name: string, text: () => string) =>
      smallTool(name, {
        output: "untrusted",
        repeatable: () => true,
        run: async () => ({ content: [{ type: "text", text: text() }] }),
      })
    const next = page("next", () => `page ${(made += 1)}`)
    const stuck = page("stuck", () => "the same page")
    const turn = (name: string) => [call(name, { word: "x" })]
    const steps = [...Array.from({ length: 4 }, () => turn("next")), ...Array.from({ length: 3 }, () => turn("stuck"))]
    const models = scriptedModels([...steps, async (request) => lastResults(request)])
    const agent = await startAgent(context, { models, tools: [next, stuck], limits: { repeatedCalls: 2 } })
    await agent.say("go")
    assert.equal(made, 4)
    assert.match(agent.replies()[0]?.text ?? "", /this very call was made 2 times/)
  })
})
