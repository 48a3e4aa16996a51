import assert from "node:assert/strict"
import { describe, test } from "node:test"
import type { ModelRequest } from "../models/contract.ts"
import { call, main, movableClock, promptOf, scriptedModels, smallTool, startAgent } from "./agent.fixture.ts"
import { siteOf } from "../kernel/index.ts"
import type { Tool, ToolContext } from "./tool.ts"
import type { TurnInput } from "./turn-input.ts"

/** A tool that brings words of others, and one that says how it was called. */
function tools(seen: string[]): Tool[] {
  return [
    smallTool("read", { output: "untrusted" }),
    smallTool("act", {
      run: async ({ word = "" }, { tainted }: ToolContext) => {
        seen.push(`${word}${tainted ? " tainted" : ""}`)
        return { content: [{ type: "text", text: "done" }] }
      },
    }),
  ]
}

const act = (word: string, id = word) => call("act", { word }, id)

function trusts(agent: Awaited<ReturnType<typeof startAgent>>): number[] {
  return agent.store.handle
    .prepare("select trusted from message order by id")
    .all()
    .map((row) => Number(row["trusted"]))
}

describe("a turn is tainted", () => {
  test("from the step after which words of others were read; calls of one step were made before", async (context) => {
    const seen: string[] = []
    const answers = [[act("a"), call("read"), act("b")], [act("c")], "done", [act("d")], "still"]
    const agent = await startAgent(context, { models: scriptedModels(answers), tools: tools(seen) })
    await agent.say("go")
    assert.deepEqual(seen, ["a", "b", "c tainted"])
    // The prompt and the first calls are the owner's and the model's own.
    assert.deepEqual(trusts(agent), [1, 1, 0, 0, 0, 0])
    const origins = agent.store.handle.prepare("select origin from message order by id").all()
    assert.deepEqual(
      origins.map(({ origin }) => origin),
      ["owner", "model", "web-page", "model", "web-page", "model"],
    )
    await agent.say("thanks")
    assert.deepEqual(seen.at(-1), "d tainted")
  })

  test("while one entry of such words is among those that the model is shown, and no longer", async (context) => {
    const seen: string[] = []
    const answers = [[call("read")], "read", [act("a")], "1", "2", [act("b")], "3"]
    const agent = await startAgent(context, { models: scriptedModels(answers), tools: tools(seen) })
    await agent.say("go")
    await agent.say("one", { historyTurns: 1 })
    // These answers are tainted themselves: they were written from what the first had brought.
    await agent.say("two", { historyTurns: 1 })
    await agent.say("three", { historyTurns: 0 })
    assert.deepEqual(seen, ["a tainted", "b"])
  })

  for (const [name, input, tainted] of [
    ["an owner's words", {}, false],
    ["a message that quotes another", { context: [{ label: "Answers:", text: "x" }] }, true],
    ["a file", { media: [{ path: "/nowhere.pdf", mediaType: "application/pdf" }] }, true],
    ["a forward", { trusted: false, about: { forwardedFrom: "Mallory" } }, true],
    ["a webhook", { trusted: false, origin: "webhook", purpose: "hook" }, true],
    ["somebody else in a group", { trusted: false, origin: "group-member" }, true],
    ["a guest who is alone in a session", { trusted: false, origin: "approved-sender", guestSession: true }, false],
    ["what such a guest forwards", { trusted: false, guestSession: true, about: { forwardedFrom: "M" } }, true],
  ] as const) {
    test(`${tainted ? "by" : "not by"} ${name}`, async (context) => {
      const seen: string[] = []
      const models = scriptedModels([[act("x")], "ok"])
      const agent = await startAgent(context, { models, tools: tools(seen) })
      await agent.say("go", structuredClone(input) as object)
      assert.deepEqual(seen, [tainted ? "x tainted" : "x"])
      assert.deepEqual(new Set(trusts(agent)), new Set([tainted ? 0 : 1]))
    })
  }

  test("so that what goes out while it is at work is known as such", async (context) => {
    let atWork: unknown
    const look = smallTool("look", {
      run: async () => {
        atWork = agent.store.handle.prepare("select trusted from job where state = 'running'").get()?.["trusted"]
        return { content: [] }
      },
    })
    const agent = await startAgent(context, { models: scriptedModels(["1", "2", "3", "4"]), tools: [look] })
    const provenance = async (input: Partial<TurnInput> = {}) => {
      const job = await agent.say("go", input)
      return [job.trusted, job.origin]
    }
    assert.deepEqual(await provenance(), [1, "owner"])
    const quoted = { context: [{ label: "Answers:", text: "x" }], sessionKey: "agent:main:test:group:-1" }
    assert.deepEqual(await provenance(quoted), [0, "owner"])
    await agent.addEvent("disk full", { trusted: false, origin: "webhook" })
    assert.deepEqual(await provenance(), [0, "webhook"])
    assert.equal((await provenance())[0], 0, "its past holds them")
    agent.models.answers.push([call("look")], "5")
    await provenance()
    assert.equal(atWork, 0, "already while it is at work")
  })

  test("by what was kept before provenance was", async (context) => {
    const seen: string[] = []
    const models = scriptedModels(["hello", [act("x")], "ok"])
    const agent = await startAgent(context, { models, tools: tools(seen) })
    await agent.say("hi")
    await agent.store.write(async (write) => {
      write.prepare("update message set trusted = 0, origin = 'unknown'").run()
    })
    await agent.say("go")
    assert.deepEqual(seen, ["x tainted"])
  })

  const passes = ["turn.beforeModel", "turn.afterModel", "turn.beforeTool", "turn.afterTool"]
  for (const place of [4, 5, 6, 7]) {
    test(`after a crash too (${passes[(place - 1) % 4]}, place ${place})`, async (context) => {
      const seen: string[] = []
      const clock = movableClock()
      const models = scriptedModels([[call("read")], [act("x")], "done"])
      let passed = 0
      const crashPoint = (label: string) => {
        if (passes.includes(label) && ++passed === place) throw new Error(`crash at ${label}`)
      }
      const first = await startAgent(context, { models, tools: tools(seen), crashPoint, clock })
      const runId = await first.enqueue({ text: "go" })
      await first.settle(runId)
      await first.stop()
      clock.forward(60_000)
      const second = await startAgent(context, { models, tools: tools(seen), clock, folder: first.folder })
      const job = await second.settle(runId)
      assert.equal(job.state, "done")
      // The call that was cut before it began is not made again: it is told to the model.
      assert.deepEqual(seen, place === 7 ? [] : ["x tainted"])
      assert.deepEqual(trusts(second), [1, 1, 0, 0, 0, 0])
    })
  }

  test("after a crash although the past that had tainted it is gone by then", async (context) => {
    const seen: string[] = []
    const clock = movableClock()
    const models = scriptedModels([[call("read")], "read", [act("x")], "done"])
    let isSecond = false
    const crashPoint = (label: string) => {
      if (isSecond && label === "turn.afterModel") throw new Error("crash")
    }
    const first = await startAgent(context, { models, tools: tools(seen), crashPoint, clock })
    await first.say("read")
    isSecond = true
    const runId = await first.enqueue({ text: "go" })
    await first.settle(runId)
    await first.store.write(async (write) => void write.prepare("delete from message").run())
    await first.stop()
    clock.forward(60_000)
    const second = await startAgent(context, { models, tools: tools(seen), clock, folder: first.folder })
    await second.settle(runId)
    assert.deepEqual(seen, ["x tainted"])
  })
})

