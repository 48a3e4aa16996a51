import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createTestRegistry, userRequest } from "../../test/support/model-server/index.ts"
import type { ModelEntryConfig } from "./config.ts"
import type { ModelSelection } from "./contract.ts"
import { resolveTarget, selectableModels } from "./resolve.ts"
import type { ModelsView, ProviderSettings } from "./view.ts"

const local = { kind: "openai-compatible", baseUrl: "http://127.0.0.1:1/v1" } as const

function describeModel(view: Partial<ModelsView>, selection: Partial<ModelSelection> = {}, environment = {}) {
  return createTestRegistry(view, { environment }).registry.describe({ agentId: "main", ...selection })
}

describe("which model a run gets", () => {
  test("is the one that it names, also when the default is a slip of the pen", () => {
    const view = {
      defaultModel: "claude-sonet",
      providers: { local: { kind: "openai-compatible", baseUrl: "http://127.0.0.1:1/v1" } },
    } as const
    assert.equal(describeModel(view, { model: "local/a" }).id, "local/a")
    assert.throws(() => describeModel(view), { code: "model-unknown" })
  })

  test("is the offline model when nothing is configured", () => {
    const { id, contextTokens, vision, thinking, fallbacks } = describeModel({})
    assert.deepEqual(
      { id, contextTokens, vision, thinking, fallbacks },
      {
        id: "offline/commander",
        contextTokens: 32_768,
        vision: false,
        thinking: "default",
        fallbacks: [],
      },
    )
  })

  test("is the agent's own before the default, and the override before both", () => {
    const view = { providers: { local }, defaultModel: "local/a", agentModels: { main: "local/b" } }
    assert.equal(describeModel(view).id, "local/b")
    assert.equal(describeModel(view, { agentId: "other" }).id, "local/a")
    assert.equal(describeModel(view, { model: "local/c" }).id, "local/c")
  })

  test("may be written as an alias, in any case, in every place", () => {
    const allowed = { "local/llama-3": { alias: "Llama" }, "local/qwen": {} }
    const view = {
      providers: { local },
      allowed,
      defaultModel: { primary: "llama", fallbacks: ["QWEN", "offline/commander"] },
    }
    const found = describeModel(view)
    assert.equal(found.id, "local/llama-3")
    assert.deepEqual(found.fallbacks, ["local/qwen", "offline/commander"])
    assert.equal(describeModel(view, { model: "LLAMA" }).id, "local/llama-3")
    assert.equal(describeModel(view, { model: "qwen" }).id, "local/qwen")
  })

  test("must be in the allowed list when there is one, but the default is always allowed", () => {
    const view = { providers: { local }, allowed: { "local/a": {} }, defaultModel: "local/default" }
    assert.throws(() => describeModel(view, { model: "local/b" }), { code: "model-not-allowed", hint: /local\/a/ })
    assert.equal(describeModel(view, { model: "local/default" }).id, "local/default")
    assert.equal(describeModel(view, { model: "local/a" }).id, "local/a")
    assert.equal(describeModel({ ...view, allowed: {} }, { model: "local/b" }).id, "local/b")
  })

  test("is refused with a code when no provider or alias has it", () => {
    assert.throws(() => describeModel({}, { model: "nonsense" }), { code: "model-unknown" })
    assert.throws(() => describeModel({}, { model: "nowhere/model" }), { code: "model-unknown" })
    assert.throws(() => describeModel({}, { model: "constructor/model" }), { code: "model-unknown" })
    assert.throws(() => describeModel({}, { model: "offline/other" }), { code: "model-unknown" })
  })

  test("follows the configuration as it is at the moment of the call", async () => {
    const { registry, view } = createTestRegistry({ providers: { local }, defaultModel: "local/a" })
    assert.equal(registry.describe({ agentId: "main" }).id, "local/a")
    Object.assign(view, { defaultModel: "offline/commander" })
    const reply = await registry.complete({ agentId: "main" }, userRequest("say changed"))
    assert.equal(reply.model, "offline/commander")
    assert.equal(reply.text, "changed")
  })
})

describe("which models a chat may choose", () => {
  const base = {
    thinkingDefault: undefined,
    allowed: {},
    agentModels: { two: { primary: "local/own", fallbacks: ["local/last"] } },
  }
  const view: ModelsView = {
    ...base,
    providers: { local: { ...local, models: { described: {} } } },
    defaultModel: { primary: "local/usual", fallbacks: ["local/next", "gone/x"] },
  }
  const names = (...parameters: Parameters<typeof selectableModels>) =>
    selectableModels(...parameters).map(({ id }) => id)

  test("are its own, the default, the fallbacks, and those of the providers, where they can be asked", () => {
    const isUsable = (id: string) => !id.startsWith("gone/")
    const usual = ["local/usual", "local/next", "local/described", "offline/commander"]
    assert.deepEqual(names(view, "main", isUsable), usual)
    assert.deepEqual(names(view, "main"), usual.toSpliced(2, 0, "gone/x"))
    const own = ["local/own", "local/usual", "local/last", "local/described", "offline/commander"]
    assert.deepEqual(names(view, "two", isUsable), own)
  })

  test("are those of the allowed list once there is one, beside the configured ones", () => {
    const allowed = { "local/next": { alias: "n" }, "gone/y": {} }
    assert.deepEqual(
      names({ ...view, allowed }, "two", (id) => id !== "gone/y"),
      ["local/own", "local/usual", "local/next"],
    )
  })
})

