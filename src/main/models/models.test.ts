// Checks of models as the command line makes them without a gateway: from a configuration file, with the tools of the
// product, against the rules of every provider.
import assert from "node:assert/strict"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, test, type TestContext } from "node:test"
import { startModelServer } from "../../../test/support/model-server/index.ts"
import { temporaryFolder } from "../../../test/support/temporary.ts"
import { AppError } from "../../kernel/index.ts"
import { openModels } from "./cli.ts"

type Server = Awaited<ReturnType<typeof startModelServer>>
const channels = { chatapp: { botToken: "1:token" } }

async function serve(context: TestContext): Promise<Server> {
  const server = await startModelServer()
  context.after(() => server.stop())
  return server
}

function open(config: object, variables: Record<string, string> = {}) {
  const folder = temporaryFolder()
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, "svc.json"), JSON.stringify({ channels, ...config }))
  return openModels({ SVC_STATE_DIR: folder, HOME: folder, ...variables })
}

describe("the one request of a check is taken by", () => {
  const compatible = (provider: Parameters<Server["baseUrlOf"]>[0], model: string) => ({
    provider,
    model,
    settings: { kind: "openai-compatible", preset: provider },
  })
  const cases = [
    { provider: "openai-responses", model: "gpt-5", settings: { kind: "openai" } },
    { provider: "anthropic", model: "claude-sonnet-4-5", settings: { kind: "anthropic" } },
    { provider: "gemini", model: "gemini-2.5-flash", settings: { kind: "google" } },
    { provider: "openai-chat", model: "gpt-4o", settings: { kind: "openai-compatible" } },
    compatible("mistral", "mistral-medium-latest"),
    compatible("groq", "llama-3.3-70b-versatile"),
    compatible("deepseek", "deepseek-chat"),
    compatible("cerebras", "gpt-oss-120b"),
    compatible("xai", "grok-4"),
    compatible("openrouter", "anthropic/claude-sonnet-4.5"),
    compatible("together", "meta-llama/Llama-3.3-70B-Instruct-Turbo"),
    compatible("llama.cpp", "gemma-3-12b"),
    compatible("ollama", "qwen3:8b"),
    compatible("vllm", "Qwen/Qwen3-8B"),
    compatible("lmstudio", "gemma-3-12b"),
  ] as const
  for (const { provider, model, settings } of cases) {
    test(provider, async (context) => {
      const server = await serve(context)
      const call = { name: "report", input: { colour: "orange" } }
      server.script(() => ({ kind: "reply", text: "one two three four five", pieces: 5, calls: [call] }))
      const entry = { ...settings, baseUrl: server.baseUrlOf(provider), apiKey: "sk-0123456789abcdef0123456789abcdef" }
      const models = open({
        models: { providers: { p: entry } },
        agents: { defaults: { model: `p/${model}` } },
      })
      const found = await models.test({}, AbortSignal.timeout(10_000))
      assert.deepEqual([found.failure, found.usable, found.tools], [null, true, "called"])
      assert.deepEqual(server.refusals, [])
      const sent = JSON.stringify(server.requests.at(-1)?.body["tools"])
      for (const name of ["browser", "message", "chatapp", "report"]) assert.ok(sent.includes(`"${name}"`), name)
    })
  }
})

describe("the list", () => {
  test("has a row for each model that is named or described, with what it is there for", () => {
    const models = open(
      {
        models: {
          providers: { local: { kind: "openai-compatible", baseUrl: "http://127.0.0.1:1/v1", models: { a: {} } } },
        },
        agents: {
          defaults: {
            model: { primary: "sonnet", fallbacks: ["openai/gpt-5", "typo"] },
            models: { "anthropic/claude-sonnet-4-5": { alias: "sonnet" } },
          },
          list: [{ id: "main" }, { id: "other", model: "local/b" }],
        },
      },
      { ANTHROPIC_API_KEY: "a-key" },
    )
    const { models: rows, asked } = models.list()
    assert.deepEqual(asked, ["anthropic/claude-sonnet-4-5", "openai/gpt-5", "typo"])
    assert.deepEqual(
      rows.map(({ id, marks, alias, state }) => [id, marks.join(", "), alias, state]),
      [
        ["anthropic/claude-sonnet-4-5", "default, allowed", "sonnet", "ready"],
        ["openai/gpt-5", "fallback 1", null, "key-missing"],
        ["typo", "fallback 2", null, "not-configured"],
        ["local/b", "agent other", null, "ready"],
        ["local/a", "", null, "ready"],
        ["offline/commander", "", null, "ready"],
      ],
    )
    const [sonnet, gpt, typo, local] = rows
    assert.deepEqual(
      [sonnet?.context, sonnet?.maxOutputTokens, sonnet?.vision, sonnet?.reasoning, sonnet?.prices?.input],
      [{ tokens: 200_000, from: "table" }, 64_000, true, ["minimal", "low", "medium", "high"], 3],
    )
    assert.match(gpt?.hint ?? "", /OPENAI_API_KEY/)
    assert.match(typo?.problem ?? "", /neither provider\/model nor an alias/)
    assert.deepEqual([local?.context?.from, local?.prices, local?.reasoning], ["assumed", null, null])
  })

  test("is refused with what is wrong when the configuration is", () => {
    assert.throws(
      () => open({ agents: { defaults: { model: 7 } } }),
      (error) => {
        return (
          error instanceof AppError && error.code === "config-invalid" && /agents\.defaults\.model/.test(error.message)
        )
      },
    )
  })
})
