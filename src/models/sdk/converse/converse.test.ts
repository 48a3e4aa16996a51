import assert from "node:assert/strict"
import { afterEach, beforeEach, describe, test } from "node:test"
import { crc32 } from "node:zlib"
import type { JsonObject } from "../../../kernel/index.ts"
import { type PreparedMessage, ProviderRefusal, ProviderReport, type StepCall } from "../../providers/contract.ts"
import { type CallParts, lookup, makeCall, pixel, type ReplayServer, runCall, startReplay } from "../sdk.fixture.ts"
import { signRequest } from "./sign.ts"

let server: ReplayServer
beforeEach(async () => {
  server = await startReplay()
})
afterEach(() => server.stop())

const model = "eu.anthropic.claude-sonnet-4-5-20250929-v1:0"

function call(more: Partial<StepCall> = {}, parts: Partial<CallParts> = {}): StepCall {
  const { settings, ...rest } = parts
  return makeCall(
    { kind: "bedrock", model, key: "key-0123456789", settings: { baseUrl: server.origin, ...settings }, ...rest },
    more,
  )
}

/** A frame as the cloud writes it, with a header of another type before those that count. */
function frame(name: string, payload: JsonObject, kind = "event"): Buffer {
  const text = (header: string, value: string) =>
    Buffer.concat([
      Buffer.from([header.length]),
      Buffer.from(header),
      Buffer.from([7, 0, value.length]),
      Buffer.from(value),
    ])
  const flag = Buffer.concat([Buffer.from([4]), Buffer.from("flag"), Buffer.from([0])])
  const headers = Buffer.concat([flag, text(`:${kind}-type`, name), text(":message-type", kind)])
  const body = Buffer.from(JSON.stringify({ ...payload, p: "abcdef" }))
  const bytes = Buffer.alloc(12 + headers.length + body.length + 4)
  bytes.writeUInt32BE(bytes.length, 0)
  bytes.writeUInt32BE(headers.length, 4)
  bytes.writeUInt32BE(crc32(bytes.subarray(0, 8)), 8)
  headers.copy(bytes, 12)
  body.copy(bytes, 12 + headers.length)
  bytes.writeUInt32BE(crc32(bytes.subarray(0, bytes.length - 4)), bytes.length - 4)
  return bytes
}

const delta = (contentBlockIndex: number, change: JsonObject) =>
  frame("contentBlockDelta", { contentBlockIndex, delta: change })
const stop = (contentBlockIndex: number) => frame("contentBlockStop", { contentBlockIndex })
const end = (stopReason: string, usage: JsonObject = { inputTokens: 11, outputTokens: 7 }) => [
  frame("messageStop", { stopReason }),
  frame("metadata", { usage, metrics: { latencyMs: 1 } }),
]
const hello = [frame("messageStart", { role: "assistant" }), delta(0, { text: "Hi." }), stop(0)]
const none = { cacheReadTokens: undefined, cacheWriteTokens: undefined, reasoningTokens: undefined }
const finish = {
  type: "finish",
  reason: "stop",
  rawReason: "end_turn",
  usage: { inputTokens: 11, outputTokens: 7, ...none },
}
const said = [{ type: "text", block: "0", text: "Hi." }, finish]

const looked: PreparedMessage[] = [
  { role: "user", content: [{ type: "text", text: "what is tea?" }] },
  {
    role: "assistant",
    parts: [
      { type: "reasoning", text: "Let me see.", meta: { signature: "sig-1" } },
      { type: "reasoning", text: "", meta: { redactedContent: "aGlkZGVu" } },
      { type: "reasoning", text: "of another model" },
      { type: "text", text: "I look." },
      { type: "call", id: "t1", name: "lookup", input: { word: "tea" } },
    ],
  },
  {
    role: "tool",
    results: [{ callId: "t1", toolName: "lookup", content: [{ type: "text", text: "a drink" }], isError: false }],
  },
]

