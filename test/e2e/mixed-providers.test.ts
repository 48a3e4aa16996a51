// A conversation that changes its provider in the middle of a tool loop, in every direction: each request is held to the
// rules of the provider that it goes to, and what a provider has issued must come back to it as it was.
import assert from "node:assert/strict"
import { after, before, test } from "node:test"
import type { ModelMessage, ModelReply, ToolSchema } from "../../src/models/contract.ts"
import type { ProviderSettings } from "../../src/models/index.ts"
import {
  createTestRegistry,
  startModelServer,
  text,
  userRequest,
  type ModelServer,
  type ScriptedReply,
} from "../support/model-server/index.ts"

type Provider = Omit<ProviderSettings, "baseUrl"> & { model: string; role: Parameters<ModelServer["baseUrlOf"]>[0] }

const compatible = (preset: ProviderSettings["preset"], model: string): Provider => ({
  kind: "openai-compatible",
  ...(preset === undefined ? {} : { preset }),
  model,
  role: preset ?? "generic",
})

const providers: readonly Provider[] = [
  { kind: "openai", model: "gpt-5.1", role: "openai-responses" },
  { kind: "anthropic", model: "claude-sonnet-4-5", role: "anthropic" },
  { kind: "google", model: "gemini-3-pro-preview", role: "gemini" },
  { kind: "bedrock", model: "anthropic.claude-sonnet-4-5-20250929-v1:0", region: "eu-central-1", role: "bedrock" },
  { ...compatible(undefined, "gpt-5.1"), role: "openai-chat" },
  compatible("mistral", "magistral-medium-latest"),
  compatible("groq", "openai/gpt-oss-120b"),
  compatible("deepseek", "deepseek-reasoner"),
  compatible("cerebras", "gpt-oss-120b"),
  compatible("xai", "grok-4"),
  compatible("openrouter", "anthropic/claude-sonnet-4.5"),
  compatible("together", "deepseek-ai/DeepSeek-V3.1"),
  compatible("llama.cpp", "qwen3-8b"),
  compatible("ollama", "qwen3:8b"),
  compatible("vllm", "Qwen/Qwen3-8B"),
  compatible("lmstudio", "qwen3-8b"),
  compatible(undefined, "some-model"),
]

const lookup: ToolSchema = {
  name: "lookup",
  description: "Looks something up",
  inputSchema: { type: "object", properties: { word: { type: "string" } }, required: ["word"] },
}
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

/** One for each: what one has issued no other knows of. */
let servers: readonly ModelServer[] = []
before(async () => {
  servers = await Promise.all(providers.map(({ role }) => startModelServer({ provider: role })))
})
after(() => Promise.all(servers.map((server) => server.stop())))

const nameOf = (provider: Provider) => `${provider.role} ${provider.model}`

function registryFor() {
  const entries = providers.map(({ model: _model, role: _role, ...settings }, index) => {
    const key = { apiKey: "key-0123456789abcdef" }
    return [`p${index}`, { ...settings, ...key, baseUrl: servers[index]?.baseUrl ?? "" }] as const
  })
  return createTestRegistry({ providers: Object.fromEntries(entries), defaultModel: "offline/commander" }).registry
}

let calls = 0
/** Of no two providers the same, as it is in truth; nine letters and digits, as one of them wants it. */
const newId = () => `c${String((calls += 1)).padStart(8, "0")}`

const twoCalls = (): ScriptedReply => ({
  kind: "reply",
  parts: [
    { type: "reasoning", text: `Both must be looked up, ${calls}.` },
    { type: "text", text: "Let me look." },
    { type: "call", id: newId(), name: "lookup", input: { word: "tea" } },
    { type: "call", id: newId(), name: "lookup", input: { word: "coffee" } },
  ],
})

function withResults(messages: readonly ModelMessage[], reply: ModelReply): ModelMessage[] {
  const { text: words, toolCalls, replay } = reply
  const results = toolCalls.map((call, index) => ({
    callId: call.id,
    toolName: call.name,
    content:
      index === 0
        ? [
            { type: "text" as const, text: "a drink" },
            { type: "image" as const, mediaType: "image/png", data: pixel },
          ]
        : [],
    isError: index === 1,
  }))
  return [
    ...messages,
    { role: "assistant", text: words, toolCalls, ...(replay ? { replay } : {}) },
    { role: "tool", results },
  ]
}

for (const [from, first] of providers.entries()) {
  test(`${nameOf(first)} hands its tool loops over to every other and takes theirs back`, async () => {
    const registry = registryFor()
    for (const [to, second] of providers.entries()) {
      const ask = async (index: number, messages: ModelMessage[], reply: ScriptedReply) => {
        servers[index]?.enqueue(reply)
        const model = `p${index}/${providers[index]?.model ?? ""}`
        const usedFor = { purpose: "test" as const, sessionKey: `${from} ${to}` }
        return await registry.complete(
          { agentId: "main", model, thinking: "medium" },
          userRequest("", { system: "Be brief.", messages, tools: [lookup], usedFor }),
        )
      }
      const start: ModelMessage[] = [{ role: "user", content: [{ type: "text", text: "tea or coffee?" }] }]
      const own = withResults(start, await ask(from, start, twoCalls()))
      const handed = withResults(own, await ask(to, own, twoCalls()))
      const back = withResults(handed, await ask(from, handed, twoCalls()))
      const end = await ask(to, back, text("Tea."))
      const refused = servers.flatMap((server) => server.expectRefusals().map(({ refusal }) => refusal))
      assert.deepEqual(refused, [], `${nameOf(first)} to ${nameOf(second)}`)
      assert.equal(end.text, "Tea.")
    }
  })
}
