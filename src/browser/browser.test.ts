// The main road through the control service, against a real headless browser.
import assert from "node:assert/strict"
import { readFile, stat } from "node:fs/promises"
import { join } from "node:path"
import { after, before, test } from "node:test"
import { type BrowserBench, startBrowserBench } from "../../test/support/browser-service.ts"
import { type PagesServer, startPagesServer } from "../../test/support/pages-server.ts"

let bench: BrowserBench
let pages: PagesServer

before(async () => {
  pages = await startPagesServer({ folder: join(import.meta.dirname, "../../test/fixtures/pages") })
  bench = await startBrowserBench()
})

after(async () => {
  await bench.stop()
  await pages.stop()
})

test("puts something into the basket of the shop by reading the page and clicking a ref", async () => {
  const opened = await bench.call("POST", "/tabs/open", { url: `${pages.url}/shop/` })
  assert.equal(opened.status, 200)
  assert.equal(opened.body.title, "Corner Shop")
  const { targetId } = opened.body
  const snapshot = await bench.call("GET", `/snapshot?targetId=${targetId}`)
  assert.match(snapshot.body.snapshot, /- heading "Corner Shop" \[level=1\]/)
  assert.match(snapshot.body.snapshot, /- status: "?Basket: 0 items"?/)
  assert.match(snapshot.body.snapshot, /- button "Add Honey to basket" \[ref=\d+\]/)
  const note = await bench.refOf("Note")
  assert.equal(
    (await bench.call("POST", "/act", { kind: "type", targetId, ref: note, text: "Grüße, “leise”" })).status,
    200,
  )
  const add = await bench.refOf("Add Honey to basket")
  const clicked = await bench.call("POST", "/act", { kind: "click", targetId, ref: `e${add}` })
  assert.equal(clicked.status, 200)
  assert.deepEqual(pages.basket, [{ product: "Honey", note: "Grüße, “leise”" }])
  const after = await bench.call("GET", `/snapshot?targetId=${targetId}`)
  assert.match(after.body.snapshot, /Basket: 1 item\b/)
})

test("searches by typing and Enter", async () => {
  await bench.call("POST", "/navigate", { url: `${pages.url}/shop/` })
  await bench.call("POST", "/act", { kind: "type", ref: await bench.refOf("Search"), text: "tea", submit: true })
  const { body } = await bench.call("GET", "/snapshot")
  assert.match(body.snapshot, /Green Tea/)
  assert.doesNotMatch(body.snapshot, /Rye Bread/)
})

test("saves a screenshot that only the owner may read", async () => {
  const { status, body } = await bench.call("POST", "/screenshot", {})
  assert.equal(status, 200)
  assert.ok(body.path.startsWith(join(bench.stateFolder, "media", "browser")))
  assert.equal((await stat(body.path)).mode & 0o777, 0o600)
  assert.deepEqual([...(await readFile(body.path)).subarray(1, 4)], [...Buffer.from("PNG")])
})
