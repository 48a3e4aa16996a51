// Every way to look at a page, against real pages, and a page that does its worst.
import assert from "node:assert/strict"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { after, before, test } from "node:test"
import { type BrowserBench, startBrowserBench } from "../../../../test/support/browser-service.ts"
import { type PagesServer, startPagesServer } from "../../../../test/support/pages-server.ts"
import { until } from "../../../../test/support/world.ts"
import type { Line } from "./line.ts"
import { diffLines } from "./diff.ts"
import { compact } from "./shape.ts"

let bench: BrowserBench
let pages: PagesServer
let hasLibrary = true

before(async () => {
  pages = await startPagesServer({ folder: join(import.meta.dirname, "../../../../test/fixtures/pages") })
  bench = await startBrowserBench({}, { hasAutomationLibrary: () => hasLibrary })
})

after(async () => {
  await bench.stop()
  await pages.stop()
})

const go = (path: string) => bench.call("POST", "/navigate", { url: `${pages.url}/${path}` })
const snapshot = async (query = "") => (await bench.call("GET", `/snapshot${query}`)).body
const act = (body: object) => bench.call("POST", "/act", body)
const evaluate = (fn: string) => act({ kind: "evaluate", fn })
const lines = (text: string, indented = true): Line[] =>
  text.split("\n").map((line) => ({ text: line, depth: indented ? (line.length - line.trimStart().length) / 2 : 0 }))

test("reaches 17 of 17 controls: frames in frames, open and closed shadow roots, slots, a clickable div", async () => {
  await go("reach.html")
  await act({ kind: "wait", loadState: "load" })
  const { snapshot: text, refs } = await snapshot("?interactive=true")
  assert.equal(Object.keys(refs).length, 17, text)
  pages.requests.length = 0
  for (const name of ["Closed button", "Slotted button", "Nested button", "Clickable div"]) {
    const reply = await act({ kind: "click", ref: await bench.refOf(name) })
    assert.equal(reply.status, 200, JSON.stringify(reply.body))
  }
  const hits = pages.requests.filter(({ url }) => url.startsWith("/hit")).map(({ url }) => url.slice(5))
  assert.deepEqual(hits, ["closed", "slotted", "nested", "div"])
})

test("shows closed components also behind many drawings that might be some", async () => {
  await go("closed-behind-icons.html?icons=500")
  assert.match((await snapshot()).snapshot, /button "Pay now"/, "components are looked at first")
  await snapshot()
  // Of a page in which nothing changes, the rest is looked at with the snapshots that follow.
  assert.match((await snapshot()).snapshot, /button "Plain host"/)
})

