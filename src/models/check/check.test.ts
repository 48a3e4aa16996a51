import assert from "node:assert/strict"
import { describe, test, type TestContext } from "node:test"
import {
  createTestRegistry,
  type ModelServer,
  type ScriptedReply,
  startModelServer,
} from "../../../test/support/model-server/index.ts"
import { isJsonObject, systemClock } from "../../kernel/index.ts"
import type { ModelEntryConfig } from "../config.ts"
import type { ToolSchema } from "../contract.ts"
import type { Environment } from "../keys.ts"
import type { ModelsView } from "../view.ts"
import { checkModel } from "./check.ts"

const tools: ToolSchema[] = [
  {
    name: "browser",
    description: "Opens pages",
    inputSchema: { type: "object", properties: { url: { type: "string" } }, required: ["url"] },
  },
]
const numbers = "one two three four five"
const report = (colour: string) => ({ name: "report", input: { colour } })
const good: ScriptedReply = { kind: "reply", text: numbers, pieces: 5, calls: [report("Orange")] }

async function serve(context: TestContext): Promise<ModelServer> {
  const server = await startModelServer()
  context.after(() => server.stop())
  return server
}

interface Setting {
  entry?: ModelEntryConfig
  view?: Partial<ModelsView>
  environment?: Environment
  model?: string
  timeoutMs?: number
  signal?: AbortSignal
}

async function check(server: ModelServer, setting: Setting = {}) {
  const { entry = { vision: true, contextTokens: 90_000 }, environment = {}, timeoutMs } = setting
  const provider = {
    kind: "openai-compatible",
    baseUrl: server.baseUrl,
    apiKey: "a-key-of-the-tests",
    models: { small: entry },
  } as const
  const made = createTestRegistry(
    { providers: { test: provider }, defaultModel: "test/small", ...setting.view },
    { environment },
  )
  return await checkModel(
    { registry: made.registry, clock: systemClock, view: () => made.view, environment },
    {
      selection: { agentId: "main", model: setting.model },
      tools,
      signal: setting.signal ?? AbortSignal.timeout(10_000),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    },
  )
}

describe("a model that works", () => {
  test("is asked once, with the real tools and a picture whose colour stands nowhere", async (context) => {
    const server = await serve(context)
    server.script(() => ({ ...good, reasoning: "Hm.", usage: { input: 900, output: 40, reasoning: 12 } }))
    const prices = { input: 1, output: 10 }
    const found = await check(server, { entry: { vision: true, contextTokens: 90_000, maxOutputTokens: 700, prices } })
    const { durationMs, streaming, ...rest } = found
    assert.deepEqual(rest, {
      model: "test/small",
      usable: true,
      failure: null,
      advice: [],
      key: "accepted",
      exists: true,
      tools: "called",
      pictures: "seen",
      reasoning: { tokens: 12, characters: 3 },
      tokens: { input: 900, output: 40 },
      cost: 0.0013,
      context: { tokens: 90_000, from: "configuration" },
      maxOutputTokens: 700,
    })
    assert.ok(streaming && streaming.pieces >= 5 && streaming.firstMs !== null && streaming.firstMs <= durationMs)
    assert.equal(server.requests.length, 1)
    const [request] = server.requests
    const sent = request?.body["tools"] as { function: { name: string } }[]
    assert.deepEqual(
      sent.map((tool) => tool.function.name),
      ["browser", "report"],
    )
    assert.doesNotMatch(request?.promptText() ?? "", /orange/i)
    assert.match(JSON.stringify(request?.body["messages"]), /data:image\/png;base64,/)
  })

  test("without a key or pictures is not sent any, and what is not known is said to be so", async (context) => {
    const server = await serve(context)
    server.script(() => ({ kind: "reply", text: numbers, calls: [report("none")] }))
    const provider = { kind: "openai-compatible", baseUrl: server.baseUrl } as const
    const found = await check(server, { view: { providers: { test: provider } } })
    assert.deepEqual(
      [found.usable, found.key, found.pictures, found.cost, found.context, found.maxOutputTokens],
      [true, "none-needed", "not-sent", null, { tokens: 128_000, from: "assumed" }, null],
    )
    assert.doesNotMatch(JSON.stringify(server.requests[0]?.body), /image/)
    assert.match(found.advice.join("\n"), /128,000 tokens are assumed.*models\.providers\.test\.models\["small"\]/)
  })

  test("may be one that chats may not choose", async (context) => {
    const server = await serve(context)
    server.script(() => good)
    const found = await check(server, { view: { allowed: { "test/small": {} } }, model: "test/other" })
    assert.deepEqual([found.model, found.usable], ["test/other", true])
  })

  test("is told to stream nothing when its answer comes in one piece", async (context) => {
    const server = await serve(context)
    server.script(() => ({ ...good, pieces: 1 }))
    const found = await check(server)
    assert.equal(found.usable, true)
    assert.equal(found.streaming?.pieces, 1)
    assert.match(found.advice.join("\n"), /came in one piece/)
  })

  test("gets one more try when its provider is busy for a moment", async (context) => {
    const server = await serve(context)
    server.enqueue({ kind: "status", status: 503 })
    server.script(() => good)
    assert.equal((await check(server)).usable, true)
    assert.equal(server.requests.length, 2)
  })
})

