import assert from "node:assert/strict"
import { afterEach, beforeEach, describe, test } from "node:test"
import type { JsonObject } from "../../../kernel/index.ts"
import { type PreparedMessage, ProviderReport, type StepCall } from "../../providers/contract.ts"
import {
  type CallParts,
  frames,
  lookup,
  makeCall,
  pixel,
  type ReplayServer,
  runCall,
  startReplay,
} from "../sdk.fixture.ts"

let server: ReplayServer
beforeEach(async () => {
  server = await startReplay()
})
afterEach(() => server.stop())

function call(more: Partial<StepCall> = {}, parts: Partial<CallParts> = {}): StepCall {
  const { settings, ...rest } = parts
  return makeCall(
    {
      kind: "openai",
      model: "gpt-5",
      key: "key-0123456789",
      settings: { baseUrl: `${server.origin}/v1/`, ...settings },
      ...rest,
    },
    more,
  )
}

const created = { type: "response.created", response: { id: "resp_1", created_at: 1, model: "gpt-5" } }
const added = (output_index: number, item: JsonObject) => ({ type: "response.output_item.added", output_index, item })
const done = (output_index: number, item: JsonObject) => ({ type: "response.output_item.done", output_index, item })
const completed = (response: JsonObject = {}): JsonObject => ({
  type: "response.completed",
  response: {
    id: "resp_1",
    usage: {
      input_tokens: 50,
      input_tokens_details: { cached_tokens: 32 },
      output_tokens: 20,
      output_tokens_details: { reasoning_tokens: 12 },
    },
    ...response,
  },
})
const message = (output_index: number, words: string, more: JsonObject = {}) => [
  added(output_index, { type: "message", id: `msg_${output_index}`, ...more }),
  { type: "response.output_text.delta", item_id: `msg_${output_index}`, output_index, delta: words },
  done(output_index, { type: "message", id: `msg_${output_index}`, ...more }),
]
const usage = {
  inputTokens: 50,
  outputTokens: 20,
  cacheReadTokens: 32,
  cacheWriteTokens: undefined,
  reasoningTokens: 12,
}
const finish = { type: "finish", reason: "stop", rawReason: undefined, usage }
const hello = [created, ...message(0, "Hi."), completed()]

const callItem = { type: "function_call", id: "fc_1", call_id: "call_1", name: "lookup", arguments: '{"word":"tea"}' }
const thinkingReply = [
  created,
  added(0, { type: "reasoning", id: "rs_1", encrypted_content: "early" }),
  done(0, { type: "reasoning", id: "rs_1", encrypted_content: "secret-1", summary: [] }),
  ...message(1, "I look.", { phase: "commentary" }),
  added(2, { ...callItem, arguments: "" }),
  { type: "response.function_call_arguments.delta", item_id: "fc_1", output_index: 2, delta: '{"word":"tea"}' },
  done(2, callItem),
  completed(),
]
const looked: PreparedMessage[] = [
  { role: "user", content: [{ type: "text", text: "what is tea?" }] },
  {
    role: "assistant",
    parts: [
      { type: "reasoning", text: "", meta: { itemId: "rs_1", reasoningEncryptedContent: "secret-1" } },
      { type: "text", text: "I look.", meta: { phase: "commentary" } },
      { type: "call", id: "call_1", name: "lookup", input: { word: "tea" } },
    ],
  },
  {
    role: "tool",
    results: [{ callId: "call_1", toolName: "lookup", content: [{ type: "text", text: "a drink" }], isError: false }],
  },
]

