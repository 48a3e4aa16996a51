import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { type TestContext, describe, test } from "node:test"
import { setImmediate as nextTurn } from "node:timers/promises"
import { createTestRegistry, startModelServer, userRequest } from "../../test/support/model-server/index.ts"
import type { Json } from "../kernel/index.ts"
import type { PresetName } from "./config.ts"

const main = { agentId: "main" }

/** A server of one's own: what it tells of itself, and a model behind the same address. */
async function ownServer(context: TestContext, told: Record<string, Json>, mayAnswer = Promise.resolve()) {
  const model = await startModelServer()
  context.after(() => model.stop())
  const asked: { path: string; authorization: string | undefined }[] = []
  const server = createServer(async (request, response) => {
    const path = request.url ?? ""
    if (path === "/v1/chat/completions") {
      response.writeHead(307, { location: `${model.baseUrl}/chat/completions` }).end()
      return
    }
    asked.push({ path, authorization: request.headers.authorization })
    await mayAnswer
    const answer = told[path]
    if (answer === undefined) response.writeHead(404).end("{}")
    else if (answer !== "hang") response.end(JSON.stringify(answer))
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  context.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { asked, baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` }
}

/** What the registry says that the model takes, after it was asked once. */
async function contextOf(baseUrl: string, preset: PresetName, model: string, more: { apiKey?: string } = {}) {
  const provider = { kind: "openai-compatible" as const, preset, baseUrl, ...more }
  const { registry } = createTestRegistry({ providers: { own: provider }, defaultModel: `own/${model}` })
  // The answer itself is none of this test's: a redirect is refused.
  await registry.complete(main, userRequest("x")).catch(() => undefined)
  return registry.describe(main).contextTokens
}

describe("how much a server of one's own takes", () => {
  const cases: [PresetName, string, Record<string, Json>, number][] = [
    ["ollama", "qwen3:8b", { "/api/ps": { models: [{ name: "qwen3:8b", context_length: 4096 }] } }, 4096],
    ["ollama", "qwen3", { "/api/ps": { models: [{ name: "qwen3:latest", context_length: 8192 }] } }, 8192],
    [
      "ollama",
      "qwen3:8b",
      { "/api/ps": { models: [] }, "/api/show": { parameters: "stop x\nnum_ctx    16384" } },
      16_384,
    ],
    ["llama.cpp", "any", { "/props": { default_generation_settings: { n_ctx: 12_288 } } }, 12_288],
    ["vllm", "some/model", { "/v1/models": { data: [{ id: "some/model", max_model_len: 40_960 }] } }, 40_960],
    ["lmstudio", "m", { "/api/v0/models": { data: [{ id: "m", loaded_context_length: 6144 }] } }, 6144],
  ]
  for (const [preset, model, told, expected] of cases) {
    test(`is asked of ${preset} (${Object.keys(told).join(", ")})`, async (context) => {
      const { baseUrl } = await ownServer(context, told)
      assert.equal(await contextOf(baseUrl, preset, model), expected)
    })
  }

  test("is asked with the key of the server, and of no service", async (context) => {
    const { baseUrl, asked } = await ownServer(context, { "/v1/models": { data: [{ id: "m", max_model_len: 9000 }] } })
    assert.equal(await contextOf(baseUrl, "vllm", "m", { apiKey: "key-0123456789" }), 9000)
    assert.equal(asked[0]?.authorization, "Bearer key-0123456789")
    const other = await ownServer(context, {})
    await contextOf(other.baseUrl, "groq", "m", { apiKey: "key-0123456789" })
    assert.deepEqual(other.asked, [])
  })

  test("stays as it is known where the server does not tell, or tells nonsense", async (context) => {
    for (const answer of [undefined, [], { models: "x" }, { models: [{ name: "qwen3:8b", context_length: -1 }] }]) {
      const { baseUrl } = await ownServer(context, answer === undefined ? {} : { "/api/ps": answer })
      assert.equal(await contextOf(baseUrl, "ollama", "qwen3:8b"), 32_768)
    }
  })

  test("is not waited for when the request is aborted", async (context) => {
    const { baseUrl } = await ownServer(context, { "/api/ps": "hang" })
    const provider = { kind: "openai-compatible" as const, preset: "ollama" as const, baseUrl }
    const { registry } = createTestRegistry({ providers: { own: provider }, defaultModel: "own/m" })
    const stop = new AbortController()
    const pending = registry.complete(main, userRequest("x", { signal: stop.signal }))
    stop.abort(new Error("stopped"))
    await assert.rejects(pending, /stopped/)
  })

  test("is known from then on, also when the request that asked first was aborted", async (context) => {
    const answer = Promise.withResolvers<void>()
    const told = { "/api/ps": { models: [{ name: "m", context_length: 4096 }] } }
    const { baseUrl, asked } = await ownServer(context, told, answer.promise)
    const provider = { kind: "openai-compatible" as const, preset: "ollama" as const, baseUrl }
    const { registry } = createTestRegistry({ providers: { own: provider }, defaultModel: "own/m" })
    const stop = new AbortController()
    const pending = registry.complete(main, userRequest("x", { signal: stop.signal }))
    const late = AbortSignal.timeout(10_000)
    while (asked.length === 0) await nextTurn(undefined, { signal: late })
    stop.abort(new Error("stopped"))
    await assert.rejects(pending, /stopped/)
    answer.resolve()
    while (registry.describe(main).contextTokens !== 4096) await nextTurn(undefined, { signal: late })
  })
})
