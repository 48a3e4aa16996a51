import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer } from "node:net"
import type { AddressInfo } from "node:net"
import { afterEach, beforeEach, describe, test } from "node:test"
import {
  busy,
  createTestRegistry,
  startModelServer,
  text,
  userRequest,
  type ModelServer,
  type ScriptedReply,
} from "../../test/support/model-server/index.ts"
import { isContextTooLong, type ModelLimits } from "./index.ts"

const main = { agentId: "main" }
const key = "key-0123456789abcdef"

let server: ModelServer
beforeEach(async () => {
  server = await startModelServer()
})
afterEach(() => server.stop())

function registryFor(options: { fallbacks?: string[]; limits?: Partial<ModelLimits> } = {}) {
  const provider = { kind: "openai-compatible", baseUrl: server.baseUrl, apiKey: key } as const
  return createTestRegistry(
    {
      providers: { local: provider, other: { ...provider, apiKey: "other-0123456789" } },
      defaultModel: { primary: "local/one", fallbacks: options.fallbacks ?? [] },
    },
    options.limits ? { limits: options.limits } : {},
  )
}

describe("retries", () => {
  test("waits at least as long as Retry-After says, then asks the same model again", async () => {
    server.enqueue(busy("1"), text("at last"))
    const { registry, records } = registryFor()
    const reply = await registry.complete(main, userRequest("hello"))
    assert.equal(reply.text, "at last")
    const [first, second] = server.requests
    assert.ok(first && second && second.at - first.at >= 1000)
    assert.deepEqual(
      records.map(({ msg, model, attempt, status }) => ({ msg, model, attempt, status })),
      [
        { msg: "model failed", model: "local/one", attempt: 1, status: 429 },
        { msg: "model answered", model: "local/one", attempt: undefined, status: undefined },
      ],
    )
  })

  test("reads retry-after-ms and a Retry-After that is a date", async () => {
    const date = new Date(Date.now() + 1500).toUTCString()
    server.enqueue(
      { kind: "status", status: 503, headers: { "retry-after-ms": "300" } },
      { kind: "status", status: 503, headers: { "retry-after": date } },
    )
    await registryFor().registry.complete(main, userRequest("hello"))
    const [first, second, third] = server.requests
    assert.ok(first && second && third)
    assert.ok(second.at - first.at >= 300)
    assert.ok(Date.now() >= Date.parse(date))
  })

  test("does not wait for a Retry-After beyond a minute: the fallback is asked at once", async () => {
    server.enqueue(busy("3600"), text("from the other"))
    const reply = await registryFor({ fallbacks: ["other/two"] }).registry.complete(main, userRequest("hello"))
    assert.equal(reply.model, "other/two")
    assert.equal(server.requests.length, 2)
  })

  for (const status of [408, 409, 425, 429, 500, 502, 503, 529]) {
    test(`asks again after HTTP ${status}`, async () => {
      server.enqueue({ kind: "status", status })
      assert.equal((await registryFor().registry.complete(main, userRequest("hello"))).text, "ok")
    })
  }

  for (const status of [400, 401, 403, 404, 422]) {
    test(`does not ask again after HTTP ${status}`, async () => {
      server.enqueue({ kind: "status", status })
      await assert.rejects(registryFor().registry.complete(main, userRequest("hello")), { code: "model-failed" })
      assert.equal(server.requests.length, 1)
    })
  }

  test("gives up after three attempts", async () => {
    server.script(() => ({ kind: "status", status: 500 }))
    await assert.rejects(registryFor().registry.complete(main, userRequest("hello")), {
      code: "model-failed",
      message: /local\/one: HTTP 500/,
    })
    assert.equal(server.requests.length, 3)
  })

  test("asks again when the connection is refused or cut before any text, and tells the reason in the end", async () => {
    const probe = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1")
    await once(probe, "listening")
    const { port } = probe.address() as AddressInfo
    const { registry, records } = createTestRegistry({
      providers: { local: { kind: "openai-compatible", baseUrl: `http://127.0.0.1:${port}/v1` } },
      defaultModel: "local/one",
    })
    await assert.rejects(registry.complete(main, userRequest("hello")), { code: "model-failed" })
    probe.close()
    await once(probe, "close")
    await assert.rejects(registry.complete(main, userRequest("hello")), {
      code: "model-failed",
      message: /ECONNREFUSED/,
    })
    assert.equal(records.filter(({ failure }) => failure === "network").length, 6)
  })

  test("repeats a step that was cut when nobody saw its text", async () => {
    server.enqueue({ kind: "cut", text: "half a sen" })
    assert.equal((await registryFor().registry.complete(main, userRequest("hello"))).text, "ok")
  })
})

describe("fallbacks", () => {
  test("are asked in order, each with its own key, and the reply says who answered", async () => {
    server.enqueue({ kind: "status", status: 400 }, { kind: "status", status: 404 }, text("third"))
    const { registry, records } = registryFor({ fallbacks: ["other/two", "local/three"] })
    const reply = await registry.complete(main, userRequest("hello"))
    assert.equal(reply.model, "local/three")
    assert.deepEqual(
      server.requests.map(({ body, headers }) => [body.model, headers.authorization]),
      [
        ["one", `Bearer ${key}`],
        ["two", "Bearer other-0123456789"],
        ["three", `Bearer ${key}`],
      ],
    )
    assert.equal(records.filter(({ msg }) => msg === "model fallback chosen").length, 2)
  })

  test("that cannot be used are skipped", async () => {
    server.enqueue({ kind: "status", status: 400 })
    const { registry } = registryFor({ fallbacks: ["gone", "openai/gpt-5", "offline/commander"] })
    assert.equal((await registry.complete(main, userRequest("say still here"))).text, "still here")
  })

  test("when all fail the error names each model with its reason", async () => {
    server.script(() => ({ kind: "status", status: 400, message: "no such thing" }))
    await assert.rejects(registryFor({ fallbacks: ["other/two"] }).registry.complete(main, userRequest("hello")), {
      code: "model-failed",
      message: /local\/one: HTTP 400: no such thing; other\/two: HTTP 400/,
    })
  })
})