describe("a request of the Responses interface", () => {
  test("stores nothing, asks for reasoning in encrypted form, and holds the rest of the call", async () => {
    server.queue({ pieces: [frames(...hello)] })
    const asked = call({ tools: [lookup], cacheKey: "session-1", maxOutputTokens: 4, thinking: "low" })
    assert.deepEqual(await runCall(asked), [{ type: "text", block: "msg_0", text: "Hi." }, finish])
    const { path, headers, body } = server.last()
    assert.equal(path, "/v1/responses")
    assert.equal(headers.authorization, "Bearer key-0123456789")
    assert.deepEqual(body, {
      model: "gpt-5",
      input: [
        { role: "developer", content: "Be brief." },
        { role: "user", content: [{ type: "input_text", text: "what is tea?" }] },
      ],
      tools: [
        {
          type: "function",
          name: "lookup",
          description: "Looks something up",
          parameters: lookup.inputSchema,
          strict: false,
        },
      ],
      store: false,
      include: ["reasoning.encrypted_content"],
      prompt_cache_key: "session-1",
      // The interface refuses less than 16.
      max_output_tokens: 16,
      reasoning: { effort: "low" },
      stream: true,
    })
  })

  test("shortens a name for the cache that is too long, always to the same", async () => {
    const cacheKey = "s".repeat(65)
    for (let n = 0; n < 2; n += 1) {
      server.queue({ pieces: [frames(...hello)] })
      await runCall(call({ cacheKey }))
    }
    const [one, two] = server.requests.map(({ body }) => String(body.prompt_cache_key))
    assert.equal(one?.length, 64)
    assert.equal(one, two)
  })

  test("has the fields of the configuration laid over it, also inside objects", async () => {
    server.queue({ pieces: [frames(...hello)] })
    const settings = { extraBody: { reasoning: { summary: "auto" }, service_tier: "flex" } }
    await runCall(call({ thinking: "high" }, { settings }))
    const { body } = server.last()
    assert.deepEqual([body.reasoning, body.service_tier], [{ effort: "high", summary: "auto" }, "flex"])
  })

  test("shows pictures of the user and of tools, and says when a tool failed", async () => {
    server.queue({ pieces: [frames(...hello)] })
    const picture = { type: "image" as const, mediaType: "image/png", data: pixel }
    const messages: PreparedMessage[] = [
      { role: "user", content: [picture] },
      {
        role: "assistant",
        parts: [
          { type: "call", id: "c1", name: "lookup", input: {} },
          { type: "call", id: "c2", name: "lookup", input: {} },
        ],
      },
      {
        role: "tool",
        results: [
          { callId: "c1", toolName: "lookup", content: [{ type: "text", text: "see" }, picture], isError: false },
          { callId: "c2", toolName: "lookup", content: [{ type: "text", text: "no" }], isError: true },
        ],
      },
    ]
    await runCall(call({ messages }))
    const image = { type: "input_image", image_url: `data:image/png;base64,${pixel}` }
    assert.deepEqual((server.last().body.input as JsonObject[]).slice(1), [
      { role: "user", content: [image] },
      { type: "function_call", call_id: "c1", name: "lookup", arguments: "{}" },
      { type: "function_call", call_id: "c2", name: "lookup", arguments: "{}" },
      { type: "function_call_output", call_id: "c1", output: [{ type: "input_text", text: "see" }, image] },
      { type: "function_call_output", call_id: "c2", output: '{"error":"no"}' },
    ])
  })
})

