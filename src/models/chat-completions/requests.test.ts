import assert from "node:assert/strict"
import { after, before, beforeEach, describe, test } from "node:test"
import { isJsonObject, Secret, type Json, type JsonObject } from "../../kernel/index.ts"
import type { ContentPart, ToolResultPart } from "../contract.ts"
import type { AssistantPart, PreparedMessage, StepCall } from "../providers/contract.ts"
import { ask, chunk, done, startByteServer, step, target, type ByteServer } from "./chat-completions.fixture.ts"

let server: ByteServer
before(async () => {
  server = await startByteServer()
})
after(() => server.stop())
beforeEach(() => {
  server.requests.length = 0
  server.reply = { body: chunk({ content: "ok" }, "stop") + done }
})

const text = (words: string): ContentPart => ({ type: "text", text: words })
const picture: ContentPart = { type: "image", mediaType: "image/png", data: "AAAA" }
const pictureOnWire = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }
const mark = { cache_control: { type: "ephemeral" } }
const user = (...content: ContentPart[]): PreparedMessage => ({ role: "user", content })
const assistant = (...parts: AssistantPart[]): PreparedMessage => ({ role: "assistant", parts })
const call = (id: string, meta?: JsonObject): AssistantPart => ({
  type: "call",
  id,
  name: "look",
  input: { word: id },
  ...(meta === undefined ? {} : { meta }),
})
const result = (callId: string, content: ContentPart[], isError = false): ToolResultPart => ({
  callId,
  toolName: "look",
  content,
  isError,
})
const results = (...list: ToolResultPart[]): PreparedMessage => ({ role: "tool", results: list })
const thought = (words: string, meta?: JsonObject): AssistantPart => ({
  type: "reasoning",
  text: words,
  ...(meta === undefined ? {} : { meta }),
})

async function send(more: Partial<StepCall> = {}) {
  await ask(step(server.url, more))
  const [request] = server.requests.splice(0)
  assert.ok(request)
  return request
}

type Settings = Partial<StepCall["settings"]>

async function messagesOf(messages: PreparedMessage[], settings: Settings = {}, more: Partial<StepCall> = {}) {
  const all: StepCall["settings"] = { kind: "openai-compatible", baseUrl: server.url, ...settings }
  const { body } = await send({ messages, settings: all, ...more })
  return body["messages"]
}

/** The assistant's message behind a user's first one. */
async function assistantOf(
  parts: AssistantPart[],
  settings: Settings = {},
  modelId = "some-model",
): Promise<JsonObject> {
  const messages = await messagesOf([user(text("Hi")), assistant(...parts)], settings, { target: target(modelId) })
  const message = Array.isArray(messages) ? messages[1] : undefined
  assert.ok(isJsonObject(message))
  return message
}

