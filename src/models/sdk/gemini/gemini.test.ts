import assert from "node:assert/strict"
import { generateKeyPairSync } from "node:crypto"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
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
let folder: string
beforeEach(async () => {
  server = await startReplay()
  folder = await mkdtemp(join(tmpdir(), "gemini-"))
})
afterEach(async () => {
  await server.stop()
  await rm(folder, { recursive: true })
})

function call(more: Partial<StepCall> = {}, parts: Partial<CallParts> = {}): StepCall {
  const { settings, ...rest } = parts
  return makeCall(
    {
      kind: "google",
      model: "gemini-3-pro-preview",
      key: "key-0123456789",
      settings: { baseUrl: `${server.origin}/v1beta`, ...settings },
      ...rest,
    },
    more,
  )
}

const chunk = (parts: JsonObject[], more: JsonObject = {}): JsonObject => ({
  candidates: [{ content: { role: "model", parts }, index: 0, ...more }],
})
const counts = { promptTokenCount: 30, candidatesTokenCount: 5, thoughtsTokenCount: 9, totalTokenCount: 44 }
const ended = (reason: string, more: JsonObject = {}) => ({
  ...chunk([], { finishReason: reason }),
  usageMetadata: { ...counts, ...more },
})
const hello = [chunk([{ text: "Hi." }]), ended("STOP")]
const usage = {
  inputTokens: 30,
  outputTokens: 14,
  cacheReadTokens: 0,
  cacheWriteTokens: undefined,
  reasoningTokens: 9,
}
const finish = { type: "finish", reason: "stop", rawReason: "STOP", usage }
const said = [{ type: "text", block: "0", text: "Hi." }, finish]

const looked: PreparedMessage[] = [
  { role: "user", content: [{ type: "text", text: "what is tea?" }] },
  {
    role: "assistant",
    parts: [
      { type: "reasoning", text: "A summary." },
      { type: "text", text: "I look.", meta: { thoughtSignature: "sig-0" } },
      { type: "call", id: "c1", name: "lookup", input: { word: "tea" }, meta: { thoughtSignature: "sig-1" } },
      { type: "call", id: "c2", name: "lookup", input: { word: "milk" } },
    ],
  },
  {
    role: "tool",
    results: [
      { callId: "c1", toolName: "lookup", content: [{ type: "text", text: "a drink" }], isError: false },
      { callId: "c2", toolName: "lookup", content: [{ type: "text", text: "gone" }], isError: true },
    ],
  },
]

