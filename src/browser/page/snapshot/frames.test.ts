// Which frames a snapshot shows, where they come while the page is read.
import assert from "node:assert/strict"
import { test } from "node:test"
import { ScriptedBrowser } from "../../../../test/support/scripted-browser.ts"
import { takeLines, takeSnapshot } from "./take.ts"

const report = { refs: [], frames: [[0, 7, 1]], suspects: 0, folded: 0, changed: false, title: "" }
const options = {
  interactive: false,
  compact: false,
  efficient: false,
  depth: -1,
  selector: "",
  frame: "",
  roleRefs: false,
  maxChars: undefined,
  maxTokens: undefined,
  maxLines: undefined,
  find: "",
  diff: false,
  patient: true,
}

/** A tab with a frame that comes when the page is walked; `isReady` says whether it can be looked into by then. */
async function openWithFrame(isReady: () => boolean) {
  const browser = new ScriptedBrowser()
  const { tab } = await browser.open()
  let hasFrame = false
  browser.answer("Page.createIsolatedWorld", ({ params }) => {
    if (params["frameId"] === "TAB") return { executionContextId: 1 }
    if (!isReady()) throw new Error("No frame for given id found")
    return { executionContextId: 2 }
  })
  browser.answer("DOM.getFrameOwner", () => ({ backendNodeId: 1 }))
  browser.answer("DOM.resolveNode", () => ({ object: { objectId: "1" } }))
  browser.answer("Runtime.callFunctionOn", () => ({ result: { value: 7 } }))
  browser.answer("Runtime.evaluate", ({ params }) => {
    const expression = String(params["expression"])
    // Nothing changes in what the page itself has.
    if (expression.includes(".unchanged(")) return { result: { value: true } }
    if (!expression.includes(".walk(")) return { result: {} }
    if (params["contextId"] === 2)
      return { result: { value: `${JSON.stringify({ ...report, frames: [] })}\n- button "Pay"` } }
    if (!hasFrame) browser.event("Page.frameAttached", { frameId: "F", parentFrameId: "TAB" }, "S1")
    hasFrame = true
    return { result: { value: `${JSON.stringify(report)}\n- iframe` } }
  })
  const snapshot = async () =>
    await tab.operate({ what: "The snapshot", timeoutMs: 5_000 }, async (operation) => {
      return (await takeSnapshot(tab, operation, options)).snapshot
    })
  return { tab, snapshot }
}

test("shows a frame that came while the page was walked in the next snapshot", async () => {
  const { snapshot } = await openWithFrame(() => true)
  assert.equal(await snapshot(), "- iframe")
  assert.equal(await snapshot(), '- iframe:\n  - button "Pay"')
})

test("shows a frame that could not be looked into as soon as it can", async () => {
  let isReady = false
  const { tab, snapshot } = await openWithFrame(() => isReady)
  const lines = await tab.operate({ what: "A look", timeoutMs: 5_000 }, (operation) =>
    takeLines(tab, "tree", operation),
  )
  assert.equal(lines.length, 1)
  assert.equal(await snapshot(), "- iframe")
  isReady = true
  assert.equal(await snapshot(), '- iframe:\n  - button "Pay"')
})

test("says into which frames it did not look, being too many", async () => {
  const browser = new ScriptedBrowser()
  const { tab } = await browser.open()
  await tab.attach()
  const count = 101
  const numbers = Array.from({ length: count }, (_, index) => index + 1)
  for (const number of numbers)
    browser.event("Page.frameAttached", { frameId: `F${number}`, parentFrameId: "TAB" }, "S1")
  const numberOf = (id: unknown) => Number(String(id).slice(1))
  browser.answer("Page.createIsolatedWorld", ({ params: { frameId } }) => ({
    executionContextId: frameId === "TAB" ? 1_000 : numberOf(frameId),
  }))
  browser.answer("DOM.getFrameOwner", ({ params }) => ({ backendNodeId: numberOf(params["frameId"]) }))
  browser.answer("DOM.resolveNode", ({ params }) => ({ object: { objectId: `N${String(params["backendNodeId"])}` } }))
  browser.answer("Runtime.callFunctionOn", ({ params }) => ({ result: { value: numberOf(params["objectId"]) } }))
  browser.answer("Runtime.evaluate", ({ params: { expression, contextId } }) => {
    if (!String(expression).includes(".walk(")) return { result: {} }
    const frames = numbers.map((number) => [number - 1, number, 1])
    const main = `${JSON.stringify({ ...report, frames })}\n${numbers.map(() => "- iframe").join("\n")}`
    const inside = `${JSON.stringify({ ...report, frames: [] })}\n- paragraph: ${String(contextId)}`
    return { result: { value: contextId === 1_000 ? main : inside } }
  })
  const { snapshot } = await tab.operate({ what: "The snapshot", timeoutMs: 5_000 }, (operation) =>
    takeSnapshot(tab, operation, options),
  )
  const lines = snapshot.split("\n")
  assert.equal(lines.at(-2), "  - paragraph: 100")
  assert.equal(lines.at(-1), "- iframe (not looked into: there are more than 100 frames)")
})
