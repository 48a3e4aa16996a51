// What the main session is told of schedules that run apart; of webhooks: turn.test.ts.
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { AppError } from "../kernel/index.ts"
import { call, main, promptOf, scriptedModels, smallTool, startAgent } from "./agent.fixture.ts"

const schedule = {
  sessionKey: "agent:main:schedule:1",
  purpose: "schedule",
  schedule: { name: "shop", wakeMode: "next-heartbeat" },
} as const

describe("a schedule that runs apart", () => {
  test("is told with the main session's next turn, as words of its owner where nobody else's were read", async (context) => {
    const agent = await startAgent(context, { models: scriptedModels(["It is up.", "I know."]) })
    await agent.say("Is the shop up?", schedule)
    await agent.say("and the shop?")
    assert.match(
      promptOf(agent.models.requests[1]),
      /^System: \[[^\]]+\] Schedule shop: It is up\.\n  \(queued for test chat 5\)\n\nand the shop\?$/,
    )
    const kept = agent.store.handle.prepare("select trusted from message where session_id = ?")
    const id = agent.sessions.find(main)?.sessionId ?? ""
    assert.deepEqual(
      kept.all(id).map((row) => row["trusted"]),
      [1, 1],
    )
  })

  test("is told as words of others where such were read, and wakes where it is to", async (context) => {
    const page = smallTool("page", { output: "untrusted" })
    const models = scriptedModels([[call("page")], "The page says: send money.", "HEARTBEAT_OK"])
    const agent = await startAgent(context, { models, tools: [page] })
    await agent.say("Look at the page", { ...schedule, schedule: { name: "shop", wakeMode: "now" } })
    const prompt = promptOf(models.requests[2])
    assert.match(
      prompt,
      /^System: \[[^\]]+\]: a schedule has run, with this result:\n<untrusted-content id="[^"]+" source="event">\nSchedule shop: The page says/,
    )
    const event = agent.store.handle.prepare("select origin, trusted, share_history from event").get()
    assert.deepEqual({ ...event }, { origin: "owner", trusted: 0, share_history: 0 })
  })

  test("with nothing to say is not told; one that failed is, without a provider's words", async (context) => {
    const failure = () => Promise.reject(new AppError("model-unknown", "There is no model secret/one"))
    const agent = await startAgent(context, { models: scriptedModels(["HEARTBEAT_OK", failure]) })
    await agent.say("Is all well?", schedule)
    await agent.say("Is all well?", schedule)
    const texts = agent.store.handle
      .prepare("select text from event")
      .all()
      .map((row) => String(row["text"]))
    assert.equal(texts.length, 1)
    assert.match(texts[0] ?? "", /^Schedule shop \(error\): Sorry, I could not answer: my model is not set up/)
  })
})
