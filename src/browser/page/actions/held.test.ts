// When a field counts as holding what was typed: forms of its own are fine, other words are not.
import assert from "node:assert/strict"
import { test } from "node:test"
import { holds } from "./held.ts"

const held = (text: string, now: string, before = "") => holds(now, { mode: "replace", text, before })

test("takes the forms that fields give to what is typed", () => {
  for (const [text, now] of [
    ["Ada Berg", "Ada Berg"],
    ["  two\nlines ", "two lines"],
    ["ada", "ADA"],
    ["6641234567", "(664) 123-4567"],
    ["6641234567", "+43 664 1234567"],
    ["1234.5", "1,234.50"],
    ["1234,5", "€ 1.234,50"],
    ["5", "5.00 %"],
    ["007", "007"],
    ["2026-03-10", "10.03.2026"],
    ["4111111111111111", "4111 1111 1111 1111"],
    ["Vie", "Vienna"],
    ["", ""],
    ["—", "—"],
    ["12:30", "12.30"],
    ["C++", "c++"],
    ["Zoe\u0308", "Zoë"],
    ["+1,5", "1.5"],
    ["-5", "€ -5,00"],
    ["1/2/2026", "2026-02-01"],
    ["x".repeat(2_000), "x".repeat(200)],
    ["Ada", "Ada (you)"],
  ] as const)
    assert.ok(held(text, now), `${text} → ${now}`)
})

test("takes the frame of a mask, which stays when all is deleted, but no old text", () => {
  const masked = (now: string, fixed: string) => holds(now, { mode: "replace", text: "123", before: fixed, fixed })
  assert.ok(masked("+7 (123)", "+7 (___)"))
  assert.ok(masked("$ 123", "$"))
  assert.ok(!masked("7123", "7"))
  assert.ok(!masked("+7 (___)", "+7 (___)"))
})

test("takes nothing else", () => {
  for (const [text, now, before] of [
    ["5", "2010", "2010"],
    ["abcdef", "abc", ""],
    ["1.5", "15", ""],
    ["-5", "5", ""],
    ["12", "123", ""],
    ["new", "old", "old"],
    ["new", "oldnew", "old"],
    ["new", "newold", "old"],
    ["", "old", "old"],
    ["2026-03-10", "2026-03-11", ""],
    ["--", "", ""],
    ["", "€", ""],
    ["€", "", ""],
    ["2026-03-10", "March 10, 2026", ""],
    ["12345", "912345", ""],
    ["x".repeat(2_000), "x".repeat(90), ""],
    ["x".repeat(900), "x".repeat(200), ""],
    ["ab", "", "ab"],
  ] as const)
    assert.ok(!held(text, now, before), `${text} → ${now}`)
})

test("knows text that was put behind the old, or into it", () => {
  assert.ok(holds("one two", { mode: "append", text: " two", before: "one" }))
  assert.ok(!holds(" two", { mode: "append", text: " two", before: "one" }))
  assert.ok(holds("one two three", { mode: "caret", text: "two", before: "one three" }))
  assert.ok(!holds("one three", { mode: "caret", text: "two", before: "one three" }))
  assert.ok(!holds("one two", { mode: "append", text: " three", before: "one two" }))
})
