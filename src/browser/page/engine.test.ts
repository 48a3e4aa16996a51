// The engine against real pages: what it reaches, does, refuses and pictures, and that nothing it meets makes it hang.
import assert from "node:assert/strict"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { after, before, beforeEach, test } from "node:test"
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

beforeEach(() => {
  pages.requests.length = 0
})

const go = async (path: string) => {
  const reply = await bench.call("POST", "/navigate", { url: `${pages.url}/${path}` })
  assert.equal(reply.status, 200, JSON.stringify(reply.body))
}
const snapshot = async (query = "") => (await bench.call("GET", `/snapshot${query}`)).body
const page = async () => (await snapshot()).snapshot as string
const act = (body: object) => bench.call("POST", "/act", body)
const done = async (body: object) => {
  const reply = await act(body)
  assert.equal(reply.status, 200, JSON.stringify(reply.body))
  return reply.body
}
const evaluate = async (fn: string, ref?: string) => (await done({ kind: "evaluate", fn, ref })).result
const click = async (name: string, more: object = {}) => act({ kind: "click", ref: await bench.refOf(name), ...more })
const hits = () =>
  pages.requests.filter(({ url }) => url.startsWith("/hit")).map(({ url }) => decodeURIComponent(url.slice(5)))

/** What an action is refused for. A busy machine may not come to look at the page in a short time: then it gets more. */
async function refusal(body: object) {
  for (let timeoutMs = 500; ; timeoutMs *= 4) {
    const reply = await act({ ...body, timeoutMs })
    assert.notEqual(reply.status, 200, JSON.stringify(body))
    if (reply.body.error.code !== "timeout" || timeoutMs > 20_000) return { status: reply.status, ...reply.body.error }
  }
}

