import assert from "node:assert/strict"
import { test } from "node:test"
import { assertGrowsInLine } from "../../test/support/growth.ts"
import { compileMentions } from "./mentions.ts"

test("an agent is called by its name as a whole word, in any case, or by its emoji", () => {
  const { match } = compileMentions({ name: "Molty", emoji: "🦞" })
  for (const text of ["Molty, help", "hey molty", "@MOLTY?", "is it (molty)", "Mol\u200bty", "🦞 please"]) {
    assert.equal(match(text), true, text)
  }
  for (const text of ["moltyish", "emolty", "molty_2", "mol ty", "", "🐟"]) assert.equal(match(text), false, text)
})

test("a name with signs that mean something in patterns is taken literally", () => {
  const { match } = compileMentions({ name: "C-3PO (v.2)" })
  assert.equal(match("ask c-3po (v.2) now"), true)
  assert.equal(match("ask c-3po v22 now"), false)
})

test("patterns replace the name, and an empty list calls nobody", () => {
  const own = compileMentions({ patterns: ["\\bcaptain\\b", "^bot[,:]"], name: "Molty" })
  assert.equal(own.match("Aye CAPTAIN"), true)
  assert.equal(own.match("Bot: status"), true)
  assert.equal(own.match("molty"), false)
  assert.equal(compileMentions({ patterns: [], name: "Molty" }).match("molty"), false)
})

test("without name and patterns nothing is a call", () => {
  assert.equal(compileMentions({}).match("anything"), false)
})

test("a pattern that could run away is matched all the same, in time that grows with the text alone", async () => {
  for (const pattern of ["^(a+)+$", "(a|aa)+$ (b)+", "(?:x+x+)+y", "[ab]+$", "(a*)*c"]) {
    const { match } = compileMentions({ patterns: [pattern, "bot"] })
    assert.equal(match("hello bot"), true)
    await assertGrowsInLine((size) => match(`${"a".repeat(size)}!`), { size: 100, what: pattern })
  }
  assert.equal(compileMentions({ patterns: ["^(a+)+$"] }).match("aaaa"), true)
})

test("only the beginning of a long text is searched", () => {
  const { match } = compileMentions({ name: "Molty" })
  assert.equal(match(`${"x ".repeat(900)}molty`), true)
  assert.equal(match(`${"x ".repeat(1100)}molty`), false)
})
