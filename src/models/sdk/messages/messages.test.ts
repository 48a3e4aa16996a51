import assert from "node:assert/strict"
import { afterEach, beforeEach, describe, test } from "node:test"
import type { JsonObject } from "../../../kernel/index.ts"
import { type PreparedMessage, ProviderRefusal, ProviderReport, type StepCall } from "../../providers/contract.ts"
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
      kind: "anthropic",
      model: "claude-sonnet-4-5",
      key: "key-0123456789",
      settings: { baseUrl: `${server.origin}/v1`, ...settings },
      ...rest,
    },
    more,
  )
}

const begin = (usage: JsonObject = { input_tokens: 11, output_tokens: 1 }): JsonObject => ({
  type: "message_start",
  message: { id: "msg_1", type: "message", role: "assistant", model: "m", content: [], stop_reason: null, usage },
})
const block = (index: number, content_block: JsonObject) => ({ type: "content_block_start", index, content_block })
const delta = (index: number, change: JsonObject) => ({ type: "content_block_delta", index, delta: change })
const stop = (index: number) => ({ type: "content_block_stop", index })
const end = (reason: string, usage: JsonObject = { output_tokens: 7 }): JsonObject[] => [
  { type: "message_delta", delta: { stop_reason: reason, stop_sequence: null }, usage },
  { type: "message_stop" },
]
const hello = [begin(), block(0, { type: "text", text: "" }), delta(0, { type: "text_delta", text: "Hi." }), stop(0)]

const known = { cacheReadTokens: undefined, cacheWriteTokens: undefined, reasoningTokens: undefined }
const said = [
  { type: "text", block: "0", text: "Hi." },
  {
    type: "finish",
    reason: "stop",
    rawReason: "end_turn",
    usage: { inputTokens: 11, outputTokens: 7, ...known },
  },
]

const thinkingReply = [
  begin(),
  block(0, { type: "thinking", thinking: "", signature: "" }),
  delta(0, { type: "thinking_delta", thinking: "Let me " }),
  delta(0, { type: "thinking_delta", thinking: "see." }),
  delta(0, { type: "signature_delta", signature: "sig-1" }),
  stop(0),
  block(1, { type: "redacted_thinking", data: "hidden-1" }),
  stop(1),
  block(2, { type: "text", text: "" }),
  delta(2, { type: "text_delta", text: "I look." }),
  stop(2),
  block(3, { type: "tool_use", id: "toolu_1", name: "lookup", input: {} }),
  delta(3, { type: "input_json_delta", partial_json: '{"word":' }),
  delta(3, { type: "input_json_delta", partial_json: ' "tea"}' }),
  stop(3),
  ...end("tool_use"),
]

/** The conversation behind that reply. */
const looked: PreparedMessage[] = [
  { role: "user", content: [{ type: "text", text: "what is tea?" }] },
  {
    role: "assistant",
    parts: [
      { type: "reasoning", text: "Let me see.", meta: { signature: "sig-1" } },
      { type: "reasoning", text: "", meta: { redactedData: "hidden-1" } },
      { type: "text", text: "I look." },
      { type: "call", id: "toolu_1", name: "lookup", input: { word: "tea" } },
    ],
  },
  {
    role: "tool",
    results: [{ callId: "toolu_1", toolName: "lookup", content: [{ type: "text", text: "a drink" }], isError: false }],
  },
]

