// How a reply ended, and what a try that failed has left behind, through the registry against a real server.
import assert from "node:assert/strict"
import { afterEach, beforeEach, describe, test } from "node:test"
import {
  createTestRegistry,
  startModelServer,
  text,
  toolCall,
  userRequest,
  type ModelServer,
} from "../../test/support/model-server/index.ts"
import { AppError, type JsonObject } from "../kernel/index.ts"
import type { AdmitCall, ModelMessage, ModelRequest, ToolSchema } from "./contract.ts"
import { ModelFailure } from "./model-failure.ts"

const main = { agentId: "main" }
const lookup: ToolSchema = {
  name: "lookup",
  description: "Looks something up",
  inputSchema: { type: "object", properties: { word: { type: "string" } }, required: ["word"] },
}

let server: ModelServer
beforeEach(async () => {
  server = await startModelServer()
})
afterEach(() => server.stop())

function registryFor(fallbacks: string[] = [], more: JsonObject = {}, admit?: AdmitCall) {
  const provider = { kind: "openai-compatible", baseUrl: server.baseUrl, apiKey: "key-0123456789", ...more } as const
  return createTestRegistry(
    {
      providers: { local: provider, other: { ...provider, apiKey: "other-0123456789" } },
      defaultModel: { primary: "local/one", fallbacks },
    },
    admit ? { admit } : {},
  ).registry
}

/** What a person would see: deltas, with what was taken back gone. `sent`: how much of it cannot be taken back. */
function screen(sent: (shown: string) => string = () => "") {
  let shown = ""
  const request: Pick<ModelRequest, "onDelta" | "onRestart"> = {
    onDelta: ({ kind, text: words }) => void (shown += kind === "text" ? words : ""),
    onRestart: () => (shown = sent(shown)),
  }
  return { request, shown: () => shown }
}

const lastMessages = () => server.requests.at(-1)?.body.messages as { role: string; content: unknown }[]

async function failureOf(pending: Promise<unknown>): Promise<ModelFailure> {
  const error = await pending.catch((thrown: unknown) => thrown)
  assert.ok(error instanceof ModelFailure)
  return error
}

