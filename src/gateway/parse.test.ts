import assert from "node:assert/strict"
import { test } from "node:test"
import { z } from "zod"
import { given, parse } from "./parse.ts"

const schema = z.strictObject({
  name: z.string().min(1),
  list: z.array(z.string().min(2).max(3)).min(1).max(2).optional(),
  count: z.int().max(5).optional(),
})

test("what is wrong is said for each field, in words for people", () => {
  const problem = (value: unknown) => {
    try {
      return JSON.stringify(parse(schema, value))
    } catch (error) {
      return (error as { code: string; message: string }).message
    }
  }
  assert.equal(problem({ name: "x", list: ["ab"] }), '{"name":"x","list":["ab"]}')
  assert.equal(problem({ name: "" }), "name: must not be empty")
  assert.equal(problem({ name: "x", list: [] }), "list: must not be empty")
  assert.equal(problem({ name: "x", list: ["ab", "ab", "ab"] }), "list: must have at most 2 entries")
  assert.equal(
    problem({ name: "x", list: ["a", "abcd"] }),
    "list.0: must have at least 2 characters; list.1: must have at most 3 characters",
  )
  assert.equal(problem({ count: 6 }), "name: is required; count: must be at most 5")
  assert.match(problem([]), /^must be an object, not a list$/)
  assert.throws(() => parse(schema, {}), { code: "bad-request" })
})

test("what is left out is absent", () => {
  assert.deepEqual(Object.keys(given({ a: 1, b: undefined, c: null })), ["a", "c"])
})