describe("reasoning of the Responses interface", () => {
  test("comes encrypted though it is empty, and goes back before the items it belongs to, with their phase", async () => {
    server.queue({ pieces: [frames(...thinkingReply)] }, { pieces: [frames(...hello)] })
    const first = await runCall(call({ tools: [lookup] }))
    const secret = { itemId: "rs_1", reasoningEncryptedContent: "secret-1" }
    assert.deepEqual(
      first.filter((event) => event.type !== "call-input"),
      [
        { type: "reasoning", block: "rs_1:0", text: "", meta: { itemId: "rs_1" } },
        { type: "reasoning", block: "rs_1:0", text: "", meta: secret },
        { type: "text", block: "msg_1", text: "", meta: { phase: "commentary" } },
        { type: "text", block: "msg_1", text: "I look." },
        { type: "text", block: "msg_1", text: "", meta: { phase: "commentary" } },
        { type: "call", id: "call_1", name: "lookup", input: { word: "tea" } },
        { ...finish, reason: "tool-calls" },
      ],
    )
    await runCall(call({ tools: [lookup], messages: looked }))
    const [one, two] = server.requests.map(({ body }) => body.input as JsonObject[])
    assert.deepEqual(two?.slice(2), [
      { type: "reasoning", id: "rs_1", encrypted_content: "secret-1", summary: [] },
      { role: "assistant", content: "I look.", phase: "commentary" },
      { type: "function_call", call_id: "call_1", name: "lookup", arguments: '{"word":"tea"}' },
      { type: "function_call_output", call_id: "call_1", output: "a drink" },
    ])
    assert.equal(JSON.stringify(two?.slice(0, 2)), JSON.stringify(one))
  })

  test("of several summaries goes back as one item", async () => {
    server.queue({ pieces: [frames(...hello)] })
    const parts = [
      { type: "reasoning" as const, text: "First.", meta: { itemId: "rs_1" } },
      { type: "reasoning" as const, text: "Then.", meta: { itemId: "rs_1", reasoningEncryptedContent: "secret-1" } },
      { type: "text" as const, text: "Tea." },
    ]
    const messages = [{ role: "assistant" as const, parts }, ...looked.slice(0, 1)]
    await runCall(call({ messages }))
    const summary = ["First.", "Then."].map((text) => ({ type: "summary_text", text }))
    assert.deepEqual((server.last().body.input as JsonObject[])[1], {
      type: "reasoning",
      id: "rs_1",
      encrypted_content: "secret-1",
      summary,
    })
  })

  const cases = [
    { model: "gpt-5", thinking: undefined, target: {}, sent: undefined },
    { model: "gpt-5", thinking: "off", target: {}, sent: { effort: "minimal" } },
    { model: "gpt-5.2", thinking: "off", target: {}, sent: { effort: "none" } },
    { model: "gpt-5.2", thinking: "minimal", target: {}, sent: { effort: "low" } },
    { model: "o3", thinking: "off", target: {}, sent: { effort: "low" } },
    { model: "o3", thinking: "minimal", target: {}, sent: { effort: "low" } },
    { model: "gpt-5-pro", thinking: "off", target: {}, sent: undefined },
    { model: "gpt-5-pro", thinking: "low", target: { reasoning: ["high"] }, sent: { effort: "high" } },
    { model: "gpt-4o", thinking: "high", target: {}, sent: undefined },
    { model: "gpt-4o", thinking: "high", target: { reasoning: [] }, sent: undefined },
    { model: "deployed", thinking: "medium", target: { reasoning: ["low", "high"] }, sent: { effort: "low" } },
    { model: "deployed", thinking: "off", target: { reasoning: ["low"], canBeOff: true }, sent: { effort: "none" } },
    { model: "deployed", thinking: "off", target: { reasoning: ["medium", "high"] }, sent: { effort: "medium" } },
  ] as const
  for (const { model, thinking, target, sent } of cases) {
    const known = "reasoning" in target ? ` (known: ${target.reasoning.join(" ")})` : ""
    test(`${model}${known} with ${thinking ?? "its own default"} is sent what it takes`, async () => {
      server.queue({ pieces: [frames(...hello)] })
      await runCall(call({ thinking }, { model, target: { ...target, entry: { temperature: 0.5 } } }))
      const { body } = server.last()
      assert.deepEqual(body.reasoning, sent)
      const isReasoning = model !== "gpt-4o"
      assert.deepEqual(body.include, isReasoning ? ["reasoning.encrypted_content"] : undefined)
      const takesTemperature = !isReasoning || (model === "gpt-5.2" && thinking === "off")
      assert.equal(body.temperature, takesTemperature ? 0.5 : undefined)
    })
  }
})

describe("Azure", () => {
  const addresses = [
    { base: "", apiVersion: undefined, path: "/openai/v1/responses" },
    { base: "/openai/v1/", apiVersion: "preview", path: "/openai/v1/responses?api-version=preview" },
    { base: "/openai", apiVersion: "2025-04-01-preview", path: "/openai/responses?api-version=2025-04-01-preview" },
  ]
  for (const { base, apiVersion, path } of addresses) {
    test(`with ${base === "" ? "the resource" : base} and version ${apiVersion ?? "unset"} is asked at ${path}`, async () => {
      server.queue({ pieces: [frames(...hello)] })
      const settings = {
        kind: "azure" as const,
        baseUrl: `${server.origin}${base}`,
        ...(apiVersion === undefined ? {} : { apiVersion }),
      }
      await runCall(call({}, { kind: "azure", settings }))
      const request = server.last()
      assert.equal(request.path, path)
      assert.equal(request.headers["api-key"], "key-0123456789")
      assert.equal(request.headers.authorization, undefined)
    })
  }

  test("without a resource says what to set", async () => {
    const asked = makeCall({ kind: "azure", model: "m", key: "k" })
    await assert.rejects(runCall(asked), { code: "model-failed", hint: /baseUrl/ })
  })
})

