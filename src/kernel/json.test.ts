import assert from "node:assert/strict"
import { test } from "node:test"
import { isJsonObject, parseJson } from "./json.ts"

const nested = (levels: number, open: string, inner: string, close: string) =>
  open.repeat(levels) + inner + close.repeat(levels)

test("takes 64 levels of nesting and refuses one more, of whole texts that any parser takes", () => {
  for (const [open, inner, close] of [
    ["[", "1", "]"],
    ['{"a":', "1", "}"],
  ] as const) {
    const deepest = nested(64, open, inner, close)
    assert.deepEqual(parseJson(deepest), JSON.parse(deepest))
    const deeper = nested(65, open, inner, close)
    JSON.parse(deeper)
    assert.throws(() => parseJson(deeper), { code: "bad-json", message: /nested deeper than 64 levels/ })
  }
})

test("counts levels, not brackets: those that are closed again and those inside texts are none", () => {
  const beside = `[${Array(200).fill("[1]").join(",")}]`
  assert.equal((parseJson(beside) as unknown[]).length, 200)
  const inText = JSON.stringify({ a: "[".repeat(500), 'b"[': '\\"{'.repeat(200), "c\\": ["]".repeat(80)] })
  assert.deepEqual(parseJson(inText), JSON.parse(inText))
  // What closes inside a text must not make room for more.
  assert.throws(() => parseJson(`{"a":"${"]".repeat(40)}","b":${nested(64, "[", "1", "]")}}`), { code: "bad-json" })
})

test("says what is wrong with a text that is no JSON", () => {
  for (const text of ["", "{", '{"a":1,}', "[1", "NaN", '{"a":1} x']) {
    assert.throws(() => parseJson(text), { code: "bad-json", message: /^The body is not valid JSON: / }, text)
  }
})

test("keeps the digits of integers that a number would round, where that is asked for", () => {
  const text =
    '{"id":9007199254740993,"small":9007199254740991,"minus":-12345678901234567890,"part":1234567890123456.5}'
  const kept = parseJson(text, { bigIntegers: "text" })
  assert.deepEqual(kept, {
    id: "9007199254740993",
    small: 9007199254740991,
    minus: "-12345678901234567890",
    part: 1234567890123456.5,
  })
  assert.equal((parseJson(text) as { id: number }).id, 9007199254740992)
})

test("a key __proto__ is a key like others", () => {
  const parsed = parseJson('{"__proto__":{"polluted":true}}')
  assert.equal(({} as Record<string, unknown>)["polluted"], undefined)
  assert.deepEqual(Object.keys(parsed as object), ["__proto__"])
})

test("an object is neither null nor a list", () => {
  assert.deepEqual([{}, { a: 1 }, [], null, "text", 1].map(isJsonObject), [true, true, false, false, false, false])
})
