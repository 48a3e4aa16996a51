import assert from "node:assert/strict"
import { test } from "node:test"
import fc from "fast-check"
import { assertGrowsInLine } from "../../test/support/growth.ts"
import { compileLinearPattern, linearPatternProblem } from "./linear-pattern.ts"

const patterns = [
  "^(a+)+$",
  "(a|aa)+$ (b)+",
  "(a*)*b",
  "(.*)*(.*)*x$",
  "(?:x+x+)+y",
  "\\bcaptain\\b",
  "^bot[,:]",
  "a{2,4}b?",
]
patterns.push(
  "\\Bc|p\\B",
  "\\p{Script=Cyrillic}+[!?]",
  "[^\\W_]{3}\\b",
  "\\u{1F99E}|\\ud83e\\udd9e",
  "(?<name>x|y){2,}",
  "[^]$",
  "[]",
  "a.c",
  "\\x41",
  "^a{2,3}$",
  "^a{1,}b$",
  "^(?:aa){1}$",
)
const texts = [
  "",
  "a",
  "aaaa",
  "aaab",
  "b",
  "aa b",
  "captain!",
  "CAPTAIN",
  "captains",
  "Bot: x",
  "привет!",
  "ab_",
  "abc",
  "🦞",
  "xy",
  "A\nC",
  "ſ",
]

for (const pattern of patterns) {
  test(`${pattern} matches what the built-in engine matches`, () => {
    const { test: matches } = compileLinearPattern(pattern)
    for (const text of texts) assert.equal(matches(text), new RegExp(pattern, "iu").test(text), JSON.stringify(text))
  })
}

test("any pattern without lookaround and back references matches what the built-in engine matches", () => {
  const leaf = fc.constantFrom(
    "a",
    "b",
    "K",
    "ß",
    "🦞",
    ".",
    "\\w",
    "\\W",
    "\\d",
    "[ab]",
    "[^a]",
    "\\b",
    "^",
    "$",
    "\\p{L}",
    "\\s",
  )
  const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
    pattern: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      leaf,
      fc.tuple(tie("pattern"), tie("pattern")).map(([one, two]) => one + two),
      fc.tuple(tie("pattern"), tie("pattern")).map(([one, two]) => `(?:${one}|${two})`),
      fc
        .tuple(tie("pattern"), fc.constantFrom("*", "+", "?", "{2}", "{0,2}", "{1,}", "*?"))
        .map(([one, more]) => `(${one})${more}`),
    ),
  }))
  const text = fc.string({
    unit: fc.constantFrom("a", "b", "k", "\u212a", "ß", "ẞ", "🦞", "1", " ", "\n", "_", "\ud83e"),
    maxLength: 8,
  })
  fc.assert(
    fc.property(pattern, fc.array(text, { minLength: 1, maxLength: 4 }), (source, samples) => {
      const ours = compileLinearPattern(source)
      const theirs = new RegExp(source, "iu")
      for (const sample of samples)
        assert.equal(ours.test(sample), theirs.test(sample), JSON.stringify([source, sample]))
    }),
    { numRuns: 3_000 },
  )
})

const refused: [string, RegExp][] = [
  ["a(", /not a valid regular expression/],
  ["bot(?=s)", /looks ahead or behind/],
  ["bot(?!s)", /looks ahead or behind/],
  ["(?<=a)bot", /looks ahead or behind/],
  ["(?<!a)bot", /looks ahead or behind/],
  ["(a)\\1", /back reference/],
  ["(?<x>a)\\k<x>", /back reference/],
  ["((a{1,30}){1,30}){1,30}", /too large/],
  ["a".repeat(3_000), /longer than/],
]
for (const [pattern, reason] of refused) {
  test(`refuses ${pattern.slice(0, 30)} and says why`, () => {
    assert.match(linearPatternProblem(pattern) ?? "", reason)
    assert.throws(() => compileLinearPattern(pattern), reason)
  })
}

test("takes time in proportion to the text, whatever the pattern", async () => {
  for (const pattern of [...patterns, "(a?){50}a{50}", "(\\w+\\s?){1,100}!$", "(([a-z])+.)+[A-Z]([a-z])+$"]) {
    const { test: matches } = compileLinearPattern(pattern)
    for (const unit of ["a", "ab", "x", "captain"]) {
      const work = (size: number) => matches(`${unit.repeat(size)}\u0001`)
      await assertGrowsInLine(work, { size: 300, what: JSON.stringify([pattern, unit]) })
    }
  }
})
