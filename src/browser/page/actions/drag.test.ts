// Drags that are given up: the page must not be left with something in its hand.
import assert from "node:assert/strict"
import { test } from "node:test"
import { ScriptedBrowser } from "../../../../test/support/scripted-browser.ts"
import { drag } from "./drag.ts"

async function open() {
  const browser = new ScriptedBrowser()
  const { tab } = await browser.open()
  await tab.attach()
  browser.answer("Page.getLayoutMetrics", () => ({ cssLayoutViewport: { clientWidth: 800, clientHeight: 600 } }))
  browser.answer("Page.createIsolatedWorld", () => ({ executionContextId: 1 }))
  browser.answer("Runtime.evaluate", () => ({ result: {} }))
  const caller = new AbortController()
  const operation = { signal: caller.signal, deadline: Number.POSITIVE_INFINITY }
  const progress = { sent: false, rested: false }
  const way = { startX: 10, startY: 20, endX: 110, endY: 20, place: "on", timeoutMs: 8_000 } as const
  const begin = () => drag({ tab, operation, progress }, { kind: "drag", ...way })
  return { browser, caller, begin }
}

test("ends a drag of the browser's own that is given up on its way, and lets go of the button", async () => {
  const { browser, caller, begin } = await open()
  browser.answer("Runtime.evaluate", ({ params }) => ({
    result: { value: String(params["expression"]).includes(".dragBegan(") },
  }))
  browser.answer("Input.dispatchMouseEvent", ({ params }) => {
    if (params["type"] === "mouseMoved" && params["buttons"] === 1)
      browser.event("Input.dragIntercepted", { data: { items: [], dragOperationsMask: 1 } }, "S1")
    return {}
  })
  // The page stops to answer as soon as something is over it.
  browser.answer("Input.dispatchDragEvent", ({ params }) =>
    params["type"] === "dragOver" ? new Promise(() => undefined) : {},
  )
  const over = dragOver(browser)
  const dragging = begin()
  await over
  const before = browser.commands.length
  caller.abort(new Error("stopped"))
  await assert.rejects(dragging, /stopped/)
  assert.deepEqual(
    browser.commands.slice(before).map(({ method, params }) => [method, params["type"] ?? params["enabled"]]),
    [
      ["Input.dispatchDragEvent", "dragCancel"],
      ["Input.dispatchMouseEvent", "mouseMoved"],
      ["Input.dispatchMouseEvent", "mouseReleased"],
      ["Input.setInterceptDrags", false],
    ],
  )
})

async function dragOver(browser: ScriptedBrowser): Promise<void> {
  for (;;) if ((await browser.next("Input.dispatchDragEvent")).params["type"] === "dragOver") return
}

test("leaves the drags of a page to the page when it is given up before the first move", async () => {
  const { browser, caller, begin } = await open()
  const asked = browser.next("Input.setInterceptDrags")
  browser.answer("Input.setInterceptDrags", ({ params }) => (params["enabled"] ? new Promise(() => undefined) : {}))
  const dragging = begin()
  await asked
  caller.abort(new Error("stopped"))
  await assert.rejects(dragging, /stopped/)
  const told = browser.commands.filter(({ method }) => method === "Input.setInterceptDrags")
  assert.deepEqual(
    told.map(({ params }) => params["enabled"]),
    [true, false],
  )
})
