// Scrolling as an act: the page, boxes, lists that draw only what is in view, lists that bring more, until words are there.
import assert from "node:assert/strict"
import { join } from "node:path"
import { after, before, beforeEach, test } from "node:test"
import { type BrowserBench, startBrowserBench } from "../../../test/support/browser-service.ts"
import { type PagesServer, startPagesServer } from "../../../test/support/pages-server.ts"

let bench: BrowserBench
let pages: PagesServer

before(async () => {
  pages = await startPagesServer({ folder: join(import.meta.dirname, "../../../test/fixtures/pages") })
  bench = await startBrowserBench()
})

after(async () => {
  await bench.stop()
  await pages.stop()
})

beforeEach(async () => {
  await bench.call("POST", "/navigate", { url: `${pages.url}/scrolling.html` })
})

const act = (body: object) => bench.call("POST", "/act", body)
const scroll = async (body: object) => {
  const reply = await act({ kind: "scroll", ...body })
  assert.equal(reply.status, 200, JSON.stringify(reply.body))
  return reply.body.scrolled as boolean
}
const evaluate = async (fn: string, targetId?: string) => (await act({ kind: "evaluate", fn, targetId })).body.result
const page = async () => (await bench.call("GET", "/snapshot")).body.snapshot as string

test("scrolls the page by views, by pixels, to its ends, and says when there was nothing left", async () => {
  assert.equal(await scroll({}), true)
  const one = Number(await evaluate("scrollY / innerHeight"))
  assert.ok(one > 0.7 && one < 0.9, String(one))
  await scroll({ direction: "up", to: "start" })
  await scroll({ pixels: 321 })
  assert.equal(await evaluate("scrollY"), 321)
  await scroll({ direction: "up", pixels: 21 })
  assert.equal(await evaluate("scrollY"), 300)
  await scroll({ to: "end" })
  assert.ok(Number(await evaluate("document.scrollingElement.scrollHeight - innerHeight - scrollY")) < 2)
  assert.equal(await scroll({ pages: 2 }), false)
  assert.equal(await scroll({ to: "start" }), true)
  assert.equal(await evaluate("scrollY"), 0)
})

test("scrolls the box that an element is or stands in, both ways, and leaves the page where it is", async () => {
  const ref = await bench.refOf("First in the box")
  await scroll({ ref, to: "end" })
  await scroll({ ref, direction: "right", pixels: 80 })
  await scroll({ ref, direction: "left", pixels: 30 })
  assert.deepEqual(
    await evaluate(
      "() => { const box = document.getElementById('box'); return [box.scrollLeft, box.scrollTop > 800, scrollY] }",
    ),
    [50, true, 0],
  )
})

test("says how many entries a list has that draws only some, and goes through it for words", async () => {
  const list = await bench.refOf("Items")
  assert.match(await page(), /listbox "Items" \[ref=\d+\] \[items=1000\]/)
  assert.doesNotMatch(await page(), /Item 120\b/)
  await scroll({ ref: list, text: "Item 120" })
  assert.match(await page(), /option "Item 120"/)
})

test("goes on where a list brings more, and says so when the words never come", async () => {
  const feed = await bench.refOf("Feed")
  await scroll({ ref: feed, text: "Post 95" })
  assert.match(await page(), /Post 95\b/)
  const { error } = (await act({ kind: "scroll", ref: feed, text: "Post 101" })).body
  assert.equal(error.code, "not-found")
  assert.equal(error.message, "These words are not on the page, as far as it scrolls")
  assert.match(error.hint, /Scroll something else \(ref\)/)
  const hidden =
    '<p style="display: none">Words at the very end</p><p style="visibility: hidden">Words at the very end</p>'
  await evaluate(`document.body.insertAdjacentHTML("afterbegin", ${JSON.stringify(hidden)})`)
  await scroll({ text: "Words at the very end" })
  assert.ok(Number(await evaluate("scrollY")) > 1_000)
})

test("refuses two ways at once", async () => {
  for (const wrong of [{ pages: 1, to: "end" }, { x: 5 }, { x: 5, y: 5, text: "Post" }, { direction: "sideways" }])
    assert.equal((await act({ kind: "scroll", ...wrong })).status, 400, JSON.stringify(wrong))
})

test("gives keys to a tab behind another, each time, and answers when what they scroll stands still", async () => {
  const { targetId } = (await bench.call("POST", "/tabs/open", { url: `${pages.url}/scrolling.html` })).body
  const front = (await bench.call("POST", "/tabs/open", { url: `${pages.url}/sent.html` })).body
  await bench.call("POST", "/tabs/focus", { targetId: front.targetId })
  for (let round = 0; round < 4; round += 1) {
    await act({ kind: "press", key: "End", targetId })
    const isEnd = await evaluate("() => scrollY + innerHeight >= document.documentElement.scrollHeight - 1", targetId)
    assert.equal(isEnd, true, `round ${round}: the key is answered when the page stands still`)
    await act({ kind: "press", key: "Home", targetId })
    assert.equal(await evaluate("() => scrollY", targetId), 0, `round ${round}: and back`)
  }
  for (const tab of [targetId, front.targetId]) await bench.call("DELETE", `/tabs/${tab}`)
})