describe("a request of the Messages interface", () => {
  test("holds the model, the prompt, the tools and the longest reply, and nothing else", async () => {
    server.queue({ pieces: [frames(...hello, ...end("end_turn"))] })
    assert.deepEqual(await runCall(call({ tools: [lookup], maxOutputTokens: 500 })), said)
    const { path, headers, body } = server.last()
    assert.equal(path, "/v1/messages")
    assert.equal(headers["x-api-key"], "key-0123456789")
    assert.equal(headers["anthropic-version"], "2023-06-01")
    assert.equal(headers["anthropic-beta"], undefined)
    const mark = { cache_control: { type: "ephemeral" } }
    assert.deepEqual(body, {
      model: "claude-sonnet-4-5",
      max_tokens: 500,
      system: [{ type: "text", text: "Be brief.", ...mark }],
      messages: [{ role: "user", content: [{ type: "text", text: "what is tea?", ...mark }] }],
      tools: [{ name: "lookup", description: "Looks something up", input_schema: lookup.inputSchema }],
      stream: true,
    })
  })

  test("asks for early tool input only where the configuration says that the server takes it", async () => {
    for (const eagerInputStreaming of [undefined, true]) {
      server.queue({ pieces: [frames(...hello, ...end("end_turn"))] })
      const settings = { quirks: eagerInputStreaming === undefined ? {} : { eagerInputStreaming } }
      await runCall(call({ tools: [lookup] }, { settings }))
    }
    const tools = server.requests.map(({ body }) => (body.tools as JsonObject[])[0]?.eager_input_streaming)
    assert.deepEqual(tools, [undefined, true])
  })

  test("carries no key to a server that needs none, and the configured headers and fields over ours", async () => {
    server.queue({ pieces: [frames(...hello, ...end("end_turn"))] })
    const settings = {
      headers: { "X-Team": "green", "Anthropic-Version": "later" },
      extraBody: { metadata: { user_id: "u" }, max_tokens: 9 },
    }
    const { key: _, ...plain } = call({}, { settings })
    await runCall({ ...plain, key: undefined })
    const { headers, body } = server.last()
    assert.equal(headers["x-api-key"], undefined)
    assert.equal(headers["x-team"], "green")
    assert.equal(headers["anthropic-version"], "later")
    assert.deepEqual([body.metadata, body.max_tokens], [{ user_id: "u" }, 9])
  })

  test("shows pictures of the user and of tools", async () => {
    server.queue({ pieces: [frames(...hello, ...end("end_turn"))] })
    const picture = { type: "image" as const, mediaType: "image/png", data: pixel }
    const messages: PreparedMessage[] = [
      { role: "user", content: [{ type: "text", text: "look" }, picture] },
      { role: "assistant", parts: [{ type: "call", id: "c1", name: "lookup", input: {} }] },
      {
        role: "tool",
        results: [
          { callId: "c1", toolName: "lookup", content: [{ type: "text", text: "see" }, picture], isError: false },
        ],
      },
    ]
    await runCall(call({ messages, tools: [lookup] }, { settings: { quirks: { cacheMarks: false } } }))
    const source = { type: "base64", media_type: "image/png", data: pixel }
    assert.deepEqual(server.last().body.messages, [
      {
        role: "user",
        content: [
          { type: "text", text: "look" },
          { type: "image", source },
        ],
      },
      { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "lookup", input: {} }] },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "c1",
            content: [
              { type: "text", text: "see" },
              { type: "image", source },
            ],
          },
        ],
      },
    ])
  })

  test("puts pictures of tools behind the results where the server wants them there, and says when a tool failed", async () => {
    server.queue({ pieces: [frames(...hello, ...end("end_turn"))] })
    const picture = { type: "image" as const, mediaType: "image/png", data: pixel }
    const messages: PreparedMessage[] = [
      ...looked.slice(0, 2),
      { role: "tool", results: [{ callId: "toolu_1", toolName: "lookup", content: [picture], isError: true }] },
    ]
    const quirks = { toolPictures: "after-result", cacheMarks: false } as const
    await runCall(call({ messages }, { settings: { quirks } }))
    const sent = server.last().body.messages as JsonObject[]
    assert.deepEqual(sent.at(-1)?.content, [
      {
        type: "tool_result",
        tool_use_id: "toolu_1",
        content: "[The picture is in the next message.]",
        is_error: true,
      },
      { type: "text", text: "Pictures of the tool results above:" },
      { type: "image", source: { type: "base64", media_type: "image/png", data: pixel } },
    ])
  })
})

