import assert from "node:assert/strict"
import { test } from "node:test"
import { describeUsage, formatCount, formatDollars } from "./amounts.ts"

const sums = {
  calls: 2,
  input: 1_200_000,
  output: 34,
  cacheRead: null,
  cacheWrite: null,
  reasoning: null,
  cost: 0.5,
  uncounted: 0,
  unpriced: 0,
}

test("dollars have four decimals below one, cents above, and are never rounded to nothing", () => {
  const written = [null, 0, 0.00000001, 0.0001, 0.01234, 0.99994, 1, 1234.567].map(formatDollars)
  assert.deepEqual(written, ["?", "$0", "<$0.0001", "$0.0001", "$0.0123", "$0.9999", "$1.00", "$1,234.57"])
})

test("counts have separators, and a mark when they are not known", () => {
  assert.deepEqual([null, 0, 999, 1_234_567].map(formatCount), ["?", "0", "999", "1,234,567"])
})

test("usage in words says what of it is not known", () => {
  assert.equal(describeUsage({ ...sums, calls: 0 }), "nothing")
  assert.equal(describeUsage(sums), "1,200,034 tokens, $0.5000")
  assert.equal(describeUsage({ ...sums, cost: null, unpriced: 2 }), "1,200,034 tokens, cost unknown")
  assert.equal(
    describeUsage({ ...sums, uncounted: 1, unpriced: 1 }),
    "1,200,034 tokens (unknown for 1 of 2 calls), $0.5000 (unknown for 1 of 2 calls)",
  )
  const nothing = { ...sums, input: null, output: null, cost: null, uncounted: 2, unpriced: 2 }
  assert.equal(describeUsage(nothing), "tokens unknown, cost unknown")
})
