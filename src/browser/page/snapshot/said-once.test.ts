// What component libraries draw several times over for one thing, has one line; what they keep from screen readers and
// people work all the same, has one too.
import assert from "node:assert/strict"
import { join } from "node:path"
import { after, before, test } from "node:test"
import { type BrowserBench, startBrowserBench } from "../../../../test/support/browser-service.ts"
import { type PagesServer, startPagesServer } from "../../../../test/support/pages-server.ts"

let bench: BrowserBench
let pages: PagesServer
let list: string[]

async function look(mode: "efficient" | "full"): Promise<string[]> {
  return (await bench.call("GET", `/snapshot?mode=${mode}`)).body.snapshot.split("\n")
}

before(async () => {
  pages = await startPagesServer({ folder: join(import.meta.dirname, "../../../../test/fixtures/pages") })
  bench = await startBrowserBench()
  await bench.call("POST", "/navigate", { url: `${pages.url}/said-once.html` })
  list = await look("efficient")
  // A look for listeners takes a few milliseconds of each snapshot.
  for (let looks = 0; looks < 5 && !list.some((line) => /"cross icon"|▾" \[ref/.test(line)); looks += 1)
    list = await look("efficient")
})

after(async () => {
  await bench.stop()
  await pages.stop()
})

/** The lines that hold any of these words, without their refs. */
function lines(words: RegExp, of = list): string[] {
  return of.filter((line) => words.test(line)).map((line) => line.trim().replace(/ \[ref=\w+\]/, ""))
}

async function click(line: RegExp): Promise<string> {
  const ref = /\[ref=(\w+)\]/.exec(list.find((each) => line.test(each)) ?? "")?.[1]
  const { status, body } = await bench.call("POST", "/act", { kind: "click", ref })
  assert.equal(status, 200, `${line}: ${JSON.stringify(body)}`)
  const said = await bench.call("POST", "/act", { kind: "evaluate", fn: "() => guests.value + done.textContent" })
  return said.body.result
}

test("lists small controls that only screen readers are not told of, and nothing that covers or is kept away", async () => {
  assert.deepEqual(lines(/"up|cross|arrow|Kept away|Behind|Upload|backdrop/), [
    '- button [hint="up"]',
    '- generic (of Rome) [hint="cross icon"]',
    '- button "Upload" [disabled]',
  ])
  assert.equal(await click(/hint="up"/), "3")
  assert.equal(await click(/hint="cross icon"/), "3cross;")
})

test("tells what a tip says that shows beside a control", () => {
  assert.deepEqual(lines(/Adds a guest/), ['- tooltip "Adds a guest"'])
})

test("lists what a framework answers the right button for, where only the root of the page listens", async () => {
  const isListed = async () => lines(/Menu at/, await look("efficient")).length > 0
  for (let looks = 0; looks < 5 && !(await isListed()); looks += 1);
  assert.deepEqual(lines(/Menu at/, await look("efficient")), ['- generic "Menu at the right button"'])
})

test("tells what is drawn beside a field as its value, not as a guess of its name", () => {
  assert.deepEqual(lines(/Blue/), ["- textbox [collapsed]: Blue"])
})

test("names an entry of a tree by its own words, once, and keeps what opens it and what stands below it", async () => {
  const tree = /src|app\.ts|▾|Load more/
  assert.deepEqual(lines(tree), [
    '- treeitem "▾ src" [expanded]',
    '- generic "▾"',
    '- treeitem "app.ts"',
    '- generic "Load more"',
  ])
  assert.deepEqual(lines(tree, await look("full")), [
    '- treeitem "▾ src" [expanded]:',
    '- generic "▾"',
    '- generic "src"',
    '- treeitem "app.ts"',
    '- generic "Load more"',
  ])
})

test("has one line for a box to tick and what draws it, and for an entry and the box or link in it", () => {
  assert.deepEqual(lines(/Row one|Oslo|Bergen|Bodo|"File"/), [
    '- checkbox "Row one"',
    '- option "Oslo" [selected]',
    '- option "Bergen"',
    '- option "Bodo"',
    '- menuitem "File"',
  ])
})

test("has no line for a cell that says what its controls or its row say, and none for the corner of a table", () => {
  assert.deepEqual(lines(/cell|columnheader|a\.txt|Figma|Canva|65/), [
    '- columnheader "Size" [sorted=descending]',
    '- row "a.txt"',
    '- checkbox "Select a.txt"',
    '- gridcell "9 kB"',
    '- row "Figma"',
    '- button "Drag Figma"',
    '- row "Canva"',
    '- gridcell "Drag Canva Canva, for drawing"',
    '- button "Drag Canva"',
  ])
})

test("has no line for the words that name a control, for helpers of the keyboard, or with words of something else", () => {
  assert.deepEqual(lines(/Plan/), ['- button "Plan"'])
  assert.deepEqual(lines(/hint="away"/), [])
  assert.deepEqual(lines(/Next thing|of "(Rome|Paris)"/), [])
})
