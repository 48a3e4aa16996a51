// Each provider that a person may choose, set up against the rules of that provider and asked with what was written.
import assert from "node:assert/strict"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { text as readAll } from "node:stream/consumers"
import { type TestContext, describe, test } from "node:test"
import { startModelServer } from "../../test/support/model-server/index.ts"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { AppError } from "../kernel/index.ts"
import { openModels } from "../main/models/cli.ts"
import { presetNames } from "../models/config.ts"
import { tokenProblem } from "./bot.ts"
import { entryOf, keyProblem, keyVariableOf, neededPlace, offeredProviders, readModelAnswer } from "./providers.ts"
import { ownerStep } from "./owner.ts"
import { openSettings } from "./settings.ts"
import { runSetup } from "./setup.ts"

const key = "sk-0123456789abcdef0123456789abcdef"
const rest = { botToken: "none", browser: "no" }

function run(folder: string, answers: object) {
  const silent = { conversation: undefined, say: () => undefined, gateway: undefined }
  const variables = { SVC_STATE_DIR: folder, HOME: folder }
  return runSetup({ variables, answers, signal: AbortSignal.timeout(30_000), ...silent })
}

describe("a set-up with", () => {
  const models: [string, Parameters<Awaited<ReturnType<typeof startModelServer>>["baseUrlOf"]>[0]][] = [
    ["openai/gpt-5", "openai-responses"],
    ["anthropic/claude-sonnet-4-5", "anthropic"],
    ["google/gemini-2.5-flash", "gemini"],
    ["openrouter/anthropic/claude-sonnet-4.5", "openrouter"],
    ["groq/llama-3.3-70b-versatile", "groq"],
    ["deepseek/deepseek-chat", "deepseek"],
    ["mistral/mistral-medium-latest", "mistral"],
    ["xai/grok-4", "xai"],
    ["together/meta-llama/Llama-3.3-70B-Instruct-Turbo", "together"],
    ["cerebras/gpt-oss-120b", "cerebras"],
    ["ollama/qwen3:8b", "ollama"],
    ["llama.cpp/gemma-3-12b", "llama.cpp"],
    ["vllm/Qwen/Qwen3-8B", "vllm"],
    ["lmstudio/gemma-3-12b", "lmstudio"],
    ["box/any-model", "openai-chat"],
  ]
  test("every provider writes what its next call needs, and the key to .env alone", async (context) => {
    const names = models.map(([model]) => model.split("/")[0])
    for (const preset of presetNames) assert.ok(names.includes(preset), preset)
    const server = await startModelServer()
    context.after(() => server.stop())
    server.script(() => ({ kind: "reply", text: "orange", calls: [{ name: "report", input: { colour: "orange" } }] }))
    for (const [model, provider] of models) {
      const folder = temporaryFolder()
      const report = await run(folder, { ...rest, model, modelKey: key, modelUrl: server.baseUrlOf(provider) })
      assert.deepEqual([report.settings.model, report.changed], [model, ["model", "bot", "browser"]])
      assert.ok(!readFileSync(join(folder, "svc.json"), "utf8").includes(key))
      const variable = keyVariableOf(model.split("/")[0] ?? "")
      assert.ok(readFileSync(join(folder, ".env"), "utf8").includes(`${variable}=${key}`))
      const [row] = openModels({ SVC_STATE_DIR: folder, HOME: folder }).list().models
      assert.deepEqual([row?.id, row?.state], [model, "ready"])
      assert.ok(
        server.requests.at(-1)?.path.includes(provider) ||
          JSON.stringify(server.requests.at(-1)?.headers).includes(key),
      )
    }
  })

  test("the offline model needs neither key nor network", async () => {
    const report = await run(temporaryFolder(), { ...rest, model: "offline" })
    assert.deepEqual(report.settings, {
      model: "offline/commander",
      bot: "none: the chat is switched off",
      browser: "none",
    })
  })
})

