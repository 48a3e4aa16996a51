import assert from "node:assert/strict"
import { test } from "node:test"
import { loadPageModules, settled, startBrowser } from "../../test/support/page-modules.ts"

interface Modules {
  confirm(question: { title: string; text: string; action: string }): Promise<boolean>
}

startBrowser()
const { confirm } = await loadPageModules<Modules>("ui/confirm.tsx")
const question = { title: "Delete this session?", text: "", action: "Delete" }

test("a question in whose place another one is asked is answered with no", async () => {
  let answer: boolean | undefined
  void confirm(question).then((yes) => (answer = yes))
  void confirm(question)
  await settled()
  assert.equal(answer, false)
})
