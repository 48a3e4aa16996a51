// What providers refuse with -> what a person in a chat is told, what the operator is told, and what is done about it:
// asked again, waited for, or left to the fallback. Through the registry, over real HTTP.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { after, before, test } from "node:test"
import type { Json } from "../../src/kernel/index.ts"
import type { ModelFailure, ProviderSettings } from "../../src/models/index.ts"
import { createTestRegistry, type TestRegistry } from "../support/model-server/index.ts"
import { readRecording } from "./support/recording.ts"
import { ask, failureOf, whole } from "./support/replay.ts"
import { startReplayServer, type Answer, type ReplayServer } from "./support/replay-server.ts"

let provider: ReplayServer
let fallback: ReplayServer
before(async () => {
  provider = await startReplayServer()
  fallback = await startReplayServer()
})
after(async () => {
  await provider.stop()
  await fallback.stop()
})

const main = { agentId: "main" }
const key = "sk-own-0123456789abcdefghijklmnop"

const chat = {
  key: "The model service did not accept the key.",
  permission: "The model service does not allow this key to use the model.",
  credit: "The account at the model service has no credit left.",
  busy: "The model service is overloaded just now.",
  limit: "The model service has had too many requests just now.",
  day: "The limit of the model service for today is used up.",
  context: "The conversation is longer than the model can take.",
  model: "The model service does not know the chosen model.",
  form: "The model service did not understand the request.",
  declined: "The model service declined to answer this.",
  region: "The model service is not available in this region.",
  loading: "The model is still being loaded.",
  memory: "The model needs more memory than its server has.",
  page: "The model service cannot be reached at its address.",
} as const

interface Row {
  who: string
  settings: ProviderSettings
  status: number
  headers?: Record<string, string>
  body: Json
  chat: keyof typeof chat
  /** A pattern in the operator's message. */
  says: string
  /** A pattern in the operator's hint. */
  hint?: string
  /** How often it is asked without a fallback: 3 where it may pass, 1 where it stays. */
  requests: 1 | 3
}

/** Refusals as they were documented or reported, one a line, with what is made of each. */
const rows = readFileSync(new URL("../fixtures/model-streams/refusals.jsonl", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line) as Row)

const openai: ProviderSettings = { kind: "openai" }
const anthropic: ProviderSettings = { kind: "anthropic" }
const google: ProviderSettings = { kind: "google" }
const bedrock: ProviderSettings = { kind: "bedrock", region: "us-east-1" }
const compatible: ProviderSettings = { kind: "openai-compatible" }

function answerOf({ status, headers, body }: Pick<Row, "status" | "headers" | "body">): Answer {
  const text = typeof body === "string" ? body : JSON.stringify(body)
  return { status, headers: { "content-type": "application/json", ...headers }, pieces: [Buffer.from(text)] }
}

function open(
  settings: ProviderSettings,
  options: { fallbacks?: string[]; more?: Partial<ProviderSettings> } = {},
): TestRegistry {
  const root = settings.kind === "azure" || settings.kind === "bedrock" ? provider.url : `${provider.url}/v1`
  return createTestRegistry(
    {
      providers: {
        them: { ...settings, baseUrl: root, apiKey: key, ...options.more },
        other: { kind: "openai-compatible", baseUrl: `${fallback.url}/v1`, apiKey: "key-of-another" },
      },
      defaultModel: { primary: "them/some-model", fallbacks: options.fallbacks ?? [] },
    },
    { limits: { retry: { attempts: 3, minDelayMs: 1, maxDelayMs: 2, jitter: 0 } } },
  )
}

/** Nothing of addresses, keys, hosts and codes reaches a chat, and no key reaches anybody. */
function checkWords(failure: ModelFailure): void {
  assert.doesNotMatch(failure.chatMessage, /https?:|127\.0\.0\.1|localhost|[{}<>"]|\d{3}/)
  assert.doesNotMatch(`${failure.message} ${failure.hint ?? ""}`, new RegExp(key))
}

for (const row of rows) {
  test(`${row.who} (HTTP ${row.status})`, async () => {
    provider.answerWith(answerOf(row))
    const { registry, records } = open(row.settings)
    const failure = await failureOf(registry.complete(main, ask()))
    checkWords(failure)
    assert.doesNotMatch(JSON.stringify(records), new RegExp(key))
    assert.match(failure.message, new RegExp(row.says))
    assert.equal(failure.chatMessage, chat[row.chat])
    if (row.hint) assert.match(failure.hint ?? "", new RegExp(row.hint))
    assert.equal(provider.requests.length, row.requests)

    fallback.answerWith(whole(readRecording("chat/openai-text")))
    const reply = await open(row.settings, { fallbacks: ["other/gpt-4.1-mini"] }).registry.complete(main, ask())
    assert.equal(reply.model, "other/gpt-4.1-mini")
    assert.equal(fallback.requests[0]?.headers["authorization"], "Bearer key-of-another")
  })
}

const good = (name: string): Answer => whole(readRecording(name))
const recoveries: [settings: ProviderSettings, recording: string][] = [
  [compatible, "chat/openai-text"],
  [openai, "responses/openai-text"],
  [anthropic, "messages/anthropic-text"],
  [google, "gemini/text"],
  [bedrock, "converse/text"],
]

for (const [settings, recording] of recoveries) {
  test(`${settings.kind}: waits as long as it is asked to, then goes on`, async () => {
    const busy = { status: 429, headers: { "retry-after": "0.15" }, body: { error: { message: "Slow down" } } }
    provider.answerWith(answerOf(busy), good(recording))
    const reply = await open(settings).registry.complete(main, ask())
    assert.equal(reply.text, "It is 7 °C in Tromsø ❄ today.")
    const [first, second] = provider.requests
    assert.ok(first && second && second.at - first.at >= 150)
  })

  test(`${settings.kind}: a wait of an hour is not waited for, the fallback answers`, async () => {
    provider.answerWith(
      answerOf({ status: 429, headers: { "retry-after": "3600" }, body: { error: { message: "Slow down" } } }),
    )
    fallback.answerWith(good("chat/openai-text"))
    const reply = await open(settings, { fallbacks: ["other/gpt-4.1-mini"] }).registry.complete(main, ask())
    assert.equal(reply.model, "other/gpt-4.1-mini")
    assert.equal(provider.requests.length, 1)
  })

  test(`${settings.kind}: another key is used at once when one is refused`, async () => {
    provider.answerWith(answerOf({ status: 401, body: { error: { message: "No such key" } } }), good(recording))
    const { registry } = open(settings, { more: { apiKeys: [key, "second-key-0123456789"] } })
    assert.equal((await registry.complete(main, ask())).text, "It is 7 °C in Tromsø ❄ today.")
    const [, second] = provider.requests
    assert.match(JSON.stringify(second?.headers), /second-key-0123456789/)
  })

  test(`${settings.kind}: a redirect is not followed`, async () => {
    provider.answerWith({ status: 307, headers: { location: `${fallback.url}/v1/elsewhere` }, pieces: [] })
    fallback.answerWith(good(recording))
    const failure = await failureOf(open(settings).registry.complete(main, ask()))
    checkWords(failure)
    assert.match(failure.hint ?? "", /baseUrl/)
    assert.equal(fallback.requests.length, 0)
  })
}
