import assert from "node:assert/strict"
import { test } from "node:test"
import { compileMentions } from "./mentions.ts"

const unexpected = (pattern: string) => assert.fail(`${pattern} was switched off`)

test("an agent is called by its name as a whole word, in any case, or by its emoji", () => {
  const { match } = compileMentions({ name: "Molty", emoji: "🦞" }, unexpected)
  for (const text of ["Molty, help", "hey molty", "@MOLTY?", "is it (molty)", "Mol\u200bty", "🦞 please"]) {
    assert.equal(match(text), true, text)
  }
  for (const text of ["moltyish", "emolty", "molty_2", "mol ty", "", "🐟"]) assert.equal(match(text), false, text)
})

test("a name with signs that mean something in patterns is taken literally", () => {
  const { match } = compileMentions({ name: "C-3PO (v.2)" }, unexpected)
  assert.equal(match("ask c-3po (v.2) now"), true)
  assert.equal(match("ask c-3po v22 now"), false)
})

test("patterns replace the name, and an empty list calls nobody", () => {
  const own = compileMentions({ patterns: ["\\bcaptain\\b", "^bot[,:]"], name: "Molty" }, unexpected)
  assert.equal(own.match("Aye CAPTAIN"), true)
  assert.equal(own.match("Bot: status"), true)
  assert.equal(own.match("molty"), false)
  assert.equal(compileMentions({ patterns: [], name: "Molty" }, unexpected).match("molty"), false)
})

test("without name and patterns nothing is a call", () => {
  assert.equal(compileMentions({}, unexpected).match("anything"), false)
})

for (const pattern of ["^(a+)+$", "(a|aa)+$ (b)+", "(a{1,30}){1,30}$", "(a?a?a?a?a?a?a?a?)x\\1"]) {
  test(`a pattern that could run away is still matched: ${pattern}`, () => {
    const { match } = compileMentions({ patterns: [pattern, "bot"] }, () => undefined)
    assert.equal(match("hello bot"), true)
  })
}

test("a pattern that runs away is switched off, told once, and the others go on", () => {
  const slow: string[] = []
  const { match } = compileMentions({ patterns: ["^(a+)+$", "bot"] }, (pattern) => slow.push(pattern))
  assert.equal(match("aaaa"), true)
  const hostile = `${"a".repeat(60)}!`
  assert.equal(match(hostile), false)
  assert.equal(match(`${hostile} bot`), true)
  assert.equal(match("aaaa"), false)
  assert.deepEqual(slow, ["^(a+)+$"])
})

test("only the beginning of a long text is searched", () => {
  const { match } = compileMentions({ name: "Molty" }, unexpected)
  assert.equal(match(`${"x ".repeat(900)}molty`), true)
  assert.equal(match(`${"x ".repeat(1100)}molty`), false)
})
