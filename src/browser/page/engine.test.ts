// The engine against real pages: what it reaches, what it refuses, and that nothing it meets makes it hang.
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
  await bench.call("POST", "/start")
})

after(async () => {
  await bench.stop()
  await pages.stop()
})

beforeEach(() => {
  pages.requests.length = 0
})

const go = async (path: string) => {
  const reply = await bench.call("POST", "/navigate", { url: `${pages.url}/${path}` })
  assert.equal(reply.status, 200, JSON.stringify(reply.body))
}
const snapshot = async (query = "") => (await bench.call("GET", `/snapshot${query}`)).body
const act = (body: object) => bench.call("POST", "/act", body)
const click = async (name: string, more: object = {}) => act({ kind: "click", ref: await bench.refOf(name), ...more })
const hits = () =>
  pages.requests.filter(({ url }) => url.startsWith("/hit")).map(({ url }) => decodeURIComponent(url.slice(5)))

test("shows roles, names, values and states, and nothing that is hidden", async () => {
  await go("forms.html")
  const { snapshot: text, stats, refs } = await snapshot()
  for (const line of [
    /- textbox "Full name" \[ref=\d+\]: old text/,
    /- textbox "Mail" \[ref=\d+\]$/m,
    /- textbox "Password" \[ref=\d+\]: ••••••••$/m,
    /- combobox "Size" \[ref=\d+\]:\n +- option "Small"\n +- option "Medium" \[selected\]/,
    /- checkbox "Agree" \[ref=\d+\]$/m,
    /- radio "Plan A" \[ref=\d+\] \[checked\]/,
    /- checkbox "Fancy box" \[ref=\d+\]/,
    /- button "Locked" \[ref=\d+\] \[disabled\]/,
    /- paragraph: "?Price: 5 EUR"?/,
    /- button "Say \\"hi\\": now" \[ref=\d+\]/,
    /- button "مرحبا بالعالم" \[ref=\d+\]/,
    /- button "购物车に入れる" \[ref=\d+\]/,
    /- button "More" \[ref=\d+\] \[collapsed\]/,
    /- generic "Plain clickable" \[ref=\d+\]/,
  ]) {
    assert.match(text, line)
  }
  assert.doesNotMatch(text, /geheim|Hidden from all|Inside details/)
  assert.equal(stats.refs, Object.keys(refs).length)
  assert.equal(stats.chars, text.length)
  assert.equal(stats.lines, text.split("\n").length)
  assert.equal(stats.interactive, stats.refs - 1)
})

