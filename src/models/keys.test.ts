import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { createKeyRing, type Environment, findKeys } from "./keys.ts"
import type { ModelTarget } from "./resolve.ts"
import type { ProviderSettings } from "./view.ts"

function target(settings: ProviderSettings | undefined, providerName = "mine"): ModelTarget {
  const unknown = { maxOutputTokens: undefined, reasoning: undefined, canBeOff: undefined, prices: undefined }
  const facts = { id: `${providerName}/m`, modelId: "m", contextTokens: 1000, vision: false, entry: {} }
  return { ...facts, ...unknown, providerName, settings }
}

const keysOf = (settings: ProviderSettings, environment: Environment, name?: string) =>
  findKeys(target(settings, name), environment).map((key) => key?.reveal())

describe("the keys of a provider", () => {
  test("are its own, all of them and each once, before any of the environment", () => {
    const settings: ProviderSettings = { kind: "openai", apiKey: "a", apiKeys: ["b", "a", " c "] }
    assert.deepEqual(keysOf(settings, { MINE_API_KEY: "x" }), ["a", "b", "c"])
  })

  test("of the environment follow its name, several with commas between", () => {
    const settings = { kind: "openai-compatible", baseUrl: "https://proxy.test/v1" } as const
    const environment = { MY_PROXY_API_KEY: "a", MY_PROXY_API_KEYS: "b, c,,a", OPENAI_API_KEY: "x" }
    assert.deepEqual(keysOf(settings, environment, "my-proxy"), ["a", "b", "c"])
  })

  test("of a service are used under any name, but only at the service's own address", () => {
    const environment = { OPENAI_API_KEY: "o", GROQ_API_KEY: "g", ANTHROPIC_API_KEY: "a" }
    assert.deepEqual(keysOf({ kind: "openai" }, environment), ["o"])
    assert.deepEqual(keysOf({ kind: "openai-compatible", preset: "groq" }, environment), ["g"])
    for (const settings of [
      { kind: "openai", baseUrl: "https://elsewhere.test" },
      { kind: "anthropic", baseUrl: "https://elsewhere.test" },
      { kind: "openai-compatible", preset: "groq", baseUrl: "https://elsewhere.test" },
    ] as const) {
      assert.deepEqual(keysOf(settings, environment), [undefined])
    }
  })

  test("of Google have two names", () => {
    assert.deepEqual(keysOf({ kind: "google" }, { GEMINI_API_KEY: "b" }, "google"), ["b"])
    assert.deepEqual(keysOf({ kind: "google" }, { GEMINI_API_KEY: "b", GOOGLE_API_KEY: "a" }), ["a", "b"])
    const elsewhere = { kind: "google", baseUrl: "https://elsewhere.test" } as const
    assert.deepEqual(keysOf(elsewhere, { GEMINI_API_KEY: "b" }, "google"), [undefined])
  })

  test("of Azure go to Azure only", () => {
    const azure = { kind: "azure", baseUrl: "https://mine.openai.azure.com" } as const
    assert.deepEqual(keysOf(azure, { AZURE_OPENAI_API_KEY: "z" }), ["z"])
    const elsewhere = { kind: "azure", baseUrl: "https://openai.azure.com.elsewhere.test" } as const
    assert.throws(() => keysOf(elsewhere, { AZURE_OPENAI_API_KEY: "z" }), { code: "model-key-missing" })
  })

  test("are not needed by local servers, clouds with credentials of their own, and configured headers", () => {
    const aws = { AWS_ACCESS_KEY_ID: "i", AWS_SECRET_ACCESS_KEY: "s" }
    const cases: [ProviderSettings, Environment][] = [
      [{ kind: "openai-compatible", preset: "ollama" }, {}],
      [{ kind: "openai-compatible", baseUrl: "http://127.0.0.1:8080/v1" }, {}],
      [{ kind: "vertex" }, {}],
      [{ kind: "bedrock" }, aws],
      [{ kind: "openai", headers: { Authorization: "Bearer x" } }, {}],
    ]
    for (const [settings, environment] of cases) assert.deepEqual(keysOf(settings, environment), [undefined])
    assert.deepEqual(keysOf({ kind: "bedrock" }, { ...aws, AWS_BEARER_TOKEN_BEDROCK: "b" }), ["b"])
    assert.deepEqual(findKeys(target(undefined), {}), [undefined])
  })

  test("that are missing are named with the place where they belong", () => {
    const cases: [ProviderSettings, RegExp][] = [
      [{ kind: "openai" }, /MINE_API_KEY.*models\.providers\.mine\.apiKey/],
      [{ kind: "openai-compatible", preset: "deepseek" }, /MINE_API_KEY/],
      [{ kind: "bedrock" }, /AWS_BEARER_TOKEN_BEDROCK.*AWS_ACCESS_KEY_ID/],
    ]
    for (const [settings, hint] of cases) {
      assert.throws(() => keysOf(settings, { OTHER_API_KEY: "x" }), { code: "model-key-missing", hint })
    }
  })
})

describe("a ring of keys", () => {
  const mine = target({ kind: "openai", apiKeys: ["a", "b", "c"] })

  function createRing() {
    let now = 0
    const ring = createKeyRing({
      clock: { now: () => 0, monotonic: () => now, sleep: () => Promise.reject(new Error("nobody waits")) },
    })
    const keys = findKeys(mine, {})
    const next = () => ring.next(mine, {}).map((key) => key?.reveal())
    return { ring, next, key: (place: number) => keys[place], pass: (ms: number) => void (now += ms) }
  }

  test("gives the keys in their order, and without one that was refused for ten minutes", () => {
    const { ring, next, key, pass } = createRing()
    assert.deepEqual(next(), ["a", "b", "c"])
    ring.setAside(mine, key(0), { kind: "refused" })
    pass(599_999)
    assert.deepEqual(next(), ["b", "c"])
    pass(1)
    assert.deepEqual(next(), ["a", "b", "c"])
  })

  test("leaves a key that has used up its limit as long as was asked, an hour at most, else a minute", () => {
    const { ring, next, key, pass } = createRing()
    ring.setAside(mine, key(0), { kind: "limited", retryAfterMs: 5000 })
    ring.setAside(mine, key(1), { kind: "limited", retryAfterMs: undefined })
    ring.setAside(mine, key(2), { kind: "limited", retryAfterMs: 86_400_000 })
    pass(5000)
    assert.deepEqual(next(), ["a"])
    pass(55_000)
    assert.deepEqual(next(), ["a", "b"])
    pass(3_540_000)
    assert.deepEqual(next(), ["a", "b", "c"])
  })

  test("gives the key whose time ends first when all wait, and takes it back when it was accepted", () => {
    const { ring, next, key } = createRing()
    ring.setAside(mine, key(0), { kind: "refused" })
    ring.setAside(mine, key(1), { kind: "limited", retryAfterMs: 1000 })
    ring.setAside(mine, key(2), { kind: "limited", retryAfterMs: 2000 })
    assert.deepEqual(next(), ["b"])
    ring.accept(mine, key(0))
    assert.deepEqual(next(), ["a"])
  })

  test("knows the same key of two providers apart", () => {
    const { ring, key } = createRing()
    const other = target(mine.settings, "other")
    ring.setAside(mine, key(0), { kind: "refused" })
    assert.equal(ring.next(other, {})[0]?.reveal(), "a")
  })
})
