import assert from "node:assert/strict"
import { userInfo } from "node:os"
import { after, test } from "node:test"
import { homeFolder } from "./home.ts"

const before = process.env["HOME"]
after(() => {
  if (before === undefined) delete process.env["HOME"]
  else process.env["HOME"] = before
})

test("the home is the one that is given, and never the current folder", () => {
  process.env["HOME"] = ""
  for (const given of [undefined, "", "  "]) assert.equal(homeFolder(given), userInfo().homedir)
  assert.equal(homeFolder("/home/of/ada"), "/home/of/ada")
  process.env["HOME"] = "/somewhere"
  assert.equal(homeFolder(undefined), "/somewhere")
})
