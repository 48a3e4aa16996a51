import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { main, promptOf, scriptedModels, startAgent, stuckAnswer } from "./agent.fixture.ts"
import type { TurnInput, TurnPreparation } from "./turn-input.ts"

const joining = (more: Partial<TurnPreparation> = {}): TurnPreparation => ({
  merge: (inputs) => ({ ...(inputs.at(-1) as TurnInput), text: inputs.map((input) => input.text).join("+") }),
  fetch: async (input) => input,
  complete: (_write, input) => input,
  ...more,
})

const album = { key: "album:1", kind: "album" } as const

describe("the channel's part in a turn", () => {
  test("makes one turn of messages that were joined, and the model is asked once", async (context) => {
    const agent = await startAgent(context, { models: scriptedModels(["one answer"]), preparation: joining() })
    const runs = []
    for (const text of ["a", "b", "c"]) runs.push(await agent.enqueue({ text, join: album }, { holdMs: 60_000 }))
    await agent.release()
    await agent.settle(runs[0] as string)
    assert.equal(agent.models.requests.length, 1)
    assert.equal(promptOf(agent.models.requests[0]), "a+b+c")
    assert.deepEqual(
      agent.replies().map((reply) => reply.text),
      ["one answer"],
    )
  })

  test("is over once the prompt is kept: another attempt fetches nothing again", async (context) => {
    let fetched = 0
    const preparation = joining({
      async fetch({ pending, ...input }) {
        fetched += 1
        return { ...input, text: `${input.text} with ${JSON.stringify(pending)}` }
      },
    })
    const { asked, answer } = stuckAnswer()
    const stuck = scriptedModels([answer])
    const earlier = await startAgent(context, { models: stuck, preparation })
    const runId = await earlier.enqueue({ text: "look", pending: { file: 7 } })
    await asked
    await earlier.stop()
    const agent = await startAgent(context, { models: scriptedModels(["seen"]), preparation, folder: earlier.folder })
    await agent.settle(runId)
    assert.deepEqual(agent.models.requests.map(promptOf), ['look with {"file":7}'])
    assert.equal(fetched, 1)
  })

  test("adds, in the transaction of the prompt, what is used up by being shown", async (context) => {
    const agent = await startAgent(context, {
      models: scriptedModels(["first", "second"]),
      preparation: joining({
        complete(write, input) {
          const { changes } = write
            .prepare("update event set consumed_by = 1 where session_key = 'shelf' and consumed_by is null")
            .run()
          if (Number(changes) === 0) return input
          return { ...input, context: [{ label: "Said before:", text: "one thing" }] }
        },
      }),
    })
    await agent.store.write(async (write) => {
      write.addEvent({ sessionKey: "shelf", text: "one thing", origin: "group-member", trusted: false })
    })
    await agent.say("and?")
    await agent.say("and now?")
    const [first, second] = agent.models.requests.map(promptOf)
    assert.match(
      first ?? "",
      /^Said before:\n<untrusted-content [^>]+>\none thing\n<\/untrusted-content [^>]+>\n\nand\?$/,
    )
    assert.equal(second, "and now?")
  })

  test("gives the operator's instructions for a place, and no more of the past than it allows", async (context) => {
    const agent = await startAgent(context, { models: scriptedModels(["1", "2", "3"]) })
    await agent.say("one")
    await agent.say("two")
    await agent.say("three", { instructions: "Answer in rhymes.", historyTurns: 1 })
    const request = agent.models.requests.at(-1)
    assert.match(request?.system ?? "", /Instructions for this conversation: Answer in rhymes\.$/)
    assert.deepEqual(
      request?.messages.map((message) => (message.role === "assistant" ? message.text : promptOfOne(message))),
      ["two", "2", "three"],
    )
    assert.equal(agent.history(main).length, 6)
  })
})

function promptOfOne(message: { role: string }): string {
  return promptOf({ messages: [message] } as Parameters<typeof promptOf>[0])
}
