import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { afterEach, beforeEach, describe, test } from "node:test"
import { promisify } from "node:util"
import {
  createTestRegistry,
  startModelServer,
  toolCall,
  userRequest,
  type ModelServer,
  type TestRegistry,
} from "../../../test/support/model-server/index.ts"
import type { JsonObject } from "../../kernel/index.ts"
import type { ContentPart, ModelMessage, ModelReply, ToolSchema } from "../contract.ts"
import type { ProviderSettings } from "../view.ts"

const main = { agentId: "main" }
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
const picture: ContentPart = { type: "image", mediaType: "image/png", data: pixel }
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

function registryFor(kind: ProviderSettings["kind"], more: Partial<ProviderSettings> = {}): TestRegistry {
  const provider = { kind, baseUrl: server.baseUrl, apiKey: "key-0123456789", ...more }
  return createTestRegistry({ providers: { mine: provider }, defaultModel: "mine/gpt-5" })
}

/** The conversation after a step that called tools, with their results. */
function withResults(words: string, reply: ModelReply, content: ContentPart[], isError = false): ModelMessage[] {
  return [
    { role: "user", content: [{ type: "text", text: words }] },
    {
      role: "assistant",
      text: reply.text,
      toolCalls: reply.toolCalls,
      ...(reply.replay ? { replay: reply.replay } : {}),
    },
    {
      role: "tool",
      results: reply.toolCalls.map((call) => ({ callId: call.id, toolName: call.name, content, isError })),
    },
  ]
}

function lastBody(): JsonObject {
  const last = server.requests.at(-1)
  assert.ok(last)
  return last.body
}

const kinds = [
  { kind: "openai-compatible", path: "/v1/chat/completions" },
  { kind: "openai", path: "/v1/responses" },
  { kind: "anthropic", path: "/v1/messages" },
] as const

for (const { kind, path } of kinds) {
  describe(`a provider of kind ${kind}`, () => {
    test("streams the text, and the pieces join to the reply", async () => {
      server.reply("one two three four")
      const pieces: string[] = []
      const { registry } = registryFor(kind)
      const reply = await registry.complete(
        main,
        userRequest("count", { system: "Be brief.", onDelta: (delta) => void pieces.push(delta.text) }),
      )
      const { usage, ...rest } = reply
      assert.deepEqual(rest, {
        text: "one two three four",
        reasoning: "",
        toolCalls: [],
        finishReason: "stop",
        model: "mine/gpt-5",
      })
      assert.ok((usage.inputTokens ?? 0) > 0 && (usage.outputTokens ?? 0) > 0)
      assert.ok(pieces.length > 1)
      assert.equal(pieces.join(""), reply.text)
      assert.equal(server.requests[0]?.path, path)
      assert.equal(server.requests[0]?.promptText(), "Be brief.\ncount")
    })

    test("calls a tool, reads its result and answers, one request a step", async () => {
      server.replyWithTool("lookup", { word: "tea" })
      server.reply("Tea is a drink.")
      const { registry } = registryFor(kind)
      const first = await registry.complete(main, userRequest("what is tea?", { tools: [lookup] }))
      assert.equal(first.finishReason, "tool-calls")
      assert.deepEqual(
        first.toolCalls.map(({ name, input }) => ({ name, input })),
        [{ name: "lookup", input: { word: "tea" } }],
      )
      const messages = withResults("what is tea?", first, [{ type: "text", text: "a drink" }])
      const second = await registry.complete(main, userRequest("", { messages, tools: [lookup] }))
      assert.equal(second.text, "Tea is a drink.")
      assert.equal(server.requests.length, 2)
      assert.match(server.requests[1]?.promptText() ?? "", /a drink/)
      assert.match(JSON.stringify(lastBody()), new RegExp(first.toolCalls[0]?.id ?? "no call"))
    })

    test("hands invalid tool arguments on as the model wrote them, and can be told so", async () => {
      server.enqueue({ kind: "reply", calls: [{ name: "lookup", input: {}, rawInput: '{"word": "te' }] })
      const { registry } = registryFor(kind)
      const first = await registry.complete(main, userRequest("x", { tools: [lookup] }))
      assert.equal(first.toolCalls[0]?.input, '{"word": "te')
      const messages = withResults("x", first, [{ type: "text", text: "not valid" }], true)
      assert.equal((await registry.complete(main, userRequest("", { messages, tools: [lookup] }))).text, "ok")
      assert.match(JSON.stringify(lastBody()), /unreadable_input/)
    })

    test("takes a call of a tool that does not exist as it comes", async () => {
      server.replyWithTool("nonsense", { a: 1 })
      const reply = await registryFor(kind).registry.complete(main, userRequest("x", { tools: [lookup] }))
      assert.deepEqual(
        reply.toolCalls.map(({ name, input }) => ({ name, input })),
        [{ name: "nonsense", input: { a: 1 } }],
      )
    })

    test("sees the picture of a tool's result", async () => {
      server.replyWithTool("lookup", { word: "tea" })
      const { registry } = registryFor(kind)
      const first = await registry.complete(main, userRequest("x", { tools: [lookup] }))
      const messages = withResults("x", first, [{ type: "text", text: "see" }, picture])
      await registry.complete(main, userRequest("", { messages, tools: [lookup] }))
      assert.equal(JSON.stringify(lastBody()).split(pixel).length - 1, 1)
    })

    test("is told that a picture stands there when it takes none", async () => {
      const { registry } = registryFor(kind, { models: { "gpt-5": { vision: false } } })
      const messages: ModelMessage[] = [{ role: "user", content: [{ type: "text", text: "look" }, picture] }]
      await registry.complete(main, userRequest("", { messages }))
      assert.doesNotMatch(JSON.stringify(lastBody()), new RegExp(pixel.slice(0, 20)))
      assert.match(server.requests[0]?.promptText() ?? "", /takes no pictures/)
    })

    test("gets a conversation mended that was cut by a crash or trimmed", async () => {
      const messages: ModelMessage[] = [
        { role: "tool", results: [{ callId: "gone", toolName: "lookup", content: [], isError: false }] },
        { role: "user", content: [{ type: "text", text: "" }] },
        { role: "assistant", text: "", toolCalls: [{ id: "open", name: "lookup", input: { word: "tea" } }] },
        { role: "user", content: [{ type: "text", text: "and now?" }] },
      ]
      const { registry } = registryFor(kind)
      assert.equal((await registry.complete(main, userRequest("", { messages, tools: [lookup] }))).text, "ok")
      assert.match(server.requests[0]?.promptText() ?? "", /the call was interrupted/)
      assert.doesNotMatch(JSON.stringify(lastBody()), /gone/)
    })

    test("that is overloaded is asked again", async () => {
      server.enqueue({ kind: "status", status: 503, message: "Overloaded" })
      assert.equal((await registryFor(kind).registry.complete(main, userRequest("x"))).text, "ok")
      assert.equal(server.requests.length, 2)
    })

    test("whose stream is cut or garbled fails with a code", async () => {
      server.script((_, n) => (n % 2 === 0 ? { kind: "garbage" } : { kind: "cut", text: "half", politely: true }))
      const { registry } = registryFor(kind)
      await assert.rejects(registry.complete(main, userRequest("x")), { code: "model-failed" })
      await assert.rejects(registry.complete(main, userRequest("x")), { code: "model-failed" })
      assert.ok(server.requests.length <= 6, "each is asked three times at most")
    })
  })
}

