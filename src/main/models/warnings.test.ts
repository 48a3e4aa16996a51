import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { configSchema } from "../../config/index.ts"
import { describeWarning, findModelWarnings } from "./warnings.ts"

const providers = { local: { kind: "openai-compatible", baseUrl: "http://127.0.0.1:1/v1", models: { known: {} } } }

function warn(config: object, environment: Record<string, string> = {}): string[] {
  return findModelWarnings(configSchema.parse({ models: { providers }, ...config }), environment).map(describeWarning)
}

const withDefault = (model: unknown, models = {}) => ({ agents: { defaults: { model, models } } })

describe("a configuration whose models all can be asked", () => {
  test("has no warnings, also when it names none", () => {
    assert.deepEqual(warn({}), [])
    assert.deepEqual(warn(withDefault({ primary: "local/anything", fallbacks: ["offline/commander"] })), [])
    assert.deepEqual(
      warn(withDefault("sonnet", { "anthropic/claude-sonnet-4-5": { alias: "sonnet" } }), { ANTHROPIC_API_KEY: "k" }),
      [],
    )
  })

  test("may name models that are newer than what is known", () => {
    const environment = { ANTHROPIC_API_KEY: "k", OPENAI_API_KEY: "k" }
    for (const model of [
      "anthropic/claude-opus-9",
      "anthropic/claude-sonnet-4-9",
      "openai/gpt-9-mini",
      "openai/ft:gpt-4o:me",
    ])
      assert.deepEqual(warn(withDefault(model), environment), [], model)
  })
})

describe("a warning names key, reason and next step", () => {
  const cases: [string, object, RegExp][] = [
    [
      "no key",
      withDefault("openai/gpt-5"),
      /^agents\.defaults\.model: The provider openai of the model openai\/gpt-5 has no key\. Set OPENAI_API_KEY/,
    ],
    [
      "a slip in the provider",
      withDefault({ primary: "local/known", fallbacks: ["antropic/claude-sonnet-4-5"] }),
      /^agents\.defaults\.model\.fallbacks\[0\]: no provider named "antropic" .*Did you mean "anthropic\/claude-sonnet-4-5"\?$/,
    ],
    [
      "a service that only needs its preset",
      withDefault("groq/llama-3.3-70b-versatile"),
      /^agents\.defaults\.model: no provider named "groq" .*models\.providers\["groq"\] = \{ kind: "openai-compatible", preset: "groq" \}$/,
    ],
    [
      "another provider",
      withDefault("nobody-knows/x"),
      /^agents\.defaults\.model: .*Add models\.providers\.nobody-knows/,
    ],
    [
      "neither provider nor alias",
      withDefault("sonet", { "local/known": { alias: "sonnet" } }),
      /^agents\.defaults\.model: "sonet" is neither provider\/model nor an alias\. Did you mean "sonnet"\?$/,
    ],
    [
      "an agent's own",
      { agents: { list: [{ id: "one", model: { primary: "local/known", fallbacks: ["openai/gpt-5"] } }] } },
      /^agents\.list\[0\]\.model\.fallbacks\[0\]: .*no key/,
    ],
    [
      "the allowed list",
      withDefault("local/known", { "locl/known": {} }),
      /^agents\.defaults\.models\["locl\/known"\]: .*Did you mean "local\/known"\?$/,
    ],
    [
      "heartbeats",
      { agents: { defaults: { model: "local/known", heartbeat: { model: "nowhere" } } } },
      /^agents\.defaults\.heartbeat\.model: "nowhere" is neither/,
    ],
    [
      "an agent's heartbeats, which the allowed list binds",
      {
        agents: {
          defaults: { model: "local/known", models: { "local/known": {} } },
          list: [{ id: "one", heartbeat: { model: "local/other" } }],
        },
      },
      /^agents\.list\[0\]\.heartbeat\.model: The model local\/other is not in the allowed list/,
    ],
    [
      "webhooks",
      { hooks: { enabled: true, token: "t", mappings: [{ action: "agent", messageTemplate: "x", model: "gone/x" }] } },
      /^hooks\.mappings\[0\]\.model: no provider named "gone"/,
    ],
  ]
  for (const [what, config, expected] of cases) {
    test(what, () => {
      const found = warn(config)
      assert.equal(found.length, 1, found.join("\n"))
      assert.match(found[0] ?? "", expected)
    })
  }

  test("a slip in the name of a known model", () => {
    const environment = { ANTHROPIC_API_KEY: "k" }
    const [found] = warn(withDefault("anthropic/claude-sonet-4-5"), environment)
    assert.match(found ?? "", /not a model that is known.*Did you mean "anthropic\/claude-sonnet-4-5"\?$/)
    // Whoever describes a model means it.
    const described = { anthropic: { kind: "anthropic", models: { "claude-sonet-4-5": {} } } }
    const config = { ...withDefault("anthropic/claude-sonet-4-5"), models: { providers: described } }
    assert.deepEqual(warn(config, environment), [])
  })
})

test("a model that a webhook makes of its payload, or of hooks that are off, is not judged", () => {
  const mapping = { action: "agent", messageTemplate: "x" }
  const template = { ...mapping, model: "{{ payload.model }}" }
  assert.deepEqual(warn({ hooks: { enabled: true, token: "t", mappings: [template] } }), [])
  assert.deepEqual(warn({ hooks: { mappings: [{ ...mapping, model: "gone/x" }] } }), [])
})
