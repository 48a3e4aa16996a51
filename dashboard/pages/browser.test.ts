import assert from "node:assert/strict"
import { test } from "node:test"
import { loadPageModules, startBrowser } from "../../test/support/page-modules.ts"

interface Modules {
  showLine(line: object, frame: { value: unknown }, problem: { value: unknown }): void
}

startBrowser()
const { showLine } = await loadPageModules<Modules>("pages/browser.tsx")

test("why a tab is not shown is told for as long as it is not", () => {
  const frame = { value: undefined as unknown }
  const problem = { value: undefined as unknown }
  showLine({ hidden: "This site may not be read" }, frame, problem)
  assert.match(String(problem.value), /may not be read/)
  showLine({ image: "picture" }, frame, problem)
  assert.deepEqual([frame.value, problem.value], [{ image: "picture" }, undefined])
})
