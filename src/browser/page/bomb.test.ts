// A page that does its worst: what reads it stays within its limits, and other tabs do not notice.
import assert from "node:assert/strict"
import { join } from "node:path"
import { after, before, test } from "node:test"
import { type BrowserBench, startBrowserBench } from "../../../test/support/browser-service.ts"
import { type PagesServer, startPagesServer } from "../../../test/support/pages-server.ts"

let bench: BrowserBench
let pages: PagesServer
let bomb: string
let other: string

before(async () => {
  pages = await startPagesServer({ folder: join(import.meta.dirname, "../../../test/fixtures/pages") })
  bench = await startBrowserBench()
  other = (await bench.call("POST", "/tabs/open", { url: `${pages.url}/shop/` })).body.targetId
  const opened = await bench.call("POST", "/tabs/open", { url: `${pages.url}/bomb.html`, timeoutMs: 60_000 })
  assert.equal(opened.status, 200, JSON.stringify(opened.body).slice(0, 500))
  bomb = opened.body.targetId
})

after(async () => {
  await bench.stop()
  await pages.stop()
})

const maxAnswer = 3_000_000

test("is read within the limits, says what is nested too deeply, and can be acted on", async () => {
  const taken = await bench.call("GET", `/snapshot?targetId=${bomb}&mode=efficient&timeoutMs=60000`)
  assert.equal(taken.status, 200, JSON.stringify(taken.body).slice(0, 2_000))
  assert.ok(taken.body.snapshot.length < 10_000, `${taken.body.snapshot.length}`)
  assert.ok(JSON.stringify(taken.body).length < 20_000, "title and address have limits too")
  assert.match(taken.body.snapshot, /button "Still here"/)
  assert.match(taken.body.snapshot, /\(nested too deeply/)
  assert.equal(taken.body.truncated, true)
  const wait = { kind: "wait", targetId: bomb, text: "At the bottom", timeoutMs: 60_000 }
  assert.equal((await bench.call("POST", "/act", wait)).status, 200)
  const ref = await bench.refOf("Still here", `?targetId=${bomb}&timeoutMs=60000`)
  const click = { kind: "click", targetId: bomb, ref, timeoutMs: 60_000 }
  assert.equal((await bench.call("POST", "/act", click)).status, 200)
})

test("is kept in buffers that end", async () => {
  for (const [path, field, most] of [
    ["console", "messages", 500],
    ["errors", "errors", 200],
    ["requests", "requests", 500],
  ] as const) {
    const { status, body } = await bench.call("GET", `/${path}?targetId=${bomb}`)
    assert.equal(status, 200)
    assert.ok(body[field].length > 0 && body[field].length <= most, `${path}: ${body[field].length}`)
    assert.ok(JSON.stringify(body).length < maxAnswer, `${path}: ${JSON.stringify(body).length} characters`)
  }
})

test("opens no flood of windows, and does not get in the way of another tab", async () => {
  const { tabs } = (await bench.call("GET", "/tabs")).body
  assert.ok(tabs.length < 10, `${tabs.length} tabs`)
  assert.ok(JSON.stringify(tabs).length < 20_000, "titles have a limit")
  const add = await bench.refOf("Add Honey to basket", `?targetId=${other}`)
  assert.equal((await bench.call("POST", "/act", { kind: "click", ref: add, targetId: other })).status, 200)
  assert.equal(pages.basket.length, 1)
  assert.equal((await bench.call("DELETE", `/tabs/${bomb}`)).status, 200)
})
