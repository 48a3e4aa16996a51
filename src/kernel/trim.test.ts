import assert from "node:assert/strict"
import { test } from "node:test"
import { trimBoth, trimEnd } from "./trim.ts"

test("cuts the characters that are named off the ends and leaves those between", () => {
  assert.equal(trimEnd("//a//b//", "/"), "//a//b")
  assert.equal(trimEnd("a. ,.", "., "), "a")
  assert.equal(trimEnd("a", "/"), "a")
  assert.equal(trimBoth("-a-b_-", "-_"), "a-b")
  for (const text of ["", "-", "---"]) assert.deepEqual([trimEnd(text, "-"), trimBoth(text, "-")], ["", ""])
})
