import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { silentLog } from "../../test/support/store.ts"
import { AppError } from "../kernel/index.ts"
import { ModelFailure } from "../models/index.ts"
import type { ModelMessage, ModelReply, ModelRequest } from "../models/contract.ts"
import { scriptedModels, startAgent } from "./agent.fixture.ts"
import { fitRequests } from "./fit.ts"

const user = (text: string): ModelMessage => ({ role: "user", content: [{ type: "text", text }] })
const assistant = (text: string): ModelMessage => ({ role: "assistant", text, toolCalls: [] })
const tooLong = () => new AppError("model-failed", "too long", { status: 413 })

/** A model that takes only so many characters, counts a token for two of them, and what it was shown. */
function narrowModel(most: number, refusal: (size: number) => Error = tooLong) {
  const shown: ModelMessage[][] = []
  const complete = async ({ messages }: ModelRequest): Promise<ModelReply> => {
    shown.push(messages)
    assert.equal(messages[0]?.role, "user")
    const size = JSON.stringify(messages).length
    if (size > most) throw refusal(size)
    const counted = { inputTokens: Math.round(size / 2), outputTokens: 1 }
    return { text: "fits", reasoning: "", toolCalls: [], finishReason: "stop", usage: counted, model: "m" }
  }
  return { shown, complete }
}

const words = (length: number) => "w".repeat(length)
const history = Array.from({ length: 20 }, (_, index) =>
  index % 2 === 0 ? user(`q${index}${words(500)}`) : assistant(`a${index}${words(500)}`),
)
const request = (more: ModelMessage[] = []): ModelRequest => ({
  system: "",
  messages: [...history, user("now"), ...more],
  tools: [],
  usedFor: { purpose: "test" },
  signal: new AbortController().signal,
})
const step = (n: number, size: number): ModelMessage[] => [
  { role: "assistant", text: "", toolCalls: [{ id: `c${n}`, name: "look", input: {} }] },
  {
    role: "tool",
    results: [{ callId: `c${n}`, toolName: "look", content: [{ type: "text", text: words(size) }], isError: false }],
  },
]
const fit = (model: { complete: (request: ModelRequest) => Promise<ModelReply> }, promptTokens = 1_000_000) =>
  fitRequests({ complete: model.complete, historyLength: history.length, promptTokens, log: silentLog })
const textOf = (messages: readonly ModelMessage[]) => JSON.stringify(messages)

describe("a conversation longer than the model takes", () => {
  test("is asked again with less of the past, as often as it must, and what was left out stays out", async () => {
    const model = narrowModel(4_000)
    const complete = fit(model)
    assert.equal((await complete(request())).text, "fits")
    const tries = model.shown.length
    assert.ok(tries > 1 && tries < 8)
    const kept = model.shown.at(-1) as ModelMessage[]
    assert.equal(textOf(kept).includes("q18"), true, "the newest stays")
    assert.equal((await complete(request([assistant("step")]))).text, "fits")
    assert.deepEqual(model.shown.length, tries + 1)
    assert.deepEqual(model.shown.at(-1)?.slice(0, -1), kept)
  })

  test("is shortened to the limit that the provider names", async () => {
    const model = narrowModel(
      6_000,
      () =>
        new ModelFailure("too long", {
          kind: "context",
          reason: "too long",
          chatMessage: "Too long.",
          status: 413,
          contextLimit: 1_200,
        }),
    )
    assert.equal((await fit(model)(request())).text, "fits")
    assert.equal(model.shown.length, 2)
  })

  test("is shortened before it is asked where the model's context is known", async () => {
    const model = narrowModel(1_000_000)
    await fit(model, 1_500)(request())
    assert.equal(model.shown.length, 1)
    assert.ok(textOf(model.shown[0] ?? []).length < 6_000)
  })

  test("loses the old results of the turn itself when its past is gone, then the length of the newest", async () => {
    const steps = [1, 2, 3, 4].flatMap((n) => step(n, 20_000))
    const model = narrowModel(30_000)
    assert.equal((await fit(model)(request(steps))).text, "fits")
    const last = model.shown.at(-1) as ModelMessage[]
    assert.equal(textOf(last).includes("q0"), false)
    assert.equal(last.filter((message) => message.role === "tool").length, 4, "each call keeps a result")
    assert.match(textOf(last.slice(2, 3)), /left out to make room/)
    assert.equal(textOf(last.slice(-1)).length > 20_000, true)
    const narrower = narrowModel(15_000)
    assert.equal((await fit(narrower)(request(steps))).text, "fits")
    assert.match(textOf(narrower.shown.at(-1)?.slice(-1) ?? []), /The rest was left out/)
  })

  test("learns how the provider counts, so that the next steps are shortened before they are refused", async () => {
    const model = narrowModel(1_000_000)
    const complete = fit(model, 6_000)
    await complete(request())
    await complete(request(step(1, 2_000)))
    const size = textOf(model.shown.at(-1) ?? []).length
    assert.ok(size / 2 <= 6_000, `${size} characters of which two count as one`)
  })

  test("fails when the turn alone is too long", async () => {
    const model = narrowModel(10)
    await assert.rejects(fit(model)(request()), /too long/)
    assert.equal(model.shown.at(-1)?.length, 1)
  })

  test("is not shortened for another failure", async () => {
    const model = narrowModel(0, () => new AppError("model-failed", "no such model"))
    await assert.rejects(fit(model)(request()), /no such model/)
    assert.equal(model.shown.length, 1)
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
  const [first, second] = models.requests.slice(2).map((each) => each.messages.length)
  assert.ok(first === 5 && second !== undefined && second < first)
  assert.deepEqual(
    agent.replies().map((reply) => reply.text),
    ["1", "2", "3"],
  )
})
