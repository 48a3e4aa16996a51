import assert from "node:assert/strict"
import { test } from "node:test"
import { inspect } from "node:util"
import { Secret, secretWeakness } from "./secret.ts"

test("a secret becomes stars however it is made a text, and is matched by itself and what is as good", () => {
  const secret = new Secret("hunter2", ["before"])
  assert.deepEqual(
    [String(secret), JSON.stringify({ secret }), inspect({ secret })],
    ["***", '{"secret":"***"}', "{ secret: *** }"],
  )
  assert.equal(secret.reveal(), "hunter2")
  assert.deepEqual(
    ["hunter2", "before", "hunter", "Before", ""].map((text) => secret.matches(text)),
    [true, true, false, false, false],
  )
})

const weak: [string, RegExp][] = [
  ["", /is blank/],
  ["   ", /is blank/],
  ["abcdefgh12345678abcdefg\u00fc", /cannot be sent in a header/],
  ["abcdefgh 12345678 abcdefgh", /cannot be sent in a header/],
  [" abcdefgh12345678abcdefgh", /spaces at its ends/],
  ["abcdefgh12345678abcdefg", /is shorter than 24/],
  ["<the-token-of-the-gateway>", /placeholder/],
  ["please-change-me-0123456789", /placeholder/],
  ["abcdefgabcdefgabcdefgabcdefg", /fewer than 8 different/],
]
for (const [secret, reason] of weak) {
  test(`${JSON.stringify(secret)} is weak, and why is said`, () => assert.match(secretWeakness(secret) ?? "", reason))
}

test("24 characters of eight kinds are enough", () => {
  assert.equal(secretWeakness("abcdefghabcdefghabcdefgh"), undefined)
})
