import assert from "node:assert/strict"
import { test } from "node:test"
import { loadPageModules, settled, startBrowser } from "../../test/support/page-modules.ts"

interface Draft {
  text: string
  version: string | null
}
interface Modules {
  saveNote(
    note: Draft & { name: string },
    draft: { current: Draft | undefined },
    again: () => Promise<void>,
  ): Promise<void>
}

const browser = startBrowser()
const { saveNote } = await loadPageModules<Modules>("pages/memory.tsx")

async function save(typed: string | undefined) {
  const draft: { current: Draft | undefined } = { current: { text: "Tea", version: "1" } }
  const read = Promise.withResolvers<void>()
  const saved = saveNote({ name: "MEMORY.md", text: "Tea", version: "1" }, draft, () => read.promise)
  if (typed !== undefined) draft.current = { text: typed, version: "1" }
  browser.asked.pop()?.answer({ version: "2" })
  await settled()
  const meanwhile = draft.current
  read.resolve()
  await saved
  return { meanwhile, after: draft.current }
}

test("what is typed while a note is saved stays, and goes on from what is saved", async () => {
  const draft = { text: "Tea at four", version: "2" }
  assert.deepEqual(await save("Tea at four"), { meanwhile: draft, after: draft })
})

test("a note that is saved is shown as what was typed until it has been read again", async () => {
  assert.deepEqual(await save(undefined), { meanwhile: { text: "Tea", version: "2" }, after: undefined })
})
