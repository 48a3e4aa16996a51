import assert from "node:assert/strict"
import { test } from "node:test"
import { estimateTokens } from "../../sessions/index.ts"
import type { Kept } from "./pieces.ts"
import { planCompaction } from "./plan.ts"

/** Questions and answers of so many characters; says how many of them were looked at. */
function past(count: number, characters: number): { entries: Generator<Kept>; seen: () => number } {
  let id = 0
  function* read(): Generator<Kept> {
    while (id < count) {
      id += 1
      const text = `${id}`.padEnd(characters, " word")
      const message =
        id % 2 === 1
          ? { role: "user" as const, content: [{ type: "text" as const, text }] }
          : { role: "assistant" as const, text, toolCalls: [] }
      yield { id, message, tokens: estimateTokens(message), origin: "owner", trusted: true }
    }
  }
  return { entries: read(), seen: () => id }
}

test("a plan reads of the past what one question holds, and covers whole turns of it", () => {
  for (const characters of [1, 100, 2_000]) {
    for (const promptTokens of [3_000, 30_000, 1_000_000]) {
      const { entries, seen } = past(20_000, characters)
      const plan = planCompaction(entries, promptTokens)
      const name = `${characters} characters, ${promptTokens} tokens`
      assert.ok(seen() <= 2_001, `${name}: ${seen()} messages were read`)
      assert.ok(plan.hasMore, name)
      assert.ok(plan.covered.length > 0 && plan.covered.length % 2 === 0, `${name}: ${plan.covered.length} covered`)
      assert.ok(plan.text.length <= plan.room, name)
      const last = plan.covered.at(-1)
      assert.ok(plan.text.includes(`Assistant: ${last?.id} `) || characters === 1, `${name}: all of it is asked about`)
      assert.ok(plan.covered.length >= seen() / 3, `${name}: ${plan.covered.length} of ${seen()}`)
    }
  }
})

test("of a turn that is longer than a question its beginning is covered, and the rest follows", () => {
  const { entries } = past(1, 40)
  const [asked] = [...entries]
  assert.ok(asked)
  const answers = Array.from({ length: 10 }, (_, n) => {
    const message = { role: "assistant" as const, text: `${n} ${"word ".repeat(800)}`, toolCalls: [] }
    return { ...asked, id: n + 2, message, tokens: estimateTokens(message) }
  })
  const plan = planCompaction([asked, ...answers], 6_000)
  assert.deepEqual([plan.covered.map(({ id }) => id), plan.hasMore], [[1, 2, 3], true])
})