describe("a reply that was cut at its limit", () => {
  test("is gone on with once, as one text", async () => {
    server.enqueue({ kind: "reply", text: "The first half and ", finishReason: "length" }, text("the second half."))
    const { request, shown } = screen()
    const reply = await registryFor().complete(main, userRequest("tell", request))
    assert.equal(reply.text, "The first half and the second half.")
    assert.equal(shown(), reply.text)
    assert.equal(lastMessages().at(-2)?.role, "assistant")
    assert.match(JSON.stringify(lastMessages().at(-1)), /cut off at its length limit/)
  })

  test("in front of the input of a call is asked for again, and one in front of a second call runs the first", async () => {
    const whole = { id: "a", name: "lookup", input: { word: "tea" } }
    const none = { id: "b", name: "lookup", input: {}, rawInput: "" }
    server.enqueue({ kind: "reply", calls: [none], finishReason: "length" }, { kind: "reply", calls: [whole] })
    const reply = await registryFor().complete(main, userRequest("x", { tools: [lookup] }))
    assert.deepEqual(reply.toolCalls, [whole])
    assert.match(JSON.stringify(lastMessages().at(-1)), /a tool that you call gets a shorter input/)
    server.enqueue({ kind: "reply", calls: [whole, none], finishReason: "length" })
    assert.deepEqual((await registryFor().complete(main, userRequest("x", { tools: [lookup] }))).toolCalls, [whole])
    // Nothing was cut: it has no input.
    server.enqueue({ kind: "reply", calls: [none] })
    const [call] = (await registryFor().complete(main, userRequest("x", { tools: [lookup] }))).toolCalls
    assert.deepEqual(call?.input, {})
  })

  test("that is cut again is delivered with a word about it", async () => {
    server.script(() => ({ kind: "reply", text: "on and on", finishReason: "length" }))
    const reply = await registryFor().complete(main, userRequest("tell"))
    assert.match(reply.text, /^on and onon and on\n\n\(The answer ends here/)
    assert.equal(server.requests.length, 2)
  })

  test("is delivered with a word about it when nobody goes on", async () => {
    server.enqueue({ kind: "reply", text: "The first half", finishReason: "length" }, { kind: "status", status: 401 })
    assert.match((await registryFor().complete(main, userRequest("tell"))).text, /^The first half\n\n\(The answer ends/)
  })

  test("because a cap had no room for more is delivered with a word about it, and not thrown away", async () => {
    let admitted = 0
    const admit: AdmitCall = async () => {
      admitted += 1
      if (admitted > 1) throw new AppError("budget-exceeded", "The cap of the day is used")
      return { maxOutputTokens: 1_000, settle: () => undefined, refund: () => undefined, lose: () => undefined }
    }
    server.enqueue({ kind: "reply", text: "The first half", finishReason: "length" })
    const { request, shown } = screen()
    const reply = await registryFor([], {}, admit).complete(main, userRequest("tell", request))
    assert.match(reply.text, /^The first half\n\n\(The answer ends here: a limit on spending/)
    assert.equal(shown(), "The first half")
    server.enqueue({ kind: "reply", text: "", reasoning: "hm", finishReason: "length" })
    admitted = 0
    await assert.rejects(registryFor([], {}, admit).complete(main, userRequest("tell")), { code: "budget-exceeded" })
  })

  test("in the middle of a call runs no broken call: the model is asked for a shorter one", async () => {
    const call = { name: "lookup", input: {}, rawInput: '{"word": "te' }
    server.enqueue({ kind: "reply", calls: [call], finishReason: "length" }, toolCall("lookup", { word: "tea" }))
    const reply = await registryFor().complete(main, userRequest("x", { tools: [lookup] }))
    assert.deepEqual(
      reply.toolCalls.map(({ input }) => input),
      [{ word: "tea" }],
    )
    assert.equal(reply.finishReason, "tool-calls")
  })

  test("keeps the calls that are whole", async () => {
    const calls = [
      { name: "lookup", input: { word: "tea" } },
      { name: "lookup", input: {}, rawInput: '{"word": "co' },
    ]
    server.enqueue({ kind: "reply", calls, finishReason: "length" })
    const reply = await registryFor().complete(main, userRequest("x", { tools: [lookup] }))
    assert.deepEqual(
      reply.toolCalls.map(({ input }) => input),
      [{ word: "tea" }],
    )
  })

  test("is asked for without thinking when it was nothing but thinking", async () => {
    server.enqueue({ kind: "reply", reasoning: "hm ".repeat(50), finishReason: "length" }, text("Tea."))
    const reply = await registryFor().complete({ ...main, thinking: "high" }, userRequest("x"))
    assert.equal(reply.text, "Tea.")
    assert.equal(server.requests[0]?.body.reasoning_effort, "high")
    assert.notEqual(server.requests[1]?.body.reasoning_effort, "high")
  })
})

describe("a fault while a cut reply is gone on with", () => {
  const half = { kind: "reply", text: "The first half and ", finishReason: "length" } as const
  const faults = [
    { kind: "status", status: 500 },
    { kind: "cut", text: "the sec" },
    { kind: "broken-off", text: "the sec" },
  ] as const

  for (const fault of faults) {
    test(`(${JSON.stringify(fault)}) leaves the first half where it stands`, async () => {
      server.enqueue(half, fault, text("the second half."))
      const { request, shown } = screen()
      const reply = await registryFor().complete(main, userRequest("tell", request))
      assert.equal(reply.text, "The first half and the second half.")
      assert.equal(shown(), reply.text)
      assert.match(JSON.stringify(lastMessages().at(-1)), /cut off at its length limit/)
    })
  }

  test("leaves what a person has been sent, too", async () => {
    server.enqueue(half, faults[1], text("ond half."))
    const { request, shown } = screen((words) => words)
    const reply = await registryFor().complete(main, userRequest("tell", request))
    assert.match(reply.text, /^The first half and the sec\n\n\(The model broke off here.*\)\n\nond half\.$/)
    assert.equal(shown(), reply.text)
  })

  test("that lasts ends the reply with a word about it", async () => {
    server.enqueue(half, ...Array.from({ length: 3 }, () => faults[1]))
    const { request, shown } = screen()
    const reply = await registryFor().complete(main, userRequest("tell", request))
    assert.match(reply.text, /^The first half and \n\n\(The answer ends here/)
    assert.equal(shown(), "The first half and ")
  })

  const lasting = [
    ...Array.from({ length: 3 }, () => faults[1]),
    { kind: "reply", text: "the sec", finishReason: "refused" } as const,
  ]
  for (const [how, ends] of [
    ["lasts", lasting.slice(0, 3)],
    ["is a refusal", lasting.slice(3)],
  ] as const) {
    test(`that ${how} keeps what a person has been sent behind the first half, and no more`, async () => {
      server.enqueue(half, ...ends)
      const { request, shown } = screen((words) => words.slice(0, "The first half and the".length))
      const reply = await registryFor().complete(main, userRequest("tell", request))
      assert.match(reply.text, /^The first half and the\n\n\(The answer ends here/)
      assert.equal(shown(), "The first half and the")
    })
  }
})

describe("a reply that was refused", () => {
  test("goes to the fallback, and what was shown of it is taken back", async () => {
    server.enqueue({ kind: "reply", text: "I will not", finishReason: "refused" }, text("Gladly."))
    const { request, shown } = screen()
    const reply = await registryFor(["other/two"]).complete(main, userRequest("x", request))
    assert.deepEqual([reply.text, reply.model, shown()], ["Gladly.", "other/two", "Gladly."])
  })

  test("ends with a plain word when nobody answers", async () => {
    server.script(() => ({ kind: "reply", text: "No.", finishReason: "refused" }))
    const error = await failureOf(registryFor().complete(main, userRequest("x")))
    assert.equal(error.chatMessage, "The model declined to answer this.")
    assert.equal(server.requests.length, 1)
  })
})

describe("a reply that is empty", () => {
  test("is asked for again", async () => {
    for (const empty of [{ kind: "empty" } as const, text(" \n")]) {
      server.enqueue(empty, text("here"))
      assert.equal((await registryFor().complete(main, userRequest("x"))).text, "here")
    }
    assert.equal(server.requests.length, 4)
  })

  test("is an end when tools have said all", async () => {
    server.script(() => ({ kind: "empty" }))
    const messages: ModelMessage[] = [
      { role: "user", content: [{ type: "text", text: "x" }] },
      { role: "assistant", text: "", toolCalls: [{ id: "a", name: "lookup", input: { word: "tea" } }] },
      { role: "tool", results: [{ callId: "a", toolName: "lookup", content: [], isError: false }] },
    ]
    const reply = await registryFor().complete(main, userRequest("", { messages, tools: [lookup] }))
    assert.equal(reply.text, "")
  })

  test("goes to the fallback when it stays empty, and is told as such at last", async () => {
    server.script(() => ({ kind: "empty" }))
    const error = await failureOf(registryFor(["other/two"]).complete(main, userRequest("x")))
    assert.match(error.message, /local\/one: .*empty.*; other\/two: .*empty/)
  })

  test("is followed by one that is looked at as well", async () => {
    const cut = { name: "lookup", input: {}, rawInput: '{"word": "te' }
    server.enqueue({ kind: "empty" }, { kind: "reply", calls: [cut], finishReason: "length" }, text("Tea."))
    const reply = await registryFor().complete(main, userRequest("x", { tools: [lookup] }))
    assert.deepEqual([reply.text, reply.toolCalls], ["Tea.", []])
  })

  test("without a single event is asked for again", async () => {
    server.enqueue({ kind: "empty", events: false })
    assert.equal((await registryFor().complete(main, userRequest("x"))).text, "ok")
  })
})

describe("a try that fails behind its first words", () => {
  const faults = [
    { kind: "cut", text: "half a sen" },
    { kind: "cut", text: "half a sen", politely: true },
    { kind: "broken-off", text: "half a sen" },
  ] as const

  for (const fault of faults) {
    test(`(${JSON.stringify(fault)}) is void where nothing was sent for good`, async () => {
      server.enqueue(fault, text("a whole sentence"))
      const { request, shown } = screen()
      const reply = await registryFor().complete(main, userRequest("x", request))
      assert.deepEqual([reply.text, shown()], ["a whole sentence", "a whole sentence"])
    })
  }

  test("is void for the fallback too", async () => {
    server.enqueue(...Array.from({ length: 3 }, () => faults[0]), text("from the other"))
    const { request, shown } = screen()
    const reply = await registryFor(["other/two"]).complete(main, userRequest("x", request))
    assert.deepEqual([reply.text, shown(), reply.model], ["from the other", "from the other", "other/two"])
  })

  test("is gone on from, and said, where a person has been sent some of it", async () => {
    server.enqueue(faults[0], text("and the rest."))
    const { request, shown } = screen((words) => words.slice(0, "half a".length))
    const reply = await registryFor().complete(main, userRequest("x", request))
    assert.match(reply.text, /^half a\n\n\(The model broke off here.*\)\n\nand the rest\.$/)
    assert.equal(shown(), reply.text)
    assert.deepEqual(
      lastMessages()
        .slice(-2)
        .map(({ role }) => role),
      ["assistant", "user"],
    )
  })

  test("stands in front of what the fallback says where it was sent for good", async () => {
    server.enqueue({ kind: "empty" }, faults[0], faults[0], faults[0], text("from the other."))
    const { request, shown } = screen((words) => words.slice(0, "half a".length))
    const reply = await registryFor(["other/two"]).complete(main, userRequest("x", request))
    assert.match(reply.text, /^half a\n\n\(The model broke off here.*\)\n\nfrom the other\.$/)
    assert.equal(shown(), reply.text)
  })

  test("is gone on from more than once", async () => {
    server.enqueue(faults[0], faults[0], text("end."))
    const { request, shown } = screen((words) => words)
    const reply = await registryFor().complete(main, userRequest("x", request))
    assert.equal(reply.text.split("broke off here").length, 3)
    assert.equal(shown(), reply.text)
  })
})

describe("reasoning inside the text", () => {
  test("is told apart, and kept for the reader who wants it", async () => {
    server.enqueue({ kind: "reply", text: "<think>\nLet me see.\n</think>\n\nTea is a drink.", pieces: 40 })
    const { request, shown } = screen()
    const reply = await registryFor().complete(main, userRequest("x", request))
    assert.deepEqual([reply.text, shown()], ["Tea is a drink.", "Tea is a drink."])
    assert.match(reply.reasoning, /Let me see\./)
  })

  test("goes back inside the text to a model that wants it there", async () => {
    server.enqueue({
      kind: "reply",
      text: "<think>Let me see.</think>\n\nOne moment.",
      calls: [{ name: "lookup", input: { word: "tea" } }],
    })
    const registry = registryFor()
    const selection = { ...main, model: "local/MiniMax-M2.5" }
    const first = await registry.complete(selection, userRequest("x", { tools: [lookup] }))
    const { text: words, toolCalls, replay } = first
    const messages: ModelMessage[] = [
      { role: "user", content: [{ type: "text", text: "x" }] },
      { role: "assistant", text: words, toolCalls, ...(replay ? { replay } : {}) },
    ]
    await registry.complete(selection, userRequest("", { messages, tools: [lookup] }))
    assert.equal(
      lastMessages().find(({ role }) => role === "assistant")?.content,
      "<think>\nLet me see.\n</think>\n\nOne moment.",
    )
    await registry.complete({ ...main, model: "local/one" }, userRequest("", { messages, tools: [lookup] }))
    assert.equal(lastMessages().find(({ role }) => role === "assistant")?.content, "One moment.")
  })

  test("that only ends there is taken back", async () => {
    server.enqueue({ kind: "reply", text: "Let me see.\n</think>\n\nTea is a drink.", pieces: 40 })
    const { request, shown } = screen()
    const reply = await registryFor().complete(main, userRequest("x", request))
    assert.deepEqual([reply.text, shown()], ["Tea is a drink.", "Tea is a drink."])
  })

  test("that was sent for good before it turned out to be that stands in front of the answer", async () => {
    server.enqueue({ kind: "reply", text: "Let me see.\n</think>\n\nTea is a drink.", pieces: 40 })
    const { request, shown } = screen((words) => words)
    const reply = await registryFor().complete(main, userRequest("x", request))
    assert.equal(shown(), reply.text)
    assert.match(reply.text, /^Let me see\.\s*Tea is a drink\.$/)
  })

  test("that was cut at the limit before it had ended is no answer", async () => {
    server.enqueue({ kind: "reply", text: "Okay, the user wants", finishReason: "length" }, text("Tea.</think>Tea."))
    const reply = await registryFor().complete({ ...main, model: "local/deepseek-r1" }, userRequest("x"))
    assert.equal(reply.text, "Tea.")
  })

  test("stays where the configuration says so", async () => {
    server.enqueue(text("<think>x</think>y"))
    const registry = registryFor([], { models: { one: { quirks: { reasoningTags: "off" } } } })
    assert.equal((await registry.complete(main, userRequest("x"))).text, "<think>x</think>y")
  })
})

describe("a conversation whose form is refused", () => {
  const messages: ModelMessage[] = [
    { role: "user", content: [{ type: "text", text: "what is tea?" }] },
    { role: "assistant", text: "", toolCalls: [{ id: "a", name: "lookup", input: { word: "tea" } }] },
    {
      role: "tool",
      results: [{ callId: "a", toolName: "lookup", content: [{ type: "text", text: "a drink" }], isError: false }],
    },
  ]
  const refusal = { kind: "status", status: 400, message: "messages.1: tool_use ids are wrong" } as const
  const request = () => userRequest("", { messages, tools: [lookup], usedFor: { purpose: "chat", sessionKey: "s" } })

  test("is told in words and asked once more, and stays so told", async () => {
    server.enqueue(refusal, text("Tea is a drink."), text("Yes."))
    const registry = registryFor()
    assert.equal((await registry.complete(main, request())).text, "Tea is a drink.")
    assert.equal((await registry.complete(main, request())).text, "Yes.")
    assert.equal(server.requests.length, 3)
    const [first, second, third] = server.requests.map(({ body }) => JSON.stringify(body.messages))
    assert.match(first ?? "", /tool_calls/)
    for (const mended of [second, third]) {
      assert.doesNotMatch(mended ?? "", /tool_call/)
      assert.match(mended ?? "", /I called the tool lookup/)
      assert.match(mended ?? "", /a drink/)
    }
  })

  test("is not asked a third time, and not told in words for ever when that did not help", async () => {
    server.enqueue(refusal, refusal)
    const registry = registryFor()
    await failureOf(registry.complete(main, request()))
    assert.equal(server.requests.length, 2)
    await registry.complete(main, request())
    assert.match(JSON.stringify(server.requests[2]?.body.messages), /tool_calls/)
  })
})

describe("a server that refuses the thinking level", () => {
  for (const message of ['"one" does not support thinking', "does not support parameters: ['reasoning_effort']"]) {
    test(`(${message}) is asked without it, from then on`, async () => {
      server.enqueue({ kind: "status", status: 400, message }, text("Tea."), text("Coffee."))
      const registry = registryFor()
      const selection = { ...main, thinking: "low" as const }
      assert.equal((await registry.complete(selection, userRequest("x"))).text, "Tea.")
      assert.equal((await registry.complete(selection, userRequest("x"))).text, "Coffee.")
      assert.deepEqual(
        server.requests.map(({ body }) => body.reasoning_effort),
        ["low", undefined, undefined],
      )
    })
  }

  test("is asked without it by each of those who had asked with it at the same time", async () => {
    const message = '"one" does not support thinking'
    server.script(({ body }) => (body.reasoning_effort ? { kind: "status", status: 400, message } : text("Tea.")))
    const registry = registryFor()
    const ask = (runId: string) => {
      const usedFor = { purpose: "chat", sessionKey: `agent:main:${runId}`, runId } as const
      return registry.complete({ ...main, thinking: "low" }, userRequest("x", { usedFor }))
    }
    const replies = await Promise.all([ask("one"), ask("two")])
    assert.deepEqual(
      replies.map((reply) => reply.text),
      ["Tea.", "Tea."],
    )
    assert.deepEqual(
      server.requests.map(({ body }) => body.reasoning_effort),
      ["low", "low", undefined, undefined],
    )
  })
})

describe("several keys", () => {
  const keys = { apiKey: "first-0123456789", apiKeys: ["second-0123456789"] }
  const used = () => server.requests.map(({ headers }) => headers.authorization?.replace(/^Bearer (\w+)-.*/, "$1"))

  test("the next one is used at once when one is refused or has used up its limit, and stays in use", async () => {
    for (const status of [401, 429]) {
      const registry = registryFor([], keys)
      server.enqueue({ kind: "status", status })
      assert.equal((await registry.complete(main, userRequest("x"))).text, "ok")
      await registry.complete(main, userRequest("x"))
    }
    assert.deepEqual(used(), ["first", "second", "second", "first", "second", "second"])
  })

  test("when all are refused the error says so", async () => {
    server.script(() => ({ kind: "status", status: 401 }))
    const error = await failureOf(registryFor([], keys).complete(main, userRequest("x")))
    assert.deepEqual(used(), ["first", "second"])
    assert.match(error.hint ?? "", /key/)
  })
})

test("what a person in a chat is told names no address, key or id", async () => {
  server.script(() => ({
    kind: "status",
    status: 500,
    message: "upstream http://10.0.0.7:8080/v1 failed for req_0123 with sk-abcdefghijklmnopqrstuvwxyz",
  }))
  const error = await failureOf(registryFor().complete(main, userRequest("x")))
  assert.doesNotMatch(error.chatMessage, /10\.0|8080|req_|sk-/)
  assert.doesNotMatch(error.message, /sk-abcdef/)
})
