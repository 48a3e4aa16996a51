import assert from "node:assert/strict"
import { test } from "node:test"
import { diffLines, foldGone } from "./diff.ts"

const line = (text: string) => ({ text, depth: 0 })
const diff = (before: readonly string[], after: readonly string[]) =>
  diffLines(before, after.map(line)).map(({ sign, text }) => sign + text)

test("tells lines that come more or less often than before", () => {
  assert.deepEqual(diff(["a", "x", "b"], ["a", "x", "x", "b"]), ["+x"])
  assert.deepEqual(diff(["x", "x", "x"], ["x"]), ["-x", "-x"])
  assert.deepEqual(diff(["x", "a", "x"], ["x", "x"]), ["-a"])
  assert.deepEqual(diff(["a", "b"], ["b", "a"]).length, 2, "what has changed its place is told too")
})

test("tells the fewest lines by which the one becomes the other, each where it stands", () => {
  assert.deepEqual(diff(["a", "b", "c", "d", "e"], ["x", "b", "c", "y", "a", "e"]), ["-a", "+x", "-d", "+y", "+a"])
  assert.deepEqual(diff(["a", "b", "c"], ["c", "a", "b"]), ["+c", "-c"])
  assert.deepEqual(diff(["c", "a", "b"], ["a", "b", "c"]), ["-c", "+c"])
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

test("takes no line for changed because another of its kind has come or gone above it", () => {
  const cell = (ref: number, nth: number) => `- button [ref=e${ref}]${nth > 0 ? ` [nth=${nth}]` : ""} of "Row ${ref}"`
  assert.deepEqual(diff([cell(1, 0), cell(2, 1), cell(3, 2)], [cell(1, 0), cell(3, 1)]), [`-${cell(2, 0)}`])
  assert.deepEqual(diff([cell(2, 0)], [cell(9, 0), cell(2, 1)]), [`+${cell(9, 0)}`])
  assert.deepEqual(diff([cell(2, 0)], [cell(2, 3)]), [])
})

test("tells of a long list that is gone where it began and ended", () => {
  const hours = Array.from({ length: 60 }, (_, hour) => `- option "${hour}"`)
  const told = (before: string[], after: string[]) =>
    foldGone(diffLines(before, after.map(line))).map(({ sign, text }) => sign + text)
  assert.deepEqual(told(["a", ...hours, "b"], ["a", "c", "b"]), [
    '-- option "0"',
    '-- option "1"',
    "-(57 more lines that are gone, up to:)",
    '-- option "59"',
    "+c",
  ])
  assert.equal(told(hours.slice(0, 12), []).length, 12, "a short one is told as it was")
  assert.equal(told([], hours).length, 60, "and what came as a whole")
})