describe("a request", () => {
  test("asks for a stream with its usage, and sends nothing that was not asked for", async () => {
    const { path, headers, body } = await send()
    assert.equal(path, "/v1/chat/completions")
    assert.equal(headers.authorization, undefined)
    assert.equal(headers["content-type"], "application/json")
    assert.deepEqual(body, {
      model: "some-model",
      messages: [{ role: "user", content: "Hello" }],
      stream: true,
      stream_options: { include_usage: true },
    })
  })

  test("carries the key, the provider's headers, and the model's over them", async () => {
    const settings = {
      kind: "openai-compatible" as const,
      baseUrl: server.url,
      headers: { "x-one": "provider", "x-two": "provider", Authorization: "Basic abc" },
    }
    const { headers } = await send({
      key: new Secret("key-1"),
      settings,
      target: target("m", { entry: { headers: { "x-two": "model" } } }),
    })
    assert.deepEqual([headers["x-one"], headers["x-two"], headers.authorization], ["provider", "model", "Basic abc"])
    assert.equal((await send({ key: new Secret("key-1") })).headers.authorization, "Bearer key-1")
  })

  test("goes to the address whatever it ends in", async () => {
    for (const [end, path] of [
      ["/", "/v1/chat/completions"],
      ["//", "/v1/chat/completions"],
      ["/chat/completions", "/v1/chat/completions"],
      ["?api-version=1", "/v1/chat/completions?api-version=1"],
    ]) {
      const settings = { kind: "openai-compatible" as const, baseUrl: `${server.url}${end}` }
      assert.equal((await send({ settings })).path, path)
    }
  })

  test("has the limit under the server's name, the temperature of the model, and the fields of the configuration last", async () => {
    const settings = {
      kind: "openai-compatible" as const,
      baseUrl: server.url,
      quirks: { maxTokensField: "max_completion_tokens" as const, streamOptions: false },
      extraBody: { top_p: 0.5, provider: { order: ["a"], sort: "price" }, stream_options: { include_usage: true } },
    }
    const entry = { temperature: 0.2, extraBody: { temperature: 0.9, provider: { sort: "speed" } } }
    const { body } = await send({ settings, maxOutputTokens: 500, target: target("m", { entry }) })
    const { messages: _, ...rest } = body
    assert.deepEqual(rest, {
      model: "m",
      stream: true,
      max_completion_tokens: 500,
      temperature: 0.9,
      top_p: 0.5,
      provider: { order: ["a"], sort: "speed" },
      stream_options: { include_usage: true },
    })
    assert.equal((await send({ maxOutputTokens: 500 })).body["max_tokens"], 500)
  })

  test("lets the model's quirks win over the provider's", async () => {
    const settings = { kind: "openai-compatible" as const, baseUrl: server.url, quirks: { streamOptions: true } }
    const { body } = await send({ settings, target: target("m", { entry: { quirks: { streamOptions: false } } }) })
    assert.equal(body["stream_options"], undefined)
  })

  test("has tools with their schemas, without `$schema`", async () => {
    const inputSchema = {
      $schema: "x",
      type: "object",
      properties: { $schema: { type: "string" } },
      required: ["$schema"],
    }
    const { body } = await send({ tools: [{ name: "look", description: "Looks", inputSchema }] })
    const { $schema: _, ...parameters } = inputSchema
    assert.deepEqual(body["tools"], [
      { type: "function", function: { name: "look", description: "Looks", parameters } },
    ])
  })
})