test("a provider's entry says no more than it must", () => {
  assert.equal(entryOf("anthropic", {}), undefined)
  assert.deepEqual(entryOf("groq", {}), { kind: "openai-compatible", preset: "groq" })
  assert.deepEqual(entryOf("azure", { url: "https://x.openai.azure.com" }), {
    kind: "azure",
    baseUrl: "https://x.openai.azure.com",
  })
  assert.deepEqual(entryOf("vertex", { project: "p", region: "r" }), { kind: "vertex", project: "p", region: "r" })
  assert.deepEqual(neededPlace("bedrock", undefined), ["region"])
  assert.deepEqual(neededPlace("box", undefined), ["url"])
  assert.equal(keyVariableOf("bedrock"), "AWS_BEARER_TOKEN_BEDROCK")
})

test("answers about the model are numbers, providers and models; slips are named", () => {
  assert.deepEqual(readModelAnswer("1", []), { provider: offeredProviders[0]?.name })
  assert.deepEqual(readModelAnswer("openrouter/a/b:free", []), { provider: "openrouter", model: "a/b:free" })
  assert.deepEqual(readModelAnswer("mine", ["mine"]), { provider: "mine" })
  assert.deepEqual(readModelAnswer("box/m", []), { provider: "box", model: "m" })
  for (const [text, hint] of [
    ["antropic/claude", /anthropic/],
    ["99", /list/],
    ["open ai", /provider\/model/],
  ] as const) {
    assert.throws(() => readModelAnswer(text, []), { code: "bad-request", hint })
  }
  assert.throws(() => readModelAnswer(key, []), /looks like a key/)
})

test("what a wrong key or token looks like is said", () => {
  assert.equal(keyProblem(key), undefined)
  assert.match(keyProblem("123456789:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA") ?? "", /bot token/)
  assert.match(keyProblem("OPENAI_API_KEY=x") ?? "", /alone/)
  assert.equal(tokenProblem("123456789:AAF_abcdefghijklmnopqrstuvwxyz-1234"), undefined)
  const cases: [string, RegExp][] = [
    ["@my_bot", /name of the bot/],
    [key, /key of a model/],
    ["123456789", /first half/],
    ["123456789:AA", /cut off/],
    ["AAF_abcdefghijklmnopqrstuvwxyz-12345", /second half/],
    ["https://t.me/my_bot", /address/],
    ["bot123456789:AAF_abcdefghijklmnopqrstuvwxyz", /leave out "bot"/],
    ["${BOT_TOKEN}", /placeholder/],
    ["123456789:AAF abc", /spaces/],
    ["?", /<digits>:/],
  ]
  for (const [text, expected] of cases) assert.match(tokenProblem(text) ?? "", expected, text)
})

test("the next person who writes is the owner where nobody can be asked, and not who wrote to the gateway before", async () => {
  const folder = temporaryFolder()
  const chatapp = { botToken: "123456789:AAF_abcdefghijklmnopqrstuvwxyz-1234", apiRoot: "http://127.0.0.1:1" }
  writeFileSync(join(folder, "svc.json"), JSON.stringify({ channels: { chatapp } }), { mode: 0o600 })
  const earlier = { code: "OLD", senderId: "1111", account: "default", createdAt: Date.now() - 60_000 }
  const later = { code: "NEW", senderId: "2222", account: "default" }
  const approved: object[] = []
  let looks = 0
  const settings = openSettings({ SVC_STATE_DIR: folder, HOME: folder })
  await ownerStep.run({
    settings,
    answers: { owner: "first" },
    conversation: undefined,
    say: () => undefined,
    signal: AbortSignal.timeout(30_000),
    gateway: {
      listRequests: async () => ((looks += 1) === 1 ? [earlier] : [earlier, { ...later, createdAt: Date.now() }]),
      approve: async (request) => void approved.push(request),
    },
  })
  assert.deepEqual(approved, [{ code: "NEW", account: "default" }])
  assert.deepEqual(settings.read().config.channels.chatapp.allowFrom, ["2222"])
})