describe("keys", () => {
  test("a hosted provider without a key is told with the name of the variable to set", () => {
    assert.throws(() => describeModel({}, { model: "openai/gpt-5" }), {
      code: "model-key-missing",
      hint: /OPENAI_API_KEY/,
    })
    assert.equal(describeModel({}, { model: "openai/gpt-5" }, { OPENAI_API_KEY: "k" }).id, "openai/gpt-5")
  })

  test("a server of one's own needs none", () => {
    assert.equal(describeModel({ providers: { local } }, { model: "local/x" }).id, "local/x")
  })
})

describe("facts of a model", () => {
  test("come from the configuration, then from the table, then are conservative", () => {
    const own = { ...local, models: { small: { contextTokens: 4096, vision: true } } }
    const view = { providers: { local: own } }
    const facts = (model: string) => {
      const { contextTokens, vision } = describeModel(view, { model }, { ANTHROPIC_API_KEY: "k" })
      return [contextTokens, vision]
    }
    assert.deepEqual(facts("local/small"), [4096, true])
    assert.deepEqual(facts("anthropic/claude-sonnet-4-5"), [200_000, true])
    assert.deepEqual(facts("local/maker/gpt-4o-mini"), [128_000, true])
    assert.deepEqual(facts("local/whatever"), [128_000, false])
  })

  test("the thinking level is the run's, then the default's", () => {
    assert.equal(describeModel({ thinkingDefault: "low" }).thinking, "low")
    assert.equal(describeModel({ thinkingDefault: "low" }, { thinking: "high" }).thinking, "high")
  })

  const targetOf = (settings: ProviderSettings, id: string, entry?: ModelEntryConfig) => {
    const models = entry ? { models: { [id]: entry } } : {}
    const view = { providers: { p: { ...settings, ...models } }, allowed: {}, agentModels: {}, defaultModel: "p/x" }
    return resolveTarget(view, `p/${id}`)
  }

  test("of a known model are those of the table, with what thinking and a token cost there", () => {
    const target = targetOf({ kind: "anthropic" }, "claude-opus-4-8")
    assert.equal(target.contextTokens, 1_000_000)
    assert.equal(target.maxOutputTokens, 128_000)
    assert.equal(target.vision, true)
    assert.deepEqual(target.reasoning, ["low", "medium", "high"])
    assert.equal(target.canBeOff, true)
    assert.deepEqual(target.prices, { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 })
  })

  test("of a model that nobody knows stay unknown where a guess could be refused", () => {
    const target = targetOf(local, "whatever")
    const { contextTokens, maxOutputTokens, vision, reasoning, canBeOff, prices } = target
    assert.deepEqual(
      { contextTokens, maxOutputTokens, vision, reasoning, canBeOff, prices },
      {
        contextTokens: 128_000,
        maxOutputTokens: undefined,
        vision: false,
        reasoning: undefined,
        canBeOff: undefined,
        prices: undefined,
      },
    )
  })

  test("are small behind servers of one's own, which give a model what they were started with", () => {
    for (const preset of ["ollama", "llama.cpp", "lmstudio"] as const) {
      const settings = { kind: "openai-compatible", preset } as const
      assert.equal(targetOf(settings, "whatever").contextTokens, 32_768)
      assert.equal(targetOf(settings, "qwen3:8b").contextTokens, 32_768)
      assert.equal(targetOf(settings, "qwen3:8b", { contextTokens: 40_960 }).contextTokens, 40_960)
    }
    assert.equal(targetOf({ kind: "openai-compatible", preset: "vllm" }, "whatever").contextTokens, 128_000)
  })

  test("are the configuration's where it says something", () => {
    const prices = { input: 1, output: 2 }
    const entry = { contextTokens: 9000, maxOutputTokens: 3000, vision: false, prices }
    const target = targetOf({ kind: "anthropic" }, "claude-opus-4-8", entry)
    const { contextTokens, maxOutputTokens, vision } = target
    assert.deepEqual({ contextTokens, maxOutputTokens, vision, prices: target.prices }, entry)
    assert.deepEqual(target.reasoning, ["low", "medium", "high"])
  })

  test("never have a reply that takes more than half of the configured context", () => {
    assert.equal(targetOf({ kind: "anthropic" }, "claude-opus-4-8", { contextTokens: 9000 }).maxOutputTokens, 4500)
  })

  test("have the levels of thinking that the configuration names, all of them, or none", () => {
    const thinking = (reasoning: NonNullable<ModelEntryConfig["reasoning"]>, id = "whatever") => {
      const target = targetOf(local, id, { reasoning })
      return [target.reasoning, target.canBeOff]
    }
    assert.deepEqual(thinking(true), [["minimal", "low", "medium", "high"], undefined])
    assert.deepEqual(thinking(false), [[], true])
    assert.deepEqual(thinking(["low", "high"]), [["low", "high"], undefined])
    assert.deepEqual(thinking(["high"], "gpt-oss-20b"), [["high"], false])
  })

  test("of the offline model need no table", () => {
    const view = { providers: {}, allowed: {}, agentModels: {}, defaultModel: "offline/commander" }
    const { maxOutputTokens, reasoning, canBeOff, prices } = resolveTarget(view, "offline/commander")
    assert.deepEqual([maxOutputTokens, reasoning, canBeOff, prices], [undefined, [], true, undefined])
  })
})
