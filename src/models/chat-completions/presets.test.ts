import assert from "node:assert/strict"
import { describe, test } from "node:test"
import type { JsonObject } from "../../kernel/index.ts"
import { presetNames, type PresetName } from "../config.ts"
import type { ThinkingLevel } from "../contract.ts"
import type { ModelTarget } from "../resolve.ts"
import { target } from "./chat-completions.fixture.ts"
import { presetOf, waysOf } from "./index.ts"
import { thinkingFields } from "./thinking.ts"

type Where = PresetName | `https://${string}`

function thinking(
  level: ThinkingLevel | undefined,
  modelId: string,
  where: Where,
  known: Partial<ModelTarget> = {},
): JsonObject {
  const place = where.startsWith("https:") ? { baseUrl: where } : { preset: where as PresetName }
  const model = target(modelId, known)
  return thinkingFields(level, model, waysOf({ kind: "openai-compatible", ...place }, model))
}

describe("presets", () => {
  test("each have an address, and those on this machine need no key", () => {
    const local = presetNames.filter((name) => !presetOf(name).needsKey)
    assert.deepEqual(local, ["ollama", "llama.cpp", "vllm", "lmstudio"])
    for (const name of presetNames) {
      const { hostname, protocol } = new URL(presetOf(name).baseUrl)
      const isLocal = local.includes(name)
      assert.deepEqual([hostname === "127.0.0.1", protocol], [isLocal, isLocal ? "http:" : "https:"], name)
    }
  })

  test("are found by the address as well, while look-alikes are not", () => {
    const waysAt = (baseUrl: string) => waysOf({ kind: "openai-compatible", baseUrl }, target("m"))
    assert.equal(waysAt("https://api.deepseek.com/v1").thinking, "object")
    assert.equal(waysAt("https://api.mistral.ai/v1").streamOptions, false)
    assert.equal(waysAt("https://api.openai.com/v1").maxTokensField, "max_completion_tokens")
    assert.equal(waysAt("https://eu.api.openai.com/v1").maxTokensField, "max_completion_tokens")
    assert.equal(waysAt("https://api.openai.com.example.org/v1").maxTokensField, "max_tokens")
    assert.equal(waysAt("https://example.org/api.deepseek.com").thinking, "effort")
  })

  test("give way to the provider's quirks, and these to the model's", () => {
    const settings = {
      kind: "openai-compatible" as const,
      preset: "groq" as const,
      quirks: { callIds: "nine" as const },
    }
    const ways = waysOf(settings, target("m", { entry: { quirks: { reasoningField: "none" } } }))
    assert.deepEqual(
      [ways.maxTokensField, ways.callIds, ways.reasoningField],
      ["max_completion_tokens", "nine", "none"],
    )
  })
})

