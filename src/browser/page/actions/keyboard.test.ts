// Keys that are held: a page must not be left with one that nobody presses any more.
import assert from "node:assert/strict"
import { test } from "node:test"
import { ScriptedBrowser } from "../../../../test/support/scripted-browser.ts"
import { parseKey, sendKey } from "./keyboard.ts"

test("lets go of a key when whoever holds it gives up", async () => {
  const browser = new ScriptedBrowser()
  const caller = new AbortController()
  const holding = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  const hold = async () => {
    holding.resolve()
    await held.promise
  }
  const pressing = sendKey(browser.connection.session("S1"), parseKey("ArrowDown"), { signal: caller.signal, hold })
  await holding.promise
  caller.abort(new Error("stopped"))
  held.reject(caller.signal.reason)
  await assert.rejects(pressing, /stopped/)
  assert.deepEqual(
    browser.commands.map(({ params }) => params["type"]),
    ["rawKeyDown", "keyUp"],
  )
})