describe("ends and errors of the Responses interface", () => {
  test("a reply that ran into the limit, a filter or a refusal says so", async () => {
    const incomplete = (reason: string) => ({
      type: "response.incomplete",
      response: { incomplete_details: { reason } },
    })
    const refusal = [
      created,
      added(0, { type: "message", id: "m" }),
      { type: "response.refusal.delta", item_id: "m", delta: "I cannot." },
      done(0, { type: "message", id: "m" }),
      completed(),
    ]
    const replies = [[incomplete("max_output_tokens")], [incomplete("content_filter")], refusal]
    const reasons = []
    for (const events of replies) {
      server.queue({ pieces: [frames(created, ...events)] })
      const last = (await runCall(call())).at(-1)
      reasons.push(last?.type === "finish" && last.reason)
    }
    assert.deepEqual(reasons, ["length", "refused", "refused"])
  })

  test("a stream without its last event is cut", async () => {
    for (const events of [[], [created], hello.slice(0, -1)]) {
      server.queue({ pieces: [frames(...events)] })
      await assert.rejects(runCall(call()), { code: "STREAM_CUT" })
    }
  })

  for (const how of [{ isHeld: true }, { isCut: true }]) {
    test(`a reply that is complete stands although its connection (${Object.keys(how).join()}) does not end well`, async () => {
      server.queue({ pieces: [frames(...hello)], ...how })
      assert.deepEqual(await runCall(call()), [{ type: "text", block: "msg_0", text: "Hi." }, finish])
      await server.last().closed
    })
  }

  const error = { type: "error", code: "server_error", message: "it broke", param: null }
  const nested = { type: "error", error: { type: "insufficient_quota", code: "insufficient_quota", message: "pay" } }
  const failed = {
    type: "response.failed",
    response: { id: "r", status: "failed", error: { code: "rate_limit_exceeded", message: "slow down" } },
  }
  const reports = [
    { name: "an error event", pieces: [frames(error)], words: "it broke" },
    { name: "an error event in an object", pieces: [frames(created, nested)], words: "pay" },
    { name: "an error behind the first words", pieces: [frames(...hello.slice(0, 3), error)], words: "it broke" },
    { name: "a failed response", pieces: [frames(created, failed)], words: "slow down" },
    {
      name: "a body of status 200",
      pieces: [JSON.stringify({ error: { message: "no such thing" } })],
      words: "no such",
    },
    {
      name: "an error without a type",
      pieces: [`${frames(created)}data: {"error":"quite broken"}\n\n`],
      words: "quite",
    },
  ]
  for (const { name, pieces, words } of reports) {
    test(`${name} is reported`, async () => {
      server.queue({ pieces })
      await assert.rejects(runCall(call()), (thrown) => {
        assert.ok(thrown instanceof ProviderReport)
        assert.match(JSON.stringify(thrown.report), new RegExp(words))
        return true
      })
    })
  }

  test("a server that speaks Chat Completions is named as such", async () => {
    const chunk = { id: "c", object: "chat.completion.chunk", choices: [{ index: 0, delta: { content: "Hi" } }] }
    server.queue({ pieces: [frames(chunk)] })
    await assert.rejects(runCall(call()), { code: "model-failed", hint: /openai-compatible/ })
  })

  test("a whole reply is read where a stream was asked for", async () => {
    const reply = {
      id: "resp_1",
      object: "response",
      status: "completed",
      output: [
        { type: "reasoning", id: "rs_1", encrypted_content: "secret-1", summary: [] },
        { type: "message", id: "msg_1", role: "assistant", content: [{ type: "output_text", text: "Hi." }] },
        callItem,
      ],
      usage: { input_tokens: 50, output_tokens: 20 },
    }
    server.queue({ pieces: [JSON.stringify(reply)], headers: { "content-type": "application/json" } })
    const events = await runCall(call({ tools: [lookup] }))
    assert.deepEqual(
      events.filter(({ type }) => type === "text" || type === "call"),
      [
        { type: "text", block: "msg_1", text: "Hi." },
        { type: "call", id: "call_1", name: "lookup", input: { word: "tea" } },
      ],
    )
    const last = events.at(-1)
    const none = { cacheReadTokens: undefined, cacheWriteTokens: undefined, reasoningTokens: undefined }
    assert.deepEqual(last?.type === "finish" && last.usage, { inputTokens: 50, outputTokens: 20, ...none })
  })
})