describe("pictures", () => {
  test("that are seen wrong are told, with the key to set", async (context) => {
    const server = await serve(context)
    server.script(() => ({ kind: "reply", text: numbers, calls: [report("blue")] }))
    const found = await check(server)
    assert.deepEqual([found.usable, found.tools, found.pictures], [true, "called", "wrong"])
    assert.match(found.advice.join("\n"), /models\.providers\.test\.models\["small"\]\.vision to false/)
  })

  test("that are refused leave the model usable: without them it is asked again", async (context) => {
    const server = await serve(context)
    const refusal = { kind: "status", status: 400, message: "image input is not supported" } as const
    server.script((request) => (JSON.stringify(request.body).includes("image_url") ? refusal : good))
    const found = await check(server)
    assert.deepEqual([found.usable, found.tools, found.pictures, found.failure], [true, "called", "refused", null])
    assert.match(found.advice.join("\n"), /image input is not supported.*vision to false/)
    assert.equal(server.requests.length, 2)
  })
})

describe("tools", () => {
  test("that are refused make the model useless, and the provider's reason is told", async (context) => {
    const server = await serve(context)
    const refusal = { kind: "status", status: 400, message: "gemma:2b does not support tools" } as const
    server.script((request) => (request.body["tools"] === undefined ? good : refusal))
    const found = await check(server)
    assert.deepEqual([found.usable, found.key, found.exists, found.tools], [false, "accepted", true, "refused"])
    assert.match(found.failure?.message ?? "", /refuses the tools: .*does not support tools/)
    assert.match(found.failure?.hint ?? "", /--jinja.*--enable-auto-tool-choice/)
  })

  test("that are taken but not called are told", async (context) => {
    const server = await serve(context)
    server.script(() => ({ kind: "reply", text: `${numbers} The picture is orange.` }))
    const found = await check(server)
    assert.deepEqual([found.usable, found.tools, found.pictures], [true, "not-called", "seen"])
    assert.match(found.advice.join("\n"), /did not call/)
  })
})

