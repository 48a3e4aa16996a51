import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { anthropicCases } from "./cases/anthropic.ts"
import type { RuleCase } from "./cases/case.ts"
import { chatCases } from "./cases/chat.ts"
import { cloudCases } from "./cases/clouds.ts"
import { dialectCases } from "./cases/dialects.ts"
import { responsesCases } from "./cases/responses.ts"
import { allDialects, dialectOf } from "./check.ts"
import { checkRequest, createIssued, providerNames, type ProviderName } from "./index.ts"

const cases: RuleCase[] = [...chatCases, ...responsesCases, ...anthropicCases, ...cloudCases, ...dialectCases]

/** Every kind of key at once, so that none is missed. */
const headers = {
  authorization: "Bearer key",
  "x-api-key": "key",
  "anthropic-version": "2023-06-01",
  "x-goog-api-key": "key",
  "api-key": "key",
}

function check(one: RuleCase, body: RuleCase["refused"]) {
  const issued = createIssued()
  for (const reply of one.issued ?? []) issued.add(reply)
  return checkRequest({ path: one.path, method: "POST", headers, body }, one.provider, issued)
}

for (const one of cases) {
  test(`${one.provider ?? "an unnamed server"} refuses by ${one.rule}: ${one.words.slice(0, 60)}`, () => {
    const refusal = check(one, one.refused)
    assert.equal(refusal?.rule, one.rule, JSON.stringify(refusal?.body))
    assert.equal(refusal.status, one.status ?? 400)
    assert.ok(JSON.stringify(refusal.body).includes(one.words), JSON.stringify(refusal.body))
    assert.equal(check(one, one.taken), undefined)
  })
}

test("every rule of every provider has its row", () => {
  const rows = new Set(
    cases.map((one) => dialectOf(one.provider, one.path)?.rules.find(({ name }) => name === one.rule)),
  )
  const missing = allDialects.flatMap(({ rules }) => rules.filter((rule) => !rows.has(rule)).map(({ name }) => name))
  assert.deepEqual([...new Set(missing)], [])
})

describe("a request without a key", () => {
  const hello = [{ role: "user", content: "hello" }]
  const chat = { path: "/v1/chat/completions", body: { model: "m", messages: hello } }
  const converse = {
    path: "/model/m/converse-stream",
    body: { messages: [{ role: "user", content: [{ text: "x" }] }] },
  }
  const gemini = {
    path: "/v1beta/models/m:streamGenerateContent",
    body: { contents: [{ role: "user", parts: [{ text: "x" }] }] },
  }
  const messages = { path: "/v1/messages", body: { model: "m", max_tokens: 5, messages: hello } }
  const rows: [ProviderName, typeof chat | typeof converse | typeof gemini | typeof messages, number, string][] = [
    ["openai-chat", chat, 401, `{"error":{"message":"You didn't provide an API key.`],
    ["openai-responses", { path: "/v1/responses", body: { model: "m", messages: [] } }, 401, "You didn't provide"],
    ["anthropic", messages, 401, `"type":"authentication_error","message":"x-api-key header is required"`],
    ["strict-anthropic", messages, 401, "x-api-key header is required"],
    ["gemini", gemini, 403, `"status":"PERMISSION_DENIED"`],
    ["bedrock", converse, 403, `{"message":"Missing Authentication Token"}`],
    ["azure", chat, 401, `"code":"401"`],
    ["mistral", chat, 401, `{"detail":"Unauthorized"}`],
    ["groq", chat, 401, `"code":"invalid_api_key"`],
    ["deepseek", chat, 401, "Authentication Fails"],
    ["cerebras", chat, 401, `"code":"wrong_api_key"`],
    ["xai", chat, 401, `{"code":"unauthenticated:no-credentials"`],
    ["openrouter", chat, 401, `{"error":{"message":"No auth credentials found","code":401}}`],
    ["together", chat, 401, "Missing API key."],
  ]

  for (const [provider, { path, body }, status, words] of rows) {
    test(`is refused by ${provider}`, () => {
      const refusal = checkRequest({ path, method: "POST", headers: {}, body }, provider)
      assert.equal(refusal?.status, status)
      assert.equal(refusal.rule, "credentials")
      assert.ok(JSON.stringify(refusal.body).includes(words), JSON.stringify(refusal.body))
    })
  }

  test("is taken by servers of one's own, and by whoever was not named", () => {
    const needing = rows.map(([provider]) => provider)
    const open = providerNames.filter((name) => !needing.includes(name))
    assert.deepEqual(open, ["generic", "llama.cpp", "ollama", "vllm", "lmstudio"])
    for (const provider of [undefined, ...open]) {
      assert.equal(checkRequest({ ...chat, method: "POST", headers: {} }, provider), undefined)
    }
  })

  test("of Anthropic's needs the version beside it", () => {
    const refusal = checkRequest({ ...messages, method: "POST", headers: { "x-api-key": "key" } }, "anthropic")
    assert.deepEqual([refusal?.status, refusal?.rule], [400, "credentials"])
    assert.match(JSON.stringify(refusal?.body), /anthropic-version: header is required/)
  })
})

test("a provider that was named serves no path of others", () => {
  const request = { path: "/v1/messages", method: "POST", headers, body: {} }
  assert.deepEqual(
    [checkRequest(request, "mistral")?.status, checkRequest(request, "mistral")?.rule],
    [404, "unknownPath"],
  )
  assert.equal(checkRequest({ ...request, path: "/v1/models" }, "mistral"), undefined)
})
