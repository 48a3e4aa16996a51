// Labels beside a frame that does not answer.
import assert from "node:assert/strict"
import { test } from "node:test"
import { ScriptedBrowser } from "../../../../test/support/scripted-browser.ts"
import { highlight } from "./labels.ts"

test("highlights an element although another frame does not say that it has taken its labels away", async (context) => {
  const { signal } = new AbortController()
  const browser = new ScriptedBrowser()
  const { tab } = await browser.open()
  await tab.attach()
  browser.event("Page.frameAttached", { frameId: "stuck", parentFrameId: "TAB" }, "S1")
  browser.answer("Page.createIsolatedWorld", ({ params }) => ({ executionContextId: params["frameId"] }))
  const limit = new AbortController()
  browser.answer("Runtime.evaluate", ({ params }) => {
    const expression = String(params["expression"])
    if (expression.includes(".label(")) return { result: { value: 1 } }
    if (!expression.includes(".unlabel(")) return { result: {} }
    assert.equal(params["contextId"], "stuck")
    limit.abort()
    return new Promise(() => undefined)
  })
  const { main } = tab.frames
  const [world] = await Promise.all(
    [main, tab.frames.get("stuck") ?? main].map((frame) => tab.frames.world(frame, signal)),
  )
  assert.ok(world)
  context.mock.method(AbortSignal, "timeout", () => limit.signal)
  assert.equal(await highlight(tab, world, 5, signal), true)
  assert.ok(limit.signal.aborted)
})
