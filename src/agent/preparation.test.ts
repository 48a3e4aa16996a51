import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { main, promptOf, scriptedModels, startAgent, stuckAnswer } from "./agent.fixture.ts"
import { TurnStopped } from "./stopped.ts"
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

  test("is asked for nothing that a message does not lack, and loses no message that a turn had taken in", async (context) => {
    const fetched: string[] = []
    const stuck = Promise.withResolvers<void>()
    let isStuck = true
    const preparation = joining({
      async fetch({ pending: _pending, ...input }, signal) {
        fetched.push(input.text)
        if (!isStuck) return input
        stuck.resolve()
        return await new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason), { once: true })
        })
      },
    })
    const first = stuckAnswer()
    const earlier = await startAgent(context, { models: scriptedModels([first.answer]), preparation })
    const runId = await earlier.enqueue({ text: "first" })
    await first.asked
    const queue = { mode: "collect", cap: 20, drop: "old" } as const
    const waiting = await earlier.enqueue({ text: "one", queue })
    await earlier.enqueue({ text: "two", queue, pending: { file: 7 } })
    earlier.runner.abortRun(runId, new TurnStopped())
    await stuck.promise
    await earlier.stop()
    assert.deepEqual(fetched, ["two"])
    isStuck = false
    const agent = await startAgent(context, { models: scriptedModels(["seen"]), preparation, folder: earlier.folder })
    assert.equal((await agent.settle(waiting)).state, "done")
    assert.match(promptOf(agent.models.requests[0]), /Queued #1\n\none[^]*Queued #2\n\ntwo$/)
    assert.deepEqual(fetched, ["two", "two"])
  })

  for (const kind of ["album", "paste"] as const) {
    test(`${kind === "album" ? "joins the pictures of an album wherever they stand" : "joins the pieces of a paste that follow each other"}`, async (context) => {
      const agent = await startAgent(context, { models: scriptedModels(["1", "2", "3"]), preparation: joining() })
      const join = { key: "k", kind }
      const first = await agent.enqueue({ text: "a", join }, { holdMs: 60_000 })
      await agent.enqueue({ text: "between" })
      await agent.enqueue({ text: "b", join }, { holdMs: 60_000 })
      await agent.release()
      await agent.settle(first)
      assert.deepEqual(
        agent.models.requests.map(promptOf),
        kind === "album" ? ["a+b", "between"] : ["a", "between", "b"],
      )
    })
  }

  test("joins what waited while a turn was at work, each message by itself", async (context) => {
    const { asked, answer } = stuckAnswer()
    const models = scriptedModels([answer, "all"])
    const agent = await startAgent(context, { models, preparation: joining() })
    const runId = await agent.enqueue({ text: "first" })
    await asked
    const queue = { mode: "collect", cap: 20, drop: "old" } as const
    await agent.enqueue({ text: "x", queue })
    for (const key of ["one", "two"])
      for (const text of ["a", "b"])
        await agent.enqueue({ text: `${text} of ${key}`, queue, join: { key, kind: "paste" } })
    agent.runner.abortRun(runId, new TurnStopped())
    await agent.settle(runId)
    assert.match(
      promptOf(models.requests[1]),
      /Queued #1\n\nx\n\n--- Queued #2\n\na of one\+b of one\n\n--- Queued #3\n\na of two\+b of two$/,
    )
  })

  test("loses no part that was joined when it is cut before the prompt", async (context) => {
    const { promise: stuck, resolve: isAsked } = Promise.withResolvers<void>()
    const fetch: TurnPreparation["fetch"] = (_input, signal) => {
      isAsked()
      return new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason), { once: true })
      })
    }
    const earlier = await startAgent(context, { preparation: joining({ fetch }) })
    const runId = await earlier.enqueue({ text: "a", join: album }, { holdMs: 60_000 })
    await earlier.enqueue({ text: "b", join: album, pending: { file: 7 } }, { holdMs: 60_000 })
    await earlier.release()
    await stuck
    await earlier.stop()
    const models = scriptedModels(["seen"])
    const agent = await startAgent(context, { models, preparation: joining(), folder: earlier.folder })
    // Parts that come behind a start have a moment to join.
    await agent.release()
    assert.equal((await agent.settle(runId)).state, "done")
    assert.deepEqual(models.requests.map(promptOf), ["a+b"])
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
