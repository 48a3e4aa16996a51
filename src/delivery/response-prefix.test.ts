import assert from "node:assert/strict"
import { test } from "node:test"
import { responsePrefix } from "./response-prefix.ts"

const values = () => ({ model: "local/big/model", thinkingLevel: "low", identityName: "Ada" })

test("fills in what is known and leaves the rest as it is written", () => {
  const template = "{identity.name} ({provider}: {model}, {modelFull}, {thinkingLevel}, {other})"
  assert.equal(responsePrefix(template, values), "Ada (local: big/model, local/big/model, low, {other})")
})

test("`auto` is the agent's name in brackets, and nothing without a name", () => {
  assert.equal(responsePrefix("auto", values), "[Ada]")
  assert.equal(
    responsePrefix("auto", () => ({ ...values(), identityName: undefined })),
    "",
  )
})

test("asks for nothing when there is no prefix", () => {
  const never = () => assert.fail("not asked")
  assert.equal(responsePrefix(undefined, never), "")
  assert.equal(responsePrefix("  ", never), "")
})
