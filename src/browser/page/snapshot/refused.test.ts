// A field that is refused says so, and why: whether the page refuses it or the browser.
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
})

after(async () => {
  await bench.stop()
  await pages.stop()
})

async function clickFor(name: string): Promise<string> {
  await bench.call("POST", "/navigate", { url: `${pages.url}/refused.html` })
  const ref = await bench.refOf(name, "?mode=efficient")
  const { body } = await bench.call("POST", "/act", { kind: "click", ref, snapshot: "diff" })
  return body.snapshot
}

test("tells which fields the browser refuses to send, in the answer to the click that was to send them", async () => {
  assert.match(await clickFor("Send"), /^\+- textbox "Name" \[ref=\w+\] \[invalid="[^"\]]{5,}"\]$/m)
  const { snapshot } = (await bench.call("GET", "/snapshot?mode=full")).body
  assert.match(snapshot, /- textbox "Name" \[ref=\w+\] \[invalid="[^"\]]{5,}"\]$/m)
  assert.match(snapshot, /- textbox "Mail" \[ref=\w+\]$/m)
})

test("tells what the page has against a field, in a list of controls with its words", async () => {
  assert.match(await clickFor("Save"), /^\+- textbox "User" \[ref=\w+\] \[invalid="Letters only\. That is taken\."\]$/m)
  const { snapshot } = (await bench.call("GET", "/snapshot?mode=full")).body
  assert.match(snapshot, /- textbox "User" \[ref=\w+\] \[invalid\]$/m)
  assert.match(snapshot, /That is taken\./)
})

test("tells in a list of controls what only the look of the words beside a field says", async () => {
  await bench.call("POST", "/navigate", { url: `${pages.url}/refused.html` })
  const { snapshot } = (await bench.call("GET", "/snapshot?mode=efficient")).body
  assert.match(snapshot, /^- textbox "Town" \[ref=\w+\] \[invalid="There is no such town"\]$/m)
})
