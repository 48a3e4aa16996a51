import assert from "node:assert/strict"
import { test } from "node:test"
import fc from "fast-check"
import { Places, codesOf } from "./places.ts"

/** What the places mean, character by character. */
function replaceSlowly(text: string, places: readonly (readonly [number, number])[]): string {
  const isIn = (at: number) => places.some(([from, to]) => at >= from && at < to)
  return text
    .split("")
    .map((unit, at) => (isIn(at) ? (isIn(at - 1) ? "" : "#!") : unit))
    .join("")
}

function placesOf(pairs: readonly (readonly [number, number])[]): Places {
  const places = new Places()
  for (const [from, to] of pairs.toSorted((a, b) => a[0] - b[0])) places.add(from, to)
  return places
}

test("replaces what was found, few or many, together where it touches, in text of any script", () => {
  const pair = fc.tuple(fc.nat(80), fc.integer({ min: 1, max: 9 })).map(([from, size]) => [from, from + size] as const)
  fc.assert(
    fc.property(
      fc.string({ unit: "binary", minLength: 90, maxLength: 200 }),
      fc.array(pair),
      fc.array(pair),
      (text, some, others) => {
        const replaced = placesOf(some).join(placesOf(others)).replaceIn(text, codesOf(text), "#!")
        assert.equal(replaced, replaceSlowly(text, [...some, ...others]))
      },
    ),
    { numRuns: 25 },
  )
})

test("halves of pairs stay as they are", () => {
  const text = "\ud835x\udc00".repeat(3)
  assert.equal(placesOf([[1, 2]]).replaceIn(text, codesOf(text), "-"), `\ud835-${text.slice(2)}`)
})
