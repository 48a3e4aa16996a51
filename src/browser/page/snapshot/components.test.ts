// What component libraries make of a page: words without controls, fields under drawings, handlers far above what they
// are for, answers that come a moment later. Each is a class of what libraries do, in its smallest form.
import assert from "node:assert/strict"
import { join } from "node:path"
import { after, before, test } from "node:test"
import { type BrowserBench, startBrowserBench } from "../../../../test/support/browser-service.ts"
import { type PagesServer, startPagesServer } from "../../../../test/support/pages-server.ts"
import { agentSource } from "../inject/source.ts"

let bench: BrowserBench
let pages: PagesServer

before(async () => {
  pages = await startPagesServer({ folder: join(import.meta.dirname, "../../../../test/fixtures/pages") })
  bench = await startBrowserBench()
  await bench.call("POST", "/navigate", { url: `${pages.url}/components.html` })
})

after(async () => {
  await bench.stop()
  await pages.stop()
})

async function snapshot(mode: "efficient" | "full"): Promise<string> {
  return (await bench.call("GET", `/snapshot?mode=${mode}`)).body.snapshot
}

function refIn(text: string, line: RegExp): string {
  const found = text.split("\n").find((each) => line.test(each))
  const ref = /\[ref=(\w+)\]/.exec(found ?? "")?.[1]
  assert.ok(ref, `no ref for ${line} in:\n${text}`)
  return ref
}

async function click(mode: "efficient" | "full", line: RegExp): Promise<void> {
  const { status, body } = await bench.call("POST", "/act", { kind: "click", ref: refIn(await snapshot(mode), line) })
  assert.equal(status, 200, JSON.stringify(body))
}

test("gives plain words a ref in the full snapshot, since nobody can know what listens far above them", async () => {
  await click("full", /text .*: Paint wall$/)
  const text = await snapshot("full")
  assert.match(text, /- text \[ref=\d+\]: Fix lamp today$/m)
  assert.match(text, /Paint wall;/)
  assert.doesNotMatch(text, /Helper of a component/, "what is cut to nothing is not seen")
})

test("finds what jQuery handles for parts of a container, and what listens in shadow roots", async () => {
  const listed = async () => {
    const text = await snapshot("efficient")
    return /"From Bob"/.test(text) && /"Row in a shadow"/.test(text) ? text : undefined
  }
  // A look for listeners takes a few milliseconds of each snapshot.
  for (let looks = 0; looks < 5 && !(await listed()); looks += 1);
  assert.doesNotMatch(await snapshot("efficient"), /"From Ann From Bob"/, "the container takes no clicks for itself")
  await click("efficient", /"From Bob"/)
  await click("efficient", /"Row in a shadow"/)
  assert.match(await snapshot("efficient"), /From Bob;row;/)
})

test("holds the mouse on plain elements for as long as it takes them to draw that they are held", async () => {
  await click("efficient", /"Held event"/)
  assert.match(await snapshot("efficient"), /released;/)
})

test("shows what a click sets off a moment later", async () => {
  await snapshot("efficient")
  await click("efficient", /"Slow opener"/)
  assert.match((await bench.call("GET", "/snapshot?mode=efficient&diff=true")).body.snapshot, /\+- button "Came late"/)
})

test("works a field that a component keeps to itself by what is drawn over it", async () => {
  await click("efficient", /^- textbox .*Choose a city/)
  await click("efficient", /"Crew search"/)
  assert.match(await snapshot("efficient"), /city;crew;/)
})

