// Components that tell their role, states and value to the browser alone (`ElementInternals`).
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
  await bench.call("POST", "/navigate", { url: `${pages.url}/internals.html` })
})

after(async () => {
  await bench.stop()
  await pages.stop()
})

const look = async () => (await bench.call("GET", "/snapshot?mode=efficient")).body.snapshot as string

/** Acts on what has this name, and gives what the action says has changed. */
async function act(name: string, request: object): Promise<string> {
  await look()
  const ref = await bench.refOf(name, "?mode=efficient")
  const { status, body } = await bench.call("POST", "/act", { ref, snapshot: "diff", ...request })
  assert.equal(status, 200, JSON.stringify(body))
  return body.snapshot
}

test("says how they stand, and what has changed though nothing in the document has", async () => {
  const before = await look()
  assert.match(before, /- checkbox "Agree" \[ref=\w+\]$/m)
  assert.match(before, /- button "Fruits" \[ref=\w+\] \[collapsed\]$/m)
  assert.match(before, /- slider "Volume" \[ref=\w+\]: 5$/m)
  assert.match(await act("Agree", { kind: "click" }), /^\+- checkbox "Agree" \[ref=\w+\] \[checked\]$/m)
  assert.match(await act("Agree", { kind: "click" }), /^\+- checkbox "Agree" \[ref=\w+\]$/m)
  assert.match(await act("Bold", { kind: "click" }), /^\+- button "Bold" \[ref=\w+\] \[pressed\]$/m)
  assert.match(await act("Fruits", { kind: "click" }), /^\+- button "Fruits" \[ref=\w+\] \[expanded\]$/m)
})

test("brings a slider of this kind to a number", async () => {
  assert.match(await act("Volume", { kind: "type", text: "9" }), /^\+- slider "Volume" \[ref=\w+\]: 9$/m)
})

test("lists the entries of a list of this kind, which take no focus of their own", async () => {
  assert.match(await act("Banana", { kind: "click" }), /^\+- option "Banana" \[ref=\w+\] \[selected\]$/m)
})