test("the owner is told as such although the gateway does not know their request any more", async () => {
  const folder = temporaryFolder()
  const chatapp = { botToken: "123456789:AAF_abcdefghijklmnopqrstuvwxyz-1234", apiRoot: "http://127.0.0.1:1" }
  writeFileSync(join(folder, "svc.json"), JSON.stringify({ channels: { chatapp } }), { mode: 0o600 })
  const settings = openSettings({ SVC_STATE_DIR: folder, HOME: folder })
  const said: string[] = []
  const owner = await ownerStep.run({
    settings,
    answers: { owner: "first" },
    conversation: undefined,
    say: (line) => void said.push(line),
    signal: AbortSignal.timeout(30_000),
    gateway: {
      listRequests: async () => [{ code: "NEW", senderId: "2222", createdAt: Date.now() }],
      async approve() {
        throw new AppError("pairing-not-found", "There is no such request")
      },
    },
  })
  assert.equal(owner, "somebody (2222)")
  assert.deepEqual(settings.read().config.channels.chatapp.allowFrom, ["2222"])
  assert.match(said.join("\n"), /not answered: There is no such request\n.*Write to the bot again/)
  assert.doesNotMatch(said.join("\n"), /Nobody is the owner/)
})

/** The platform, with the messages that `waiting` says each time; nothing is ever confirmed. */
async function startPlatform(context: TestContext, waiting: (look: number) => { from: number; date: number }[]) {
  let looks = 0
  const confirmed: string[] = []
  const answers: Record<string, () => unknown> = {
    getMe: () => ({ id: 123456789, is_bot: true, first_name: "Bot", username: "a_bot" }),
    sendMessage: () => ({ message_id: 1, date: 1, chat: { id: 1, type: "private" } }),
    getUpdates: () =>
      waiting((looks += 1)).map(({ from, date }, index) => ({
        update_id: index + 1,
        message: {
          message_id: index + 1,
          date,
          chat: { id: from, type: "private", first_name: "A" },
          from: { id: from, is_bot: false, first_name: "A" },
          text: "hello",
        },
      })),
  }
  const server = createServer(async (request, response) => {
    const [, method = ""] = /\/(\w+)$/.exec(request.url ?? "") ?? []
    const body = await readAll(request)
    if (body.includes("offset")) confirmed.push(body)
    const result = answers[method]?.() ?? true
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ ok: true, result }))
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  context.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { apiRoot: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, confirmed }
}

async function findFirst(apiRoot: string) {
  const folder = temporaryFolder()
  const chatapp = { botToken: "123456789:AAF_abcdefghijklmnopqrstuvwxyz-1234", apiRoot }
  writeFileSync(join(folder, "svc.json"), JSON.stringify({ channels: { chatapp } }), { mode: 0o600 })
  const settings = openSettings({ SVC_STATE_DIR: folder, SVC_RUNTIME_DIR: folder, HOME: folder })
  const silent = { conversation: undefined, say: () => undefined, gateway: undefined }
  await ownerStep.run({ settings, answers: { owner: "first" }, signal: AbortSignal.timeout(30_000), ...silent })
  return settings.read().config.channels.chatapp.allowFrom
}

test("who was there before is told from who writes now without comparing the platform's clock with this machine's", async (context) => {
  const now = Date.now() / 1000
  const earlier = { from: 1111, date: Math.floor(now + 3600) }
  const later = { from: 2222, date: Math.floor(now - 3600) }
  const { apiRoot, confirmed } = await startPlatform(context, (look) => (look === 1 ? [earlier] : [earlier, later]))
  assert.deepEqual(await findFirst(apiRoot), ["2222"])
  assert.deepEqual(confirmed, [])
})

test("messages that hide whatever comes now are told at once, and none of them is taken away", async (context) => {
  const date = Math.floor(Date.now() / 1000) - 60
  const { apiRoot, confirmed } = await startPlatform(context, () =>
    Array.from({ length: 100 }, () => ({ from: 1111, date })),
  )
  await assert.rejects(findFirst(apiRoot), { code: "conflict", message: /100 messages .* wait already/ })
  assert.deepEqual(confirmed, [])
})
