import assert from "node:assert/strict"
import { test } from "node:test"
import { charactersPerToken, estimateTokens } from "../../sessions/index.ts"
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

test("the newest turns stay while they are short together, and what does not fit into one question waits for the next", () => {
  // So many tokens each; a question holds 3,000 of them, and 1,080 may stay.
  const entries = (...tokens: number[]) => {
    const all = [...past(tokens.length, 1).entries]
    return all.map((entry, index) => {
      const text = "x".repeat((tokens[index] ?? 0) * charactersPerToken)
      const message =
        entry.message.role === "user"
          ? { role: "user" as const, content: [{ type: "text" as const, text }] }
          : { role: "assistant" as const, text, toolCalls: [] }
      return { ...entry, message, tokens: tokens[index] ?? 0 }
    })
  }
  const plan = (...tokens: number[]) => {
    const { covered, hasMore, maxTokens } = planCompaction(entries(...tokens), 6_000)
    assert.equal(maxTokens, 900, "a quarter of what a small model is shown of its past")
    return [covered.length, hasMore]
  }
  assert.deepEqual(plan(10, 10, 10, 10), [0, false], "all of it is short")
  assert.deepEqual(plan(500, 580), [0, false], "to the last token")
  assert.deepEqual(plan(500, 500, 500, 580), [2, false])
  assert.deepEqual(plan(500, 500, 10, 1_500), [4, false], "a long answer takes its question with it")
  assert.deepEqual(plan(500, 500, 500, 500, 400, 400, 500, 500), [6, false], "all that does not stay")
  assert.deepEqual(plan(500, 500, 500, 500, 400, 400, 800, 800, 500), [6, true], "whole turns, all that has room")
  assert.deepEqual(plan(800, 800, 800, 800, 10, 10), [2, true])
  assert.deepEqual(plan(1_300, 1_300, 300, 300, 500, 400), [2, false], "too little is left for a question of its own")
})