describe("thinking of Claude", () => {
  test("comes with its signature and goes back unchanged and in order, beside the calls it led to", async () => {
    server.queue({ pieces: [frames(...thinkingReply)] }, { pieces: [frames(...hello, ...end("end_turn"))] })
    const first = await runCall(call({ tools: [lookup], thinking: "low" }))
    assert.deepEqual(
      first.filter((event) => event.type !== "call-input"),
      [
        { type: "reasoning", block: "0", text: "Let me " },
        { type: "reasoning", block: "0", text: "see." },
        { type: "reasoning", block: "0", text: "", meta: { signature: "sig-1" } },
        { type: "reasoning", block: "1", text: "", meta: { redactedData: "hidden-1" } },
        { type: "text", block: "2", text: "I look." },
        { type: "call", id: "toolu_1", name: "lookup", input: { word: "tea" } },
        {
          type: "finish",
          reason: "tool-calls",
          rawReason: "tool_use",
          usage: { inputTokens: 11, outputTokens: 7, ...known },
        },
      ],
    )
    await runCall(call({ tools: [lookup], thinking: "low", messages: looked }))
    const [one, two] = server.requests.map(({ body }) => body)
    assert.ok(one && two)
    assert.deepEqual(two.thinking, { type: "enabled", budget_tokens: 4096 })
    assert.deepEqual((two.messages as JsonObject[])[1], {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Let me see.", signature: "sig-1" },
        { type: "redacted_thinking", data: "hidden-1" },
        { type: "text", text: "I look." },
        { type: "tool_use", id: "toolu_1", name: "lookup", input: { word: "tea" } },
      ],
    })
    // The beginning is the same byte for byte, so that the cache finds it.
    assert.equal(JSON.stringify(one.tools), JSON.stringify(two.tools))
    assert.equal(JSON.stringify(one.system), JSON.stringify(two.system))
    assert.equal(JSON.stringify((one.messages as Json[])[0]), JSON.stringify((two.messages as Json[])[0]))
  })

  test("is left off in a tool loop that another model has begun, with budgets only", async () => {
    const strange = looked.map((message) =>
      message.role === "assistant" ? { ...message, parts: message.parts.slice(2) } : message,
    )
    for (const model of ["claude-sonnet-4-5", "claude-opus-4-7"]) {
      server.queue({ pieces: [frames(...hello, ...end("end_turn"))] })
      await runCall(call({ messages: strange, thinking: "high" }, { model }))
    }
    const [budget, adaptive] = server.requests.map(({ body }) => body)
    assert.equal(budget?.thinking, undefined)
    assert.deepEqual(adaptive?.thinking, { type: "adaptive", display: "summarized" })
  })

  const cases = [
    { model: "claude-sonnet-4-5", thinking: undefined, sent: undefined, effort: undefined, max: 32_000 },
    { model: "claude-sonnet-4-5", thinking: "off", sent: undefined, effort: undefined, max: 32_000 },
    {
      model: "claude-sonnet-4-5",
      thinking: "high",
      sent: { type: "enabled", budget_tokens: 23_808 },
      effort: undefined,
      max: 32_000,
    },
    { model: "claude-opus-4-7", thinking: "off", sent: { type: "disabled" }, effort: undefined, max: 32_000 },
    {
      model: "claude-opus-4-7",
      thinking: "minimal",
      sent: { type: "adaptive", display: "summarized" },
      effort: "low",
      max: 32_000,
    },
    { model: "claude-opus-5-5", thinking: "off", sent: undefined, effort: "low", max: 32_000 },
    { model: "claude-sonnet-5-5", thinking: "off", sent: { type: "between_tools" }, effort: undefined, max: 32_000 },
    { model: "kimi-k2", thinking: "off", sent: undefined, effort: undefined, max: 8192 },
  ] as const
  for (const { model, thinking, sent, effort, max } of cases) {
    test(`${model} with ${thinking ?? "its own default"} is sent what it takes`, async () => {
      server.queue({ pieces: [frames(...hello, ...end("end_turn"))] })
      const target = { entry: { temperature: 0.5 } }
      await runCall(call({ thinking }, { model, target }))
      const { body } = server.last()
      assert.deepEqual(body.thinking, sent)
      assert.deepEqual(body.output_config, effort === undefined ? undefined : { effort })
      assert.equal(body.max_tokens, max)
      const takesTemperature = /sonnet-4-5|kimi/.test(model) && sent === undefined
      assert.equal(body.temperature, takesTemperature ? 0.5 : undefined)
    })
  }

  test("leaves room for the answer, and is off where there is none", async () => {
    for (const maxOutputTokens of [3000, 1500]) {
      server.queue({ pieces: [frames(...hello, ...end("end_turn"))] })
      await runCall(call({ thinking: "high", maxOutputTokens }))
    }
    const sent = server.requests.map(({ body }) => [body.max_tokens, body.thinking])
    assert.deepEqual(sent, [
      [3000, { type: "enabled", budget_tokens: 1500 }],
      [1500, undefined],
    ])
  })
})

