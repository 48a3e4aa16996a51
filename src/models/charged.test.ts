// What a call that failed counts for under the caps: nothing, unless its provider may have read the prompt.
import assert from "node:assert/strict"
import { afterEach, beforeEach, test } from "node:test"
import {
  createTestRegistry,
  type ModelServer,
  type ScriptedReply,
  startModelServer,
  userRequest,
} from "../../test/support/model-server/index.ts"
import type { AdmitCall } from "./contract.ts"
import type { ProviderSettings } from "./view.ts"

let server: ModelServer
beforeEach(async () => {
  server = await startModelServer()
})
afterEach(() => server.stop())

const own = (): ProviderSettings => ({ kind: "openai-compatible", baseUrl: server.baseUrl })
const page = "<!doctype html><title>Hello</title>"
const cases: [what: string, provider: () => ProviderSettings, reply: ScriptedReply, ended: string][] = [
  [
    "a request that cannot be made for want of an address",
    () => ({ kind: "azure", apiKey: "k" }),
    { kind: "hang" },
    "free",
  ],
  ["a page", own, { kind: "html" }, "free"],
  ["a page that says of itself to be events", own, { kind: "garbage", body: page }, "free"],
  [
    "a page where Messages were to come",
    () => ({ kind: "anthropic", apiKey: "k", baseUrl: server.baseUrl }),
    { kind: "html" },
    "free",
  ],
  ["a refusal", own, { kind: "status", status: 400 }, "free"],
  ["a stream that is cut behind the first words", own, { kind: "cut", text: "half" }, "charged"],
]
for (const [what, provider, reply, ended] of cases) {
  test(`${what} is ${ended}`, async () => {
    server.script(() => reply)
    const ends = new Set<string>()
    const admit: AdmitCall = async () => ({
      settle: () => void ends.add("settled"),
      refund: () => void ends.add("free"),
      lose: () => void ends.add("charged"),
    })
    const view = { providers: { mine: provider() }, defaultModel: "mine/one" }
    const { registry } = createTestRegistry(view, { admit })
    await assert.rejects(registry.complete({ agentId: "main" }, userRequest("hello")), { code: "model-failed" })
    assert.deepEqual([...ends], [ended])
  })
}