test("shows roles, names, values and states, and nothing that is hidden", async () => {
  await go("forms.html")
  const { snapshot: text, stats, refs } = await snapshot()
  for (const line of [
    /- textbox "Full name" \[ref=\d+\]: old text/,
    /- textbox "Mail" \[ref=\d+\] \[placeholder="you@example.com"\]$/m,
    /- textbox "Password" \[ref=\d+\]: ••••••••$/m,
    /- combobox "Size" \[ref=\d+\]:\n +- option "Small"\n +- option "Medium" \[selected\]/,
    /- checkbox "Agree" \[ref=\d+\]$/m,
    /- radio "Plan A" \[ref=\d+\] \[checked\]/,
    /- checkbox "Fancy box" \[ref=\d+\]/,
    /- button "Locked" \[ref=\d+\] \[disabled\]/,
    /- paragraph \[ref=\d+\]: Price: 5 EUR/,
    /- button "Say \\"hi\\": now" \[ref=\d+\]/,
    /- button "مرحبا بالعالم" \[ref=\d+\]/,
    /- button "购物车に入れる" \[ref=\d+\]/,
    /- button "More" \[ref=\d+\] \[collapsed\]/,
    /- generic "Plain clickable" \[ref=\d+\]/,
  ]) {
    assert.match(text, line)
  }
  assert.doesNotMatch(text, /geheim|Inside details|Late/)
  assert.match(text, /button "Hidden from all" \[ref=\d+\] \[aria-hidden\]/)
  assert.equal(stats.refs, Object.keys(refs).length)
  assert.equal(stats.chars, text.length)
  assert.equal(stats.lines, text.split("\n").length)
  // Words and plain elements have refs too, since pages take clicks on anything.
  const plain = text.match(/- (text|paragraph|generic)\b[^\n]*\[ref=/g)?.length ?? 0
  assert.equal(stats.interactive, stats.refs - plain)
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

test("runs code on an element that is there, and not on one that the page has removed", async () => {
  await go("forms.html")
  const ref = await bench.refOf("Send form")
  assert.equal(await evaluate("(element) => element.textContent", ref), "Send form")
  await evaluate("(element) => element.remove()", ref)
  const gone = await act({ kind: "evaluate", fn: "(element) => String(element)", ref })
  assert.deepEqual([gone.status, gone.body.error?.code], [409, "stale-ref"])
  assert.match(gone.body.error.message, /removed it, or drawn it anew/)
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

test("presses a key for the element of a ref, and says so where that one takes none", async () => {
  await go("forms.html")
  const name = await bench.refOf("Full name")
  await act({ kind: "type", ref: await bench.refOf("Mail"), text: "m" })
  await act({ kind: "press", key: "x", ref: name })
  const { snapshot: text, refs } = await snapshot()
  assert.match(text, /"Full name" \[ref=\d+\].*: xold text$/m)
  assert.match(text, /"Mail" \[ref=\d+\].*: m$/m)
  const words = Object.entries(refs as Record<string, { role: string }>).find(([, { role }]) => role === "paragraph")
  const refused = await bench.call("POST", "/act", { kind: "press", key: "x", ref: words?.[0] })
  assert.equal(refused.status, 400)
  assert.match(refused.body.error.message, /does not take the focus/)
  const unknown = await bench.call("POST", "/act", { kind: "press", key: "x", ref: "e99999" })
  assert.equal(unknown.body.error.code, "ref-not-found")
})

test("types key by key, presses keys by name, clicks twice, with other buttons and with keys held", async () => {
  await go("forms.html")
  await act({ kind: "type", ref: await bench.refOf("Mail"), text: "ab", slowly: true })
  await act({ kind: "press", key: "Control+A" })
  await act({ kind: "press", key: "Backspace" })
  assert.match((await snapshot()).snapshot, /"Mail" \[ref=\d+\] \[placeholder="you@example.com"\]$/m)
  await click('Say "hi": now', { doubleClick: true })
  await click("مرحبا بالعالم", { button: "right" })
  await click("购物车に入れる", { modifiers: ["Shift"] })
  const { snapshot: text } = await snapshot()
  assert.match(text, /key:a;key:b;/)
  assert.match(text, /click:quote:false;click:quote:false;dblclick:quote:false/)
  assert.match(text, /contextmenu:rtl:false/)
  assert.match(text, /click:cjk:true/)
})

test("works a field through what its component draws over it, and not beside what lies there from elsewhere", async () => {
  await go("sent.html")
  const over = "position:absolute;inset:0"
  const field = `<div class=box style="position:relative;width:200px;height:30px"><input aria-label=City readonly><span style="${over}">Choose</span></div>`
  const show = (extra: string) =>
    act({
      kind: "evaluate",
      fn: `() => { document.body.innerHTML = \`<main>${field}<p style="margin-top:80px">Words of the card</p></main>${extra}\`; document.body.onclick = (e) => (document.title = e.target.textContent) }`,
    })
  await show("")
  assert.equal((await click("City")).status, 200)
  assert.equal((await snapshot()).title, "Choose")
  await show('<div id=banner style="position:fixed;left:0;top:0;width:100%;height:60px">We use cookies</div>')
  const covered = await refusal({ kind: "click", ref: await bench.refOf("City") })
  assert.deepEqual([covered.code, /id="banner"/.test(covered.message)], ["covered", true])
})

test("clicks a checkbox that is only drawn by its label", async () => {
  await go("forms.html")
  assert.equal((await click("Fancy box")).status, 200)
  assert.match((await snapshot()).snapshot, /checkbox "Fancy box" \[ref=\d+\] \[checked\]/)
})

test("names why an element cannot be used", async () => {
  await go("forms.html")
  const refused = async (kind: string, name: string) =>
    refusal({ kind, ref: await bench.refOf(name), ...(kind === "type" ? { text: "x" } : {}) })
  const locked = await refused("click", "Locked")
  assert.deepEqual([locked.status, locked.code], [409, "disabled"])
  assert.equal((await refused("type", "Fixed")).code, "not-editable")
  assert.equal((await refused("type", "Send form")).code, "not-editable")
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

test("reads and clicks in a frame whose first page never comes", async () => {
  await go("sent.html")
  await evaluate(`() => {
    const frame = document.createElement("iframe")
    frame.src = "/hang"
    document.body.append(frame)
    frame.contentDocument.body.innerHTML = "<button onclick='this.textContent = 1 + 1'>Written by hand</button>"
  }`)
  await click("Written by hand")
  assert.match(await page(), /button "2" \[ref=\d+\]/)
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
  await act({ kind: "evaluate", fn: "() => startTurn()" })
  assert.equal((await click("Turn", { timeoutMs: 30_000 })).status, 200)
  await act({ kind: "evaluate", fn: "() => startJump()" })
  assert.equal((await click("Jump", { timeoutMs: 30_000 })).status, 200)
  assert.equal((await refusal({ kind: "click", ref: await bench.refOf("Forever") })).code, "not-stable")
  assert.deepEqual(hits(), ["slow-still", "turn-still", "jump"])
})

test("names what covers an element, waits for it to go, and scrolls out from under bars that stick", async () => {
  await go("covered.html")
  const covered = await refusal({ kind: "click", ref: await bench.refOf("Under the veil") })
  assert.equal(covered.code, "covered")
  assert.match(covered.message, /<div id="veil">/)
  assert.match(covered.message, /\(ref \d+\)/)
  await bench.call("POST", "/act", {
    kind: "evaluate",
    fn: "() => { veil.remove(); document.body.style.pointerEvents = 'none' }",
  })
  const off = await refusal({ kind: "click", ref: await bench.refOf("Under the veil") })
  assert.equal(off.code, "covered")
  assert.match(off.message, /takes no clicks now/)
  await go("sent.html")
  await go("covered.html#lift")
  assert.equal((await click("At the bottom", { timeoutMs: 30_000 })).status, 200)
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
  assert.equal((await click("Twice")).body.dialog.message, "One?")
  await bench.call("POST", "/hooks/dialog", { accept: true })
  assert.equal((await act({ kind: "wait", fn: "() => document.title === 'Dialogs'" })).body.error.code, "dialog-open")
  await bench.call("POST", "/hooks/dialog", { accept: false })
  assert.equal((await snapshot()).title, "true false")
  await click("Guard")
  await go("sent.html")
})

test("loses only time, and only on its own tab, when a page freezes", async () => {
  const other = (await bench.call("POST", "/tabs/open", { url: `${pages.url}/sent.html` })).body.targetId
  const frozen = (await bench.call("POST", "/tabs/open", { url: `${pages.url}/loop.html` })).body.targetId
  const ref = await bench.refOf("Freeze", `?targetId=${frozen}`)
  const blocked = await act({ kind: "click", ref, targetId: frozen, timeoutMs: 700 })
  assert.deepEqual(
    [blocked.status, blocked.body.settled],
    [200, false],
    "the click was given, and must not be given again",
  )
  const waiting = bench.call("GET", `/snapshot?targetId=${frozen}&timeoutMs=60000`)
  assert.equal((await snapshot(`?targetId=${other}`)).title, "Sent", "another tab answers meanwhile")
  assert.equal((await bench.call("DELETE", `/tabs/${frozen}`)).status, 200)
  assert.equal((await waiting).body.error.code, "tab-not-found", "who waits for a tab that is closed is told at once")
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
  let endless = await bench.call("POST", "/navigate", { url: `${pages.url}/slow-image.html`, timeoutMs: 1_000 })
  // A busy machine may not have the document itself in so short a time.
  for (let timeoutMs = 3_000; endless.status !== 200 && timeoutMs < 30_000; timeoutMs *= 3)
    endless = await bench.call("POST", "/navigate", { url: `${pages.url}/slow-image.html`, timeoutMs })
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
  const before = (await snapshot()).targetId
  const other = (await bench.call("POST", "/tabs/open", { url: `${pages.url}/sent.html` })).body.targetId
  assert.equal((await snapshot()).targetId, other)
  const focused = await bench.call("POST", "/tabs/focus", { targetId: before })
  assert.deepEqual([focused.status, focused.body.targetId], [200, before])
  assert.equal((await snapshot()).targetId, before, "what names no tab means the one in front")
  assert.equal((await bench.call("DELETE", `/tabs/${other}`)).status, 200)
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
  for (let count = 0; count < 6; count += 1) {
    const reply = await bench.call("POST", "/screenshot", { targetId })
    assert.equal(reply.status, 200, `picture ${count}`)
  }
  await bench.call("DELETE", `/tabs/${targetId}`)
})

test("shows live what changes in a tab behind one that it has opened", async () => {
  const { targetId } = (await bench.call("POST", "/tabs/open", { url: `${pages.url}/sent.html` })).body
  await done({ kind: "evaluate", targetId, fn: "() => void open('/dialogs.html')" })
  const stop = new AbortController()
  const stream = await bench.service.view().watch("managed", targetId, stop.signal)
  const images = new Set<string>()
  for await (const line of stream) {
    const { image } = JSON.parse(new TextDecoder().decode(line).trim() || "{}")
    if (image === undefined) continue
    images.add(image)
    // More than the browser sends before one is acknowledged.
    if (images.size === 8) stop.abort()
    else await done({ kind: "evaluate", targetId, fn: `void (document.body.style.background = "#${images.size}00")` })
  }
  assert.equal(images.size, 8)
  await bench.call("DELETE", `/tabs/${targetId}`)
})

test("hovers over an element, so that what opens under the mouse is there", async () => {
  await go("actions.html")
  assert.doesNotMatch(await page(), /In the menu/)
  await done({ kind: "hover", ref: await bench.refOf("Hover me") })
  assert.match(await page(), /button "In the menu"/)
})

test("scrolls an element into view", async () => {
  await go("actions.html")
  await done({ kind: "scrollIntoView", ref: await bench.refOf("Far below") })
  assert.ok(Number(await evaluate("scrollY")) > 1_000)
})

test("drags with the browser's own drag and with the plain mouse", async () => {
  await go("actions.html")
  await done({ kind: "drag", startRef: await bench.refOf("Parcel"), endRef: await bench.refOf("Shelf") })
  await done({ kind: "drag", startRef: await bench.refOf("Thumb"), endRef: await bench.refOf("End") })
  assert.match(await page(), /dropped:parcel;pulled:true/)
})

test("selects by value or label, several where the list takes them, and nothing when one is missing", async () => {
  await go("actions.html")
  await done({ kind: "select", ref: await bench.refOf("Colour"), values: ["Green"] })
  await done({ kind: "select", ref: await bench.refOf("Extras"), values: ["Cream", "Ice"] })
  for (const [name, values, message, hint] of [
    ["Colour", ["Purple"], /has no option 'Purple'$/, /value or the label/],
    ["Extras", ["Cream", "Salt"], /has no option 'Salt'$/, /value or the label/],
    ["Colour", ["b"], /has no option 'b'$/, /value or the label/],
    ["Colour", ["r", "g"], /takes one value only$/, undefined],
    ["Hover me", ["r"], /is not a list of options$/, /opened and chosen from with clicks/],
  ] as const) {
    const refused = await refusal({ kind: "select", ref: await bench.refOf(name), values })
    assert.deepEqual([refused.status, refused.code], [400, "bad-request"], name)
    assert.match(refused.message, message)
    if (hint) assert.match(refused.hint, hint)
  }
  const chosen = "() => [...document.querySelectorAll('option:checked')].map((option) => option.text)"
  assert.deepEqual(await evaluate(chosen), ["Green", "Cream", "Ice"])
  assert.match(await page(), /change:colour;change:extras/)
})

test("fills fields of every kind at once, or none of them", async () => {
  await go("actions.html")
  const fields = [
    { ref: await bench.refOf("Name"), value: "Ada" },
    { ref: await bench.refOf("News"), type: "checkbox", value: "true" },
    { ref: await bench.refOf("Small"), type: "radio", value: true },
    { ref: await bench.refOf("Colour"), type: "select", value: "g" },
  ]
  const state = `() => { const form = document.forms[0]; return [form.name.value, form.news.checked, form.size[0].checked, form.colour.value] }`
  const before = await evaluate(state)
  for (const [wrong, code, words] of [
    [{ ref: await bench.refOf("Locked"), value: "x" }, "disabled", /./],
    [{ ref: "999999", value: "x" }, "ref-not-found", /./],
    [{ ref: fields[0]?.ref, type: "checkbox", value: true }, "bad-request", /is not a checkbox\. Leave type out/],
    [{ ref: fields[1]?.ref, type: "radio", value: true }, "bad-request", /is not a radio/],
    [{ ref: fields[3]?.ref, type: "text", value: "r" }, "bad-request", /is not a text/],
    [
      { ref: await bench.refOf("Large"), value: false },
      "bad-request",
      /cannot be switched off\. Switch on another one/,
    ],
  ] as const) {
    const refused = await refusal({ kind: "fill", fields: [...fields, wrong] })
    assert.equal(refused.code, code)
    assert.match(`${refused.message}. ${refused.hint}`, words)
    assert.deepEqual(await evaluate(state), before)
  }
  await done({ kind: "fill", fields })
  assert.deepEqual(await evaluate(state), ["Ada", true, true, "g"])
  for (const [value, isOn] of [
    [false, false],
    [true, true],
    ["", false],
    ["1", true],
    [0, false],
    [1, true],
    ["off", false],
  ] as const) {
    await done({ kind: "fill", fields: [{ ref: fields[1]?.ref, type: "switch", value }] })
    assert.equal(await evaluate("document.forms[0].news.checked"), isOn, String(value))
  }
  await done({ kind: "fill", fields: [{ ref: fields[3]?.ref, type: "listbox", value: ["r"] }] })
  await evaluate("() => void (document.forms[0].name.onkeydown = ({ key }) => (document.title = key))")
  await done({ kind: "fill", fields: [{ ref: fields[0]?.ref, type: "email", value: ["a", "b"] }], submit: true })
  assert.deepEqual(await evaluate(state), ["a,b", false, true, "r"])
  assert.equal(await evaluate("document.title"), "Enter", "in the last field")
  assert.equal((await act({ kind: "fill", fields: [] })).status, 400)
})

test("leaves a field what it had when it is given what it cannot hold, and the fields before it too", async () => {
  await go("names.html")
  const [mail, when, colour, loud] = await Promise.all(
    ["Mail", "When", "Colour", "Loud"].map((name) => bench.refOf(name)),
  )
  const state = `() => ["email", "date", "color", "range"].map((type) => document.querySelector("input[type=" + type + "]").value)`
  const given = ["a@b.example", "2026-01-31", "#ff4500", "7"]
  await done({ kind: "fill", fields: [mail, when, colour, loud].map((ref, index) => ({ ref, value: given[index] })) })
  assert.deepEqual(await evaluate(state), given)
  const events =
    "() => { globalThis.told = 0; for (const type of ['input', 'change']) addEventListener(type, () => (told += 1)) }"
  await evaluate(events)
  for (const [ref, value] of [
    [when, "31.01.2026"],
    [when, "2026-02-30"],
    [colour, "no colour"],
    [loud, "101"],
  ]) {
    const wrong = await refusal({
      kind: "fill",
      fields: [
        { ref: mail, value: "other" },
        { ref, value },
      ],
    })
    assert.deepEqual([wrong.code, wrong.message], ["bad-request", `The field of ref ${ref} does not take this value`])
    assert.match(wrong.hint, /Dates are written 2026-01-31/)
    assert.equal((await refusal({ kind: "type", ref, text: value })).code, "bad-request")
    assert.deepEqual(await evaluate(state), given)
  }
  assert.equal(await evaluate("told"), 0)
  await go("actions.html")
  const fields = [
    { ref: await bench.refOf("Name"), value: "Ada" },
    { ref: await bench.refOf("Colour"), value: ["r", "g"] },
  ]
  assert.match((await refusal({ kind: "fill", fields })).message, /takes one value only/)
  assert.equal(await evaluate("document.forms[0].name.value"), "")
})

test("gives the page a view of another size, again and again", async () => {
  await go("actions.html")
  for (const [width, height] of [
    [640, 480],
    [1000, 700],
  ]) {
    await done({ kind: "resize", width, height })
    assert.deepEqual(await evaluate("[innerWidth, innerHeight]"), [width, height])
  }
  assert.equal((await act({ kind: "resize", width: 0, height: 5 })).status, 400)
})

test("waits for each condition and for all of them together", async () => {
  await go("actions.html")
  await done({ kind: "click", ref: await bench.refOf("Later") })
  const conditions = {
    timeMs: 5,
    text: "Here at last",
    textGone: "Still here",
    selector: "#late",
    url: "*done=1",
    loadState: "networkidle",
    fn: "() => document.title === 'Actions'",
  }
  await done({ kind: "wait", ...conditions })
  for (const [name, value] of Object.entries(conditions)) await done({ kind: "wait", [name]: value })
  await done({ kind: "click", ref: await bench.refOf("Leave") })
  await done({ kind: "wait", url: `${pages.url}/sent.html?from=actions`, loadState: "load" })
})

test("gives up a wait when its time is up, and says what it waited for", async () => {
  await go("actions.html")
  for (const condition of [
    { text: "never" },
    { textGone: "Still here" },
    { selector: "#nothing" },
    { url: "*/nowhere" },
    { fn: "() => false" },
    { fn: "() => missing.thing" },
    { fn: "() => { for (;;) {} }" },
  ]) {
    const late = await act({ kind: "wait", ...condition, timeoutMs: 200 })
    assert.deepEqual([late.status, late.body.error.code], [504, "timeout"], JSON.stringify(condition))
    // Where the machine is too busy for a single look, the limit round the whole call is what ends it.
    assert.match(late.body.error.message, /in vain|took longer/)
  }
  const late = await act({ kind: "wait", fn: "() => missing.thing", timeoutMs: 3_000 })
  assert.match(late.body.error.message, /in vain for the function to be true \(.*missing is not defined/)
  assert.match(late.body.error.hint, /Take a snapshot.*or give a larger timeoutMs/)
  const selector = await act({ kind: "wait", selector: "p[" })
  assert.deepEqual([selector.status, selector.body.error.message], [400, "selector: is not a CSS selector"])
  // What can never be so is not waited for.
  const code = await act({ kind: "wait", fn: "this is no code", timeoutMs: 60_000 })
  assert.deepEqual([code.status, code.body.error.code], [400, "evaluate-failed"])
  assert.equal((await act({ kind: "wait" })).status, 400)
})

test("evaluates functions and expressions, with an element too, and names what goes wrong", async () => {
  await go("actions.html")
  assert.equal(await evaluate("1 + 1"), 2)
  assert.deepEqual(await evaluate("async () => ({ title: document.title })"), { title: "Actions" })
  assert.equal(await evaluate("() => undefined"), null)
  const ref = await bench.refOf("Name")
  assert.equal((await done({ kind: "evaluate", ref, fn: "(element) => element.name" })).result, "name")
  for (const [fn, message] of [
    ["() => { throw new Error('no') }", /^The code failed: Error: no$/],
    ["() => { throw 'words' }", /^The code failed: words$/],
    ["() => process", /process is not defined$/],
    ["this is no code", /SyntaxError/],
    ["() => { const a = {}; a.a = a; return a }", /circular/],
  ] as const) {
    const failed = await act({ kind: "evaluate", fn })
    assert.deepEqual([failed.status, failed.body.error.code], [400, "evaluate-failed"], fn)
    assert.match(failed.body.error.message, message)
    const onElement = await act({ kind: "evaluate", fn, ref })
    assert.match(onElement.body.error.message, message)
  }
  const large = (await act({ kind: "evaluate", fn: "'x'.repeat(1e6)" })).body.error
  assert.match(large.message, /too large: 1000002 characters of JSON/)
  assert.match(large.hint, /At most 1000000 are given out/)
  assert.equal(await evaluate("'x'.repeat(1e6 - 2)").then(({ length }) => length), 1e6 - 2)
})

test("ends code that never ends, with an element and without, and the tab works on", async () => {
  await go("actions.html")
  const ref = await bench.refOf("Name")
  for (const more of [{}, { ref }]) {
    const endless = await act({ kind: "evaluate", fn: "() => { for (;;) {} }", timeoutMs: 600, ...more })
    assert.equal(endless.body.error.code, "timeout")
    assert.equal(await evaluate("1"), 1)
  }
})

test("closes a tab", async () => {
  const { targetId } = (await bench.call("POST", "/tabs/open", { url: `${pages.url}/sent.html` })).body
  assert.equal((await done({ kind: "close", targetId })).targetId, targetId)
  assert.equal((await bench.call("GET", `/snapshot?targetId=${targetId}`)).status, 404)
})

test("answers an action that was done as done, when the page then closes its own tab", async () => {
  const openPopup = async () => {
    const known = (await bench.call("GET", "/tabs")).body.tabs.map((tab: { targetId: string }) => tab.targetId)
    await evaluate("() => void open('/dialogs.html')")
    for (;;) {
      const { tabs } = (await bench.call("GET", "/tabs")).body
      const popup = tabs.find((tab: { targetId: string }) => !known.includes(tab.targetId))
      if (popup) return popup.targetId as string
    }
  }
  await go("sent.html")
  const popup = await openPopup()
  await done({ kind: "wait", text: "Close me", targetId: popup })
  const ref = await bench.refOf("Close me", `?targetId=${popup}`)
  assert.equal((await done({ kind: "click", ref, targetId: popup, snapshot: "efficient" })).closed, true)
  assert.equal((await bench.call("GET", `/snapshot?targetId=${popup}`)).status, 404)
})

test("draws frames of a page that stands behind one that it has opened", async () => {
  await go("sent.html")
  await evaluate("() => void open('/dialogs.html')")
  // One that is drawn for nobody gets a frame a second, or none.
  const drawn = `() => new Promise((resolve) => {
    let frames = 0
    const timer = setTimeout(() => resolve(frames), 5000)
    const next = () => {
      frames += 1
      if (frames < 30) return void requestAnimationFrame(next)
      clearTimeout(timer)
      resolve(frames)
    }
    requestAnimationFrame(next)
  })`
  assert.equal(await evaluate(drawn), 30)
})

test("runs no code where evaluation is switched off", async () => {
  const closed = await startBrowserBench({ evaluateEnabled: false })
  try {
    for (const body of [
      { kind: "evaluate", fn: "1" },
      { kind: "wait", fn: "true" },
    ]) {
      const refused = await closed.call("POST", "/act", body)
      assert.deepEqual([refused.status, refused.body.error.code], [403, "evaluate-disabled"])
      assert.match(refused.body.error.hint, /browser\.evaluateEnabled/)
    }
    assert.equal((await closed.call("GET", "/tabs")).body.running, false)
  } finally {
    await closed.stop()
  }
})

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
  assert.equal((await bench.call("POST", "/screenshot", { ref: "1", fullPage: true })).status, 400)
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
  const sizes = [
    ["900px", "3000px", false],
    ["900px", "300000px", true],
    ["90000px", "700px", true],
  ] as const
  for (const [width, height, truncated] of sizes) {
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