describe("a request of the Gemini API", () => {
  test("holds the prompt, the tools with their whole schema, and the key in its header", async () => {
    server.queue({ pieces: [frames(...hello)] })
    const events = await runCall(
      call({ tools: [lookup], maxOutputTokens: 100 }, { target: { entry: { temperature: 0.5 } } }),
    )
    assert.deepEqual(events, said)
    const { path, headers, body } = server.last()
    assert.equal(path, "/v1beta/models/gemini-3-pro-preview:streamGenerateContent?alt=sse")
    assert.equal(headers["x-goog-api-key"], "key-0123456789")
    assert.equal(headers.authorization, undefined)
    assert.deepEqual(body, {
      systemInstruction: { parts: [{ text: "Be brief." }] },
      contents: [{ role: "user", parts: [{ text: "what is tea?" }] }],
      tools: [
        {
          functionDeclarations: [
            { name: "lookup", description: "Looks something up", parametersJsonSchema: lookup.inputSchema },
          ],
        },
      ],
      generationConfig: { maxOutputTokens: 100, temperature: 0.5 },
    })
  })

  test("gives signatures back where they stood, and says when a tool failed", async () => {
    server.queue({ pieces: [frames(...hello)] })
    await runCall(call({ messages: looked, tools: [lookup] }))
    const [, model, results] = server.last().body.contents as JsonObject[]
    assert.deepEqual(model?.parts, [
      { text: "I look.", thoughtSignature: "sig-0" },
      { functionCall: { id: "c1", name: "lookup", args: { word: "tea" } }, thoughtSignature: "sig-1" },
      { functionCall: { id: "c2", name: "lookup", args: { word: "milk" } } },
    ])
    assert.deepEqual(results?.parts, [
      { functionResponse: { id: "c1", name: "lookup", response: { name: "lookup", content: "a drink" } } },
      { functionResponse: { id: "c2", name: "lookup", response: { name: "lookup", error: "gone" } } },
    ])
  })

  test("marks calls that another model has made, which the third generation would refuse", async () => {
    const parts = [{ type: "call" as const, id: "c1", name: "lookup", input: {} }]
    for (const model of ["gemini-3-pro-preview", "gemini-2.5-flash"]) {
      server.queue({ pieces: [frames(...hello)] })
      await runCall(
        call({ messages: [...looked.slice(0, 1), { role: "assistant", parts }, ...looked.slice(2)] }, { model }),
      )
    }
    const signatures = server.requests.map(({ body }) => {
      const contents = body.contents as { parts: JsonObject[] }[]
      return contents[1]?.parts[0]?.thoughtSignature
    })
    assert.deepEqual(signatures, ["skip_thought_signature_validator", undefined])
  })

  test("shows pictures of tools in the result, to older generations behind it", async () => {
    const picture = { type: "image" as const, mediaType: "image/png", data: pixel }
    const content = [{ type: "text" as const, text: "see" }, picture]
    const messages: PreparedMessage[] = [
      { role: "user", content: [picture] },
      { role: "assistant", parts: [{ type: "call", id: "c1", name: "lookup", input: {} }] },
      { role: "tool", results: [{ callId: "c1", toolName: "lookup", content, isError: false }] },
    ]
    for (const model of ["gemini-3-pro-preview", "gemini-2.5-flash"]) {
      server.queue({ pieces: [frames(...hello)] })
      await runCall(call({ messages }, { model }))
    }
    const inlineData = { mimeType: "image/png", data: pixel }
    const [third, second] = server.requests.map(({ body }) => body.contents as { parts: JsonObject[] }[])
    assert.deepEqual(third?.[0]?.parts, [{ inlineData }])
    const answer = { id: "c1", name: "lookup", response: { name: "lookup", content: "see" } }
    assert.deepEqual(third?.[2]?.parts, [{ functionResponse: { ...answer, parts: [{ inlineData }] } }])
    const words = "see\n[The picture is in the next message.]"
    const plain = { ...answer, response: { name: "lookup", content: words } }
    assert.deepEqual(second?.[2]?.parts, [{ functionResponse: plain }])
    assert.deepEqual(second?.[3]?.parts, [{ text: "Pictures of the tool results above:" }, { inlineData }])
  })

  const cases = [
    { model: "gemini-3-pro-preview", thinking: undefined, sent: undefined },
    { model: "gemini-3-pro-preview", thinking: "off", sent: { thinkingLevel: "low" } },
    { model: "gemini-3-flash-preview", thinking: "off", sent: { thinkingLevel: "minimal" } },
    { model: "gemini-3-pro-preview", thinking: "minimal", sent: { thinkingLevel: "low", includeThoughts: true } },
    { model: "gemini-3-pro-preview", thinking: "high", sent: { thinkingLevel: "high", includeThoughts: true } },
    { model: "gemini-2.5-flash", thinking: "off", sent: { thinkingBudget: 0 } },
    { model: "gemini-2.5-pro", thinking: "off", sent: { thinkingBudget: 128 } },
    { model: "gemini-2.5-flash", thinking: "high", sent: { thinkingBudget: 24_576, includeThoughts: true } },
    { model: "gemini-2.5-flash", thinking: "high", max: 4000, sent: { thinkingBudget: 2000, includeThoughts: true } },
    { model: "gemini-2.0-flash", thinking: "high", sent: undefined },
    { model: "gemma-3-27b-it", thinking: "low", sent: undefined },
  ] as const
  for (const { model, thinking, sent, ...more } of cases) {
    const limit = "max" in more ? more.max : undefined
    test(`of ${model} with ${thinking ?? "its own default"}${limit ? ` and ${limit} tokens` : ""} has the thinking it takes`, async () => {
      server.queue({ pieces: [frames(...hello)] })
      await runCall(call({ thinking, maxOutputTokens: limit }, { model }))
      assert.deepEqual((server.last().body.generationConfig as JsonObject).thinkingConfig, sent)
    })
  }
})

