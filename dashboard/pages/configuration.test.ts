import assert from "node:assert/strict"
import { test } from "node:test"
import { loadPageModules, settled, startBrowser } from "../../test/support/page-modules.ts"

interface Modules {
  type(field: { key: string; kind: string }, raw: string): void
  saveDrafts(checked: { revision: string }): Promise<string>
}

const browser = startBrowser()
const kept = new Map<string, string>()
Object.assign(globalThis, {
  sessionStorage: {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
  },
})
const { type, saveDrafts } = await loadPageModules<Modules>("pages/configuration.tsx")
const name = { key: "messages.name", kind: "text" }
const tone = { key: "messages.tone", kind: "text" }
const drafts = () =>
  Object.entries(JSON.parse([...kept.values()][0] ?? "{}") as Record<string, { raw: string }>).map(([key, { raw }]) => [
    key,
    raw,
  ])

test("what is typed while a configuration is saved is not taken for saved", async () => {
  type(name, "svc")
  type(tone, "dry")
  const saved = saveDrafts({ revision: "r" })
  type(name, "svc two")
  browser.asked.pop()?.answer({ files: [], effect: "now" })
  await saved
  assert.deepEqual(drafts(), [["messages.name", "svc two"]])
})

test("changes that could not be saved are looked at once more: the file may be another one", async () => {
  browser.asked.length = 0
  const saved = assert.rejects(saveDrafts({ revision: "r" }))
  browser.asked.shift()?.fail()
  await saved
  await settled()
  assert.deepEqual(
    browser.asked.map(({ path }) => path),
    ["config/check"],
  )
})