describe("thinking", () => {
  test("off sends nothing of it", async () => {
    for (const { kind } of kinds) await registryFor(kind).registry.complete(main, userRequest("x"))
    assert.equal(server.requests.length, 3)
    for (const { body } of server.requests) {
      assert.deepEqual([body.thinking, body.reasoning, body.reasoning_effort], [undefined, undefined, undefined])
    }
  })

  test("is an effort for two kinds and a budget for the third", async () => {
    for (const { kind } of kinds) {
      await registryFor(kind).registry.complete({ ...main, thinking: "low" }, userRequest("x"))
    }
    const [compatible, openai, anthropic] = server.requests.map((request) => request.body)
    assert.equal(compatible?.reasoning_effort, "low")
    assert.deepEqual(openai?.reasoning, { effort: "low" })
    assert.match(JSON.stringify(anthropic?.thinking), /"type":"enabled"/)
  })

  test("grows with its level, as a budget or as the effort of a model that adapts its thinking", async () => {
    const { registry } = createTestRegistry({
      providers: { mine: { kind: "anthropic", baseUrl: server.baseUrl, apiKey: "key-0123456789" } },
      defaultModel: "mine/claude-sonnet-4-5",
    })
    for (const model of ["mine/claude-sonnet-4-5", "mine/claude-opus-4-7"]) {
      for (const thinking of ["low", "high"] as const) {
        await registry.complete({ ...main, model, thinking }, userRequest("x"))
      }
    }
    const bodies = server.requests.map(
      (request) => request.body as { thinking: JsonObject; output_config?: JsonObject },
    )
    const [low, high, adaptiveLow, adaptiveHigh] = bodies
    assert.ok(Number(low?.thinking.budget_tokens) < Number(high?.thinking.budget_tokens))
    assert.deepEqual([adaptiveLow?.thinking.type, adaptiveLow?.output_config?.effort], ["adaptive", "low"])
    assert.deepEqual([adaptiveHigh?.thinking.type, adaptiveHigh?.output_config?.effort], ["adaptive", "high"])
  })

  test("goes back signed beside the tool calls it led to", async () => {
    server.enqueue({ kind: "reply", reasoning: "Let me see.", calls: [{ name: "lookup", input: { word: "tea" } }] })
    const { registry } = registryFor("anthropic")
    const deltas: string[] = []
    const request = userRequest("x", {
      tools: [lookup],
      onDelta: ({ kind, text }) => void deltas.push(`${kind}:${text}`),
    })
    const first = await registry.complete({ ...main, thinking: "low" }, request)
    assert.equal(first.reasoning, "Let me see.")
    assert.deepEqual(deltas, ["reasoning:Let me see."])
    const messages = withResults("x", first, [{ type: "text", text: "a drink" }])
    await registry.complete({ ...main, thinking: "low" }, userRequest("", { messages, tools: [lookup] }))
    const sent = JSON.stringify(lastBody())
    assert.match(sent, /"thinking":"Let me see\.","signature":"/)
    assert.match(sent, /"thinking":\{"type":"enabled"/)
  })

  test("is left off for a tool loop that another model has begun", async () => {
    server.enqueue({ kind: "reply", reasoning: "Let me see.", calls: [{ name: "lookup", input: { word: "tea" } }] })
    const first = await registryFor("anthropic").registry.complete(
      { ...main, thinking: "low" },
      userRequest("x", { tools: [lookup] }),
    )
    const { replay: _notItsOwn, ...plain } = first
    const messages = withResults("x", plain, [{ type: "text", text: "a drink" }])
    const { registry } = registryFor("anthropic")
    await registry.complete({ ...main, thinking: "low" }, userRequest("", { messages, tools: [lookup] }))
    assert.equal(lastBody().thinking, undefined)
  })
})

describe("requests", () => {
  test("ask the hosted service not to store the conversation", async () => {
    await registryFor("openai").registry.complete(main, userRequest("x"))
    assert.equal(lastBody().store, false)
  })

  test("carry the configured headers, and no key to a server that has none", async () => {
    const provider = {
      kind: "openai-compatible",
      baseUrl: `${server.baseUrl}/`,
      headers: { "x-team": "green" },
    } as const
    const { registry } = createTestRegistry({ providers: { mine: provider }, defaultModel: "mine/m" })
    await registry.complete(main, userRequest("x"))
    const request = server.requests[0]
    assert.equal(request?.path, "/v1/chat/completions")
    assert.equal(request?.headers["x-team"], "green")
    assert.equal(request?.headers.authorization, undefined)
  })

  test("do not follow a redirect with the key and the conversation", async () => {
    const elsewhere = await startModelServer()
    server.enqueue({ kind: "status", status: 307, headers: { location: `${elsewhere.baseUrl}/chat/completions` } })
    const error = registryFor("openai-compatible").registry.complete(main, userRequest("x"))
    await assert.rejects(
      error.finally(() => elsewhere.stop()),
      { code: "model-failed" },
    )
    assert.equal(elsewhere.requests.length, 0)
  })
})

test("a gateway with only the offline model never loads the provider libraries", async () => {
  const script = `
    const { registerHooks } = await import("node:module")
    const loaded = []
    registerHooks({ resolve: (name, context, next) => { loaded.push(name); return next(name, context) } })
    const { createTestRegistry, userRequest } = await import("./test/support/model-server/index.ts")
    const reply = await createTestRegistry({}).registry.complete({ agentId: "main" }, userRequest("say hi"))
    console.log(JSON.stringify([reply.text, loaded.filter((name) => name.startsWith("@ai-sdk/"))]))`
  const argv = [...process.execArgv.filter((flag) => flag.startsWith("--import")), "--input-type=module", "-e", script]
  const { stdout } = await promisify(execFile)(process.execPath, argv, { cwd: new URL("../../..", import.meta.url) })
  assert.deepEqual(JSON.parse(stdout), ["hi", []])
})

test("several tool calls of one reply keep their order", async () => {
  server.enqueue({
    kind: "reply",
    text: "Both.",
    calls: [
      { name: "lookup", input: { word: "a" } },
      { name: "lookup", input: { word: "b" } },
    ],
  })
  const reply = await registryFor("openai-compatible").registry.complete(main, userRequest("x", { tools: [lookup] }))
  assert.equal(reply.text, "Both.")
  assert.deepEqual(
    reply.toolCalls.map((call) => call.input),
    [{ word: "a" }, { word: "b" }],
  )
  assert.deepEqual(toolCall("lookup", { word: "a" }), {
    kind: "reply",
    calls: [{ name: "lookup", input: { word: "a" } }],
  })
})
