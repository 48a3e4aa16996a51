// Pictures and marks on pages: what is in them, and how large they may be.
import assert from "node:assert/strict"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { after, before, test } from "node:test"
import { type BrowserBench, startBrowserBench } from "../../../test/support/browser-service.ts"
import { type PagesServer, startPagesServer } from "../../../test/support/pages-server.ts"
import { maxPictureBytes, sizeOf } from "./screenshot.ts"

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

const go = (path: string) => bench.call("POST", "/navigate", { url: `${pages.url}/${path}` })
const evaluate = async (fn: string, ref?: string) =>
  (await bench.call("POST", "/act", { kind: "evaluate", fn, ref })).body.result
async function picture(body: object) {
  const reply = await bench.call("POST", "/screenshot", body)
  assert.equal(reply.status, 200, JSON.stringify(reply.body))
  const image = await readFile(reply.body.path)
  const { width, height } = reply.body
  assert.deepEqual(sizeOf(image), { width, height })
  assert.ok(Math.max(width, height) <= 2000 && image.length <= maxPictureBytes, `${width}x${height} ${image.length}`)
  return reply.body
}

test("pictures the one element that a selector fits, and says why it cannot", async () => {
  await go("actions.html")
  const byRef = await picture({ ref: await bench.refOf("Parcel") })
  const bySelector = await picture({ element: "#from", type: "jpeg" })
  assert.deepEqual([bySelector.width, bySelector.height], [byRef.width, byRef.height])
  assert.match(bySelector.path, /\.jpg$/)
  for (const [element, code] of [
    ["#nothing", "not-found"],
    ["input", "strict-mode"],
    ["p[", "bad-request"],
    ["#menu", "not-visible"],
  ]) {
    assert.equal((await bench.call("POST", "/screenshot", { element })).body.error?.code, code, element)
  }
  for (const more of [{ fullPage: true }, { ref: "1" }, { labels: true }])
    assert.equal((await bench.call("POST", "/screenshot", { element: "#from", ...more })).status, 400)
})

test("keeps the ref of an element that was pictured by a selector", async () => {
  await go("actions.html")
  const ref = await bench.refOf("Parcel")
  await picture({ element: "#from" })
  assert.equal(await bench.refOf("Parcel"), ref)
})

test("draws refs over the view for a picture, and leaves the page and the next diff as they were", async () => {
  await go("controls.html?n=200")
  await bench.call("GET", "/snapshot?mode=efficient")
  const labelled = await picture({ labels: true })
  assert.ok(labelled.labelsCount > 5 && labelled.labelsSkipped > 100, JSON.stringify(labelled))
  assert.equal(await evaluate("document.querySelectorAll('svc-labels').length"), 0)
  await evaluate("() => void (document.querySelector('h3').textContent = 'New')")
  const { body } = await bench.call("GET", "/snapshot?mode=efficient&diff=true")
  assert.match(body.snapshot, /^\+- heading "New"/m)
})

test("draws refs where a long page is scrolled to", async () => {
  await go("controls.html?n=500")
  await evaluate("() => scrollTo(0, document.documentElement.scrollHeight)")
  assert.ok((await picture({ labels: true })).labelsCount > 3)
})

test("cuts a page that would be too small to read, and scales one that is not", async () => {
  await go("sent.html")
  const pages = [
    ["900px", "3000px", false],
    ["900px", "300000px", true],
    ["90000px", "700px", true],
  ] as const
  for (const [width, height, truncated] of pages) {
    await evaluate(`() => { document.body.style.width = '${width}'; document.body.style.height = '${height}' }`)
    assert.equal((await picture({ fullPage: true })).truncated, truncated, `${width} ${height}`)
  }
})

test("keeps to the bytes that models take, whatever the page shows", async () => {
  await go("sent.html")
  await evaluate(`() => {
    const canvas = document.createElement("canvas")
    canvas.width = canvas.height = 2000
    const context = canvas.getContext("2d")
    const noise = context.createImageData(2000, 2000)
    const words = new Uint32Array(noise.data.buffer)
    for (let index = 0, seed = 1; index < words.length; index += 1) words[index] = (seed = Math.imul(seed, 1664525) + 1013904223) | 0xff000000
    context.putImageData(noise, 0, 0)
    document.body.replaceChildren(canvas)
  }`)
  assert.equal((await picture({ fullPage: true })).type, "jpeg")
})

test("highlights one element at a time, in frames of other sites too, and not what cannot be seen", async () => {
  await go("reach.html")
  await bench.call("POST", "/act", { kind: "wait", loadState: "load" })
  const marks = "(element) => element.ownerDocument.querySelectorAll('svc-labels').length"
  const { refs } = (await bench.call("GET", "/snapshot?interactive=true")).body
  const named = (name: RegExp) => {
    const found = Object.entries(refs as Record<string, { name?: string }>).filter(([, ref]) =>
      name.test(ref.name ?? ""),
    )
    return found.map(([ref]) => ref)
  }
  const buttons = [...named(/^Top button$/), ...named(/^Button/)]
  assert.ok(buttons.length >= 4, JSON.stringify(refs))
  for (const ref of buttons) {
    const reply = await bench.call("POST", "/highlight", { ref })
    assert.equal(reply.status, 200, JSON.stringify(reply.body))
    for (const other of buttons) assert.equal(await evaluate(marks, other), other === ref ? 1 : 0)
  }
  const text = (await bench.call("GET", "/snapshot")).body.snapshot
  assert.doesNotMatch(text, /svc-labels/)
  const ref = buttons[0] as string
  await evaluate("(element) => { element.style.display = 'none' }", ref)
  assert.equal((await bench.call("POST", "/highlight", { ref })).body.error.code, "not-visible")
  await evaluate("() => document.body.replaceChildren()")
  assert.equal((await bench.call("POST", "/highlight", { ref })).body.error.code, "stale-ref")
})
