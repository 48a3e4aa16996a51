import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { describe, test } from "node:test"
import { assertGrowsInLine } from "../../../test/support/growth.ts"
import { readKnownModels } from "../../../scripts/known-models/read.ts"
import { renderModelReference, renderModelTable } from "../../../scripts/known-models/render.ts"
import type { PresetName } from "../config.ts"
import { findKnownModel, type ProviderKind } from "./index.ts"

const compatible = "openai-compatible"
const all = ["minimal", "low", "medium", "high"]
const upper = ["low", "medium", "high"]

function contextOf(kind: ProviderKind, modelId: string, preset?: PresetName): number | undefined {
  return findKnownModel(kind, preset, modelId)?.contextTokens
}

describe("the generated files", () => {
  test("are those that the checked-in figures give (npm run docs)", () => {
    const sources = readKnownModels()
    const written = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8")
    assert.equal(written("table.ts"), renderModelTable(sources))
    assert.equal(written("../../../docs/reference/models.md"), renderModelReference(sources))
  })
})

describe("a model of its own provider", () => {
  test("has all figures and its price", () => {
    assert.deepEqual(findKnownModel("anthropic", undefined, "claude-sonnet-4-5"), {
      contextTokens: 200_000,
      maxOutputTokens: 64_000,
      vision: true,
      reasoning: all,
      canBeOff: true,
      prices: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
    })
    assert.deepEqual(findKnownModel("openai", undefined, "gpt-5-pro"), {
      contextTokens: 400_000,
      maxOutputTokens: 272_000,
      vision: true,
      reasoning: ["high"],
      canBeOff: false,
      prices: { input: 15, output: 120 },
    })
  })

  test("keeps them under a name with a date, a stage or a path", () => {
    const same = (kind: ProviderKind, plain: string, ...written: string[]) => {
      const expected = findKnownModel(kind, undefined, plain)
      assert.ok(expected?.prices, plain)
      for (const name of written) assert.deepEqual(findKnownModel(kind, undefined, name), expected, name)
    }
    same("anthropic", "claude-sonnet-4-5", "claude-sonnet-4-5-20250929", "claude-sonnet-4-5@20250929")
    same("anthropic", "claude-3-5-haiku", "claude-3-5-haiku-latest", "claude-3-5-haiku-20241022")
    same("openai", "gpt-5-mini", "gpt-5-mini-2025-08-07", "GPT-5-mini", " gpt-5-mini ")
    same("openai", "gpt-5-chat-latest", "gpt-5-chat")
    same("google", "gemini-2.5-flash", "models/gemini-2.5-flash", "gemini-2.5-flash-preview-09-2025")
    same("google", "gemini-2.0-flash", "gemini-2.0-flash-001", "gemini-2.0-flash-exp")
  })

  test("is another than the snapshot that stands in the table by itself", () => {
    assert.equal(findKnownModel("openai", undefined, "gpt-4o-2024-05-13")?.prices?.input, 5)
    assert.equal(findKnownModel("openai", undefined, "gpt-4o-2024-08-06")?.prices?.input, 2.5)
  })

  test("has the figures of its host where the host runs models of others", () => {
    assert.deepEqual(findKnownModel(compatible, "groq", "openai/gpt-oss-120b"), {
      contextTokens: 131_072,
      maxOutputTokens: 65_536,
      vision: false,
      reasoning: upper,
      canBeOff: false,
      prices: { input: 0.15, output: 0.6, cacheRead: 0.075 },
    })
    assert.equal(findKnownModel(compatible, "cerebras", "gpt-oss-120b")?.prices?.input, 0.35)
    assert.equal(findKnownModel(compatible, "openrouter", "llama3.1-8b")?.contextTokens, 128_000)
  })
})

