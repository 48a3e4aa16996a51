import assert from "node:assert/strict"
import { test } from "node:test"
import { loadPageModules, settled, startBrowser } from "../../test/support/page-modules.ts"

interface Modules {
  fetchPicture(address: string, show: (url: string) => void): () => void
}

const browser = startBrowser()
const { fetchPicture } = await loadPageModules<Modules>("ui/picture.tsx")

test("a picture that comes after its message was scrolled away is neither shown nor kept", async ({ mock }) => {
  const made = mock.method(URL, "createObjectURL")
  const shown: string[] = []
  const end = fetchPicture("/api/picture", (url) => shown.push(url))
  const blob = Promise.withResolvers<Blob>()
  mock.method(Response.prototype, "blob", () => blob.promise)
  browser.asked.pop()?.answer({})
  await settled()
  end()
  blob.resolve(new Blob([]))
  await settled()
  assert.deepEqual([shown, made.mock.callCount()], [[], 0])
})

test("a picture is let go of with its message", async ({ mock }) => {
  const released = mock.method(URL, "revokeObjectURL")
  const shown: string[] = []
  const end = fetchPicture("/api/picture", (url) => shown.push(url))
  browser.asked.pop()?.answer({})
  await settled()
  end()
  assert.deepEqual(released.mock.calls.at(-1)?.arguments, shown)
  assert.equal(shown.length, 1)
})