describe("messages", () => {
  test("begin with the system's, and are plain text or parts with pictures", async () => {
    const messages = await messagesOf(
      [
        user(text("Hi")),
        assistant({ type: "text", text: "Hel" }, { type: "text", text: "lo" }),
        user(text("See"), picture),
      ],
      {},
      { system: "Be kind" },
    )
    assert.deepEqual(messages, [
      { role: "system", content: "Be kind" },
      { role: "user", content: "Hi" },
      { role: "assistant", content: "Hello" },
      { role: "user", content: [{ type: "text", text: "See" }, pictureOnWire] },
    ])
  })

  test("have calls with their input as text, and each result in a message of its own", async () => {
    const messages = await messagesOf([
      user(text("Hi")),
      assistant({ type: "text", text: "I look" }, call("a"), call("b")),
      results(result("a", [text("one"), text("two")]), result("b", [text("gone")], true)),
      assistant(call("c")),
      results(result("c", [])),
    ])
    const wire = (id: string) => ({ id, type: "function", function: { name: "look", arguments: `{"word":"${id}"}` } })
    assert.deepEqual(messages, [
      { role: "user", content: "Hi" },
      { role: "assistant", content: "I look", tool_calls: [wire("a"), wire("b")] },
      { role: "tool", tool_call_id: "a", content: "one\ntwo" },
      { role: "tool", tool_call_id: "b", content: "Error: gone" },
      { role: "assistant", content: null, tool_calls: [wire("c")] },
      { role: "tool", tool_call_id: "c", content: "(no output)" },
    ])
  })

  test("show pictures of results in one message of the user behind them all, joined with the user's next one", async () => {
    const messages = await messagesOf([
      user(text("Hi")),
      assistant(call("a"), call("b")),
      results(result("a", [picture]), result("b", [text("two"), picture])),
      user(text("And now?")),
    ])
    assert.ok(Array.isArray(messages))
    assert.deepEqual(messages.slice(2), [
      { role: "tool", tool_call_id: "a", content: "See the pictures." },
      { role: "tool", tool_call_id: "b", content: "two" },
      {
        role: "user",
        content: [
          pictureOnWire,
          pictureOnWire,
          { type: "text", text: "The pictures belong to the results above." },
          { type: "text", text: "And now?" },
        ],
      },
    ])
  })

  test("have pictures inside the results where the server takes them there", async () => {
    const messages = await messagesOf(
      [user(text("Hi")), assistant(call("a")), results(result("a", [text("one"), picture]))],
      { quirks: { toolPictures: "in-result" } },
    )
    assert.ok(Array.isArray(messages))
    assert.deepEqual(messages[2], {
      role: "tool",
      tool_call_id: "a",
      content: [{ type: "text", text: "one" }, pictureOnWire],
    })
  })

  test("hold no halves of characters", async () => {
    const broken = "a\uD83D"
    const messages = await messagesOf(
      [user(text(broken)), assistant({ type: "text", text: broken })],
      {},
      { system: broken },
    )
    assert.doesNotMatch(JSON.stringify(messages), /ud83d/i)
  })

  test("suit Mistral: no null, named results, and never a user right behind results", async () => {
    const messages = await messagesOf(
      [user(text("Hi")), assistant(call("a")), results(result("a", [text("one")])), user(text("Stop"))],
      { preset: "mistral" },
    )
    assert.ok(Array.isArray(messages))
    assert.deepEqual(
      messages.map((message) => isJsonObject(message) && [message["role"], message["content"], message["name"]]),
      [
        ["user", "Hi", undefined],
        ["assistant", "", undefined],
        ["tool", "one", "look"],
        ["assistant", "The results are above.", undefined],
        ["user", "Stop", undefined],
      ],
    )
  })
})

describe("reasoning goes back", () => {
  const received = thought("Let me see", { field: "reasoning" })

  test("under the name it came by, and not at all where that is not known", async () => {
    assert.equal((await assistantOf([received, call("a")]))["reasoning"], "Let me see")
    assert.deepEqual(Object.keys(await assistantOf([thought("Let me see"), call("a")])), [
      "role",
      "content",
      "tool_calls",
    ])
  })

  test("under the name that the preset or the configuration says", async () => {
    const parts = [thought("Let me "), thought("see"), call("a")]
    assert.equal((await assistantOf(parts, { preset: "groq" }))["reasoning"], "Let me \nsee")
    assert.equal((await assistantOf(parts, { preset: "llama.cpp" }))["reasoning_content"], "Let me \nsee")
    const quirks = { reasoningField: "reasoning_content" } as const
    assert.equal((await assistantOf([received], { quirks }))["reasoning_content"], "Let me see")
    const none = await assistantOf([received], { quirks: { reasoningField: "none" } })
    assert.deepEqual(Object.keys(none), ["role", "content"])
  })

  test("as OpenRouter's details, unchanged and in order", async () => {
    const details = [
      { type: "reasoning.text", text: "Let me see", signature: "s" },
      { type: "reasoning.encrypted", data: "A" },
    ]
    const parts = [
      thought("Let me see"),
      thought("", { field: "reasoning_details", reasoning_details: details }),
      call("a"),
    ]
    for (const settings of [{ preset: "openrouter" } as const, {}]) {
      const message = await assistantOf(parts, settings)
      assert.deepEqual(message["reasoning_details"], details)
      assert.equal(message["reasoning"], undefined)
    }
  })

  test("as parts of the content to Mistral", async () => {
    const parts = [
      thought("Two and two", { field: "content", signature: "s" }),
      { type: "text", text: "Four" } as const,
    ]
    const expected = [
      { type: "thinking", thinking: [{ type: "text", text: "Two and two" }], signature: "s" },
      { type: "text", text: "Four" },
    ]
    assert.deepEqual((await assistantOf(parts, { preset: "mistral" }))["content"], expected)
    assert.deepEqual((await assistantOf(parts))["content"], expected)
  })

  test("as an empty text to DeepSeek, and as a space to Kimi, where another model wrote the reply", async () => {
    const deepSeek = await assistantOf([{ type: "text", text: "Hi" }], { preset: "deepseek" })
    assert.equal(deepSeek["reasoning_content"], "")
    const behindProxy = await assistantOf([call("a")], {}, "deepseek/deepseek-v4-pro")
    assert.equal(behindProxy["reasoning_content"], "")
    const kimi = await assistantOf([call("a")], {}, "moonshotai/kimi-k2.6")
    assert.equal(kimi["reasoning_content"], " ")
    assert.equal((await assistantOf([{ type: "text", text: "Hi" }], {}, "kimi-k2.6"))["reasoning_content"], undefined)
    const own = await assistantOf([thought("Let me see"), call("a")], { preset: "deepseek" })
    assert.equal(own["reasoning_content"], "Let me see")
    assert.equal((await assistantOf([call("a")], { preset: "vllm" }, "deepseek-v4"))["reasoning_content"], undefined)
  })
})

