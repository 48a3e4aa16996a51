// Widgets that tell the browser less than they show people: labels beside fields of their own, states by class alone.
import assert from "node:assert/strict"
import { join } from "node:path"
import { after, before, test } from "node:test"
import { type BrowserBench, startBrowserBench } from "../../../../test/support/browser-service.ts"
import { type PagesServer, startPagesServer } from "../../../../test/support/pages-server.ts"

let bench: BrowserBench
let pages: PagesServer

before(async () => {
  pages = await startPagesServer({ folder: join(import.meta.dirname, "../../../../test/fixtures/pages") })
  bench = await startBrowserBench()
  await bench.call("POST", "/navigate", { url: `${pages.url}/bare-widgets.html` })
})

after(async () => {
  await bench.stop()
  await pages.stop()
})

async function look(): Promise<string> {
  const text: string = (await bench.call("GET", "/snapshot?mode=efficient")).body.snapshot
  return text.replaceAll(/ \[ref=\w+\]/g, "").replaceAll(/ \[nth=\d+\]/g, "")
}

test("shows a label before the control that it stands beside, where the control does not say it", async () => {
  const text = await look()
  assert.match(text, /^- text: Colour\n- textbox \[readonly\]: Please choose\n- text: Size\n/)
  assert.match(text, /- text: Size\n- textbox "Please type": 4\n- switch \[hint="Wifi"\]\n- textbox "Please type"/)
  assert.doesNotMatch(text, /Owner/, "what no control comes behind is no label of one")
})

test("tells states that only a class draws, and no more than that", async () => {
  const text = await look()
  for (const line of [
    '- generic "Overview" [selected]',
    '- generic "Details"',
    '- link "First page" [current]',
    '- link "Second page"',
    '- generic "Remove chip"',
    '- button [hint="sign-minus button primary"]',
    '- generic "Sold out" [disabled]',
    '- generic "Plain entry"',
    '- generic "Told by its role"',
  ])
    assert.ok(text.split("\n").includes(line), `${line} in:\n${text}`)
  const { body } = await bench.call("POST", "/act", {
    kind: "click",
    ref: await bench.refOf("Details", "?mode=efficient"),
    snapshot: "diff",
  })
  assert.match(body.snapshot, /\+- generic "Details" \[ref=\w+\] \[selected\]/)
})

test("lists a header, an entry and a cell once, with what they are sorted by, and tells stars apart", async () => {
  const text = await look()
  assert.match(text, /- columnheader "Price" \[sorted=descending\]\n- button "Open row"\n- generic "Tick"\n/)
  assert.match(text, /- treeitem "Documents" \[collapsed\]\n- button "Unfold"\n/)
  assert.match(text, /- treeitem "Pictures"\n- checkbox \[hint="Pictures"\]\n/, "people tick the box in it")
  assert.match(text, /- link "star" \(1 of 3\).*\n- link "star" \(2 of 3\).*\n- link "star" \(3 of 3\)/)
  assert.match(text, /- generic \[hint="event"\]\n/)
})

test("tells what a dialog asks also inside a box that a script gives the focus", async () => {
  assert.match(await look(), /- dialog "Lamp": Turn it on\?\n- button "Yes"$/)
})

test("tells what is wrong with a field beside it", async () => {
  assert.match(await look(), /- textbox "User"\n- button "Send"\n- textbox "Mail" \[invalid="Not a mail address"\]\n/)
  assert.match(await look(), /- textbox "Row to delete"\n- button "Delete"\n/, "red is not wrong")
  const ref = await bench.refOf("Send", "?mode=efficient")
  const { body } = await bench.call("POST", "/act", { kind: "click", ref, snapshot: "diff" })
  assert.match(body.snapshot, /\+- textbox "User" \[ref=\w+\] \[invalid="User is required"\]/)
})

test("lists a box to tick once, and tells no field by the list that has opened beside it", async () => {
  const text = await look()
  assert.match(
    text,
    /\n- checkbox "Agree" \[checked\]\n- textbox "Search"\n- listbox\n- option "Vue"\n- textbox "Search" of "Rails"\n/,
  )
  assert.equal(text.split("Agree").length, 2, text)
})

test("says what the cross of a chip takes away, also where there is only one", async () => {
  assert.match(await look(), /- button "Close" of "Guangzhou"\n- textbox "Cities"\n/)
})

test("lists of boxes one in the other the innermost, and tells equal ticks apart whatever their state", async () => {
  const text = await look()
  assert.match(
    text,
    /- generic "Red" \[selected\]\n- generic "Green"\n- generic \(of Tea\) \[checked\] \[hint="tick"\]\n- generic \(of Milk\) \[hint="tick"\]\n- generic \(of Food\) \[checked=mixed\]/,
  )
  assert.doesNotMatch(text, /"Red Green"|mask|popup/)
})

test("says what a button shows beside what it is called, and by what equal ones stand", async () => {
  const text = await look()
  assert.match(text, /- button "Choose month": March\n- button "Take away"\n- button "Pick Ann"\n/)
  assert.match(
    text,
    /- button "Unpack" of "Projects"\n- heading "Archive" \[level=2\]\n- button "Unpack" of "Archive"\n/,
  )
})