type Json = JsonObject[string]

describe("the cache of the Messages interface", () => {
  test("is marked at the system prompt, the turn's beginning, the request before and the end, never on thinking", async () => {
    server.queue({ pieces: [frames(...hello, ...end("end_turn"))] })
    const messages: PreparedMessage[] = [
      ...looked,
      { role: "assistant", parts: [{ type: "text", text: "A drink." }] },
      { role: "user", content: [{ type: "text", text: "and milk?" }] },
      { role: "assistant", parts: [{ type: "call", id: "c2", name: "lookup", input: {} }] },
      { role: "tool", results: [{ callId: "c2", toolName: "lookup", content: [text("white")], isError: false }] },
      { role: "assistant", parts: [{ type: "call", id: "c3", name: "lookup", input: {} }] },
      { role: "tool", results: [{ callId: "c3", toolName: "lookup", content: [text("wet")], isError: false }] },
    ]
    await runCall(call({ messages, tools: [lookup] }))
    const { body } = server.last()
    const marked = (body.messages as { content: JsonObject[] }[]).map(({ content }) =>
      content.flatMap((part) => (part.cache_control ? [part.text ?? part.tool_use_id] : [])),
    )
    assert.deepEqual(marked, [[], [], [], [], ["and milk?"], [], ["c2"], [], ["c3"]])
    assert.equal(JSON.stringify(body).split("cache_control").length - 1, 4)
  })

  test("is marked at the tools when there is no system prompt", async () => {
    server.queue({ pieces: [frames(...hello, ...end("end_turn"))] })
    await runCall(call({ system: "", tools: [lookup, { ...lookup, name: "other" }] }))
    const { system, tools } = server.last().body
    assert.equal(system, undefined)
    assert.deepEqual(
      (tools as JsonObject[]).map((tool) => tool.cache_control),
      [undefined, { type: "ephemeral" }],
    )
  })

  test("is told in the usage: the prompt is what was new, read and written together", async () => {
    const usage = { input_tokens: 3, cache_read_input_tokens: 100, cache_creation_input_tokens: 20, output_tokens: 1 }
    server.queue({ pieces: [frames(begin(usage), ...hello.slice(1), ...end("end_turn"))] })
    const finish = (await runCall(call())).at(-1)
    assert.deepEqual(finish?.type === "finish" && finish.usage, {
      inputTokens: 123,
      outputTokens: 7,
      cacheReadTokens: 100,
      cacheWriteTokens: 20,
      reasoningTokens: undefined,
    })
  })
})

const text = (words: string) => ({ type: "text" as const, text: words })