test("shows what is chosen, of what the choices are, and what plays", async () => {
  await go("chosen.html")
  await evaluate(`() => {
    const chosen = new DataTransfer()
    for (const name of ["report.pdf", "plan.pdf"]) chosen.items.add(new File(["words"], name))
    document.querySelector("[type=file]").files = chosen.files
  }`)
  for (const query of ["?mode=full", "?mode=efficient", "?compact=true"]) {
    const { snapshot: text } = await snapshot(query)
    assert.match(text, /^- button "Files" \[ref=\w+\]: report\.pdf, plan\.pdf$/m)
    assert.match(text, /^- button "Colour" \[ref=\w+\]: #ff8800$/m)
    assert.match(
      text,
      /^ *- group "North":\n *- option "Springfield"\n *- group "South":\n *- option "Springfield" \[selected\]$/m,
    )
    assert.match(text, /^- video "Tour" \[ref=\w+\] \[320x180\]$/m)
    assert.match(text, /^- audio \[ref=\w+\] \[\d+x\d+\]$/m)
    assert.equal(/- video \[/.test(text), query !== "?mode=efficient", "one without buttons only decorates")
  }
})

test("has the words that only a style sheet puts on the page", async () => {
  await go("generated.html")
  const { snapshot: text } = await snapshot()
  assert.match(text, /^- paragraph .*: Inbox \(7 unread\)$/m)
  assert.match(text, /^- text .*: Only 5 euros$/m)
  assert.match(text, /^ *- cell "City: Oslo" .*: City: Oslo$/m)
  assert.match(text, /^- button "Save" \[ref=\d+\]$/m)
  assert.match(text, /^- text: Icon$/m)
  assert.match(text, /^- paragraph .*: of the way: Pay$/m)
})

test("does not say that nothing has changed where a search only shows none of it, and tells it later", async () => {
  await go("controls.html?n=4")
  await snapshot("?interactive=true")
  await evaluate("() => (document.querySelector('button').textContent = 'Renamed')")
  const searched = await snapshot("?interactive=true&diff=true&find=nowhere")
  assert.equal(searched.snapshot, "(nothing that matches has changed, but something else)")
  assert.match((await snapshot("?interactive=true&diff=true&find=renamed")).snapshot, /^\+.*"Renamed"/)
  assert.match((await snapshot("?interactive=true&diff=true")).snapshot, /^\+.*"Renamed"/m)
  assert.equal((await snapshot("?interactive=true&diff=true&find=renamed")).snapshot, "(no changes)")
})

test("writes role refs, and tells those of the same role and name apart", async () => {
  await go("controls.html?n=4")
  await evaluate("() => document.querySelectorAll('button').forEach((button) => (button.textContent = 'Same'))")
  const { snapshot: text, refs } = await snapshot("?interactive=true")
  assert.match(text, /- button "Same" \[ref=e\d+\]\n/)
  assert.match(text, /- button "Same" \[ref=e\d+\] \[nth=1\]$/)
  const same = Object.values(refs as Record<string, { name: string; nth?: number }>).filter(
    ({ name }) => name === "Same",
  )
  assert.deepEqual(
    same.map(({ nth }) => nth),
    [0, 1],
  )
  assert.match((await snapshot("?interactive=true&refs=aria")).snapshot, /\[ref=\d+\]/)
})

test("leaves out what the caller does not want to see", async () => {
  await go("shop/")
  const all = await snapshot()
  const small = await snapshot("?compact=true")
  assert.ok(small.stats.lines < all.stats.lines)
  assert.doesNotMatch(small.snapshot, /^ *- (list|group|listitem):?$/m)
  assert.match(small.snapshot, /heading "Corner Shop" \[ref=e\d+\]/)
  const flat = await snapshot("?depth=0")
  assert.doesNotMatch(flat.snapshot, /^ {2}/m)
  await go("forms.html")
  const form = await snapshot("?selector=form")
  assert.match(form.snapshot, /textbox "Mail"/)
  assert.doesNotMatch(form.snapshot, /Price/)
  const { error: manyElements } = (await bench.call("GET", "/snapshot?selector=button")).body
  assert.equal(manyElements.code, "strict-mode")
  assert.match(manyElements.message, /^Strict mode violation: several elements fit/)
  assert.equal((await bench.call("GET", "/snapshot?selector=nothing")).status, 404)
  assert.equal((await bench.call("GET", "/snapshot?selector=p%5B")).status, 400)
})

test("looks into one frame, whose refs work", async () => {
  await go("reach.html")
  for (const [selector, shown, hidden] of [
    ["iframe[title=far]", "Button localhost", "Button 127"],
    ["iframe[title=near]", "Button 127", "Button localhost"],
  ]) {
    const { snapshot: text, refs, error } = await snapshot(`?frame=${encodeURIComponent(selector as string)}`)
    assert.equal(error, undefined)
    assert.match(text, new RegExp(shown as string))
    assert.doesNotMatch(text, new RegExp(`${hidden}|Top button`))
    const ref = Object.entries(refs as Record<string, { name?: string }>).find(([, { name }]) =>
      name?.startsWith("Button"),
    )
    assert.equal((await act({ kind: "click", ref: ref?.[0] })).status, 200)
  }
  const { error: manyFrames } = (await bench.call("GET", "/snapshot?frame=iframe")).body
  assert.equal(manyFrames.code, "strict-mode")
  assert.match(manyFrames.message, /^Strict mode violation: several frames fit/)
  assert.equal((await bench.call("GET", "/snapshot?frame=p")).status, 404)
})

test("says which frame did not answer, and shows it as soon as it does", async () => {
  await go("silent-frame.html")
  await until("the frame is stuck", () => pages.requests.some(({ url }) => url === "/held-file") || undefined)
  const { snapshot: text } = await snapshot()
  assert.match(text, /button "Outside"/)
  assert.match(text, /- iframe "stuck".* \(does not answer: what it shows was left out after 3 s\)$/m)
  pages.finishFiles()
  await until("the frame is shown", async () => ((await snapshot()).snapshot.includes("Inside") ? true : undefined))
})

test("is short when it is to be efficient, and counts what it leaves out", async () => {
  await go("controls.html?n=500")
  const full = await snapshot("?interactive=true")
  assert.equal(full.stats.refs, 500)
  assert.ok(full.snapshot.length / 4 <= 4_800)
  const { snapshot: text, truncated } = await snapshot("?mode=efficient")
  assert.ok(text.length / 4 <= 2_000, `${text.length / 4} tokens`)
  assert.match(text, /- heading "Item 0" \[level=3\]/)
  assert.match(text, /230 more section elements like the 20 above/)
  assert.equal(truncated, true)
})

test("folds long tables with an honest count, also where one row is unlike the others", async () => {
  await go("sent.html")
  const row = "<tr><td>row<td><button>Open</button>"
  await evaluate(`() => void (document.body.innerHTML = '<table>' + '${row}'.repeat(3000) + '</table>')`)
  for (const query of ["?mode=efficient", "?maxTokens=2000"]) {
    const { snapshot: text, truncated, stats } = await snapshot(query)
    assert.match(text, /\(2980 more tr elements like the 20 above\)/)
    // The whole page has refs for the cells with words, too.
    assert.deepEqual([truncated, stats.refs], [true, query.includes("efficient") ? 20 : 40])
  }
  await evaluate("() => void document.querySelectorAll('tr')[999].prepend(document.createElement('th'))")
  const { snapshot: text, stats } = await snapshot("?mode=efficient")
  assert.deepEqual([...text.matchAll(/\d+ more/g)].map(String), ["979 more", "1980 more"])
  assert.equal(stats.refs, 41)
})

test("fits a budget by leaving out the least useful first", async () => {
  await go("shop/")
  const all = await snapshot()
  const { snapshot: text, truncated, refs } = await snapshot("?maxTokens=120")
  assert.ok(text.length / 4 <= 120, `${text.length / 4} tokens`)
  assert.equal(truncated, true)
  assert.match(text, /\[truncated: .*\d+ .*left out/)
  assert.ok(Object.keys(refs).length > 3, text)
  assert.equal((await snapshot("?maxTokens=5000")).snapshot, all.snapshot)
})

test("finds elements by role or words, with their refs", async () => {
  await go("controls.html?n=500")
  const found = await snapshot("?find=link%20249")
  assert.match(found.snapshot, /^- link "Link 249" \[ref=e\d+\]$/)
  assert.equal((await snapshot("?find=button")).stats.refs, 250)
  assert.equal((await snapshot("?find=nowhere")).snapshot, "(nothing matches)")
})

test("says what has changed, also in fields, and nothing when nothing has", async () => {
  await go("forms.html")
  await snapshot("?diff=true")
  assert.equal((await snapshot("?diff=true")).snapshot, "(no changes)")
  await act({ kind: "type", ref: await bench.refOf("Mail"), text: "a@b.c" })
  await snapshot()
  await evaluate("() => { document.querySelector('[name=name]').value = 'silently'; document.title = 'x' }")
  const changed = await snapshot("?diff=true")
  assert.match(changed.snapshot, /^-- textbox "Full name".*: old text$/m)
  assert.match(changed.snapshot, /^\+- textbox "Full name".*: silently$/m)
  assert.equal(changed.stats.refs, 1)
  await evaluate("() => document.querySelector('#quote').remove()")
  assert.match((await snapshot("?diff=true")).snapshot, /^-- button "Say/)
})

test("answers an action with the page as it is then, whole or by its changes", async () => {
  await go("shop/")
  await act({ kind: "press", key: "Tab", snapshot: "efficient" })
  const ref = await bench.refOf("Add Honey to basket")
  const efficient = await act({ kind: "click", ref, snapshot: "efficient" })
  assert.match(efficient.body.snapshot, /button "Add Honey to basket" \[ref=e\d+\]/)
  const diff = await act({ kind: "click", ref, snapshot: "diff" })
  assert.match(diff.body.snapshot, /^\+- status.*2 items/m)
  const there = await bench.call("POST", "/navigate", { url: `${pages.url}/forms.html`, snapshot: "efficient" })
  assert.match(there.body.snapshot, /textbox "Full name"/)
})

test("names groups by their captions, and notices what is written into every kind of field", async () => {
  await go("sent.html")
  await evaluate(`() => void (document.body.innerHTML = '<fieldset><legend>Address</legend><textarea aria-label="Street"></textarea></fieldset>' +
    '<table><caption>Prices</caption><tr><td>1</td></tr></table><figure><img alt=""><figcaption>Our house</figcaption></figure>' +
    '<table><tr><td>2</td></tr></table><figure>' + '<hr>'.repeat(30) + '<figcaption>Far below</figcaption></figure>' +
    '<select aria-label="Size"><option>S<option>L</select>')`)
  const { snapshot: text } = await snapshot("?diff=true")
  for (const name of ['group "Address"', 'table "Prices"', 'figure "Our house"', 'figure "Far below"'])
    assert.ok(text.includes(name), text)
  assert.doesNotMatch(text, /table "2"/)
  await evaluate("() => void (document.querySelector('select').selectedIndex = 1)")
  await snapshot("?diff=true")
  await evaluate("() => void (document.querySelector('textarea').value = 'Ring 2')")
  assert.match((await snapshot("?diff=true")).snapshot, /^\+ *- textbox "Street".*: Ring 2$/m)
  await evaluate("() => void (document.querySelector('select').selectedIndex = 0)")
  assert.match((await snapshot("?diff=true")).snapshot, /^\+ *- option "S" \[selected\]/m)
})

test("draws refs over a picture of the view, and takes them away again", async () => {
  await go("controls.html?n=100")
  const { body } = await bench.call("GET", "/snapshot?labels=true")
  assert.equal(body.labels, true)
  assert.ok(body.labelsCount > 5 && body.labelsSkipped > 5, JSON.stringify(body.labelsCount))
  assert.deepEqual([...(await readFile(body.imagePath)).subarray(1, 4)], [...Buffer.from("PNG")])
  assert.equal((await evaluate("document.querySelectorAll('svc-labels').length")).body.result, 0)
})

test("gives the accessibility tree, without the library too", async () => {
  await bench.call("POST", "/tabs/open", { url: `${pages.url}/forms.html` })
  hasLibrary = false
  try {
    const { status, body } = await bench.call("GET", "/snapshot?format=aria")
    assert.equal(status, 200, JSON.stringify(body))
    assert.ok(
      body.nodes.some(({ role, name }: { role: string; name: string }) => role === "button" && name === "Send form"),
    )
    const few = (await bench.call("GET", "/snapshot?format=aria&limit=3")).body
    assert.deepEqual([few.nodes.length, few.truncated], [3, true])
    assert.equal((await bench.call("GET", "/snapshot?format=aria&labels=true")).status, 400)
    // The default is the format that there is; what only the other has is not silently another thing.
    for (const query of ["", "?limit=3", "?mode=full", "?format="])
      assert.equal((await bench.call("GET", `/snapshot${query}`)).body.format, "aria", query)
    for (const query of ["format=ai", "mode=efficient", "interactive=true", "depth=2", "selector=form", "labels=true"])
      assert.equal((await bench.call("GET", `/snapshot?${query}`)).status, 501, query)
  } finally {
    hasLibrary = true
  }
})

test("drops structure only where nothing is left under it", () => {
  const kept = compact(lines("- list:\n  - listitem:\n    - text: words\n- group:\n  - group\n- main:\n  - img: x"))
  assert.deepEqual(
    kept.map(({ text }) => text),
    ["    - text: words", "- main:", "  - img: x"],
  )
})

test("compares long lists too", () => {
  const before = Array.from({ length: 3_000 }, (_, index) => `- row ${index}`)
  const now = lines(["- new", ...before.slice(1, -1), "- last"].join("\n"))
  const signs = diffLines(before, now).map(({ sign, text }) => `${sign}${text}`)
  assert.deepEqual(signs.toSorted(), ["+- last", "+- new", "-- row 0", "-- row 2999"])
})

const maxAnswer = 3_000_000

test("takes a page's word for no more elements than it looks for, whatever the page has made of the language", async () => {
  const swaps = [
    "Array.prototype.push = function () { for (const each of words()) this[this.length] = each; return this.length }",
    "WeakSet.prototype.has = () => { throw words() }",
  ]
  for (const swap of swaps) {
    await go("controls.html?n=1")
    await evaluate(`() => {
      const words = () => [...document.querySelectorAll("p.word")]
      document.body.innerHTML = "<main><h6>Tap</h6>" + "<p class=word>word</p>".repeat(100) + "</main>"
      document.querySelector("h6").addEventListener("click", () => {})
      ${swap}
    }`)
    const { snapshot: text, refs } = await snapshot("?interactive=true")
    assert.ok(Object.keys(refs).length <= 1, text)
  }
})

test("looks again at a page that has asked a question in the middle of the first look", async () => {
  await go("controls.html?n=1")
  await evaluate(`() => {
    const { now } = performance
    performance.now = { bind: () => { performance.now = now; confirm("Sure?"); return () => 0 } }
  }`)
  assert.equal((await bench.call("GET", "/snapshot?interactive=true")).body.error.code, "dialog-open")
  await bench.call("POST", "/hooks/dialog", { accept: true })
  assert.ok(Object.keys((await snapshot("?interactive=true")).refs).length > 0)
})

test("stands a page that does its worst: within the limits, in buffers that end, out of the way of other tabs", async () => {
  const other = (await bench.call("POST", "/tabs/open", { url: `${pages.url}/shop/` })).body.targetId
  const opened = await bench.call("POST", "/tabs/open", { url: `${pages.url}/bomb.html`, timeoutMs: 60_000 })
  assert.equal(opened.status, 200, JSON.stringify(opened.body).slice(0, 500))
  const bomb = opened.body.targetId
  await readBomb(bomb)
  await readBuffers(bomb)
  const { tabs } = (await bench.call("GET", "/tabs")).body
  assert.ok(tabs.length < 10, `${tabs.length} tabs`)
  assert.ok(JSON.stringify(tabs).length < 20_000, "titles have a limit")
  const add = await bench.refOf("Add Honey to basket", `?targetId=${other}`)
  const before = pages.basket.length
  assert.equal((await act({ kind: "click", ref: add, targetId: other })).status, 200)
  assert.equal(pages.basket.length, before + 1)
  assert.equal((await bench.call("DELETE", `/tabs/${bomb}`)).status, 200)
})

async function readBomb(targetId: string): Promise<void> {
  const taken = await snapshot(`?targetId=${targetId}&mode=efficient&timeoutMs=60000`)
  assert.ok(taken.snapshot.length < 10_000, `${taken.snapshot.length}`)
  assert.ok(JSON.stringify(taken).length < 20_000, "title and address have limits too")
  assert.match(taken.snapshot, /button "Still here"/)
  assert.match(taken.snapshot, /\(nested too deeply/)
  assert.equal(taken.truncated, true)
  const timeoutMs = 60_000
  const waited = await act({ kind: "wait", targetId, text: "At the bottom", timeoutMs })
  assert.equal(waited.status, 200, JSON.stringify(waited.body))
  const ref = await bench.refOf("Still here", `?targetId=${targetId}&timeoutMs=${timeoutMs}`)
  const clicked = await act({ kind: "click", targetId, ref, timeoutMs })
  assert.equal(clicked.status, 200, JSON.stringify(clicked.body))
}

async function readBuffers(targetId: string): Promise<void> {
  for (const [path, field, most] of [
    ["console", "messages", 500],
    ["errors", "errors", 200],
    ["requests", "requests", 500],
  ] as const) {
    const { status, body } = await bench.call("GET", `/${path}?targetId=${targetId}`)
    assert.equal(status, 200)
    assert.ok(body[field].length > 0 && body[field].length <= most, `${path}: ${body[field].length}`)
    assert.ok(JSON.stringify(body).length < maxAnswer, `${path}: ${JSON.stringify(body).length} characters`)
  }
}

test("keeps what is answered within its limits, with the note about what was left out", async () => {
  await go("controls.html?n=200")
  for (const [query, most] of [
    ["?maxChars=300", 300],
    ["?maxChars=5000", 5_000],
    ["?maxTokens=60", 240],
    ["?maxTokens=200&interactive=true", 800],
    ["?maxTokens=500&maxChars=1000", 1_000],
  ] as const) {
    const { snapshot: text, truncated } = await snapshot(query)
    assert.equal(truncated, true)
    assert.match(text, /\n\[truncated: .*left out/)
    assert.ok(text.length <= most, `${query}: ${text.length}`)
    assert.ok(text.length > most / 2, `${query}: only ${text.length}`)
  }
  const few = await snapshot("?limit=5")
  assert.deepEqual([few.snapshot.split("\n").length, few.truncated], [5, true])
  assert.match(few.snapshot, /\[truncated: \d+ further lines left out/)
})

test("tells what has changed since the snapshot that was shown, whatever was searched for in between", async () => {
  await go("forms.html")
  const ref = await bench.refOf("Full name", "?mode=efficient")
  await act({ kind: "type", ref: `[ref=${ref}]`, text: "Berta" })
  await snapshot("?find=button")
  await snapshot("?find=textbox&mode=efficient")
  const { snapshot: changes } = await snapshot("?mode=efficient&diff=true")
  assert.match(changes, /^\+- textbox "Full name" \[ref=e\d+\]: Berta$/m)
})

test("shows what is there now instead of its changes, where these would only take more words", async () => {
  await go("controls.html?n=40")
  await snapshot("?mode=efficient")
  await evaluate("() => document.querySelector('button').remove()")
  assert.match((await snapshot("?mode=efficient&diff=true")).snapshot, /^-- button [^\n]+$/)
  await evaluate("() => void (document.body.innerHTML = '<button>Only one</button><p>done</p>')")
  const { snapshot: text, refs } = await snapshot("?mode=efficient&diff=true")
  assert.match(text, /^\(most of it has changed: this is all that is there now\)\n- button "Only one" \[ref=e\d+\]$/)
  assert.equal(Object.keys(refs).length, 1)
  assert.equal((await snapshot("?mode=efficient&diff=true")).snapshot, "(no changes)")
})

test("says that nothing has changed only when nothing has that any mode shows", async () => {
  await go("forms.html")
  const efficient = async () => (await snapshot("?mode=efficient&diff=true")).snapshot as string
  await efficient()
  assert.equal(await efficient(), "(no changes)")
  const evaluate = (fn: string) => act({ kind: "evaluate", fn })
  for (const change of [
    "document.querySelector('p').textContent = 'Price: 6 EUR'",
    "document.querySelector('p').setAttribute('aria-label', 'other')",
  ]) {
    await evaluate(`() => { ${change} }`)
    await snapshot("?find=button&mode=efficient")
    assert.match(await efficient(), /something else on the page/, change)
    assert.equal(await efficient(), "(no changes)")
  }
  await evaluate("() => document.querySelector('[contenteditable]').append('!')")
  assert.match(await efficient(), /^\+.*"Rich".*!$/m)
})
