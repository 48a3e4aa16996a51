// What a person is told of a turn that has failed: short, and nothing that is the operator's to know.
import assert from "node:assert/strict"
import { test } from "node:test"
import { BudgetExceeded } from "../budget/index.ts"
import { AppError } from "../kernel/index.ts"
import { ModelFailure } from "../models/index.ts"
import { chat, scriptedModels, startAgent } from "./agent.fixture.ts"
import type { TurnInput } from "./turn-input.ts"

const group = { route: { ...chat, chatId: "-1", chatKind: "group" } } as const
const sender = { origin: "approved-sender" } as const
const capped = (toldAt?: string) =>
  new BudgetExceeded("The cap of the day is used", { hint: "budget.day decides", toldAt, wasLifted: () => false })
const noKey = new ModelFailure("https://models.example said 401 to key sk-1", {
  kind: "key",
  reason: "the key is refused",
  chatMessage: "my model's key is not accepted.",
})

const cases: [string, AppError, Partial<TurnInput>, state: string, said: string[]][] = [
  ["a model that refuses", noKey, {}, "dead", ["Sorry, I could not answer: my model's key is not accepted."]],
  [
    "a model that there is not",
    new AppError("model-unknown", "No provider has secret/one", { hint: "models.providers" }),
    {},
    "dead",
    ["Sorry, I could not answer: my model is not set up as it should be."],
  ],
  [
    "what cannot be asked",
    new AppError("bad-request", "The picture is too large", { hint: "Send a smaller one" }),
    {},
    "dead",
    ["Sorry, I could not answer: The picture is too large (Send a smaller one)"],
  ],
  [
    "a cap, for its owner",
    capped(),
    {},
    "cancelled",
    ["Not answered. The cap of the day is used. See /usage, where you can allow more."],
  ],
  [
    "a cap, for its owner in a group",
    capped(),
    group,
    "cancelled",
    ["Sorry, I cannot answer now: a limit on spending is reached."],
  ],
  [
    "a cap, for somebody else",
    capped(),
    sender,
    "cancelled",
    ["Sorry, I cannot answer now: a limit on spending is reached."],
  ],
  ["a cap of which this very chat was told", capped("test default 5"), {}, "cancelled", []],
  [
    "a cap of which another chat was told",
    capped("test default 6"),
    {},
    "cancelled",
    ["Not answered. The cap of the day is used. See /usage, where you can allow more."],
  ],
]

for (const [name, error, input, state, said] of cases) {
  test(`of ${name}: ${said[0] ?? "nothing more"}`, async (context) => {
    const agent = await startAgent(context, { models: scriptedModels([() => Promise.reject(error)]) })
    const job = await agent.say("hello", input)
    assert.deepEqual([job.state, job.attempts], [state, 1])
    assert.ok(job.error?.includes(error.message), "the run has all of it")
    assert.deepEqual(
      agent.replies().map(({ text, isError }) => [text, isError]),
      said.map((text) => [text, true]),
    )
  })
}

test("a heartbeat under a cap is none that failed, and leaves its events to the next", async (context) => {
  const models = scriptedModels([() => Promise.reject(capped()), "The door is open."])
  const agent = await startAgent(context, { models })
  await agent.addEvent("door opened")
  const job = await agent.wake("wake")
  assert.equal(job.state, "done")
  assert.deepEqual(JSON.parse(job.result ?? ""), { skipped: "The cap of the day is used" })
  assert.deepEqual(agent.replies(), [])
  await agent.wake("wake")
  assert.equal(agent.replies()[0]?.text, "The door is open.")
})