describe("a proxy of the Messages interface", () => {
  test("may send a byte order mark, any line end, comments, pings, unknown events and no content type", async () => {
    const events = [hello[0], { type: "ping" }, { type: "vendor_event", a: 1 }, ...hello.slice(1), ...end("end_turn")]
    const lines = events.map((event) => `event: x\r\n: comment\r\ndata: ${JSON.stringify(event)}\r\n\r\n`).join("")
    const bytes = new TextEncoder().encode(`\uFEFF${lines}`)
    const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, i) => bytes.slice(i * 7, i * 7 + 7))
    server.queue({ pieces, headers: {} })
    assert.deepEqual(joined(await runCall(call())), said)
  })

  test("may leave out counts, the beginnings and ends of blocks, and the last event", async () => {
    const events = [
      { type: "message_start", message: { id: "m", content: [{ type: "text", text: "" }] } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hi." } },
      { type: "message_delta", delta: { stop_reason: "end_turn" } },
    ]
    server.queue({ pieces: [frames(...events).trimEnd()] })
    const usage = { inputTokens: undefined, outputTokens: undefined, ...known }
    assert.deepEqual(await runCall(call()), [said[0], { ...said[1], usage }])
  })

  test("may begin blocks with what is in them, and send blocks of its own", async () => {
    const events = [
      begin(),
      block(0, { type: "thinking", thinking: "Hm.", signature: "s" }),
      stop(0),
      block(1, { type: "server_search", id: "x" }),
      delta(1, { type: "search_delta", a: 1 }),
      stop(1),
      block(2, { type: "text", text: "Hi." }),
      stop(2),
      block(3, { type: "tool_use", id: "", name: "lookup", input: { word: "tea" } }),
      stop(3),
      ...end("tool_use"),
    ]
    server.queue({ pieces: [frames(...events)] })
    const events_ = (await runCall(call({ tools: [lookup] }))).filter(({ type }) => type !== "call-input")
    assert.deepEqual(events_.slice(0, -1), [
      { type: "reasoning", block: "0", text: "Hm." },
      { type: "reasoning", block: "0", text: "", meta: { signature: "s" } },
      { type: "text", block: "2", text: "Hi." },
      { type: "call", id: "call-3", name: "lookup", input: { word: "tea" } },
    ])
  })

  test("may send the whole reply at once", async () => {
    const reply = {
      id: "m",
      type: "message",
      content: [
        { type: "text", text: "Hi." },
        { type: "tool_use", id: "t", name: "lookup", input: { word: "tea" } },
      ],
      stop_reason: "tool_use",
      usage: { input_tokens: 11, output_tokens: 7 },
    }
    server.queue({ pieces: [JSON.stringify(reply)], headers: { "content-type": "application/json" } })
    const events = (await runCall(call({ tools: [lookup] }))).filter(({ type }) => type !== "call-input")
    assert.deepEqual(events, [
      said[0],
      { type: "call", id: "t", name: "lookup", input: { word: "tea" } },
      { ...said[1], reason: "tool-calls", rawReason: "tool_use" },
    ])
  })
})

/** Pieces of one block, as one. */
function joined(events: Awaited<ReturnType<typeof runCall>>): Awaited<ReturnType<typeof runCall>> {
  const words = events.map((event) => (event.type === "text" ? event.text : "")).join("")
  return [{ type: "text", block: "0", text: words }, ...events.filter((event) => event.type !== "text")]
}

