import assert from "node:assert/strict"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, test, type TestContext } from "node:test"
import { type Script, startModelServer } from "../../test/support/model-server/index.ts"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { runProgram, startProgram } from "../testing/run-program.ts"
import { answerJson, startStandIn, type Answer } from "../testing/stand-in-gateway.ts"

const check = {
  model: "anthropic/large",
  usable: true,
  failure: null,
  advice: ["The answer came in one\u001b[2J piece."],
  key: "accepted",
  exists: true,
  tools: "called",
  pictures: "seen",
  reasoning: { tokens: 1_200, characters: 0 },
  streaming: { pieces: 1, firstMs: 812 },
  durationMs: 1_912,
  tokens: { input: 3_214, output: null },
  cost: 0.0103,
  context: { tokens: 200_000, from: "table" },
  maxOutputTokens: 64_000,
}

const failed = {
  ...check,
  model: "openai/small",
  usable: false,
  failure: { kind: "key", message: "Incorrect API key", hint: "Check the key" },
  advice: [],
  key: "refused",
  exists: null,
  tools: null,
  pictures: null,
  reasoning: null,
  streaming: null,
  tokens: null,
  cost: null,
  context: null,
  maxOutputTokens: null,
}

const row = {
  id: "anthropic/large",
  alias: "big",
  marks: ["default"],
  state: "ready",
  problem: null,
  hint: null,
  context: { tokens: 200_000, from: "table" },
  maxOutputTokens: 64_000,
  vision: true,
  reasoning: ["low", "high"],
  prices: { input: 3, output: 15 },
}
const unknown = { context: null, maxOutputTokens: null, vision: null, reasoning: null, prices: null }
const list = {
  ok: true,
  models: [
    row,
    {
      ...row,
      ...unknown,
      id: "local/a",
      alias: null,
      marks: [],
      context: { tokens: 128_000, from: "assumed" },
      vision: false,
    },
    {
      ...row,
      ...unknown,
      id: "openai/small",
      alias: null,
      marks: ["fallback 1"],
      state: "key-missing",
      problem: "It has no key",
      hint: "Set OPENAI_API_KEY",
    },
  ],
  asked: ["anthropic/large", "openai/small"],
}

const gatewayAnswer: Answer = (request, response) => {
  const { model } = (request.body ?? {}) as { model?: string }
  const answer = request.method === "GET" ? list : model === "openai/small" ? failed : check
  answerJson(answer)(request, response)
}

describe("with a running gateway", () => {
  async function ask(context: TestContext, words: readonly string[], answer = gatewayAnswer) {
    const gateway = await startStandIn(answer)
    context.after(() => gateway.stop())
    const result = await runProgram(["models", ...words], { environment: gateway.environment })
    return { ...result, asked: gateway.requests.map(({ method, path, body }) => [method, path, body]) }
  }

  test("models list prints a table, and below it what is wrong with which model", async (context) => {
    const result = await ask(context, ["list"])
    assert.equal(
      result.stdout,
      [
        "Model            For                 State   Context   Longest reply  Pictures  Thinking   In / out, 1M tokens",
        "anthropic/large  default, alias big  ready   200,000   64,000         yes       low, high  $3.00 / $15.00",
        "local/a          -                   ready   128,000?  ?              no        ?          ?",
        "openai/small     fallback 1          no key  -         -              -         -          -",
        "",
        "openai/small: It has no key. Set OPENAI_API_KEY",
        "",
      ].join("\n"),
    )
    assert.deepEqual([result.code, result.stderr], [0, ""])
    assert.deepEqual(JSON.parse((await ask(context, ["list", "--json"])).stdout), list)
  })

  test("models test asks the default and each fallback, tells of each, and ends with 1 when one fails", async (context) => {
    const result = await ask(context, ["test", "--timeout", "7"])
    assert.deepEqual(result.asked, [
      ["GET", "/api/models", undefined],
      ["POST", "/api/models/test", { model: "anthropic/large", timeoutSeconds: 7 }],
      ["POST", "/api/models/test", { model: "openai/small", timeoutSeconds: 7 }],
    ])
    assert.equal(
      result.stdout,
      [
        "anthropic/large: works",
        "  key        accepted",
        "  model      is there",
        "  tools      called",
        "  pictures   seen right",
        "  thinking   1,200 tokens",
        "  streaming  one piece, the first after 812 ms",
        "  time       1.9 s",
        "  tokens     3,214 in, ? out",
        "  cost       $0.0103",
        "  context    200,000 tokens (known of the model)",
        "  reply      64,000 tokens at most",
        "  note       The answer came in one\\x1b[2J piece.",
        "openai/small: does not work",
        "  problem    Incorrect API key",
        "  next       Check the key",
        "  key        refused",
        "  model      not known",
        "  tools      not known",
        "  pictures   not known",
        "  time       1.9 s",
        "",
      ].join("\n"),
    )
    assert.equal(result.stderr, "asking anthropic/large ...\nasking openai/small ...\n")
    assert.equal(result.code, 1)
  })

  test("models test of one model that works ends with 0, and prints JSON when asked to", async (context) => {
    const result = await ask(context, ["test", "big", "--json"])
    assert.deepEqual(result.asked[1], ["POST", "/api/models/test", { model: "big", timeoutSeconds: 60 }])
    assert.deepEqual(JSON.parse(result.stdout), { usable: true, checks: [check] })
    assert.deepEqual([result.code, result.stderr], [0, "asking big ...\n"])
  })

  test("an error of the gateway is told as one, and a wrong time limit is refused", async (context) => {
    const error = { code: "not-ready", message: "The gateway is stopping" }
    const stopping = await ask(context, ["test"], answerJson({ ok: false, error }, 503))
    assert.deepEqual([stopping.code, stopping.stderr], [1, "error: The gateway is stopping\n"])
    assert.equal((await ask(context, ["test", "--timeout", "0"])).code, 2)
  })
})

