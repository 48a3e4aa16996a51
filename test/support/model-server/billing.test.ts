import assert from "node:assert/strict"
import { test } from "node:test"
import type { JsonObject } from "../../../src/kernel/index.ts"
import { createBilling, estimateTokens } from "./billing.ts"
import { post } from "./client.fixture.ts"
import { startModelServer } from "./index.ts"

const mark = { cache_control: { type: "ephemeral" } }
const block = (letter: string, tokens: number, more: JsonObject = {}): JsonObject => ({
  type: "text",
  text: letter.repeat(tokens * 4),
  ...more,
})
const prompt = (...content: JsonObject[]): JsonObject => ({ messages: [{ role: "user", content }] })

test("a marked prompt is written once and read from then on, as far as it is the same", () => {
  const billing = createBilling()
  const charge = (body: JsonObject) => billing.charge("messages", "m", body)
  const first = charge(prompt(block("a", 2000, mark), block("b", 10)))
  assert.deepEqual([first.cacheRead, first.cacheWrite > 2000, first.input - first.cacheWrite < 30], [0, true, true])
  const again = charge(prompt(block("a", 2000, mark), block("c", 10)))
  assert.deepEqual([again.cacheRead, again.cacheWrite], [first.cacheWrite, 0])
  const grown = charge(prompt(block("a", 2000), block("b", 10), block("d", 500, mark)))
  assert.equal(grown.cacheRead, first.cacheWrite)
  assert.ok(grown.cacheWrite >= 510 && grown.cacheWrite < 560)
  assert.equal(charge(prompt(block("x", 1), block("a", 2000, mark))).cacheRead, 0)
  assert.equal(billing.charge("messages", "other", prompt(block("a", 2000, mark))).cacheRead, 0)
})

test("nothing under 1,024 tokens is kept, and without a mark nothing at all", () => {
  const billing = createBilling()
  for (const content of [block("a", 900, mark), block("a", 2000)]) {
    for (let n = 0; n < 2; n += 1) {
      const { cacheRead, cacheWrite } = billing.charge("messages", "m", prompt(content))
      assert.deepEqual([cacheRead, cacheWrite], [0, 0])
    }
  }
})

test("what was written more than 20 blocks before a mark is not found", () => {
  const small = (count: number) => Array.from({ length: count }, (_, index) => block(String(index % 10), 1))
  const read = (count: number) => {
    const billing = createBilling()
    billing.charge("messages", "m", prompt(block("a", 2000, mark)))
    return billing.charge("messages", "m", prompt(block("a", 2000), ...small(count), block("z", 1, mark))).cacheRead
  }
  assert.ok(read(18) > 2000)
  assert.equal(read(19), 0)
})

test("tools and the system prompt stand before the messages, and a change in them loses all behind", () => {
  const billing = createBilling()
  const body = (system: string): JsonObject => ({
    ...prompt(block("a", 2000, mark)),
    system,
    tools: [{ name: "lookup", input_schema: {} }],
  })
  billing.charge("messages", "m", body("one"))
  assert.ok(billing.charge("messages", "m", body("one")).cacheRead > 2000)
  assert.equal(billing.charge("messages", "m", body("two")).cacheRead, 0)
})

test("Converse marks with a block of its own", () => {
  const billing = createBilling()
  const point = { cachePoint: { type: "default" } }
  const body = { messages: [{ role: "user", content: [{ text: "a".repeat(8000) }, point, { text: "b" }] }] }
  assert.ok(billing.charge("converse", "m", body).cacheWrite > 2000)
  assert.ok(billing.charge("converse", "m", body).cacheRead > 2000)
})

test("other interfaces keep prompts by themselves, in steps", () => {
  const billing = createBilling()
  const body = (end: string) => ({ messages: [{ role: "user", content: `${"a".repeat(1500 * 4)}${end}` }] })
  assert.equal(billing.charge("chat", "m", body("one")).cacheRead, 0)
  assert.equal(billing.charge("chat", "m", body("two")).cacheRead, 1024 + 3 * 128)
  assert.equal(billing.charge("chat", "m", { messages: [] }).cacheRead, 0)
})

test("a server that bills reports it in its replies", async () => {
  const server = await startModelServer({ billing: true })
  const body = { model: "m", max_tokens: 100, ...prompt(block("a", 2000, mark)) }
  const usages = []
  for (let n = 0; n < 2; n += 1) {
    const { text } = await post(server, "/v1/messages", body)
    usages.push((JSON.parse(text) as { usage: Record<string, number> }).usage)
  }
  await server.stop()
  const [first, second] = usages
  assert.equal(first?.cache_creation_input_tokens, second?.cache_read_input_tokens)
  assert.deepEqual([first?.input_tokens, second?.input_tokens, second?.cache_creation_input_tokens], [0, 0, 0])
  assert.equal(second?.output_tokens, estimateTokens("ok".length))
})