describe("ends and errors of the Messages interface", () => {
  const reasons = [
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["refusal", "refused"],
    ["pause_turn", "paused"],
    ["stop_sequence", "stop"],
    ["tool_use", "stop"],
    ["something_new", "other"],
  ] as const
  for (const [raw, reason] of reasons) {
    test(`${raw} without a call is ${reason}`, async () => {
      server.queue({ pieces: [frames(...hello, ...end(raw))] })
      const finish = (await runCall(call())).at(-1)
      assert.deepEqual(finish?.type === "finish" && [finish.reason, finish.rawReason], [reason, raw])
    })
  }

  test("the reason of the end stays where a later event only counts", async () => {
    const [reason, last] = end("max_tokens", { output_tokens: 5 }) as [JsonObject, JsonObject]
    const counts = { type: "message_delta", delta: { stop_reason: null }, usage: { output_tokens: 7 } }
    server.queue({ pieces: [frames(...hello, reason, counts, last)] })
    assert.deepEqual(await runCall(call()), [said[0], { ...said[1], reason: "length", rawReason: "max_tokens" }])
  })

  test("input that is no JSON comes as the model wrote it", async () => {
    const events = [
      begin(),
      block(0, { type: "tool_use", id: "t", name: "lookup", input: {} }),
      delta(0, { type: "input_json_delta", partial_json: '{"word": "te' }),
      stop(0),
      ...end("max_tokens"),
    ]
    server.queue({ pieces: [frames(...events)] })
    assert.deepEqual((await runCall(call({ tools: [lookup] }))).slice(1), [
      { type: "call", id: "t", name: "lookup", input: '{"word": "te' },
      { ...said[1], reason: "length", rawReason: "max_tokens" },
    ])
  })

  test("a refusal has status, headers and body", async () => {
    const body = JSON.stringify({ type: "error", error: { type: "rate_limit_error", message: "slow down" } })
    server.queue({ status: 429, headers: { "retry-after": "7" }, pieces: [body] })
    await assert.rejects(runCall(call()), (error) => {
      assert.ok(error instanceof ProviderRefusal)
      assert.deepEqual([error.status, error.headers["retry-after"], error.body], [429, "7", body])
      return true
    })
  })

  test("of a refusal's endless body the beginning is kept", async () => {
    server.queue({ status: 500, headers: {}, pieces: ["x".repeat(100_000), "x".repeat(100_000)] })
    await assert.rejects(runCall(call()), (error) => {
      assert.ok(error instanceof ProviderRefusal)
      assert.equal(error.body.length, 64 * 1024)
      return true
    })
  })

  const overloaded = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }
  const reports = [
    { name: "in the first event", pieces: [frames(overloaded)] },
    { name: "behind the first words", pieces: [frames(...hello, overloaded)] },
    { name: "as a body of status 200", pieces: [JSON.stringify(overloaded)] },
    { name: "as bare JSON in the stream", pieces: [`${frames(...hello)}${JSON.stringify(overloaded)}\n`] },
  ]
  for (const { name, pieces } of reports) {
    test(`an error ${name} is reported as it stood there`, async () => {
      server.queue({ pieces })
      await assert.rejects(runCall(call()), (error) => {
        assert.ok(error instanceof ProviderReport)
        assert.deepEqual(error.report, overloaded)
        return true
      })
    })
  }

  test("words instead of a reply are reported", async () => {
    server.queue({ pieces: ["upstream connect error"], headers: { "content-type": "text/plain" } })
    await assert.rejects(runCall(call()), (error) => {
      assert.ok(error instanceof ProviderReport)
      assert.equal(error.report, "upstream connect error")
      return true
    })
  })

  test("a stream that just ends is cut, before and behind the first words", async () => {
    for (const events of [[], [begin()], hello]) {
      server.queue({ pieces: [frames(...events)] })
      await assert.rejects(runCall(call()), { code: "STREAM_CUT" })
    }
  })

  test("a reply that has its reason stands although its connection breaks behind it", async () => {
    const whole = [...hello, ...end("end_turn")]
    server.queue({ pieces: [frames(...whole.slice(0, -1))], isCut: true })
    assert.deepEqual(await runCall(call()), said)
  })

  test("a connection that breaks is an error of the network", async () => {
    server.queue({ pieces: [frames(...hello)], isCut: true })
    await assert.rejects(runCall(call()), (error) => {
      assert.ok(error instanceof TypeError)
      assert.equal(error.message, "terminated")
      return true
    })
  })

  test("a server that is not there is an error of the network", async () => {
    const gone = await startReplay()
    await gone.stop()
    await assert.rejects(runCall(call({}, { settings: { baseUrl: gone.origin } })), { code: "ECONNREFUSED" })
  })

  test("what is aborted ends with the signal's reason", async () => {
    const controller = new AbortController()
    server.queue({ pieces: [frames(...hello)] })
    const watched: typeof fetch = async (input, init) => {
      const response = await fetch(input, init)
      controller.abort(new Error("enough"))
      return response
    }
    await assert.rejects(runCall(call({ signal: controller.signal, fetch: watched })), { message: "enough" })
  })

  test("garbage in the stream counts as a stream that was cut", async () => {
    server.queue({ pieces: ["data: {nonsense\n\n"] })
    await assert.rejects(runCall(call()), { code: "STREAM_CUT" })
  })
})