describe("a model that does not work", () => {
  test("because of its key is told so, and nothing else is tried", async (context) => {
    const server = await serve(context)
    server.script(() => ({ kind: "status", status: 401, message: "Incorrect API key provided: a-key-of-the-tests" }))
    const found = await check(server)
    assert.deepEqual([found.usable, found.failure?.kind, found.key, found.exists], [false, "key", "refused", null])
    assert.match(found.failure?.hint ?? "", /key/)
    assert.doesNotMatch(JSON.stringify(found), /a-key-of-the-tests/)
    assert.equal(server.requests.length, 1)
  })

  test("because nobody has one of this name is told so", async (context) => {
    const server = await serve(context)
    const body = { error: { message: "The model `small` does not exist", code: "model_not_found" } }
    server.script(() => ({ kind: "status", status: 404, body }))
    const found = await check(server)
    assert.deepEqual([found.usable, found.failure?.kind, found.exists], [false, "unknown-model", false])
  })

  test("is never covered by a fallback", async (context) => {
    const server = await serve(context)
    server.script((request) => (request.body["model"] === "other" ? good : { kind: "status", status: 401 }))
    const found = await check(server, { view: { defaultModel: { primary: "test/small", fallbacks: ["test/other"] } } })
    assert.deepEqual([found.model, found.usable], ["test/small", false])
    assert.deepEqual(
      server.requests.map((request) => request.body["model"]),
      ["small"],
    )
  })

  test("because the provider stays busy is told after two tries, and long waits are not waited for", async (context) => {
    const server = await serve(context)
    server.script(() => ({ kind: "status", status: 429 }))
    assert.equal((await check(server)).failure?.kind, "busy")
    assert.equal(server.requests.length, 2)
    server.script(() => ({ kind: "status", status: 429, headers: { "retry-after": "30" } }))
    assert.equal((await check(server)).failure?.kind, "busy")
    assert.equal(server.requests.length, 3)
  })

  test("because its context is too small for the tools is told what to do about that", async (context) => {
    const server = await serve(context)
    const message = "the request exceeds the available context size, try increasing it"
    server.script(() => ({ kind: "status", status: 400, message }))
    const found = await check(server)
    assert.deepEqual([found.failure?.kind, found.exists], ["context", true])
    assert.match(found.failure?.hint ?? "", /little more than what describes the tools/)
  })

  test("because it never answers is told after the time limit, with whether it had begun", async (context) => {
    const server = await serve(context)
    server.enqueue({ kind: "hang" })
    const silent = await check(server, { timeoutMs: 1_000 })
    assert.deepEqual([silent.usable, silent.failure?.kind], [false, "timeout"])
    assert.match(silent.failure?.message ?? "", /not begun to answer within 1 s/)
    assert.match(silent.failure?.hint ?? "", /--timeout 300/)
    server.enqueue({ kind: "drip", text: "slowly but surely, and on and on", everyMs: 100 })
    const slow = await check(server, { timeoutMs: 1_000 })
    assert.match(slow.failure?.message ?? "", /began to answer after \d+ ms, and was not done within 1 s/)
  })

  test("because the configuration has no such provider or no key is told without asking anybody", async (context) => {
    const server = await serve(context)
    const unknown = await check(server, { model: "antropic/claude-sonnet-4-5" })
    assert.deepEqual([unknown.model, unknown.failure?.kind], ["antropic/claude-sonnet-4-5", "not-configured"])
    assert.match(unknown.failure?.hint ?? "", /Did you mean "anthropic\/claude-sonnet-4-5"\?/)
    const keyless = await check(server, { model: "openai/gpt-5" })
    assert.deepEqual([keyless.key, keyless.failure?.kind], ["missing", "key-missing"])
    assert.match(keyless.failure?.hint ?? "", /OPENAI_API_KEY/)
    assert.equal(server.requests.length, 0)
  })

  test("ends at once, without a verdict, when the one who asked goes away", async (context) => {
    const server = await serve(context)
    server.enqueue({ kind: "hang" })
    const leaving = new AbortController()
    const checked = check(server, { signal: leaving.signal })
    const request = await server.waitForRequest(() => true)
    leaving.abort(new Error("gone"))
    await assert.rejects(checked, /gone/)
    assert.equal(await request.ended, "closed")
  })
})

test("the offline model is told to be what it is", async (context) => {
  const found = await check(await serve(context), { model: "offline/commander" })
  assert.deepEqual([found.usable, found.key], [true, "none-needed"])
  assert.match(found.advice.join("\n"), /fixed commands/)
  assert.ok(isJsonObject(found.tokens))
})
