import assert from "node:assert/strict"
import { test } from "node:test"
import type { JsonObject } from "../../../src/kernel/index.ts"
import { post } from "./client.fixture.ts"
import { startModelServer, text } from "./index.ts"

const path = "/v1/chat/completions"
const good = { model: "m", messages: [{ role: "user", content: "hello" }] }
const bad = { model: "m", messages: [] }

test("a request that providers refuse is refused, recorded with its refusal, and takes no reply", async () => {
  const server = await startModelServer()
  server.enqueue(text("the first good one"))
  const refused = await post(server, path, bad)
  assert.equal(refused.status, 400)
  assert.equal((JSON.parse(refused.text) as { error: JsonObject }).error.code, "empty_array")
  assert.match((await post(server, path, good)).text, /the first good one/)
  assert.deepEqual(
    server.requests.map((request) => request.refusal?.rule),
    ["hasMessages", undefined],
  )
  assert.equal(server.refusals.length, 1)
  assert.equal(server.expectRefusals("hasMessages")[0]?.n, 1)
  await server.stop()
})

test("a refusal that nobody expected is told when the server stops", async () => {
  const server = await startModelServer()
  await post(server, path, bad)
  await assert.rejects(
    server.stop(),
    /refused requests:\n {2}request 1, \/v1\/chat\/completions: hasMessages: .*empty_array/,
  )
})

test("refusals are expected by name and in order, and once only", async () => {
  const server = await startModelServer()
  await post(server, path, bad)
  await post(server, path, { ...good, stream_options: {} })
  assert.throws(() => server.expectRefusals("hasMessages"), /there were hasMessages, streamOptionsNeedStream/)
  assert.throws(() => server.expectRefusals("hasMessages"), /there were none/)
  await post(server, path, bad)
  await assert.rejects(server.stop(), /request 3/)
})

test("the path names whom the server plays, and the option names it for paths that name nobody", async () => {
  const server = await startModelServer({ provider: "cerebras" })
  const echoed = [...good.messages, { role: "assistant", content: "x", reasoning_content: "Hm." }, ...good.messages]
  const body = { model: "m", messages: echoed }
  const asCerebras = await post(server, path, body)
  const asMistral = await post(server, "/mistral/v1/chat/completions", body)
  const asDeepseek = await post(server, "/deepseek/v1/chat/completions", body)
  assert.equal(server.baseUrlOf("mistral"), `http://127.0.0.1:${server.port}/mistral/v1`)
  assert.deepEqual([asCerebras.status, asMistral.status, asDeepseek.status], [400, 422, 200])
  assert.deepEqual(
    server.requests.map((request) => request.provider),
    ["cerebras", "mistral", "deepseek"],
  )
  server.expectRefusals("fields", "fields")
  await server.stop()
})

test("a provider that was named wants its key", async () => {
  const server = await startModelServer()
  const answer = await post(server, "/groq/v1/chat/completions", good, { authorization: "" })
  assert.equal(answer.status, 401)
  assert.equal((await post(server, path, good, { authorization: "" })).status, 200)
  server.expectRefusals("credentials")
  await server.stop()
})

const user = { role: "user", content: "what is tea?" }
const tools = [{ name: "lookup", input_schema: { type: "object" } }]
const thinking = { type: "enabled", budget_tokens: 1024 }

test("thinking that was issued must come back as it was and where it was", async () => {
  const server = await startModelServer()
  server.enqueue({
    kind: "reply",
    parts: [
      { type: "reasoning", text: "Let me see." },
      { type: "call", name: "lookup", input: { word: "tea" } },
      { type: "reasoning", text: "And more.", redacted: true },
      { type: "call", name: "lookup", input: { word: "cup" } },
    ],
  })
  const base = { model: "claude-sonnet-4-5", max_tokens: 2000, tools, thinking }
  const first = await post(server, "/v1/messages", { ...base, messages: [user] })
  const { content } = JSON.parse(first.text) as { content: JsonObject[] }
  assert.deepEqual(
    content.map((block) => block.type),
    ["thinking", "tool_use", "redacted_thinking", "tool_use"],
  )
  const results = [1, 3].map((index) => ({
    type: "tool_result",
    tool_use_id: content[index]?.id ?? "",
    content: "a drink",
  }))
  const send = (blocks: JsonObject[]) => {
    const messages = [user, { role: "assistant", content: blocks }, { role: "user", content: results }]
    return post(server, "/v1/messages", { ...base, messages })
  }
  const [thought, call, hidden, other] = content as [JsonObject, JsonObject, JsonObject, JsonObject]
  assert.equal((await send(content)).status, 200)
  assert.equal((await send([thought, hidden, call, other])).status, 400)
  assert.equal((await send([{ ...thought, thinking: "Let me see" }, call, hidden, other])).status, 400)
  assert.equal((await send([{ ...thought, signature: "made-up" }, call, hidden, other])).status, 400)
  assert.equal((await send([call, other])).status, 400)
  server.expectRefusals("thinkingIsUnchanged", "thinkingIsUnchanged", "signatures", "loopStartsWithThinking")
  await server.stop()
})

test("an encrypted item of reasoning comes back before the call it led to", async () => {
  const server = await startModelServer()
  server.enqueue({ kind: "reply", reasoning: "Hm.", calls: [{ name: "lookup", input: {} }] })
  const asked = { role: "user", content: [{ type: "input_text", text: "what is tea?" }] }
  const base = {
    model: "gpt-5",
    store: false,
    include: ["reasoning.encrypted_content"],
    reasoning: { summary: "auto" },
  }
  const first = await post(server, "/v1/responses", { ...base, input: [asked] })
  const { output } = JSON.parse(first.text) as { output: JsonObject[] }
  const [reasoning, call] = output as [JsonObject, JsonObject]
  assert.deepEqual(reasoning.summary, [{ type: "summary_text", text: "Hm." }])
  const result = { type: "function_call_output", call_id: call.call_id ?? "", output: "a drink" }
  const send = (...input: JsonObject[]) => post(server, "/v1/responses", { ...base, input: [asked, ...input] })
  assert.equal((await send(reasoning, call, result)).status, 200)
  assert.equal((await send(call, result)).status, 400)
  assert.equal((await send({ ...reasoning, encrypted_content: "made-up" }, call, result)).status, 400)
  server.expectRefusals("itemsKeepTheirReasoning", "encryptedContentIsOurs")
  await server.stop()
})