describe("a reply of the Gemini API", () => {
  test("has thoughts, text and calls in order, each with its signature", async () => {
    const events = [
      chunk([{ text: "Hm.", thought: true }]),
      chunk([{ text: "I look." }]),
      chunk([{ text: "", thoughtSignature: "sig-0" }]),
      chunk([
        { functionCall: { id: "c1", name: "lookup", args: { word: "tea" } }, thoughtSignature: "sig-1" },
        { functionCall: { name: "lookup" } },
      ]),
      ended("STOP", { cachedContentTokenCount: 12 }),
    ]
    server.queue({ pieces: [frames(...events)] })
    const got = (await runCall(call({ tools: [lookup] }))).filter(({ type }) => type !== "call-input")
    const [generated] = got.slice(-2)
    assert.ok(generated?.type === "call" && generated.id.startsWith("call-"))
    assert.deepEqual(got, [
      { type: "reasoning", block: "0", text: "Hm." },
      { type: "text", block: "1", text: "I look." },
      { type: "text", block: "1", text: "", meta: { thoughtSignature: "sig-0" } },
      { type: "call", id: "c1", name: "lookup", input: { word: "tea" }, meta: { thoughtSignature: "sig-1" } },
      { type: "call", id: generated.id, name: "lookup", input: {} },
      { ...finish, reason: "tool-calls", usage: { ...usage, cacheReadTokens: 12 } },
    ])
  })

  const reasons = [
    ["MAX_TOKENS", "length"],
    ["SAFETY", "refused"],
    ["PROHIBITED_CONTENT", "refused"],
    ["RECITATION", "refused"],
    ["MALFORMED_FUNCTION_CALL", "other"],
  ] as const
  for (const [raw, reason] of reasons) {
    test(`that ended by ${raw} is ${reason}`, async () => {
      server.queue({ pieces: [frames(ended(raw))] })
      const last = (await runCall(call())).at(-1)
      assert.deepEqual(last?.type === "finish" && [last.reason, last.rawReason], [reason, raw])
    })
  }

  test("to a prompt that was blocked is refused", async () => {
    server.queue({ pieces: [frames({ promptFeedback: { blockReason: "PROHIBITED_CONTENT" } })] })
    const last = (await runCall(call())).at(-1)
    assert.deepEqual(last?.type === "finish" && last.reason, "refused")
  })

  test("may be a list or one object instead of a stream", async () => {
    const headers = { "content-type": "application/json" }
    server.queue({ pieces: [JSON.stringify(hello)], headers })
    assert.deepEqual(await runCall(call()), said)
    server.queue({
      pieces: [
        JSON.stringify({ ...hello[0], ...ended("STOP"), ...chunk([{ text: "Hi." }], { finishReason: "STOP" }) }),
      ],
      headers,
    })
    assert.deepEqual(await runCall(call()), said)
  })

  test("may be an error, in a list or in the stream", async () => {
    const error = { error: { code: 429, message: "quota", status: "RESOURCE_EXHAUSTED" } }
    for (const pieces of [[JSON.stringify([error])], [frames(...hello.slice(0, 1), error)]]) {
      server.queue({ pieces })
      await assert.rejects(runCall(call()), (thrown) => {
        assert.ok(thrown instanceof ProviderReport)
        assert.match(JSON.stringify(thrown.report), /RESOURCE_EXHAUSTED/)
        return true
      })
    }
  })

  test("that has its reason stands although its connection breaks behind it", async () => {
    server.queue({ pieces: [frames(...hello)], isCut: true })
    assert.deepEqual(await runCall(call()), said)
    const goesOn = chunk([{ text: "Hi" }], { finishReason: "CONTINUATION" })
    for (const events of [[goesOn], [...hello, chunk([{ text: " More" }])], hello.slice(0, 1)]) {
      server.queue({ pieces: [frames(...events)], isCut: true })
      await assert.rejects(runCall(call()), { message: "terminated" })
    }
  })

  test("without its reason is cut", async () => {
    server.queue({ pieces: [frames(chunk([{ text: "Hi" }]))] })
    await assert.rejects(runCall(call()), { code: "STREAM_CUT" })
  })
})

