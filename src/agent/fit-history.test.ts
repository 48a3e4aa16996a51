import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { silentLog } from "../../test/support/store.ts"
import { AppError } from "../kernel/index.ts"
import type { ModelMessage, ModelReply, ModelRequest } from "../models/contract.ts"
import { scriptedModels, startAgent } from "./agent.fixture.ts"
import { fitHistory } from "./fit-history.ts"

const user = (text: string): ModelMessage => ({ role: "user", content: [{ type: "text", text }] })
const assistant = (text: string): ModelMessage => ({ role: "assistant", text, toolCalls: [] })
const tooLong = () => new AppError("model-failed", "too long", { status: 413 })

/** A model that takes only so many messages, and what it was shown. */
function narrowModel(most: number, refusal: () => Error = tooLong) {
  const shown: number[] = []
  const complete = async ({ messages }: ModelRequest): Promise<ModelReply> => {
    shown.push(messages.length)
    if (messages.length > most) throw refusal()
    assert.equal(messages[0]?.role, "user")
    return {
      text: "fits",
      reasoning: "",
      toolCalls: [],
      finishReason: "stop",
      usage: { inputTokens: 1, outputTokens: 1 },
      model: "m",
    }
  }
  return { shown, complete }
}

const history = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? user("q") : assistant("a")))
const request = (more: ModelMessage[] = []): ModelRequest => ({
  system: "",
  messages: [...history, user("now"), ...more],
  tools: [],
  signal: new AbortController().signal,
})

describe("a conversation longer than the model takes", () => {
  test("is asked again with the newer half of the past, as often as it must", async () => {
    const model = narrowModel(6)
    const complete = fitHistory(model.complete, history.length, silentLog)
    assert.equal((await complete(request())).text, "fits")
    assert.deepEqual(model.shown, [21, 11, 5])
    assert.equal((await complete(request([assistant("step")]))).text, "fits")
    assert.deepEqual(model.shown.slice(3), [6], "what was left out stays out")
  })

  test("is shown without its past at last, and fails when the turn alone is too long", async () => {
    const model = narrowModel(0)
    await assert.rejects(fitHistory(model.complete, history.length, silentLog)(request()), /too long/)
    assert.equal(model.shown.at(-1), 1)
  })

  test("is not shortened for another failure", async () => {
    const model = narrowModel(0, () => new AppError("model-failed", "no such model"))
    await assert.rejects(fitHistory(model.complete, history.length, silentLog)(request()), /no such model/)
    assert.deepEqual(model.shown, [21])
  })
})

test("a turn whose conversation the model refuses as too long is answered with less of it", async (context) => {
  const models = scriptedModels([
    "1",
    "2",
    async () => {
      throw tooLong()
    },
    "3",
  ])
  const agent = await startAgent(context, { models })
  await agent.say("one")
  await agent.say("two")
  const job = await agent.say("three")
  assert.equal(job.state, "done")
  assert.deepEqual(
    models.requests.slice(2).map((each) => each.messages.length),
    [5, 3],
  )
  assert.deepEqual(
    agent.replies().map((reply) => reply.text),
    ["1", "2", "3"],
  )
})