describe("prices", () => {
  test("are known at the provider's own address only", () => {
    const price = (kind: ProviderKind, preset: PresetName | undefined, id: string, baseUrl?: string) =>
      findKnownModel(kind, preset, id, baseUrl)?.prices?.input
    assert.equal(price("openai", undefined, "gpt-5", "https://api.openai.com/v1"), 1.25)
    assert.equal(price(compatible, undefined, "gpt-5", "https://api.openai.com/v1"), 1.25)
    assert.equal(price(compatible, undefined, "kimi-k2.6", "https://api.moonshot.ai/v1"), 0.95)
    assert.equal(price(compatible, undefined, "glm-5", "https://api.z.ai/api/paas/v4"), 1)
    assert.equal(price(compatible, undefined, "glm-5", "https://api.z.ai/api/coding/paas/v4"), undefined)
    assert.equal(price("openai", undefined, "gpt-5", "https://proxy.example/v1"), undefined)
    assert.equal(price(compatible, "groq", "openai/gpt-oss-20b", "http://127.0.0.1:9/v1"), undefined)
    assert.equal(price(compatible, "openrouter", "anthropic/claude-sonnet-4.5"), undefined)
    assert.equal(price("bedrock", undefined, "anthropic.claude-sonnet-4-5-20250929-v1:0"), undefined)
    assert.equal(price("vertex", undefined, "gemini-2.5-pro"), undefined)
    assert.equal(price("azure", undefined, "gpt-5"), undefined)
  })

  test("are never those of a family", () => {
    assert.equal(findKnownModel("openai", undefined, "gpt-5-something-new")?.prices, undefined)
    assert.equal(findKnownModel("anthropic", undefined, "claude-opus-5-9")?.prices, undefined)
  })
})

describe("names of aggregators and clouds", () => {
  test("lead to the same figures as the plain name", () => {
    const cases: [ProviderKind, PresetName | undefined, string, number, string[] | undefined][] = [
      [compatible, "openrouter", "anthropic/claude-sonnet-4.5", 200_000, all],
      [compatible, "openrouter", "anthropic/claude-3.7-sonnet:thinking", 200_000, all],
      [compatible, "openrouter", "x-ai/grok-4.1-fast", 2_000_000, []],
      [compatible, "openrouter", "openai/gpt-oss-20b:free", 131_072, upper],
      [compatible, "openrouter", "deepseek/deepseek-v4-pro", 1_000_000, ["low", "high"]],
      [compatible, "together", "zai-org/GLM-5.3", 1_000_000, ["low", "high"]],
      [compatible, "together", "meta-llama/Llama-3.3-70B-Instruct-Turbo", 128_000, []],
      [compatible, undefined, "accounts/fireworks/models/kimi-k2p5", 262_144, all],
      [compatible, undefined, "accounts/fireworks/models/llama-v3p1-70b-instruct", 128_000, []],
      ["bedrock", undefined, "anthropic.claude-sonnet-4-5-20250929-v1:0", 200_000, all],
      ["bedrock", undefined, "us.anthropic.claude-opus-4-6-v1", 1_000_000, upper],
      ["bedrock", undefined, "global.anthropic.claude-opus-5-5", 1_000_000, upper],
      ["bedrock", undefined, "eu.amazon.nova-lite-v1:0", 300_000, []],
      ["bedrock", undefined, "us.meta.llama3-3-70b-instruct-v1:0", 128_000, []],
      [
        "bedrock",
        undefined,
        "arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-opus-4-8",
        1_000_000,
        upper,
      ],
      ["vertex", undefined, "publishers/google/models/gemini-2.5-pro", 1_048_576, all],
      ["vertex", undefined, "claude-opus-4-5@20251101", 200_000, all],
      ["azure", undefined, "gpt-4o-mini-europe", 128_000, []],
      ["azure", undefined, "gpt-5-mini-prod", 400_000, all],
      ["azure", undefined, "gpt-35-turbo", 16_385, []],
      ["azure", undefined, "Meta-Llama-3.1-8B-Instruct", 128_000, []],
    ]
    for (const [kind, preset, id, contextTokens, reasoning] of cases) {
      const known = findKnownModel(kind, preset, id)
      assert.deepEqual([known?.contextTokens, known?.reasoning], [contextTokens, reasoning], id)
    }
  })

  test("leave the longest reply of open weights to the host", () => {
    assert.equal(findKnownModel(compatible, "deepseek", "deepseek-v4-pro")?.maxOutputTokens, 384_000)
    assert.equal(findKnownModel(compatible, "openrouter", "deepseek/deepseek-v4-pro")?.maxOutputTokens, undefined)
    assert.equal(findKnownModel(compatible, "openrouter", "anthropic/claude-opus-5.5")?.maxOutputTokens, 128_000)
  })

  test("of deployments that say nothing are not known", () => {
    assert.equal(findKnownModel("azure", undefined, "my-deployment"), undefined)
    assert.equal(findKnownModel("azure", undefined, "gpt"), undefined)
  })
})