describe("a request of Converse", () => {
  test("names the model in its address and holds prompt, tools, limits and cache points", async () => {
    server.queue({ pieces: [...hello, ...end("end_turn")] })
    const asked = call({ tools: [lookup], maxOutputTokens: 500 }, { target: { entry: { temperature: 0.5 } } })
    assert.deepEqual(await runCall(asked), said)
    const { path, headers, body } = server.last()
    assert.equal(path, "/model/eu.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream")
    assert.equal(headers.authorization, "Bearer key-0123456789")
    const cachePoint = { type: "default" }
    assert.deepEqual(body, {
      system: [{ text: "Be brief." }, { cachePoint }],
      messages: [{ role: "user", content: [{ text: "what is tea?" }, { cachePoint }] }],
      toolConfig: {
        tools: [
          {
            toolSpec: { name: "lookup", description: "Looks something up", inputSchema: { json: lookup.inputSchema } },
          },
        ],
      },
      inferenceConfig: { maxTokens: 500, temperature: 0.5 },
    })
  })

  test("gives signed thinking back unchanged and in order, and leaves out what nobody has signed", async () => {
    server.queue({ pieces: [...hello, ...end("end_turn")] })
    const quirks = { cacheMarks: false }
    await runCall(call({ messages: looked, thinking: "low" }, { settings: { quirks } }))
    const { body } = server.last()
    assert.deepEqual((body.messages as JsonObject[]).slice(1), [
      {
        role: "assistant",
        content: [
          { reasoningContent: { reasoningText: { text: "Let me see.", signature: "sig-1" } } },
          { reasoningContent: { redactedContent: "aGlkZGVu" } },
          { text: "I look." },
          { toolUse: { toolUseId: "t1", name: "lookup", input: { word: "tea" } } },
        ],
      },
      { role: "user", content: [{ toolResult: { toolUseId: "t1", content: [{ text: "a drink" }] } }] },
    ])
    assert.deepEqual(body.additionalModelRequestFields, { thinking: { type: "enabled", budget_tokens: 4096 } })
    assert.deepEqual(body.inferenceConfig, { maxTokens: 32_000 })
    // A conversation with calls is refused without tools.
    const { tools } = body.toolConfig as { tools: { toolSpec: JsonObject }[] }
    assert.deepEqual(
      tools.map(({ toolSpec }) => toolSpec.name),
      ["lookup"],
    )
  })

  test("joins messages of one role, and shows pictures and failures where the maker's models take them", async () => {
    const picture = { type: "image" as const, mediaType: "image/jpeg", data: pixel }
    const messages: PreparedMessage[] = [
      { role: "user", content: [picture] },
      { role: "assistant", parts: [{ type: "call", id: "t1", name: "lookup", input: {} }] },
      { role: "tool", results: [{ callId: "t1", toolName: "lookup", content: [picture], isError: true }] },
      { role: "user", content: [{ type: "text", text: "and?" }] },
    ]
    const image = { image: { format: "jpeg", source: { bytes: pixel } } }
    for (const name of [model, "meta.llama3-3-70b-instruct-v1:0"]) {
      server.queue({ pieces: [...hello, ...end("end_turn")] })
      await runCall(call({ messages }, { model: name, settings: { quirks: { cacheMarks: false } } }))
    }
    const [claude, llama] = server.requests.map(({ body }) => body.messages as JsonObject[])
    assert.deepEqual(claude?.[0], { role: "user", content: [image] })
    assert.deepEqual(claude?.slice(2), [
      {
        role: "user",
        content: [{ toolResult: { toolUseId: "t1", content: [image], status: "error" } }, { text: "and?" }],
      },
    ])
    assert.deepEqual(llama?.[2]?.content, [
      { toolResult: { toolUseId: "t1", content: [{ text: "[The picture is in the next message.]" }] } },
      { text: "Pictures of the tool results above:" },
      image,
      { text: "and?" },
    ])
  })

  const claude = "anthropic.claude-opus-4-7"
  const cases = [
    { model: claude, thinking: undefined, fields: undefined, config: { maxTokens: 32_000 } },
    {
      model: claude,
      thinking: "high",
      fields: { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: "high" } },
      config: { maxTokens: 32_000 },
    },
    { model: claude, thinking: "off", fields: { thinking: { type: "disabled" } }, config: { maxTokens: 32_000 } },
    {
      model: "openai.gpt-oss-120b-1:0",
      thinking: "high",
      fields: { reasoning_effort: "high" },
      config: { temperature: 0.5 },
    },
    {
      model: "openai.gpt-oss-120b-1:0",
      thinking: "off",
      fields: { reasoning_effort: "low" },
      config: { temperature: 0.5 },
    },
    { model: "us.openai.gpt-5.6", thinking: "low", fields: { reasoning: { effort: "low" } }, config: undefined },
    {
      model: "us.amazon.nova-2-lite-v1:0",
      thinking: "low",
      fields: { reasoningConfig: { type: "enabled", maxReasoningEffort: "low" } },
      config: { temperature: 0.5 },
    },
    { model: "us.amazon.nova-2-lite-v1:0", thinking: "off", fields: undefined, config: { temperature: 0.5 } },
    { model: "meta.llama3-3-70b-instruct-v1:0", thinking: "high", fields: undefined, config: { temperature: 0.5 } },
  ] as const
  for (const { model: name, thinking, fields, config } of cases) {
    test(`of ${name} with ${thinking ?? "its own default"} has the thinking it takes`, async () => {
      server.queue({ pieces: [...hello, ...end("end_turn")] })
      await runCall(call({ thinking }, { model: name, target: { entry: { temperature: 0.5 } } }))
      const { body } = server.last()
      assert.deepEqual(body.additionalModelRequestFields, fields)
      assert.deepEqual(body.inferenceConfig, config)
    })
  }
})