describe("a conversation that is too long", () => {
  test("is told apart, with a hint, so that it can be trimmed", async () => {
    server.enqueue({
      kind: "status",
      status: 400,
      message: "This model's maximum context length is 8192 tokens.",
      type: "context_length_exceeded",
    })
    const error = await registryFor()
      .registry.complete(main, userRequest("long"))
      .catch((thrown: unknown) => thrown)
    assert.ok(isContextTooLong(error))
    assert.match((error as { hint: string }).hint, /longer than the model takes/)
  })

  test("is not confused with other refusals", async () => {
    server.enqueue({ kind: "status", status: 400, message: "bad temperature" })
    const error = await registryFor()
      .registry.complete(main, userRequest("x"))
      .catch((thrown: unknown) => thrown)
    assert.equal(isContextTooLong(error), false)
  })
})

describe("keys", () => {
  test("appear in no log line and no error, even when the provider repeats them", async () => {
    server.enqueue({ kind: "status", status: 401, message: `Incorrect API key provided: ${key}` })
    const { registry, records } = registryFor()
    const refused = await registry.complete(main, userRequest("hello")).catch((thrown: unknown) => thrown)
    server.enqueue({ kind: "status", status: 422, message: `bad header Bearer ${key}` })
    const invalid = await registry.complete(main, userRequest("hello")).catch((thrown: unknown) => thrown)
    assert.match((refused as { hint: string }).hint, /Check the provider's key/)
    const everything = [refused, invalid].map((error) => {
      const { message, hint, cause, stack } = error as {
        message: string
        hint?: string
        cause?: unknown
        stack: string
      }
      return `${message} ${hint} ${stack} ${JSON.stringify(cause)}`
    })
    assert.doesNotMatch(everything.join("\n") + JSON.stringify(records), new RegExp(key))
  })
})

describe("aborts", () => {
  const cases: [string, ScriptedReply][] = [
    ["before the headers", { kind: "hang" }],
    ["within the stream", { kind: "hang", afterHeaders: true }],
    ["during a slow reply", { kind: "drip", text: "slow and steady ".repeat(100), everyMs: 20 }],
    ["while waiting for Retry-After", busy("30")],
  ]
  for (const [when, scripted] of cases) {
    test(`an abort ${when} frees the caller at once with the signal's reason`, async () => {
      server.script(() => scripted)
      const controller = new AbortController()
      const { registry } = registryFor()
      const pending = registry.complete(main, userRequest("hello", { signal: controller.signal }))
      const request = await server.waitForRequest(() => true)
      if (scripted.kind === "status") await request.ended
      const reason = new Error("stopped")
      const abortedAt = performance.now()
      controller.abort(reason)
      await assert.rejects(pending, (error) => error === reason)
      assert.ok(performance.now() - abortedAt < 2_000)
      assert.equal(await request.ended, scripted.kind === "status" ? "sent" : "closed")
    })
  }
})

describe("a provider that is broken", () => {
  const cases: [string, ScriptedReply, RegExp][] = [
    ["sends broken events", { kind: "garbage" }, /before the reply was complete/],
    ["sends words instead of events", { kind: "garbage", body: "\u0000\u0001 what? \n\n" }, /local\/one: what\?$/],
    ["sends nothing", { kind: "garbage", body: "" }, /before the reply was complete/],
    ["cuts its JSON", { kind: "garbage", body: 'data: {"choices":[{"delta":{"conte' }, /before the reply was complete/],
    ["answers with a web page", { kind: "html" }, /text\/html/],
    ["never ends", { kind: "endless" }, /no end/],
    ["falls silent before the headers", { kind: "hang" }, /sent nothing for 1 s/],
    ["falls silent in the stream", { kind: "hang", afterHeaders: true }, /sent nothing for 1 s/],
    [
      "ends its stream before the reply is complete",
      { kind: "cut", text: "half", politely: true },
      /before the reply was complete/,
    ],
    [
      "reports an error in the stream",
      { kind: "garbage", body: 'data: {"error":{"message":"out of memory"}}\n\n' },
      /out of memory/,
    ],
  ]
  for (const [what, scripted, message] of cases) {
    test(`that ${what} ends in a coded error in bounded time`, async () => {
      server.script(() => scripted)
      // Only of what falls silent the silence is short: whatever sends is read on a machine that does other work too.
      const idleTimeoutMs = scripted.kind === "hang" ? 1_000 : 20_000
      const { registry } = registryFor({ limits: { idleTimeoutMs } })
      const startedAt = performance.now()
      await assert.rejects(registry.complete(main, userRequest("hello")), { code: "model-failed", message })
      assert.ok(performance.now() - startedAt < 15_000)
    })
  }

  test("an endless stream in small pieces is cut by its bytes as well", async () => {
    server.script(() => ({ kind: "endless" }))
    const { registry } = registryFor({ limits: { maxResponseBytes: 200_000, maxOutputCharacters: 1e9 } })
    await assert.rejects(registry.complete(main, userRequest("hello")), { code: "model-failed", message: /no end/ })
  })

  test("a slow reply that keeps coming is not taken for silence", async () => {
    server.enqueue({ kind: "drip", text: "slow but alive", everyMs: 50 })
    const { registry } = registryFor({ limits: { idleTimeoutMs: 300 } })
    assert.equal((await registry.complete(main, userRequest("hello"))).text, "slow but alive")
  })
})