describe("thought signatures of Gemini", () => {
  const own = { extra_content: { google: { thought_signature: "abc" } } }
  const dummy = { google: { thought_signature: "skip_thought_signature_validator" } }

  async function signaturesOf(parts: AssistantPart[], modelId: string): Promise<(Json | undefined)[]> {
    const calls = (await assistantOf(parts, {}, modelId))["tool_calls"]
    return Array.isArray(calls) ? calls.map((each) => (isJsonObject(each) ? each["extra_content"] : undefined)) : []
  }

  test("go back as they came, with calls and with text", async () => {
    assert.deepEqual(await signaturesOf([call("a", own), call("b")], "google/gemini-3-pro"), [
      own.extra_content,
      undefined,
    ])
    const message = await assistantOf([{ type: "text", text: "Hi", meta: own }])
    assert.deepEqual(message["extra_content"], own.extra_content)
  })

  test("are made up for the first call of a reply that has none, and for Gemini alone", async () => {
    assert.deepEqual(await signaturesOf([call("a"), call("b")], "google/gemini-3-pro"), [dummy, undefined])
    assert.deepEqual(await signaturesOf([call("a")], "some-model"), [undefined])
    const details = thought("", {
      field: "reasoning_details",
      reasoning_details: [{ type: "reasoning.encrypted", data: "A" }],
    })
    assert.deepEqual(await signaturesOf([details, call("a")], "google/gemini-3-pro"), [undefined])
  })
})