describe("without a gateway", () => {
  const numbers = "one two three four five"
  const call = (colour: string) => ({ name: "report", input: { colour } })
  const works: Script = () => ({ kind: "reply", text: numbers, pieces: 5, calls: [call("orange")] })

  async function setUp(context: TestContext, script: Script, model: unknown = "own/m") {
    const server = await startModelServer({ script })
    context.after(() => server.stop())
    const folder = temporaryFolder()
    mkdirSync(folder, { recursive: true })
    const models = { m: { vision: true, contextTokens: 32_000 } }
    const own = { kind: "openai-compatible", baseUrl: server.baseUrl, apiKey: "a-secret-key-0123456789", models }
    const config = { models: { providers: { own } }, agents: { defaults: { model } } }
    writeFileSync(join(folder, "svc.json"), JSON.stringify(config))
    const environment = { SVC_STATE_DIR: folder }
    const run = (...words: string[]) => runProgram(["models", ...words], { environment })
    return { server, environment, run }
  }

  test("models test asks by the configuration alone, and says so", async (context) => {
    const { run, server } = await setUp(context, works)
    const result = await run("test")
    assert.equal(result.code, 0, result.stdout)
    assert.match(result.stdout, /^own\/m: works\n {2}key {8}accepted\n/)
    assert.match(result.stdout, /^ {2}pictures {3}seen right$/m)
    assert.match(result.stdout, /^ {2}streaming {2}5 pieces, the first after \d+ ms$/m)
    assert.match(result.stdout, /^ {2}cost {7}not known$/m)
    assert.equal(result.stderr, "no gateway runs: this is by the configuration alone\nasking own/m ...\n")
    assert.equal(server.requests.length, 1)
    assert.match(JSON.stringify(server.requests[0]?.body["tools"]), /"browser"/)
  })

  test("models list shows the same rows as a gateway would", async (context) => {
    const { run } = await setUp(context, works)
    const result = await run("list")
    assert.match(result.stdout, /^own\/m +default +ready +32,000 +\? +yes +\? +\?$/m)
    assert.equal(result.code, 0)
  })

  const failures: [string, Script, RegExp[]][] = [
    [
      "a wrong key, which is not shown",
      () => ({ kind: "status", status: 401, message: "Incorrect API key provided: a-secret-key-0123456789" }),
      [
        /^own\/m: does not work$/m,
        /^ {2}problem .*API key/m,
        /^ {2}next {7}Check the provider's key/m,
        /^ {2}key {8}refused$/m,
      ],
    ],
    [
      "a model that is not there",
      () => ({ kind: "status", status: 404, body: { error: { message: "no such model", code: "model_not_found" } } }),
      [/^ {2}model {6}is not there$/m, /^ {2}next .*name/m],
    ],
    [
      "tools that are refused",
      ({ body }) =>
        body["tools"] === undefined
          ? { kind: "reply", text: numbers }
          : { kind: "status", status: 400, message: "m does not support tools" },
      [
        /^ {2}problem .*refuses the tools: .*does not support tools/m,
        /^ {2}tools {6}refused$/m,
        /^ {2}model {6}is there$/m,
      ],
    ],
    [
      "a server that hangs, after --timeout",
      () => ({ kind: "hang" }),
      [/^ {2}problem .*not begun to answer within 1 s$/m, /^ {2}next .*--timeout 300/m, /^ {2}time {7}1\.\d s$/m],
    ],
  ]
  for (const [what, script, expected] of failures) {
    test(`models test ends with 1 and tells of ${what}`, async (context) => {
      const { run } = await setUp(context, script)
      const result = await run("test", "own/m", "--timeout", what.startsWith("a server that hangs") ? "1" : "30")
      assert.equal(result.code, 1)
      for (const words of expected) assert.match(result.stdout, words)
      assert.doesNotMatch(result.stdout + result.stderr, /a-secret-key/)
    })
  }

  const notes: [string, Script, RegExp[]][] = [
    [
      "a picture that was seen wrong",
      () => ({ kind: "reply", text: numbers, calls: [call("green")] }),
      [/^ {2}pictures {3}sent, but not seen right$/m, /^ {2}note .*models\.providers\.own\.models\["m"\]\.vision/m],
    ],
    [
      "an answer that came in one piece",
      () => ({ kind: "reply", text: numbers, pieces: 1, calls: [call("orange")] }),
      [/^ {2}streaming {2}one piece/m, /^ {2}note .*does not stream/m],
    ],
  ]
  for (const [what, script, expected] of notes) {
    test(`models test ends with 0 and tells of ${what}`, async (context) => {
      const { run } = await setUp(context, script)
      const result = await run("test")
      assert.equal(result.code, 0, result.stdout)
      for (const words of expected) assert.match(result.stdout, words)
    })
  }

  test("models test tells what to set where nothing can be asked", async (context) => {
    const { run, server } = await setUp(context, works, { primary: "openai/gpt-5", fallbacks: ["own/m"] })
    const result = await run("test", "--json")
    const { usable, checks } = JSON.parse(result.stdout) as { usable: boolean; checks: (typeof failed)[] }
    assert.deepEqual([result.code, usable, checks.map((each) => each.usable)], [1, false, [false, true]])
    assert.deepEqual([checks[0]?.key, checks[0]?.failure.kind], ["missing", "key-missing"])
    assert.match(checks[0]?.failure.hint ?? "", /OPENAI_API_KEY/)
    assert.equal(server.requests.length, 1)
  })

  test("config validate lists models that may not work, and ends with 0 all the same", async (context) => {
    const { environment } = await setUp(context, works, { primary: "own/m", fallbacks: ["openai/gpt-5"] })
    const result = await runProgram(["config", "validate"], { environment })
    assert.deepEqual([result.code, result.stderr], [0, ""])
    assert.match(
      result.stdout,
      /no errors\nwarning: .*svc\.json:1:\d+: agents\.defaults\.model\.fallbacks\[0\]: .*OPENAI_API_KEY/,
    )
    const withKey = { ...environment, OPENAI_API_KEY: "k" }
    const json = await runProgram(["config", "validate", "--json"], { environment: withKey })
    assert.deepEqual((JSON.parse(json.stdout) as { warnings: unknown[] }).warnings, [])
  })

  test("a wrong configuration is told as such, and Ctrl-C ends a test that waits", async (context) => {
    const { environment, server } = await setUp(context, () => ({ kind: "hang" }))
    const running = startProgram(["models", "test"], { environment })
    await server.waitForRequest(() => true, { timeoutMs: 60_000 })
    running.child.kill("SIGINT")
    const ended = await running.ended
    assert.deepEqual([ended.code, ended.stdout], [130, ""])
    writeFileSync(join(environment.SVC_STATE_DIR, "svc.json"), "{ agents: 7 }")
    const broken = await runProgram(["models", "list"], { environment })
    assert.equal(broken.code, 1)
    assert.match(broken.stderr, /error: .*\n.*agents: must be/)
  })
})
