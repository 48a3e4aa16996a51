// A run once more: from its start as it came in, from a step with what came before it, and what may not be repeated.
import assert from "node:assert/strict"
import { type TestContext, describe, test } from "node:test"
import { AppError, systemIds } from "../kernel/index.ts"
import { call, promptOf, scriptedModels, smallTool, startAgent } from "./agent.fixture.ts"
import { runAgain } from "./run-again.ts"

async function start(context: TestContext, answers: Parameters<typeof scriptedModels>[0]) {
  const made: string[] = []
  const act = smallTool("act", {
    run: async ({ word = "" }, { tainted }) => {
      made.push(`${word}${tainted ? " tainted" : ""}`)
      return { content: [{ type: "text", text: `done ${word}` }] }
    },
  })
  const tools = [act, smallTool("read", { output: "untrusted" })]
  const agent = await startAgent(context, { models: scriptedModels(answers), tools })
  const again = async (runId: string, step?: number, key?: string) => {
    const next = await runAgain({ store: agent.store, ids: systemIds }, { runId, step, key })
    return await agent.settle(next.runId)
  }
  return { agent, made, again }
}

const words = (agent: Awaited<ReturnType<typeof start>>["agent"]) => agent.replies().map(({ text }) => text)

describe("a run again", () => {
  test("from its start: the same words in the same session, as a run of its own that names the first", async (context) => {
    const answers = [[call("act", { word: "a" })], "one", [call("act", { word: "b" })], "two"]
    const { agent, made, again } = await start(context, answers)
    const first = await agent.say("order the tea", { ref: "chat:5:77" })
    const second = await again(first.run_id)
    assert.deepEqual([made, words(agent), second.state], [["a", "b"], ["one", "two"], "done"])
    assert.deepEqual(JSON.parse(second.payload).again, { runId: first.run_id })
    // An edit of the message finds the turn that it began, not its repetition.
    assert.deepEqual([second.ref, second.lane_key], [null, first.lane_key])
    assert.match(promptOf(agent.models.requests[2]), /order the tea/)
  })

  test("from a step: what came before stands, the tool calls before are not made again, and the model is asked anew", async (context) => {
    const answers = [[call("act", { word: "a" }, "1")], [call("act", { word: "b" }, "2")], "one", "two"]
    const { agent, made, again } = await start(context, answers)
    await agent.addEvent("The parcel is here")
    const first = await agent.say("order")
    const steps = agent.store.handle.prepare("select n, kind from step where job_id = ?").all(first.id)
    const [, second] = steps.filter(({ kind }) => kind === "assistant").map(({ n }) => Number(n))
    const repeated = await again(first.run_id, second)
    assert.deepEqual([made, words(agent), repeated.state], [["a", "b"], ["one", "two"], "done"])
    const request = agent.models.requests.at(-1)
    assert.match(promptOf(request), /The parcel is here/)
    assert.match(JSON.stringify(request?.messages.at(-1)), /done a/)
    // The event belongs to the run that has shown it.
    assert.equal(agent.store.handle.prepare("select consumed_by from event").get()?.["consumed_by"], first.id)
  })

  test("words of others that a step has brought taint what comes after it once more", async (context) => {
    const answers = [[call("read", {}, "1")], "one", [call("act", { word: "a" }, "2")], "two"]
    const { agent, made, again } = await start(context, answers)
    const first = await agent.say("read it")
    const repeated = await again(first.run_id, 4)
    assert.deepEqual([made, repeated.trusted], [["a tainted"], 0])
    const rows = agent.store.handle.prepare("select trusted from outbox order by id").all()
    assert.deepEqual(rows.at(-1)?.["trusted"], 0)
  })

  test("words of others beside its owner's taint it once more, and it belongs where its chat is by now", async (context) => {
    const context_ = [{ label: "In reply to message 3:", text: "words of somebody else" }]
    const { agent, again } = await start(context, [[call("act", { word: "a" })], "one", "two"])
    const first = await agent.say("look", { context: context_, steered: 2 as never })
    const moved = { ...JSON.parse(first.payload), route: { ...JSON.parse(first.payload).route, chatId: "6" } }
    await agent.store.write(async (write) => {
      write.prepare("update job set payload = ? where id = ?").run(JSON.stringify(moved), first.id)
    })
    const next = await again(first.run_id, 4)
    const input = JSON.parse(next.payload) as { route: { chatId: string }; steered?: unknown }
    assert.deepEqual([next.trusted, input.route.chatId, input.steered], [0, "6", undefined])
    assert.equal(agent.store.handle.prepare("select chat_id from outbox order by id desc").get()?.["chat_id"], "6")
  })

  test("one that failed goes on before the step that failed it", async (context) => {
    const fails = async () => {
      throw new AppError("model-failed", "the model is away")
    }
    const answers = [[call("act", { word: "a" })], fails, "now it works"]
    const { agent, made, again } = await start(context, answers)
    const first = await agent.say("order")
    assert.match(first.error ?? "", /the model is away/)
    const repeated = await again(first.run_id, 4)
    assert.deepEqual([made, words(agent).at(-1), repeated.state], [["a"], "now it works", "done"])
  })

  test("the same wish twice is one run; one that is open, unknown, no turn, or has no such step is refused", async (context) => {
    const { agent, again } = await start(context, ["one", "two"])
    const first = await agent.say("hello")
    const [a, b] = await Promise.all([
      again(first.run_id, undefined, "wish-0001"),
      again(first.run_id, undefined, "wish-0001"),
    ])
    assert.equal(a.run_id, b.run_id)
    assert.deepEqual(words(agent), ["one", "two"])
    await assert.rejects(again(first.run_id, 2), /Step 2 is none that this run can go on from/)
    await assert.rejects(again("nothing"), /There is no run nothing/)
    const beat = await agent.wake("manual")
    await assert.rejects(again(beat.run_id), /kind heartbeat is not repeated/)
    const open = await agent.enqueue({ text: "later", join: { key: "k", kind: "burst" } }, { holdMs: 60_000 })
    await assert.rejects(again(open), /not over yet/)
  })
})
