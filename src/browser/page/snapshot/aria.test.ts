// The browser's own tree as it is handed on: without what it ignores, within a limit, in the order of the page.
import assert from "node:assert/strict"
import { test } from "node:test"
import { ScriptedBrowser } from "../../../../test/support/scripted-browser.ts"
import { takeAria } from "./aria.ts"

const of = (value: unknown) => ({ value })
const nodes = [
  { nodeId: "1", childIds: ["2", "5", "gone"], role: of("RootWebArea"), name: of("Page"), backendDOMNodeId: 7 },
  { nodeId: "2", parentId: "1", childIds: ["3", "4"], ignored: true, role: of("none") },
  { nodeId: "3", parentId: "2", role: of("slider"), name: of("Volume"), value: of(0), description: of("loud") },
  { nodeId: "4", parentId: "2", value: of("") },
  { nodeId: "5", parentId: "1", childIds: ["6"], role: of("textbox"), name: of("Code"), value: of("1234") },
  { nodeId: "6", parentId: "5", role: of("StaticText"), name: of("1234") },
]

async function open() {
  const browser = new ScriptedBrowser()
  browser.answer("Accessibility.getFullAXTree", () => ({ nodes }))
  const { tab } = await browser.open()
  const take = (limit: number) =>
    tab.operate({ what: "The tree", timeoutMs: 5_000 }, (operation) => takeAria(tab, limit, operation))
  return { tab, take }
}

const shown = [
  { ref: "ax1", role: "RootWebArea", name: "Page", backendDOMNodeId: 7, depth: 0 },
  { ref: "ax2", role: "slider", name: "Volume", value: "0", description: "loud", depth: 1 },
  { ref: "ax3", role: "unknown", name: "", depth: 1 },
  { ref: "ax4", role: "textbox", name: "Code", value: "1234", depth: 1 },
  { ref: "ax5", role: "StaticText", name: "1234", depth: 2 },
]

test("gives the nodes in the order of the page, without those that the browser ignores", async () => {
  const { take } = await open()
  assert.deepEqual(await take(100), { nodes: shown, truncated: false })
  assert.deepEqual(await take(5), { nodes: shown, truncated: false })
  assert.deepEqual(await take(4), { nodes: shown.slice(0, 4), truncated: true })
})

test("says nothing of what fields hold where something was filled in that nobody is to see", async () => {
  const { tab, take } = await open()
  tab.concealment.add("https://a.example", "1234")
  const [page, slider, nameless] = shown
  assert.deepEqual((await take(100)).nodes, [
    page,
    slider,
    nameless,
    { ref: "ax4", role: "textbox", name: "Code", depth: 1 },
  ])
})