describe("a heartbeat that words of others have caused", () => {
  const system = (request: ModelRequest | undefined) => request?.messages.length

  test("is shown the events, not the past, and what it says stays tainted", async (context) => {
    const models = scriptedModels(["noted", "Disk full!", "ok"])
    const agent = await startAgent(context, { models })
    await agent.say("my secret is 4711")
    await agent.addEvent("disk full", { trusted: false, origin: "webhook" })
    await agent.wake("hook")
    assert.match(promptOf(models.requests[1]), /disk full/)
    assert.equal(JSON.stringify(models.requests[1]?.messages).includes("4711"), false)
    assert.equal(system(models.requests[1]), 1)
    assert.deepEqual(trusts(agent), [1, 1, 0, 0])
    await agent.say("and now?")
    assert.match(JSON.stringify(models.requests[2]?.messages), /4711.*disk full.*Disk full!/)
  })

  test("at its interval too; one of our own events keeps the past", async (context) => {
    const models = scriptedModels(["noted", "HEARTBEAT_OK", "HEARTBEAT_OK"])
    const agent = await startAgent(context, { models })
    await agent.say("my secret is 4711")
    await agent.addEvent("a model was added")
    await agent.wake("interval")
    assert.match(JSON.stringify(models.requests[1]?.messages), /4711/)
    await agent.addEvent("disk full", { trusted: false, origin: "webhook" })
    await agent.wake("interval")
    assert.doesNotMatch(JSON.stringify(models.requests[2]?.messages), /4711/)
  })

  test("is shown the past where each of its causes may, and then reads it as untrusted", async (context) => {
    const seen: string[] = []
    const models = scriptedModels(["noted", [act("x")], "ok", "ok"])
    const agent = await startAgent(context, { models, tools: tools(seen) })
    const addShared = (shareHistory: boolean) =>
      agent.store.write(async (write) => {
        write.addEvent({ sessionKey: main, text: "disk", origin: "webhook", trusted: false, shareHistory })
      })
    await agent.say("my secret is 4711")
    await addShared(true)
    await agent.wake("hook")
    assert.match(JSON.stringify(models.requests[1]?.messages), /4711/)
    assert.deepEqual(seen, ["x tainted"])
    await addShared(true)
    await addShared(false)
    await agent.wake("hook")
    assert.doesNotMatch(JSON.stringify(models.requests[3]?.messages), /4711/)
  })
})