describe("families", () => {
  test("give figures to members that the table has not got", () => {
    assert.equal(contextOf("openai", "gpt-4-0613"), 8192)
    assert.equal(contextOf("openai", "gpt-4.1-something"), 1_047_576)
    assert.equal(contextOf("anthropic", "claude-sonnet-5-9"), 1_000_000)
    assert.equal(contextOf("google", "gemini-7-neon"), 128_000)
    assert.equal(contextOf(compatible, "mistral-7b-instruct", "vllm"), 32_768)
    assert.equal(contextOf(compatible, "qwen/Qwen3-30B-A3B", "vllm"), 40_960)
    assert.equal(contextOf(compatible, "google/gemma-3-12b-it", "vllm"), 131_072)
    assert.equal(contextOf(compatible, "google/gemma-3-1b-it", "vllm"), 32_768)
  })

  test("end where a word or a number ends", () => {
    assert.equal(contextOf("openai", "gpt-4o-audio-preview"), 128_000)
    assert.equal(findKnownModel(compatible, "vllm", "gpt-4all"), undefined)
    assert.equal(findKnownModel(compatible, "vllm", "o1x"), undefined)
    assert.equal(findKnownModel(compatible, "vllm", "grokking"), undefined)
  })

  test("have nothing for names that nobody knows", () => {
    for (const id of ["", "/", ":", "-", "my-model", "constructor", "__proto__", "openai/"]) {
      assert.equal(findKnownModel(compatible, undefined, id), undefined, id)
    }
  })
})

describe("servers of one's own", () => {
  test("are taken to have 32,768 tokens at most, and no limit of the reply but that", () => {
    const known = findKnownModel(compatible, "ollama", "qwen3:8b")
    assert.deepEqual(known, {
      contextTokens: 32_768,
      maxOutputTokens: undefined,
      vision: false,
      reasoning: all,
      canBeOff: true,
      prices: undefined,
    })
    assert.equal(contextOf(compatible, "gpt-oss:20b", "ollama"), 32_768)
    assert.equal(contextOf(compatible, "llama3:8b", "ollama"), 8192)
    assert.equal(contextOf(compatible, "/models/Qwen3-8B-Q4_K_M.gguf", "llama.cpp"), 32_768)
    assert.equal(contextOf(compatible, "openai/gpt-oss-20b", "lmstudio"), 32_768)
  })

  test("know a file of weights however deep its folder is", () => {
    const deep = `/data${"/weights-of-models".repeat(40)}/Qwen3-8B-Q4_K_M.gguf`
    assert.equal(contextOf(compatible, deep, "llama.cpp"), 32_768)
  })

  test("pass the models of Ollama's service on with all they have", () => {
    assert.equal(contextOf(compatible, "gpt-oss:120b-cloud", "ollama"), 131_072)
    assert.equal(contextOf(compatible, "kimi-k2.5:cloud", "ollama"), 262_144)
  })

  test("see pictures where the size of the model does", () => {
    assert.equal(findKnownModel(compatible, "ollama", "gemma3:4b")?.vision, true)
    assert.equal(findKnownModel(compatible, "ollama", "gemma3:12b")?.vision, true)
    assert.equal(findKnownModel(compatible, "ollama", "gemma3:1b")?.vision, false)
  })
})

test("a name without end is read at a cost that grows with it", async () => {
  for (const part of ["-preview", "@", "/", ":free", "-20", "1p", "a-1", "us."]) {
    const read = (count: number) => findKnownModel("azure", undefined, part.repeat(count))
    await assertGrowsInLine(read, { size: 3_000, what: part })
  }
})
