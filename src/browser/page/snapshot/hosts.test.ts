// What stands around things that have lines of their own is not listed beside them, and what is parked far off is not listed
// until it is opened.
import assert from "node:assert/strict"
import { join } from "node:path"
import { after, before, beforeEach, test } from "node:test"
import { type BrowserBench, startBrowserBench } from "../../../../test/support/browser-service.ts"
import { type PagesServer, startPagesServer } from "../../../../test/support/pages-server.ts"

let bench: BrowserBench
let pages: PagesServer

before(async () => {
  pages = await startPagesServer({ folder: join(import.meta.dirname, "../../../../test/fixtures/pages") })
  bench = await startBrowserBench()
})

beforeEach(async () => {
  await bench.call("POST", "/navigate", { url: `${pages.url}/hosts.html` })
  // A look for listeners takes a few milliseconds of each snapshot.
  for (let looks = 0; looks < 3; looks += 1) await look("full")
})

after(async () => {
  await bench.stop()
  await pages.stop()
})

const look = async (mode = "efficient") => (await bench.call("GET", `/snapshot?mode=${mode}`)).body.snapshot as string

async function click(name: string): Promise<string> {
  await look()
  const ref = await bench.refOf(name, "?mode=efficient")
  const { status, body } = await bench.call("POST", "/act", { kind: "click", ref, snapshot: "diff" })
  assert.equal(status, 200, JSON.stringify(body))
  return body.snapshot
}

const linesWith = (text: string, words: RegExp) => text.split("\n").filter((line) => words.test(line))

test("lists once a component and the control that it is made of", async () => {
  const text = await look()
  assert.match(linesWith(text, /agree/).join("|"), /^- checkbox "I agree" \[ref=\w+\]$/)
  assert.match(linesWith(text, /Restart/).join("|"), /^- menuitem "Restart" \[ref=\w+\]$/)
  assert.match(linesWith(text, /Rename/).join("|"), /^- menuitem "Rename" \[ref=\w+\] \[disabled\]$/)
  assert.match(linesWith(text, /Town/).join("|"), /^- textbox "Town" \[ref=\w+\]$/, "the label says the same")
})

test("lists once a box to tick that has its words beside it without a label for it", async () => {
  assert.match(linesWith(await look(), /news/).join("|"), /^- checkbox \[ref=\w+\] \[hint="Send me news"\]$/)
  const ref = /checkbox \[ref=(\w+)\] \[hint="Send me news"\]/.exec(await look())?.[1]
  const { body } = await bench.call("POST", "/act", { kind: "click", ref, snapshot: "diff" })
  assert.match(body.snapshot, /^\+- checkbox \[ref=\w+\] \[checked\] \[hint="Send me news"\]$/m)
})

test("does not repeat the words of a table or a dialog for the box around it", async () => {
  const text = await look()
  assert.equal(linesWith(text, /Oslo/).length, 1, text)
  assert.match(await click("Ask"), /^\+- dialog "Sure\?": It cannot be undone\.$/m)
  assert.equal(linesWith(await look(), /undone/).length, 1)
})

test("takes no word that a template leaves for what it does not know for a state", async () => {
  const text = await look()
  assert.match(text, /^- treeitem "Plans" \[ref=\w+\]$/m)
  assert.match(text, /^- treeitem "Notes" \[ref=\w+\] \[current\]$/m)
})

test("says what its makers have marked as disabled, though the browser takes no notice of it", async () => {
  const text = await look()
  assert.match(text, /^- tab "Closed one" \[ref=\w+\] \[disabled\]$/m)
  assert.match(text, /^- tab "Free one" \[ref=\w+\]$/m)
})

test("does not take the names of a field's own buttons for its value", async () => {
  assert.match(await look(), /^- combobox "Hobby" \[ref=\w+\] \[collapsed\]: Chess$/m)
})

test("lists a list that is parked outside the page only when it is opened", async () => {
  assert.doesNotMatch(await look(), /Cherry/)
  assert.doesNotMatch(await look("full"), /Cherry/)
  assert.match(await click("Open fruits"), /^\+- option "Cherry" \[ref=\w+\]$/m)
})

test("waits for what is drawn a moment after it was said", async () => {
  assert.match(await click("Star"), /^\+- button "Star" \[ref=\w+\] \[pressed\]$/m)
})