describe("a site counts as named", () => {
  const all = ["https://typed.example", "https://docs.example", "https://payload.example", "https://status.example"]
  const sites = ["typed.example"]
  const segments = [
    { kind: "operator", text: "Look it up at https://docs.example/orders: " },
    { kind: "value", text: "https://payload.example/x" },
  ] as const
  const hook = { trusted: false, origin: "webhook", purpose: "hook", segments } as const
  const cases: [string, Partial<TurnInput>, string[]][] = [
    ["which the owner has typed", { sites }, ["typed.example"]],
    ["which stands in the operator's instructions", { instructions: "Use https://docs.example/a" }, ["docs.example"]],
    ["which the operator's words of a webhook name, and none of its payload", hook, ["docs.example"]],
    [
      "which is typed by a guest who is alone in a session",
      { sites, trusted: false, guestSession: true },
      ["typed.example"],
    ],
    ["which is typed beside words of others", { sites, trusted: false, wrap: false }, ["typed.example"]],
    ["but none that somebody else wrote", { sites, trusted: false, origin: "group-member" }, []],
    ["but none of a webhook's payload that is shown as it is", { ...hook, segments: [], sites, wrap: false }, []],
    [
      "of each message that waited by itself",
      {
        trusted: false,
        sites: ["typed.example", "payload.example"],
        parts: [
          { sites, trusted: true },
          { sites: ["payload.example"], trusted: false, origin: "group-member" },
        ].map((part) => ({
          agentId: "main",
          sessionKey: main,
          purpose: "chat",
          origin: "owner",
          text: "",
          route: null,
          ...part,
        })) as TurnInput[],
      },
      ["typed.example"],
    ],
  ]
  const named: string[][] = []
  const look = smallTool("look", {
    run: async (_input, { sites: known }) => {
      named.push(all.flatMap((address) => siteOf(address) ?? []).filter((site) => known.has(site)))
      return { content: [] }
    },
  })
  for (const [name, input, expected] of cases) {
    test(name, async (context) => {
      const agent = await startAgent(context, { models: scriptedModels([[call("look")], "ok"]), tools: [look] })
      await agent.say("go", input)
      assert.deepEqual(named.pop(), expected)
    })
  }

  test("which the prompt of heartbeats names", async (context) => {
    const heartbeat = { prompt: "See https://status.example/. If all is well, reply HEARTBEAT_OK." }
    const models = scriptedModels([[call("look")], "HEARTBEAT_OK"])
    const agent = await startAgent(context, { models, tools: [look], heartbeat })
    await agent.wake("manual")
    assert.deepEqual(named.pop(), ["status.example"])
  })
})
