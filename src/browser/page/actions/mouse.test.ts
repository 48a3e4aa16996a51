// Buttons that are held: a page must not be left with one that nobody presses any more.
import assert from "node:assert/strict"
import { test } from "node:test"
import { ScriptedBrowser } from "../../../../test/support/scripted-browser.ts"
import { clickAt } from "./mouse.ts"

test("lets go of the button when whoever clicks gives up while the page takes its time over the press", async () => {
  const browser = new ScriptedBrowser()
  const { tab } = await browser.open()
  await tab.attach()
  const caller = new AbortController()
  const pressed = Promise.withResolvers<void>()
  browser.answer("Input.dispatchMouseEvent", ({ params }) => {
    if (params["type"] !== "mousePressed") return {}
    pressed.resolve()
    return new Promise(() => undefined)
  })
  const options = { button: "left", doubleClick: false, modifiers: 0, held: true } as const
  const clicking = clickAt(tab, { x: 5, y: 6 }, options, caller.signal)
  await pressed.promise
  caller.abort(new Error("stopped"))
  await assert.rejects(clicking, /stopped/)
  const events = browser.commands.filter(({ method }) => method === "Input.dispatchMouseEvent")
  assert.deepEqual(
    events.map(({ params }) => [params["type"], params["x"], params["y"]]),
    [
      ["mouseMoved", 5, 6],
      ["mousePressed", 5, 6],
      ["mouseReleased", 5, 6],
    ],
  )
})