describe("a reply of Converse", () => {
  test("has thinking, hidden thinking, text and calls, however its bytes are cut", async () => {
    const bytes = Buffer.concat([
      ...hello.slice(0, 1),
      delta(0, { reasoningContent: { text: "Let me see." } }),
      delta(0, { reasoningContent: { signature: "sig-1" } }),
      stop(0),
      delta(1, { reasoningContent: { redactedContent: Buffer.from("hid").toString("base64") } }),
      delta(1, { reasoningContent: { redactedContent: Buffer.from("de").toString("base64") } }),
      stop(1),
      delta(2, { text: "I look." }),
      stop(2),
      frame("contentBlockStart", { contentBlockIndex: 3, start: { toolUse: { toolUseId: "t1", name: "lookup" } } }),
      delta(3, { toolUse: { input: '{"word":' } }),
      delta(3, { toolUse: { input: '"tea"}' } }),
      stop(3),
      ...end("tool_use", { inputTokens: 3, outputTokens: 7, cacheReadInputTokens: 100, cacheWriteInputTokens: 20 }),
    ])
    const pieces = Array.from({ length: Math.ceil(bytes.length / 11) }, (_, i) => bytes.subarray(i * 11, i * 11 + 11))
    server.queue({ pieces })
    const events = await runCall(call({ tools: [lookup] }))
    assert.deepEqual(
      events.filter(({ type }) => type !== "call-input"),
      [
        { type: "reasoning", block: "0", text: "Let me see." },
        { type: "reasoning", block: "0", text: "", meta: { signature: "sig-1" } },
        { type: "reasoning", block: "1", text: "", meta: { redactedContent: Buffer.from("hidde").toString("base64") } },
        { type: "text", block: "2", text: "I look." },
        { type: "call", id: "t1", name: "lookup", input: { word: "tea" } },
        {
          type: "finish",
          reason: "tool-calls",
          rawReason: "tool_use",
          usage: {
            inputTokens: 123,
            outputTokens: 7,
            cacheReadTokens: 100,
            cacheWriteTokens: 20,
            reasoningTokens: undefined,
          },
        },
      ],
    )
  })

  test("stands although its connection breaks behind its reason", async () => {
    const [reason, counts] = end("end_turn")
    server.queue({ pieces: [...hello, reason as Buffer, (counts as Buffer).subarray(0, 20)], isCut: true })
    const events = await runCall(call())
    assert.deepEqual(
      events.map(({ type }) => type),
      ["text", "finish"],
    )
    server.queue({ pieces: hello, isCut: true })
    await assert.rejects(runCall(call()), { message: "terminated" })
  })

  test("may be refused, cut off or too long", async () => {
    const got = []
    for (const reason of ["guardrail_intervened", "content_filtered", "max_tokens", "model_context_window_exceeded"]) {
      server.queue({ pieces: [...hello, ...end(reason)] })
      const last = (await runCall(call())).at(-1)
      got.push(last?.type === "finish" && last.reason)
    }
    assert.deepEqual(got, ["refused", "refused", "length", "length"])
  })

  test("reports an exception in the stream", async () => {
    server.queue({ pieces: [...hello, frame("throttlingException", { message: "slow down" }, "exception")] })
    await assert.rejects(runCall(call()), (error) => {
      assert.ok(error instanceof ProviderReport)
      assert.deepEqual(error.report, { type: "throttlingException", message: "slow down", p: "abcdef" })
      return true
    })
  })

  test("reports words that stand where frames were to come", async () => {
    server.queue({ pieces: ['{"message":"who are you?"}'] })
    await assert.rejects(runCall(call()), (error) => {
      assert.ok(error instanceof ProviderReport)
      assert.match(String(error.report), /who are you/)
      return true
    })
  })

  test("is cut when a frame or the reason is missing, and wrong when a checksum is", async () => {
    server.queue({ pieces: [...hello] }, { pieces: [...hello, ...end("end_turn").map((each) => each.subarray(0, 20))] })
    await assert.rejects(runCall(call()), { code: "STREAM_CUT" })
    await assert.rejects(runCall(call()))
    const broken = Buffer.from(delta(0, { text: "Hi." }))
    broken[broken.length - 10] = 0
    server.queue({ pieces: [broken] })
    await assert.rejects(runCall(call()), { message: /checksum/ })
  })

  test("has status, headers and body when it is a refusal", async () => {
    const headers = { "x-amzn-errortype": "ThrottlingException" }
    server.queue({ status: 429, headers, pieces: ['{"message":"slow down"}'] })
    await assert.rejects(runCall(call()), (error) => {
      assert.ok(error instanceof ProviderRefusal)
      const { status, body } = error
      assert.deepEqual(
        [status, error.headers["x-amzn-errortype"], body],
        [429, "ThrottlingException", '{"message":"slow down"}'],
      )
      return true
    })
  })
})

