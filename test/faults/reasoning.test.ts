// kill -9 in the middle of a tool loop of a model that thinks: the turn goes on after the restart with what the model
// had thought, as its provider wants it back. The model server refuses a request that brings back less, or something else.
import assert from "node:assert/strict"
import { type TestContext, test } from "node:test"
import type { ProviderSettings } from "../../src/models/index.ts"
import { isLong } from "../support/long.ts"
import { type ModelServerOptions, type ScriptedReply, text } from "../support/model-server/index.ts"
import { createWorld } from "../support/world.ts"

interface Case {
  role: NonNullable<ModelServerOptions["provider"]>
  settings: Pick<ProviderSettings, "kind" | "preset" | "region">
  model: string
  /** What of the thinking stands in the request after the restart. */
  comesBack: RegExp
  hasRedacted?: boolean
}

const cases: readonly Case[] = [
  {
    role: "anthropic",
    settings: { kind: "anthropic" },
    model: "claude-sonnet-4-5",
    comesBack: /"type":"thinking","thinking":"I had better look\."[^]*"type":"redacted_thinking"/,
    hasRedacted: true,
  },
  {
    role: "openai-responses",
    settings: { kind: "openai" },
    model: "gpt-5.1",
    comesBack: /"type":"reasoning"[^]*"encrypted_content":"/,
  },
  {
    role: "gemini",
    settings: { kind: "google" },
    model: "gemini-3-pro-preview",
    comesBack: /"thoughtSignature":"/,
  },
  {
    role: "bedrock",
    settings: { kind: "bedrock", region: "eu-central-1" },
    model: "anthropic.claude-sonnet-4-5-20250929-v1:0",
    comesBack: /"reasoningContent":\{"reasoningText":\{"text":"I had better look\."/,
  },
  {
    role: "deepseek",
    settings: { kind: "openai-compatible", preset: "deepseek" },
    model: "deepseek-reasoner",
    comesBack: /"reasoning_content":"I had better look\."/,
  },
  {
    role: "groq",
    settings: { kind: "openai-compatible", preset: "groq" },
    model: "openai/gpt-oss-120b",
    comesBack: /"reasoning":"I had better look\."/,
  },
  {
    role: "openrouter",
    settings: { kind: "openai-compatible", preset: "openrouter" },
    model: "anthropic/claude-sonnet-4.5",
    comesBack: /"reasoning_details":\[\{/,
  },
]

async function crashInLoop(context: TestContext, { role, settings, model, hasRedacted }: Case) {
  const world = await createWorld(context, {
    model: { provider: role },
    config: { browser: { enabled: true, defaultProfile: "managed" } },
  })
  const provider = { ...settings, baseUrl: world.model.baseUrl, apiKey: "key-0123456789abcdef" }
  world.configure({
    models: { providers: { mine: provider } },
    agents: { defaults: { model: `mine/${model}`, thinkingDefault: "medium" } },
  })
  const call: ScriptedReply = {
    kind: "reply",
    parts: [
      { type: "reasoning", text: "I had better look." },
      ...(hasRedacted ? [{ type: "reasoning" as const, text: "hidden", redacted: true }] : []),
      { type: "text", text: "One moment." },
      { type: "call", name: "browser", input: { action: "status" } },
    ],
  }
  let steps = 0
  world.model.script(() => {
    steps += 1
    return steps === 1 ? call : text("The browser is not running.")
  })
  const gateway = await world.start({ crashAt: "turn.afterTool" })
  world.say("is the browser running?")
  assert.equal(await gateway.ended, "SIGKILL")
  await world.start()
  await world.reply("The browser is not running.")
  return world
}

/** One of each kind of provider; of those that speak the common protocol the one with the most to bring back. */
const inShortForm = ["anthropic", "openai-responses", "gemini"]

for (const each of isLong ? cases : cases.filter(({ role }) => inShortForm.includes(role))) {
  test(`what ${each.role} wants back of a model's thinking survives kill -9 in a tool loop`, async (context) => {
    const world = await crashInLoop(context, each)
    assert.equal(world.model.requests.length, 2, "the first step is not asked again")
    assert.match(JSON.stringify(world.model.requests[1]?.body), each.comesBack)
    assert.deepEqual(world.model.refusals, [])
    // The next turn of the conversation brings it back as well.
    const sent = world.say("thank you")
    await world.reply("The browser is not running.", { after: sent })
    assert.match(JSON.stringify(world.model.requests[2]?.body), each.comesBack)
    assert.doesNotMatch(world.botTexts().join("\n"), /had better look/)
  })
}
