import assert from "node:assert/strict"
import { test } from "node:test"
import { createBeginnings } from "./beginnings.ts"

const [a, b, c, d] = ["a", "b", "c", "d"].map((name) => ({ name })) as [object, object, object, object]

test("finds what was made of a list that begins with the same objects", () => {
  const beginnings = createBeginnings<object, string>()
  assert.equal(beginnings.find([a, b]), undefined)
  beginnings.keep([a, b, c], { length: 2, made: "ab" })
  assert.deepEqual(beginnings.find([a, b]), { length: 2, made: "ab" })
  assert.deepEqual(beginnings.find([a, b, d]), { length: 2, made: "ab" })
  for (const other of [[], [a], [a, c], [b, a], [{ ...a }, b]]) assert.equal(beginnings.find(other), undefined)
})

test("keeps the last one of a list, for each of the last four conditions", () => {
  const beginnings = createBeginnings<object, number>()
  const made = () => [0, 1, 2, 3, 4].map((n) => beginnings.find([a, b], ["model", n])?.made)
  for (let n = 0; n < 4; n += 1) beginnings.keep([a, b], { length: 1, made: n }, ["model", n])
  beginnings.keep([a, b], { length: 2, made: 10 }, ["model", 0])
  assert.deepEqual(made(), [10, 1, 2, 3, undefined])
  beginnings.keep([a], { length: 1, made: 4 }, ["model", 4])
  assert.deepEqual(made(), [10, undefined, 2, 3, 4])
  assert.equal(beginnings.find([a, b], ["model"]), undefined)
})

test("keeps nothing of an empty beginning", () => {
  const beginnings = createBeginnings<object, number>()
  beginnings.keep([], { length: 0, made: 1 })
  beginnings.keep([a], { length: 0, made: 1 })
  assert.equal(beginnings.find([a]), undefined)
})

test("is not moved by what is added to a list later", () => {
  const beginnings = createBeginnings<object, number>()
  const list = [a, b]
  beginnings.keep(list, { length: 2, made: 1 })
  list[1] = c
  assert.equal(beginnings.find([a, c]), undefined)
  assert.deepEqual(beginnings.find([a, b]), { length: 2, made: 1 })
})

test("keeps of the last 32 lists that were gone on with", () => {
  const beginnings = createBeginnings<object, number>()
  const lists = Array.from({ length: 33 }, (_, index) => [{ index }])
  const keep = (index: number) => beginnings.keep(lists[index] ?? [], { length: 1, made: index })
  for (let index = 0; index < 32; index += 1) keep(index)
  keep(0)
  keep(32)
  const missing = lists.flatMap((list, index) => (beginnings.find(list) ? [] : [index]))
  assert.deepEqual(missing, [1])
})