describe("credentials of Bedrock", () => {
  const environment = { AWS_ACCESS_KEY_ID: "AKID", AWS_SECRET_ACCESS_KEY: "secret", AWS_SESSION_TOKEN: "lent" }
  const { key: _, ...keyless } = makeCall({ kind: "bedrock", model })

  test("of the environment sign the request for its region", async () => {
    server.queue({ pieces: [...hello, ...end("end_turn")] })
    const settings = { kind: "bedrock" as const, baseUrl: server.origin, region: "eu-central-1" }
    await runCall({ ...keyless, key: undefined, settings }, environment)
    const { headers } = server.last()
    const signed = "content-type;host;x-amz-date;x-amz-security-token"
    const pattern = `^AWS4-HMAC-SHA256 Credential=AKID/\\d{8}/eu-central-1/bedrock/aws4_request, SignedHeaders=${signed}, Signature=[0-9a-f]{64}$`
    assert.match(headers.authorization ?? "", new RegExp(pattern))
    assert.equal(headers["x-amz-security-token"], "lent")
  })

  test("and a region that are missing are asked for", async () => {
    const settings = { kind: "bedrock" as const }
    await assert.rejects(runCall({ ...keyless, key: undefined, settings }, environment), { hint: /AWS_REGION/ })
    const region = { AWS_REGION: "us-east-1" }
    await assert.rejects(runCall({ ...keyless, key: undefined, settings }, region), { code: "model-key-missing" })
  })

  // From the public test suite of the signature, version 4.
  const keys = { id: "AKIDEXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY" }
  const vectors = [
    { method: "GET", signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31" },
    { method: "POST", signature: "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b" },
  ]
  for (const { method, signature } of vectors) {
    test(`sign as the cloud's own test suite does: ${method}`, () => {
      const place = { url: "https://example.amazonaws.com/", region: "us-east-1", service: "service" }
      const signed = signRequest({ method, ...place, headers: {}, body: "" }, keys, Date.UTC(2015, 7, 30, 12, 36))
      assert.equal(signed.authorization?.split("Signature=")[1], signature)
    })
  }
})
