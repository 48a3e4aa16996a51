import assert from "node:assert/strict"
import { test } from "node:test"
import { loadPageModules, startBrowser } from "../test/support/page-modules.ts"

interface Page {
  name: string
  load: () => Promise<object>
}
interface Modules {
  loadPage(page: Page): Promise<void>
  contentOf(page: Page): unknown
}

startBrowser()
const { loadPage, contentOf } = await loadPageModules<Modules>("pages.ts")

test("a page that comes while the file of another is on its way stays", async () => {
  const chat = Promise.withResolvers<object>()
  const runs = Promise.withResolvers<object>()
  const pages = [
    { name: "chat", load: () => chat.promise },
    { name: "runs", load: () => runs.promise },
  ] as const
  const loads = [...pages].reverse().map(loadPage)
  chat.resolve({ chat: "the chat" })
  await loads[1]
  assert.equal(contentOf(pages[0]), "the chat")
  runs.resolve({ runs: "the runs" })
  await loads[0]
  assert.deepEqual(pages.map(contentOf), ["the chat", "the runs"])
})