test("says in the list of controls what is asked, hinted and meant, and leaves out what says it twice", async () => {
  const text = await snapshot("efficient")
  for (const line of [
    /^- tab "Arrivals" \[ref/m,
    /^- textbox "Copies" \[ref=\w+\]: 3$/m,
    /^- textbox "Command" \[ref=\w+\] \[placeholder="Type a command"\]$/m,
    /^- switch \[ref=\w+\] \[hint="Express"\]$/m,
    /^- slider \[ref=\w+\].* \[hint="Volume"\]/m,
    /^- dialog "Delete": Delete three files\?$/m,
    /^- menu \[ref=\w+\]$/m,
    /^- generic \[ref=\w+\].* \[hint="knob"\]$/m,
    /^- textbox "Story" \[ref=\w+\] \[placeholder="Write a story"\]$/m,
    /^- button \[ref=\w+\] \[hint="next"\]$/m,
    /^- generic "{" .*\n- text: Small Large\n- generic "}" /m,
    /^- generic "<" .*\n- text: April 2026\n- generic ">" /m,
    /\(of Ann\) \[hint="trash"\]\n.*\(of Bob\) \[hint="trash"\]/,
  ])
    assert.match(text, line)
  assert.doesNotMatch(text, /hint="guard"/, "where the focus turns back is nothing to click")
  assert.equal(text.match(/Inside a wrapper/g)?.length, 1, "the box around a button is not listed")
  await click("efficient", /"day 6"/)
  assert.match(await snapshot("efficient"), /day 6;/)
})

async function look(): Promise<string[]> {
  return (await snapshot("efficient")).split("\n")
}

test("lists a field that nobody sees once, with what is drawn for it", async () => {
  await bench.call("POST", "/navigate", { url: `${pages.url}/drawn.html` })
  // Listeners that scripts have added are looked for during the first snapshots.
  for (let looks = 0; looks < 5 && !(await look()).some((line) => line.includes('"the terms"')); looks += 1);
  const lines = (await look()).map((line) => line.replaceAll(/ \[(?:ref|nth)=\w+\]/g, ""))
  assert.deepEqual(lines, [
    '- heading "Fields" [level=1]',
    '- combobox "Size" [collapsed]: Small',
    '- combobox "Cut" [collapsed]: Slim',
    '- button "Remove Slim"',
    '- textbox [readonly] [hint="Room"]: Large room',
    '- combobox "Colours": Red',
    '- combobox "Kind" [collapsed]: Wool',
    '- textbox "New tag": blue',
    '- textbox "Seats"',
    '- textbox "Row of seats"',
    '- checkbox "Alerts" [checked]',
    '- radio "By train"',
    '- generic "Choose Letter from Ann"',
    '- checkbox "Choose"',
    '- checkbox "I agree to the terms"',
    '- generic "the terms"',
    '- radio "Two stars Two stars"',
    '- button "Add file"',
    '- option "Tag" [selected]',
    '- generic [hint="remove"]',
    '- slider [hint="Tag"]: 20',
    ...[1, 2, 3, 4, 5, 1, 2, 3, 4, 5].map(
      (place) => `- generic (${place} of 5) [hint="${place < 3 ? "star-on" : "star-off"}"]`,
    ),
    '- listbox "Labels"',
    ...["vegan", "spicy", "cheap"].map((choice) => `- option "${choice}"`),
  ])
})

test("keeps one ref for both in the full snapshot too, and shows no value that only a form is told", async () => {
  const text = await snapshot("full")
  assert.match(text, /- combobox \[collapsed\]:\n(?: +- text.*\n)+ +- combobox "Size" \[ref=\w+\]: Small/)
  assert.doesNotMatch(text, /w-1/)
  assert.doesNotMatch(text, /hint="track/)
  assert.match(text, /combobox "Kind" \[ref=\w+\] \[collapsed\]: Wool/)
})

test("works each of them by its one ref", async () => {
  await click("efficient", /combobox "Size"/)
  await click("efficient", /combobox "Cut"/)
  await click("efficient", /button "Remove Slim"/)
  await click("efficient", /: Large room/)
  await click("efficient", /"Colours"/)
  await click("efficient", /generic "Choose Letter from Ann"/)
  await click("efficient", /checkbox "Alerts"/)
  await click("efficient", /radio "By train"/)
  await click("efficient", /radio "Two stars/)
  await click("efficient", /\(4 of 5\)/)
  const lines = await look()
  assert.ok(lines.includes("- status: size;cut;removed;room;colour;row;0-4;"), lines.join("\n"))
  for (const line of [
    /checkbox "Alerts" \[ref=\w+\]$/,
    /radio "By train".*\[checked\]/,
    /radio "Two stars.*\[checked\]/,
  ])
    assert.ok(
      lines.some((each) => line.test(each)),
      `${line} in:\n${lines.join("\n")}`,
    )
})

test("tells after a choice which refs are gone with the list that was drawn anew, and which there are now", async () => {
  const before = await snapshot("efficient")
  const request = { kind: "click", ref: refIn(before, /option "vegan"/), snapshot: "diff" }
  const { body } = await bench.call("POST", "/act", request)
  const told = JSON.stringify(body).replaceAll("\\n", "\n")
  for (const choice of ["vegan", "spicy", "cheap"])
    assert.ok(told.includes(`-- option \\"${choice}\\" [ref=${refIn(before, new RegExp(choice))}]`), told)
  const spicy = /\+- option \\"spicy\\" \[ref=(\w+)\]/.exec(told)?.[1]
  const stale = await bench.call("POST", "/act", { kind: "click", ref: refIn(before, /option "spicy"/) })
  assert.equal(stale.body.error.code, "stale-ref")
  assert.equal((await bench.call("POST", "/act", { kind: "click", ref: spicy })).status, 200)
  assert.match(await snapshot("efficient"), /vegan;spicy;$/m)
})

test("lists what stands inside another thing once, and says what is what", async () => {
  await bench.call("POST", "/navigate", { url: `${pages.url}/within.html` })
  for (let looks = 0; looks < 5 && !(await look()).some((line) => line.includes('link "Answers"')); looks += 1);
  const lines = (await look()).map((line) => line.replaceAll(/ \[(?:ref|nth)=\w+\]/g, ""))
  assert.deepEqual(lines, [
    '- heading "Inside" [level=1]',
    '- treeitem "Trunk Left Middle Right"',
    ...["Left", "Middle", "Right"].map((branch) => `- treeitem "${branch}"`),
    '- treeitem "Inner"',
    '- button "Inner"',
    '- dialog "Remove": This cannot be undone.',
    '- button "Go on"',
    '- canvas "Sales" [200x50]',
    '- button "Call" of "Contact 1"',
    '- button "Call" of "Contact 2"',
    '- button "First of all"',
    '- button "Heart"',
    '- button "Heart"',
    '- combobox "Tags" [collapsed]: Pick tags Tag',
    '- textbox "Tag"',
    '- listbox "People": Loading people',
    '- combobox "Colour" [expanded]: Red',
    '- listbox [hint="Red"]',
    '- option "Red"',
    '- option "Green"',
    '- generic "edit": Untitled plan',
    '- gridcell "24 May"',
    '- gridcell "May, 25"',
    '- textbox "Day"',
    '- dialog "Choose a day"',
    '- button "May"',
    '- generic "Rome"',
    '- generic "Oslo"',
    '- button "Send"',
    '- link "Answers"',
    '- checkbox "Pick ☐" of "Games"',
    '- button "Info" of "Games"',
    '- checkbox "Pick ☐" of "Music"',
    '- button "Info" of "Music"',
    '- combobox "Town" [collapsed]: Oslo',
    ...[1, 2, 3].map((place) => `- textbox (${place} of 3)`),
    '- menuitem "Export"',
    '- tab "1 Address"',
    '- generic "Build"',
  ])
  assert.match(await snapshot("full"), /- canvas "Sales" \[ref=\d+\] \[200x50\]\n(?:.*\n)*- link "Answers"/)
})

test("clicks what was meant where its middle is another control, and types into the field of a box", async () => {
  await click("efficient", /treeitem "Trunk/)
  await click("efficient", /treeitem "Inner"/)
  await click("efficient", /treeitem "Middle"/)
  assert.match(await snapshot("efficient"), /^- status: trunk;bare;Middle;$/m)
  await click("efficient", /gridcell "May, 25"/)
  await click("efficient", /menuitem "Export"/)
  await click("efficient", /generic "Build"/)
  assert.match(await snapshot("efficient"), /;25;entry;task;$/m)
  const ref = refIn(await snapshot("efficient"), /combobox "Tags"/)
  const { status, body } = await bench.call("POST", "/act", { kind: "type", ref, text: "vegan" })
  assert.equal(status, 200, JSON.stringify(body))
  assert.match(await snapshot("efficient"), /textbox "Tag" .*: vegan$/m)
})

test("says a day once, of which row a box is, where things are pulled from and dropped, and the years round the chosen one; a row is clicked beside the sign in it", async () => {
  await bench.call("POST", "/navigate", { url: `${pages.url}/signs.html` })
  for (let looks = 0; looks < 5 && !(await look()).some((line) => line.includes('"Kitchen"')); looks += 1);
  const years = Array.from({ length: 25 }, (_, index) => 2015 + index)
  const lines = (await look()).map((line) => line.replaceAll(/ \[(?:ref|nth)=\w+\]/g, ""))
  assert.deepEqual(lines, [
    '- gridcell "1 May 2027"',
    '- gridcell "2 May 2027"',
    '- treeitem "🗀 Kitchen"',
    '- generic "🗀"',
    "- checkbox (of Jazz)",
    "- checkbox (of Blues)",
    '- generic "Out"',
    '- generic "Drop here"',
    '- generic "Or here"',
    '- listitem "Draft"',
    '- button "Remove"',
    '- combobox "Year"',
    ...years.map((year) => `  - option "${year}"${year === 2027 ? " [selected]" : ""}`),
    "  - text: (175 more options)",
    '- button "Bold"',
    '- button "Quote"',
    '- textbox "Code": let a = 1',
  ])
  await click("efficient", /gridcell "2 May/)
  await click("efficient", /treeitem/)
  await click("efficient", /generic "Out"/)
  assert.match(await snapshot("efficient"), /: day 2;chosen;pulled;$/m)
})

test("gives all that takes clicks on a board a ref of its own, also behind more than is looked at of it", async () => {
  await bench.call("POST", "/navigate", { url: `${pages.url}/board.html` })
  for (let looks = 0; looks < 5 && !(await look()).some((line) => line.includes('"Pump"')); looks += 1);
  await click("full", /"Tank"/)
  await click("efficient", /"Pump"/)
  assert.match(await snapshot("efficient"), /: tank;pump;$/m)
})

test("says where one is, what a range is of, and what canvases show, and nothing that is not seen", async () => {
  await bench.call("POST", "/navigate", { url: `${pages.url}/layers.html` })
  for (let looks = 0; looks < 5 && !(await look()).some((line) => line.includes('"0:30"')); looks += 1);
  const lines = (await look()).map((line) => line.replaceAll(/ \[(?:ref|nth)=\w+\]/g, ""))
  assert.deepEqual(lines, [
    '- heading "Layers" [level=1]',
    '- link "One"',
    '- link "Two" [current]',
    '- link "Three"',
    '- slider [hint="Price range"]: 10',
    '- slider [hint="Price range"]: 90',
    '- separator "Divider": 50',
    '- generic "0:30"',
    '- button "Mute"',
    '- button "Pause"',
    '- button "Share"',
    '- button "Pause"',
    '- listitem "Urgent"',
    '- button "Remove"',
    '- button "Pick" of "Lamp"',
    '- button "Pick" of "Desk"',
    '- radio "Rectangle"',
    '- button "Bold"',
    '- button "Italic"',
    "- textbox",
    '- button "Open"',
    '- listbox "Food"',
    '- option "Soup"',
    '- button "Close"',
    "- canvas [200x60]",
    '- canvas "Sheet" [200x60]',
    "- generic",
    '- canvas "Locked" [200x60]',
    "- generic",
    '- canvas "Ink" [200x60]',
    '- checkbox "Pick Ann"',
    '- gridcell "Ann"',
    '- row "Bob" [selected]',
    '- checkbox "Pick Bob" [checked]',
    '- gridcell "Bob"',
    '- generic "Task"',
    "- generic (of Task)",
    '- button "Later" [collapsed]',
  ])
  const text = await snapshot("full")
  assert.match(text, /- canvas "Sheet" .*\n +- text: Name \| Age\n +- text: Ann \| 31\n/)
  assert.doesNotMatch(text, /Three of nine/)
})

test("clicks a picture of several layers and a bar beside its handle, sets a divider, and shows what a page draws in the next frame", async () => {
  const before = await snapshot("efficient")
  const act = async (line: RegExp, body: object) =>
    (await bench.call("POST", "/act", { ref: refIn(before, line), ...body })).body
  await act(/canvas \[/, { kind: "click", x: 20, y: 30 })
  await act(/canvas \[/, { kind: "click" })
  await act(/"Sheet"/, { kind: "click", x: 50, y: 10 })
  await act(/"Ink"/, { kind: "click", x: 60, y: 20 })
  await act(/"Task"/, { kind: "click" })
  assert.equal((await act(/"Locked"/, { kind: "click", x: 50, y: 10, timeoutMs: 500 })).error.code, "covered")
  assert.equal((await act(/"Divider"/, { kind: "type", text: "65" })).ok, true)
  const text = await snapshot("efficient")
  assert.match(text, /: top 20,30;top 100,30;pane 50,10;under 60,20;bar;$/m)
  assert.match(text, /"Divider".*: 65$/m)
  for (const state of ["expanded", "collapsed", "expanded"]) {
    const { snapshot: shown } = await act(/"Later"/, { kind: "click", snapshot: "efficient" })
    assert.match(shown, new RegExp(`"Later" .*\\[${state}\\]`))
  }
})

test("puts each function into the page under a name of its own", () => {
  const names = [...agentSource("key").matchAll(/^(?:async )?function (\w+)/gm)].map(([, name]) => name)
  assert.deepEqual(
    names.filter((name, index) => names.indexOf(name) !== index),
    [],
  )
  assert.ok(names.length > 200, `${names.length}`)
})
