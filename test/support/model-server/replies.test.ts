import assert from "node:assert/strict"
import { afterEach, beforeEach, describe, test } from "node:test"
import type { JsonObject } from "../../../src/kernel/index.ts"
import { eventsOf, framesOf, post } from "./client.fixture.ts"
import { startModelServer, type ModelServer, type ScriptedReply } from "./index.ts"

let server: ModelServer
beforeEach(async () => {
  server = await startModelServer()
})
afterEach(() => server.stop())

const words = [{ role: "user", content: "hello" }]
/** One good request of each interface. */
const requests = {
  chat: {
    path: "/v1/chat/completions",
    body: { model: "m", messages: words, stream: true, stream_options: { include_usage: true } },
  },
  responses: { path: "/v1/responses", body: { model: "m", input: "hello", stream: true } },
  messages: { path: "/v1/messages", body: { model: "m", max_tokens: 100, messages: words, stream: true } },
  gemini: {
    path: "/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse",
    body: { contents: [{ role: "user", parts: [{ text: "hello" }] }] },
  },
  converse: {
    path: "/model/anthropic.claude/converse-stream",
    body: { messages: [{ role: "user", content: [{ text: "hello" }] }] },
  },
}
type WireName = keyof typeof requests
const names = Object.keys(requests) as WireName[]

async function ask(name: WireName, reply: ScriptedReply, more: JsonObject = {}) {
  server.enqueue(reply)
  const { path, body } = requests[name]
  return await post(server, path, { ...body, ...more })
}

/** Everything in the stream, as text, whatever the interface. */
async function streamed(name: WireName, reply: ScriptedReply): Promise<string> {
  const answer = await ask(name, reply)
  assert.equal(answer.status, 200, answer.text)
  return JSON.stringify(name === "converse" ? framesOf(answer.bytes) : eventsOf(answer.text))
}

for (const name of names) {
  describe(`a reply on ${name}`, () => {
    test("streams its parts in the order in which they were written", async () => {
      const stream = await streamed(name, {
        kind: "reply",
        parts: [
          { type: "text", text: "Before." },
          { type: "call", name: "first", input: { word: "tea" } },
          { type: "text", text: "Between." },
          { type: "call", name: "second", input: {} },
        ],
        pieces: 1,
      })
      const places = ["Before.", '"first"', "tea", "Between.", '"second"'].map((part) => stream.indexOf(part))
      assert.ok(!places.includes(-1), stream)
      assert.deepEqual(
        places,
        [...places].sort((one, other) => one - other),
      )
    })

    test("says why it ended in the interface's own words", async () => {
      const expected: Record<WireName, [string, string]> = {
        chat: ['"finish_reason":"length"', '"finish_reason":"content_filter"'],
        responses: ['"reason":"max_output_tokens"', '"reason":"content_filter"'],
        messages: ['"stop_reason":"max_tokens"', '"stop_reason":"refusal"'],
        gemini: ['"finishReason":"MAX_TOKENS"', '"finishReason":"SAFETY"'],
        converse: ['"stopReason":"max_tokens"', '"stopReason":"content_filtered"'],
      }
      const [cut, refused] = expected[name]
      assert.ok((await streamed(name, { kind: "reply", text: "x", finishReason: "length" })).includes(cut))
      assert.ok((await streamed(name, { kind: "reply", text: "", finishReason: "refused" })).includes(refused))
    })

    test("breaks off with an error within the stream", async () => {
      const stream = await streamed(name, { kind: "broken-off", text: "half an ans", error: { message: "Too busy" } })
      assert.ok(stream.includes("half an ans"))
      assert.ok(stream.indexOf("Too busy") > stream.indexOf("half an ans"))
    })

    test("may be empty, with events or without any", async () => {
      const stream = await streamed(name, { kind: "empty" })
      assert.match(stream, /stop|STOP|end_turn|completed/)
      assert.equal((await ask(name, { kind: "empty", events: false })).text, "")
    })

    test("counts tokens as it was told", async () => {
      const usage = { input: 5000, output: 70, reasoning: 30, cacheRead: 4096, cacheWrite: 100 }
      const stream = await streamed(name, { kind: "reply", text: "x", usage })
      const expected: Record<WireName, string> = {
        chat: '"prompt_tokens":5000,"completion_tokens":70,"total_tokens":5070,"prompt_tokens_details":{"cached_tokens":4096},"completion_tokens_details":{"reasoning_tokens":30}',
        responses: '"input_tokens":5000,"input_tokens_details":{"cached_tokens":4096},"output_tokens":70',
        messages:
          '"input_tokens":804,"cache_creation_input_tokens":100,"cache_read_input_tokens":4096,"output_tokens":70',
        gemini:
          '"promptTokenCount":5000,"cachedContentTokenCount":4096,"candidatesTokenCount":40,"thoughtsTokenCount":30',
        converse:
          '"inputTokens":804,"outputTokens":70,"totalTokens":5070,"cacheReadInputTokens":4096,"cacheWriteInputTokens":100',
      }
      assert.ok(stream.includes(expected[name]), stream)
    })
  })
}

