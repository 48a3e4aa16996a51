import assert from "node:assert/strict"
import { test } from "node:test"
import { diffLines } from "./diff.ts"

const line = (text: string) => ({ text, depth: 0 })
const diff = (before: readonly string[], after: readonly string[]) =>
  diffLines(before, after.map(line)).map(({ sign, text }) => sign + text)

test("tells lines that come more or less often than before", () => {
  assert.deepEqual(diff(["a", "x", "b"], ["a", "x", "x", "b"]), ["+x"])
  assert.deepEqual(diff(["x", "x", "x"], ["x"]), ["-x", "-x"])
  assert.deepEqual(diff(["x", "a", "x"], ["x", "x"]), ["-a"])
  assert.deepEqual(diff(["a", "b"], ["b", "a"]).length, 2, "what has changed its place is told too")
})

test("also in changes so large that only their content is compared", () => {
  const filler = (name: string) => Array.from({ length: 1_200 }, (_, index) => `${name} ${index}`)
  const before = ["same", ...filler("old"), "same", "once"]
  const after = ["once", ...filler("new"), "same", "same", "same"]
  const changes = diff(["first", ...before], ["first", ...after])
  assert.equal(changes.filter((change) => change.startsWith("-old")).length, 1_200)
  assert.equal(changes.filter((change) => change.startsWith("+new")).length, 1_200)
  assert.deepEqual(
    changes.filter((change) => /same|once/.test(change)),
    ["+same"],
  )
})

test("what is equal at both ends is no change, wherever the middle begins and ends", () => {
  assert.deepEqual(diff([], []), [])
  assert.deepEqual(diff(["a", "b"], ["a", "b"]), [])
  assert.deepEqual(diff([], ["a"]), ["+a"])
  assert.deepEqual(diff(["a"], []), ["-a"])
  assert.deepEqual(diff(["a", "a"], ["a"]), ["-a"])
  const [added] = diffLines(["a", "c"], ["a", "b", "c"].map(line))
  assert.deepEqual(added, { sign: "+", text: "b", line: line("b") })
})