describe("a level of thinking", () => {
  test("is not sent when nobody asked for it, and not to models that do not think on demand", () => {
    for (const where of presetNames) {
      assert.deepEqual(thinking(undefined, "qwen/qwen3-32b", where), {})
      assert.deepEqual(thinking("high", "qwen/qwen3-32b", where, { reasoning: [] }), {})
      assert.deepEqual(thinking("off", "qwen/qwen3-32b", where, { reasoning: [] }), {})
    }
  })

  const unknown = "https://models.example.org/v1"
  const google = "https://generativelanguage.googleapis.com/v1beta/openai"
  const effort = (word: string) => ({ reasoning_effort: word })
  const rows: [ThinkingLevel, string, Where, JsonObject, Partial<ModelTarget>?][] = [
    ["minimal", "some-model", unknown, effort("minimal")],
    ["off", "some-model", unknown, {}],
    ["off", "some-model", unknown, effort("none"), { reasoning: ["low", "high"], canBeOff: true }],
    ["off", "some-model", unknown, effort("low"), { reasoning: ["low", "high"], canBeOff: false }],
    ["medium", "some-model", unknown, effort("low"), { reasoning: ["low", "high"] }],
    ["off", "gpt-oss-20b", unknown, effort("low")],
    ["minimal", "qwen3:8b", "ollama", effort("low")],
    ["off", "qwen3:8b", "ollama", effort("none")],
    ["off", "gpt-oss:20b", "ollama", effort("low")],
    ["high", "openai/gpt-oss-20b", "lmstudio", effort("high")],
    ["off", "qwen/qwen3-8b", "lmstudio", {}],
    ["medium", "qwen/qwen3-32b", "groq", effort("default")],
    ["off", "qwen/qwen3-32b", "groq", effort("none")],
    ["off", "openai/gpt-oss-120b", "groq", effort("low")],
    ["minimal", "openai/gpt-oss-120b", "groq", effort("low")],
    ["high", "llama-3.3-70b-versatile", "groq", {}],
    ["off", "llama-3.3-70b-versatile", "groq", {}],
    ["low", "new-thinker", "groq", effort("low"), { reasoning: ["low", "medium"] }],
    ["low", "mistral-small-latest", "mistral", effort("high")],
    ["off", "mistral-small-latest", "mistral", effort("none")],
    ["high", "magistral-medium-latest", "mistral", {}],
    ["high", "mistral-large-latest", "mistral", {}],
    ["medium", "grok-3-mini", "xai", effort("low")],
    ["high", "grok-3-mini", "xai", effort("high")],
    ["off", "grok-3-mini", "xai", effort("low")],
    ["high", "grok-4-0709", "xai", {}],
    ["high", "grok-4.20-0309-reasoning", "xai", {}],
    ["off", "grok-4.3", "xai", effort("none")],
    ["minimal", "grok-4.3", "xai", effort("low")],
    ["medium", "gpt-oss-120b", "cerebras", effort("medium")],
    ["off", "zai-glm-4.7", "cerebras", effort("none")],
    ["high", "zai-glm-4.7", "cerebras", {}],
    ["off", "gemini-2.5-flash", google, effort("none")],
    ["off", "gemini-3-flash", google, effort("minimal")],
    ["medium", "gemini-3.1-pro-preview", google, effort("low")],
    ["high", "gemini-2.0-flash", google, {}],
    ["low", "deepseek-v4-pro", "deepseek", { thinking: { type: "enabled" } }],
    ["off", "deepseek-v4-pro", "deepseek", { thinking: { type: "disabled" } }],
    ["off", "deepseek-reasoner", "deepseek", {}, { reasoning: ["high"], canBeOff: false }],
    ["off", "kimi-k2.6", "https://api.moonshot.ai/v1", { thinking: { type: "disabled" } }],
    ["low", "glm-5", "https://api.z.ai/api/paas/v4", { thinking: { type: "enabled" } }],
    ["high", "anthropic/claude-opus-4.5", "openrouter", { reasoning: { effort: "high" } }],
    ["off", "anthropic/claude-opus-4.5", "openrouter", { reasoning: { enabled: false } }],
    ["off", "openai/gpt-oss-120b", "openrouter", { reasoning: { effort: "low" } }],
    [
      "off",
      "some/model",
      "openrouter",
      { reasoning: { effort: "minimal" } },
      { reasoning: ["minimal", "low"], canBeOff: false },
    ],
    ["high", "some/model", "openrouter", { reasoning: { effort: "low" } }, { reasoning: ["minimal", "low"] }],
    ["high", "Qwen/Qwen3.5-9B", "together", { reasoning: { enabled: true } }],
    ["off", "Qwen/Qwen3.5-9B", "together", { reasoning: { enabled: false } }],
    ["off", "openai/gpt-oss-120b", "together", effort("low")],
    ["high", "Qwen/Qwen3-8B", "vllm", { chat_template_kwargs: { enable_thinking: true } }],
    ["off", "qwen3-8b", "llama.cpp", { chat_template_kwargs: { enable_thinking: false } }],
    ["off", "deepseek-ai/DeepSeek-V3.1", "vllm", { chat_template_kwargs: { enable_thinking: false, thinking: false } }],
    ["off", "gpt-oss-20b", "llama.cpp", { ...effort("low"), chat_template_kwargs: effort("low") }],
    ["off", "qwq", "vllm", {}, { reasoning: ["high"], canBeOff: false }],
  ]
  for (const [level, modelId, where, expected, known] of rows) {
    const facts = known === undefined ? "" : `, known as ${JSON.stringify(known)},`
    test(`${level} for ${modelId}${facts} at ${where} is ${JSON.stringify(expected)}`, () => {
      assert.deepEqual(thinking(level, modelId, where, known), expected)
    })
  }

  test("is sent as the configuration says, whatever the preset knows of the model", () => {
    const settings = {
      kind: "openai-compatible" as const,
      preset: "xai" as const,
      quirks: { thinking: "effort" as const },
    }
    const model = target("grok-4-0709")
    assert.deepEqual(thinkingFields("high", model, waysOf(settings, model)), { reasoning_effort: "high" })
    const none = { ...settings, quirks: { thinking: "none" as const } }
    assert.deepEqual(thinkingFields("high", model, waysOf(none, model)), {})
  })
})