describe("Vertex", () => {
  /** A key file whose sign-in is this server's. */
  async function keyFile(): Promise<string> {
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
    const path = join(folder, "key.json")
    const key = {
      type: "service_account",
      client_email: "agent@example.test",
      private_key: privateKey.export({ type: "pkcs8", format: "pem" }),
      project_id: "from-file",
      token_uri: `${server.origin}/token`,
    }
    await writeFile(path, JSON.stringify(key))
    return path
  }
  const token = { headers: {}, pieces: [JSON.stringify({ access_token: "token-1", expires_in: 3600 })] }

  test("asks Gemini in its project and region with a token, and without ids of calls", async () => {
    server.queue(token, { pieces: [frames(...hello)] })
    const settings = { baseUrl: `${server.origin}/v1`, credentialsFile: await keyFile(), region: "europe-west1" }
    const asked = makeCall({ kind: "vertex", model: "gemini-3-pro-preview", settings }, { messages: looked })
    assert.deepEqual(await runCall(asked), said)
    const { path, headers, body } = server.last()
    const place = "/v1/projects/from-file/locations/europe-west1/publishers/google"
    assert.equal(path, `${place}/models/gemini-3-pro-preview:streamGenerateContent?alt=sse`)
    assert.equal(headers.authorization, "Bearer token-1")
    assert.equal(headers["x-goog-api-key"], undefined)
    const parts = (body.contents as { parts: JsonObject[] }[])[1]?.parts
    assert.deepEqual(parts?.[1], {
      functionCall: { name: "lookup", args: { word: "tea" } },
      thoughtSignature: "sig-1",
    })
  })

  test("keeps the signatures of its replies", async () => {
    server.queue(token, { pieces: [frames(chunk([{ text: "Hi.", thoughtSignature: "sig-9" }]), ended("STOP"))] })
    const settings = { baseUrl: server.origin, credentialsFile: await keyFile(), project: "mine" }
    const events = await runCall(makeCall({ kind: "vertex", model: "gemini-3-pro-preview", settings }))
    assert.deepEqual(events[0], { type: "text", block: "0", text: "", meta: { thoughtSignature: "sig-9" } })
    assert.match(server.last().path, /^\/projects\/mine\/locations\/global\//)
  })

  test("asks Claude by the model's address", async () => {
    const reply = [
      { type: "message_start", message: { id: "m", usage: { input_tokens: 11 } } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "Hi." } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 7 } },
      { type: "message_stop" },
    ]
    server.queue(token, { pieces: [frames(...reply)] })
    const settings = { baseUrl: server.origin, credentialsFile: await keyFile(), region: "us-east5" }
    const asked = makeCall({ kind: "vertex", model: "claude-sonnet-4-5@20250929", settings }, { tools: [lookup] })
    const events = await runCall(asked)
    assert.deepEqual(events[0], { type: "text", block: "0", text: "Hi." })
    const { path, headers, body } = server.last()
    const place = "/projects/from-file/locations/us-east5/publishers/anthropic"
    assert.equal(path, `${place}/models/claude-sonnet-4-5@20250929:streamRawPredict`)
    assert.equal(headers.authorization, "Bearer token-1")
    assert.deepEqual([body.model, body.anthropic_version], [undefined, "vertex-2023-10-16"])
    assert.equal((body.tools as JsonObject[])[0]?.eager_input_streaming, undefined)
  })

  test("takes a key instead of a token", async () => {
    server.queue({ pieces: [frames(...hello)] })
    const asked = makeCall({
      kind: "vertex",
      model: "gemini-3-pro-preview",
      settings: { baseUrl: server.origin },
      key: "k",
    })
    await runCall(asked)
    const { path, headers } = server.last()
    assert.equal(path, "/publishers/google/models/gemini-3-pro-preview:streamGenerateContent?alt=sse")
    assert.equal(headers["x-goog-api-key"], "k")
  })

  test("asks for a new token after a refusal of the old one", async () => {
    const { createSdkInterface } = await import("../index.ts")
    const { systemClock, systemIds } = await import("../../../kernel/index.ts")
    const ask = createSdkInterface({ environment: {}, clock: systemClock, ids: systemIds })
    const settings = { baseUrl: server.origin, credentialsFile: await keyFile() }
    const run = async () => {
      for await (const _ of ask(makeCall({ kind: "vertex", model: "gemini-3-pro-preview", settings }))) continue
    }
    const refused = { status: 401, pieces: ["{}"] }
    server.queue(token, { pieces: [frames(...hello)] }, refused, token, { pieces: [frames(...hello)] })
    await run()
    await assert.rejects(run(), { status: 401 })
    await run()
    const paths = server.requests.map(({ path }) => (path === "/token" ? "token" : "model"))
    assert.deepEqual(paths, ["token", "model", "model", "token", "model"])
  })

  test("sends no token to an address that a region has been bent into", async () => {
    server.queue(token)
    const settings = { credentialsFile: await keyFile(), region: "evil.example/x" }
    const asked = makeCall({ kind: "vertex", model: "gemini-3-pro-preview", settings })
    await assert.rejects(runCall(asked), { code: "model-failed", hint: /region/ })
    assert.deepEqual(
      server.requests.map(({ path }) => path),
      ["/token"],
    )
  })
})
