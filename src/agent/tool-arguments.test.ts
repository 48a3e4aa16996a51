import assert from "node:assert/strict"
import { describe, test } from "node:test"
import fc from "fast-check"
import type { Json, JsonObject } from "../kernel/index.ts"
import { readArguments } from "./tool-arguments.ts"

const button: JsonObject = {
  type: "object",
  properties: { text: { type: "string" }, style: { type: "string", enum: ["danger", "primary"] } },
  required: ["text"],
}
const schema: JsonObject = {
  type: "object",
  properties: {
    action: { type: "string", enum: ["send", "deleteMessage"] },
    text: { type: "string" },
    note: { type: "string" },
    count: { type: "integer" },
    share: { type: "number" },
    silent: { type: "boolean" },
    paths: { type: "array", items: { type: "string" } },
    rows: { type: "array", items: { type: "array", items: button } },
    request: { type: "object", properties: { kind: { type: "string" }, width: { type: "integer" } } },
  },
  required: ["action", "text"],
}
const read = (written: Json) => readArguments(schema, written)

describe("arguments that can be read in one way are read so", () => {
  const cases: [string, Json, Json][] = [
    ["nothing at all is no arguments", null, {}],
    ["empty text is no arguments", " ", {}],
    ["the whole as JSON text", '{"text": "a", "count": "3"}', { text: "a", count: 3 }],
    ["numbers as words", { count: " 12 ", share: "-0.5" }, { count: 12, share: -0.5 }],
    ["a whole number with a point", { count: "3.0" }, { count: 3 }],
    ["flags as words", { silent: "True" }, { silent: true }],
    ["flags as numbers", { silent: 0 }, { silent: false }],
    ["flags as yes", { silent: "yes" }, { silent: true }],
    ["flags as no", { silent: "no" }, { silent: false }],
    ["flags as a one", { silent: "1" }, { silent: true }],
    ["flags as false", { silent: "FALSE" }, { silent: false }],
    ["ids as numbers", { text: -1001234567890 }, { text: "-1001234567890" }],
    ["a flag as text", { text: true }, { text: "true" }],
    [
      "an object as JSON text",
      { request: '{"kind":"resize","width":"800"}' },
      { request: { kind: "resize", width: 800 } },
    ],
    ["a list as JSON text", { paths: '["a", 5]' }, { paths: ["a", "5"] }],
    ["one value for a list", { paths: "a.txt" }, { paths: ["a.txt"] }],
    ["one value that only looks like a list", { paths: "[draft] a.txt" }, { paths: ["[draft] a.txt"] }],
    ["one value in quotes", { paths: '"draft"' }, { paths: ['"draft"'] }],
    ["one value for a list of lists", { rows: { text: "Yes" } }, { rows: [[{ text: "Yes" }]] }],
    ["one value in a list of lists", { rows: [{ text: "Yes" }] }, { rows: [[{ text: "Yes" }]] }],
    ["null for what may be left out", { count: null, request: null, rows: null }, {}],
    ["null inside of lists", { rows: [[{ text: "Yes", style: null }]] }, { rows: [[{ text: "Yes" }]] }],
    ["blanks for what may be left out", { count: "", silent: " ", paths: "", request: "null" }, {}],
    ["a blank for a word of a list of words", { rows: [[{ text: "Yes", style: "" }]] }, { rows: [[{ text: "Yes" }]] }],
    ["a known word in other letters", { action: " SEND" }, { action: "send" }],
    ["a known word in other letters of many", { action: "deletemessage" }, { action: "deleteMessage" }],
  ]
  for (const [name, written, meant] of cases) test(name, () => assert.deepEqual(read(written), meant))
})

describe("arguments that can be read in several ways, or in none, stay as they are", () => {
  const cases: [string, Json][] = [
    ["text that is no object", "send it"],
    ["JSON text of something else", "[1, 2]"],
    ["broken JSON text", '{"text": '],
    ["a number", 5],
    ["words that are no number", { count: "three", share: "1e9" }],
    ["half of a whole number", { count: "2.5" }],
    ["a number too long to be kept", { count: "12345678901234567890" }],
    ["an id too long to be kept", { text: 12345678901234567000 }],
    ["words that are no flag", { silent: "maybe" }],
    ["a number that is no flag", { silent: 2 }],
    ["an object where text is wanted", { text: { a: 1 } }],
    ["a list where text is wanted", { text: ["a"] }],
    ["text that is no object where one is wanted", { request: "click" }],
    ["several buttons that may be one row or several", { rows: [{ text: "Yes" }, { text: "No" }] }],
    ["a list that is no flag", { silent: ["yes"] }],
    ["an empty text where any is taken", { text: "", note: "" }],
    ["the word null where any text is taken", { text: "null", note: "null" }],
    ["null for what is required", { action: null, text: null }],
    ["a word that is none of those known", { action: "dance" }],
    ["fields that the schema does not name", { texts: ["a"], constructor: "5", extra: null }],
  ]
  for (const [name, written] of cases) test(name, () => assert.deepEqual(read(written), written))

  test("a field called __proto__ stays a field", () => {
    const written = JSON.parse('{"text": "a", "__proto__": {"count": "5"}}') as Json
    const meant = read(written) as object
    assert.equal(Object.getPrototypeOf(meant), Object.prototype)
    assert.deepEqual(Object.keys(meant), ["text", "__proto__"])
  })
})

test("whatever is written is read without an error, and reading it again changes nothing", () => {
  const field = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom("null", "true", "[]", "{}", '{"kind":"a"}', "5", "Send", " ", '["x"]', '[[{"text":1}]]'),
  )
  const written = fc.oneof(
    fc.jsonValue(),
    fc.record(Object.fromEntries(Object.keys(schema["properties"] as object).map((name) => [name, field])), {
      requiredKeys: [],
    }),
  )
  fc.assert(
    fc.property(written, (value) => {
      const once = read(value as Json)
      assert.deepEqual(read(once), once)
    }),
    { numRuns: 500 },
  )
})