describe("reasoning", () => {
  const reply: ScriptedReply = { kind: "reply", reasoning: "Let me see.", calls: [{ name: "lookup", input: {} }] }
  const chat = (provider: string) => post(server, `/${provider}/v1/chat/completions`, requests.chat.body)

  test("stands where each speaker of Chat Completions puts it", async () => {
    const expected = {
      deepseek: '"delta":{"reasoning_content":"Let me see."}',
      groq: '"delta":{"reasoning":"Let me see."}',
      openrouter: '"reasoning_details":[{"type":"reasoning.text"',
    }
    for (const [provider, part] of Object.entries(expected)) {
      server.enqueue(reply)
      assert.ok((await chat(provider)).text.includes(part), provider)
    }
    server.enqueue(reply)
    const mistral = await post(server, "/mistral/v1/chat/completions", { model: "m", messages: words, stream: true })
    assert.ok(
      mistral.text.includes('"content":[{"type":"thinking","thinking":[{"type":"text","text":"Let me see."}]}]'),
    )
    assert.match(mistral.text, /"tool_calls":\[\{"index":0,"id":"[a-zA-Z0-9]{9}"/)
  })

  test("is signed on Messages, Converse and Gemini", async () => {
    assert.match(await streamed("messages", reply), /"type":"signature_delta","signature":"signed-reply-1"/)
    assert.match(await streamed("converse", reply), /"reasoningContent":\{"signature":"signed-reply-2"\}/)
    const gemini = await streamed("gemini", reply)
    assert.match(gemini, /"text":"Let me see\.","thought":true/)
    assert.match(gemini, /"functionCall":\{"name":"lookup","args":\{\}\},"thoughtSignature":"signed-reply-3-call-0"/)
  })

  test("on Responses is an item whose summary and proof come only when they were asked for", async () => {
    const bare = await ask("responses", reply)
    assert.ok(!bare.text.includes("Let me see.") && !bare.text.includes("signed-"))
    const include = ["reasoning.encrypted_content"]
    const full = await ask("responses", reply, { include, reasoning: { summary: "auto" } })
    assert.match(full.text, /"type":"response.reasoning_summary_text.delta".*Let me see\./)
    assert.match(full.text, /"encrypted_content":"signed-reply-2"/)
  })
})

describe("bytes", () => {
  const body = "data: {}\r\n\r\ndata: [DONE]\n\n"

  test("are replayed as they are, in one piece or cut", async () => {
    const whole = await ask("chat", { kind: "raw", body })
    const cut = await ask("chat", { kind: "raw", body: Buffer.from(body), chunks: "bytes" })
    const pairs = await ask("chat", {
      kind: "raw",
      body,
      chunks: 5,
      status: 203,
      headers: { "content-type": "text/x" },
    })
    assert.deepEqual([whole.text, cut.text, pairs.text], [body, body, body])
    assert.deepEqual([whole.pieces, cut.pieces, pairs.pieces], [1, body.length, Math.ceil(body.length / 5)])
    assert.deepEqual([pairs.status, pairs.headers["content-type"]], [203, "text/x"])
    assert.equal(whole.headers["content-type"], "text/event-stream")
  })

  test("of an error may have any shape", async () => {
    const plain = await ask("chat", { kind: "status", status: 502, body: "bad gateway" })
    assert.deepEqual([plain.text, plain.headers["content-type"]], ["bad gateway", "text/plain"])
    const list = await ask("gemini", { kind: "status", status: 429, body: [{ error: { code: 429 } }] })
    assert.equal(list.text, '[{"error":{"code":429}}]')
    const html = { "content-type": "text/html" }
    const page = await ask("messages", { kind: "status", status: 503, body: "<p>Busy", headers: html })
    assert.equal(page.headers["content-type"], "text/html")
    const own = await ask("gemini", { kind: "status", status: 503, message: "Busy", type: "UNAVAILABLE" })
    assert.deepEqual(JSON.parse(own.text), { error: { code: 503, message: "Busy", status: "UNAVAILABLE" } })
  })
})

test("the words of a prompt are read on every interface", async () => {
  for (const name of names) await ask(name, { kind: "reply", text: "x" })
  assert.deepEqual(
    server.requests.map((request) => request.promptText()),
    names.map(() => "hello"),
  )
})