describe("caches of prompts", () => {
  const conversation = [
    user(text("One")),
    assistant({ type: "text", text: "Two" }),
    user(text("Three"), picture),
    assistant(call("a"), call("b")),
    results(result("a", [text("Four")]), result("b", [text("Five")])),
  ]

  test("are marked at the system, at the last message, and at the last message of the request before", async () => {
    const messages = await messagesOf(conversation, { quirks: { cacheMarks: true } }, { system: "Be kind" })
    assert.ok(Array.isArray(messages))
    assert.deepEqual(messages[0], { role: "system", content: [{ type: "text", text: "Be kind", ...mark }] })
    assert.deepEqual(messages[3], { role: "user", content: [{ type: "text", text: "Three", ...mark }, pictureOnWire] })
    assert.deepEqual(messages.at(-1), {
      role: "tool",
      tool_call_id: "b",
      content: [{ type: "text", text: "Five", ...mark }],
    })
    assert.equal(JSON.stringify(messages).split("cache_control").length - 1, 3)
  })

  test("are marked behind the pictures of results", async () => {
    const messages = await messagesOf([user(text("One")), assistant(call("a")), results(result("a", [picture]))], {
      quirks: { cacheMarks: true },
    })
    assert.ok(Array.isArray(messages))
    assert.deepEqual(messages.at(-1), {
      role: "user",
      content: [pictureOnWire, { type: "text", text: "The pictures belong to the results above.", ...mark }],
    })
  })

  test("are marked for Anthropic's models behind OpenRouter, and for no others", async () => {
    const marks = async (modelId: string, settings: Settings) => {
      const messages = await messagesOf(conversation, settings, { target: target(modelId) })
      return JSON.stringify(messages).split("cache_control").length - 1
    }
    assert.equal(await marks("anthropic/claude-opus-4.5", { preset: "openrouter" }), 2)
    assert.equal(await marks("openai/gpt-5", { preset: "openrouter" }), 0)
    assert.equal(await marks("anthropic/claude-opus-4.5", {}), 0)
    assert.equal(await marks("anthropic/claude-opus-4.5", { preset: "openrouter", quirks: { cacheMarks: false } }), 0)
  })

  test("learn the conversation's key where the service has a place for it", async () => {
    const keyOf = async (preset?: StepCall["settings"]["preset"]) => {
      const settings = { kind: "openai-compatible" as const, baseUrl: server.url, ...(preset ? { preset } : {}) }
      const { headers, body } = await send({ settings, cacheKey: "chat:1" })
      return [body["prompt_cache_key"], headers["x-grok-conv-id"], headers["x-session-id"]]
    }
    assert.deepEqual(await keyOf(), [undefined, undefined, undefined])
    assert.deepEqual(await keyOf("mistral"), ["chat:1", undefined, undefined])
    assert.deepEqual(await keyOf("xai"), [undefined, "chat%3A1", undefined])
    assert.deepEqual(await keyOf("openrouter"), [undefined, undefined, "chat%3A1"])
  })
})

test("a conversation that goes on is sent as one that is sent for the first time", async () => {
  const conversation = [
    user(text("One")),
    assistant(thought("Let me see"), { type: "text", text: "Two" }),
    user(text("Three"), picture),
    assistant(call("a"), call("b")),
    results(result("a", [text("Four"), picture]), result("b", [text("Five")])),
    assistant(call("c", { extra_content: { google: { thought_signature: "s" } } })),
    results(result("c", [])),
    user(text("Six")),
    user(text("Seven")),
    assistant({ type: "text", text: "Eight" }),
    user(text("Nine 中🎉")),
  ]
  const kinds: [modelId: string, settings: Settings][] = [
    ["some-model", {}],
    ["gemini-3-pro", {}],
    ["anthropic/claude-opus-4.5", { preset: "openrouter" }],
    ["m", { preset: "mistral" }],
    ["m", { preset: "deepseek", quirks: { cacheMarks: true } }],
  ]
  const all = kinds.map(([modelId, more]) => ({
    target: target(modelId),
    settings: { kind: "openai-compatible" as const, baseUrl: server.url, ...more },
    system: "Be kind",
  }))
  // There and back again, and by models in turns: what is known of a beginning is that of another request.
  const lengths = [1, 3, 5, 7, 9, 11, 8, 5, 3, 11, 2, 10, 11]
  for (const length of lengths) {
    for (const given of all) {
      const messages = conversation.slice(0, length)
      const { body } = await send({ ...given, messages })
      assert.deepEqual(body, (await send({ ...given, messages: structuredClone(messages) })).body)
    }
  }
})

test("fields of the configuration stand in the place of messages, too", async () => {
  const settings = { kind: "openai-compatible" as const, baseUrl: server.url, extraBody: { messages: [], top_k: 1 } }
  const { body } = await send({ settings })
  assert.deepEqual([body["messages"], body["top_k"], body["stream"]], [[], 1, true])
})
