import assert from "node:assert/strict"
import { test } from "node:test"
import { loadPageModules, startBrowser } from "../test/support/page-modules.ts"

interface Modules {
  call(name: string): Promise<unknown>
  who: { current: unknown }
}

const browser = startBrowser()
const { call, who } = await loadPageModules<Modules>("api.ts", "session.ts")
const error = { code: "unauthorized", message: "The page's key is wrong" }

test("a key that another tab has changed meanwhile is not thrown away because the one before it is refused", async () => {
  const refused = assert.rejects(call("GET /api/status"))
  localStorage.setItem("svc-page-key", "the next key")
  browser.asked.pop()?.answer({ error }, 401)
  await refused
  assert.equal(localStorage.getItem("svc-page-key"), "the next key")
  assert.equal(typeof who.current, "object")
})

test("nobody is signed in whose key is refused", async () => {
  const refused = assert.rejects(call("GET /api/status"))
  browser.asked.pop()?.answer({ error }, 401)
  await refused
  assert.equal(localStorage.getItem("svc-page-key"), null)
  assert.equal(who.current, "out")
})