test("lists only what can be acted on when asked, and cuts at a line's end", async () => {
  await go("forms.html")
  const flat = await snapshot("?interactive=true")
  assert.doesNotMatch(flat.snapshot, /Price/)
  assert.match(flat.snapshot, /^- textbox "Full name"/)
  const cut = await snapshot("?maxChars=200")
  assert.equal(cut.truncated, true)
  assert.match(cut.snapshot, /\n\[truncated: \d+ of \d+ lines left out/)
  assert.ok(cut.snapshot.indexOf("\n[truncated") <= 200)
  assert.equal((await snapshot("?maxChars=0")).truncated, false)
})

test("keeps the ref of an element over snapshots and never gives a number twice", async () => {
  await go("forms.html")
  const first = await bench.refOf("Send form")
  assert.equal(await bench.refOf("Send form"), first)
  await go("forms.html")
  const second = await bench.refOf("Send form")
  assert.notEqual(second, first)
  const stale = await act({ kind: "click", ref: first })
  assert.equal(stale.status, 409)
  assert.equal(stale.body.error.code, "stale-ref")
  assert.match(stale.body.error.hint, /new snapshot/)
})

test("says ref-not-found for a number that was never given, and bad-request for what is no ref", async () => {
  assert.equal((await act({ kind: "click", ref: "999999" })).body.error.code, "ref-not-found")
  assert.equal((await act({ kind: "click", ref: "#submit" })).body.error.code, "bad-request")
})

test("fills fields of every sort, and leaves the old text behind", async () => {
  await go("forms.html")
  for (const [name, text] of [
    ["Full name", "Zoë 🦊"],
    ["Comment", "two\nlines"],
    ["Born", "2001-02-03"],
    ["Rich", "plain now"],
    ["Mail", ""],
  ]) {
    const reply = await act({ kind: "type", ref: await bench.refOf(name as string), text })
    assert.equal(reply.status, 200, JSON.stringify(reply.body))
  }
  const { snapshot: text } = await snapshot()
  assert.match(text, /"Full name" \[ref=\d+\]: Zoë 🦊$/m)
  assert.match(text, /"Comment" \[ref=\d+\]: two lines$/m)
  assert.match(text, /"Born" \[ref=\d+\]: 2001-02-03$/m)
  assert.match(text, /"Rich" \[ref=\d+\]: plain now$/m)
})

test("submits with Enter and reports the page that follows", async () => {
  await go("forms.html")
  const reply = await act({ kind: "type", ref: await bench.refOf("Full name"), text: "A", submit: true })
  assert.equal(reply.body.title, "Sent")
  assert.match(reply.body.url, /\/sent\.html\?name=A/)
})

test("types key by key, presses keys by name, clicks twice, with other buttons and with keys held", async () => {
  await go("forms.html")
  await act({ kind: "type", ref: await bench.refOf("Mail"), text: "ab", slowly: true })
  await act({ kind: "press", key: "Control+A" })
  await act({ kind: "press", key: "Backspace" })
  assert.match((await snapshot()).snapshot, /"Mail" \[ref=\d+\]$/m)
  await click('Say "hi": now', { doubleClick: true })
  await click("مرحبا بالعالم", { button: "right" })
  await click("购物车に入れる", { modifiers: ["Shift"] })
  const { snapshot: text } = await snapshot()
  assert.match(text, /key:a;key:b;/)
  assert.match(text, /click:quote:false;click:quote:false;dblclick:quote:false/)
  assert.match(text, /contextmenu:rtl:false/)
  assert.match(text, /click:cjk:true/)
})

test("clicks a checkbox that is only drawn by its label", async () => {
  await go("forms.html")
  assert.equal((await click("Fancy box")).status, 200)
  assert.match((await snapshot()).snapshot, /checkbox "Fancy box" \[ref=\d+\] \[checked\]/)
})

test("names why an element cannot be used", async () => {
  await go("forms.html")
  const locked = await click("Locked", { timeoutMs: 500 })
  assert.deepEqual([locked.status, locked.body.error.code], [409, "disabled"])
  const fixed = await act({ kind: "type", ref: await bench.refOf("Fixed"), text: "x", timeoutMs: 500 })
  assert.equal(fixed.body.error.code, "not-editable")
  const button = await act({ kind: "type", ref: await bench.refOf("Send form"), text: "x", timeoutMs: 500 })
  assert.equal(button.body.error.code, "not-editable")
})

test("reads and clicks in frames, in the same process and in others, also far down the page", async () => {
  await go("frames.html")
  const names = ["127.0.0.1?1", "127.0.0.1?10", "localhost?2", "localhost?20"]
  const { snapshot: text } = await snapshot()
  for (const name of ["127.0.0.1?10", "localhost?100"]) assert.ok(text.includes(`Button ${name}`), text)
  for (const name of names) assert.equal((await click(`Button ${name}`)).body.error?.message, undefined)
  const deep = await click("Button localhost?100")
  assert.equal(deep.status, 200, JSON.stringify(deep.body))
  assert.deepEqual(hits(), [...names, "localhost?100"])
  await act({ kind: "type", ref: await bench.refOf("Field localhost?20"), text: "over there" })
  assert.match((await snapshot()).snapshot, /"Field localhost\?20" \[ref=\d+\]: over there/)
})

test("reaches into open shadow roots and slots", async () => {
  await go("shadow.html")
  for (const name of ["Slotted button", "Shadow button", "Nested shadow button"]) await click(name)
  assert.deepEqual(hits(), ["slotted", "shadow", "nested"])
  await act({ kind: "type", ref: await bench.refOf("Inside"), text: "deep" })
  assert.match((await snapshot()).snapshot, /textbox "Inside" \[ref=\d+\]: deep/)
})

test("waits for a moving element, clicks it where it is, and says so when it never stands still", async () => {
  await go("moving.html")
  const targetId = (await bench.call("GET", "/snapshot")).body.targetId
  await bench.call("POST", "/tabs/focus", { targetId })
  await act({ kind: "evaluate", fn: "() => startSlow()" })
  assert.equal((await click("Slow", { timeoutMs: 30_000 })).status, 200)
  await act({ kind: "evaluate", fn: "() => startJump()" })
  assert.equal((await click("Jump", { timeoutMs: 30_000 })).status, 200)
  let code = "timeout"
  // A machine with much else to do may not see two frames in the first second.
  for (let timeoutMs = 1_000; code === "timeout" && timeoutMs < 20_000; timeoutMs *= 4)
    code = (await click("Forever", { timeoutMs })).body.error?.code
  assert.equal(code, "not-stable")
  assert.deepEqual(hits(), ["slow-still", "jump"])
})

test("names what covers an element, waits for it to go, and scrolls out from under bars that stick", async () => {
  await go("covered.html")
  const covered = await click("Under the veil", { timeoutMs: 500 })
  assert.equal(covered.body.error.code, "covered")
  assert.match(covered.body.error.message, /<div id="veil">/)
  await go("sent.html")
  await go("covered.html#lift")
  assert.equal((await click("Under the veil", { timeoutMs: 600 })).body.error?.code, "covered")
  assert.equal((await click("At the bottom")).status, 200)
  await go("sent.html")
  await go("covered.html#bar")
  assert.equal((await click("At the bottom")).status, 200)
  assert.deepEqual(hits(), ["bottom", "bottom"])
})

test("answers alerts by itself and holds questions until they are answered", async () => {
  await go("dialogs.html")
  assert.equal((await click("Alert")).body.title, "after alert")
  const ref = await bench.refOf("Confirm")
  const asked = await act({ kind: "click", ref })
  assert.deepEqual(asked.body.dialog, { type: "confirm", message: "Really?" })
  for (const reply of [await act({ kind: "click", ref }), await bench.call("GET", "/snapshot")]) {
    assert.deepEqual([reply.status, reply.body.error.code], [409, "dialog-open"])
  }
  const answered = await bench.call("POST", "/hooks/dialog", { accept: true })
  assert.equal(answered.status, 200)
  assert.equal((await snapshot()).title, "answer true")
  await click("Prompt")
  await bench.call("POST", "/hooks/dialog", { accept: true, promptText: "Ada" })
  assert.equal((await snapshot()).title, "name Ada")
  await click("Guard")
  await go("sent.html")
})

test("loses only time, and only on its own tab, when a page freezes", async () => {
  const other = (await bench.call("POST", "/tabs/open", { url: `${pages.url}/sent.html` })).body.targetId
  const frozen = (await bench.call("POST", "/tabs/open", { url: `${pages.url}/loop.html` })).body.targetId
  const ref = await bench.refOf("Freeze", `?targetId=${frozen}`)
  const blocked = await act({ kind: "click", ref, targetId: frozen, timeoutMs: 700 })
  assert.equal(blocked.body.error?.code, "timeout")
  const waiting = bench.call("GET", `/snapshot?targetId=${frozen}&timeoutMs=3000`)
  const first = await Promise.race([waiting.then(() => ({ title: "the frozen tab" })), snapshot(`?targetId=${other}`)])
  assert.equal(first.title, "Sent", "the other tab answers while the frozen one is waited for")
  assert.equal((await waiting).body.error.code, "timeout")
  assert.equal((await bench.call("DELETE", `/tabs/${frozen}`)).status, 200)
  assert.equal((await bench.call("DELETE", `/tabs/${other}`)).status, 200)
})

test("says what a page load came to: an error, a download, nothing, or a page that is never done", async () => {
  const refused = await bench.call("POST", "/navigate", { url: "http://127.0.0.1:1/" })
  assert.deepEqual([refused.status, refused.body.error.code], [502, "navigation-failed"])
  assert.match(refused.body.error.message, /net::ERR_/)
  await go("sent.html")
  const file = await bench.call("POST", "/navigate", { url: `${pages.url}/file` })
  assert.ok(file.body.download === true || file.body.error?.code === "navigation-failed", JSON.stringify(file.body))
  const empty = await bench.call("POST", "/navigate", { url: `${pages.url}/empty` })
  assert.equal(empty.body.error.code, "navigation-failed")
  const endless = await bench.call("POST", "/navigate", { url: `${pages.url}/slow-image.html`, timeoutMs: 1_000 })
  assert.deepEqual([endless.status, endless.body.loaded], [200, false])
  assert.match((await snapshot()).snapshot, /Readable/)
  const silent = await bench.call("POST", "/navigate", { url: `${pages.url}/hang`, timeoutMs: 1_000 })
  assert.equal(silent.body.error.code, "timeout")
})

test("finds tabs by id or unique prefix and never falls back to another", async () => {
  const { targetId } = (await bench.call("POST", "/tabs/open", { url: `${pages.url}/sent.html` })).body
  assert.equal((await snapshot(`?targetId=${targetId.slice(0, 12).toLowerCase()}`)).targetId, targetId)
  const missing = await bench.call("GET", "/snapshot?targetId=zzzz")
  assert.deepEqual([missing.status, missing.body.error.code], [404, "tab-not-found"])
  const focused = await bench.call("POST", "/tabs/focus", { targetId })
  assert.equal(focused.status, 200)
  assert.equal((await bench.call("DELETE", `/tabs/${targetId}`)).status, 200)
  assert.equal((await bench.call("GET", `/snapshot?targetId=${targetId}`)).status, 404)
})

test("refuses a ref of another tab instead of using the number here", async () => {
  await go("forms.html")
  const here = (await snapshot()).targetId
  const ref = await bench.refOf("Send form")
  const other = (await bench.call("POST", "/tabs/open", { url: `${pages.url}/forms.html` })).body.targetId
  await snapshot(`?targetId=${other}`)
  const reply = await act({ kind: "click", ref, targetId: other })
  assert.equal(reply.body.error.code, "ref-not-found")
  assert.ok(reply.body.error.message.includes(here))
  await bench.call("DELETE", `/tabs/${other}`)
})

test("takes picture after picture of a tab in the background", async () => {
  const { targetId } = (await bench.call("POST", "/tabs/open", { url: `${pages.url}/shop/` })).body
  for (let count = 0; count < 10; count += 1) {
    const reply = await bench.call("POST", "/screenshot", { targetId, timeoutMs: 2_000 })
    assert.equal(reply.status, 200, `picture ${count}`)
  }
  await bench.call("DELETE", `/tabs/${targetId}`)
})

test("keeps pictures within their limits", async () => {
  await go("controls.html?n=400")
  const { readFile } = await import("node:fs/promises")
  const full = await bench.call("POST", "/screenshot", { fullPage: true })
  const picture = await readFile(full.body.path)
  const [width, height] = [picture.readUInt32BE(16), picture.readUInt32BE(20)]
  assert.ok(Math.max(width, height) <= 2000 && height > width, `${width}x${height}`)
  const element = await bench.call("POST", "/screenshot", { ref: await bench.refOf("Button 150"), type: "jpeg" })
  assert.match(element.body.path, /\.jpg$/)
  assert.equal((await bench.call("POST", "/screenshot", { ref: "1", fullPage: true })).status, 400)
})
