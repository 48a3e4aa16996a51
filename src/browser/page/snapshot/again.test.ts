// What opens for a while and hides the page behind it: when it has closed, the page need not be told again.
import assert from "node:assert/strict"
import { after, before, test } from "node:test"
import { type BrowserBench, startBrowserBench } from "../../../../test/support/browser-service.ts"

let bench: BrowserBench

const rows = Array.from({ length: 40 }, (_, row) => `<button>Open file number ${row}</button>`).join("")
const html = `<!doctype html><html lang=en><title>Files</title><div id=page>${rows}
  <button onclick="ask.hidden = false; page.inert = true">Empty the bin</button><output role=status id=said></output></div>
  <div role=dialog aria-label="Sure?" id=ask hidden><p>It cannot be undone.</p>
  <button onclick="ask.hidden = true; page.inert = false">Keep all</button>
  <button onclick="ask.hidden = true; page.inert = false; said.textContent = 'The bin is empty'">Empty it</button></div>
  <button onclick="page.inert = false; page.innerHTML = page.innerHTML.replaceAll('file', 'folder')">Other</button>`

before(async () => {
  bench = await startBrowserBench()
})
after(() => bench.stop())

async function open(): Promise<void> {
  const { targetId } = (await bench.call("POST", "/tabs/open", { url: "about:blank" })).body
  const fn = `() => { document.write(${JSON.stringify(html)}); document.close() }`
  assert.equal((await bench.call("POST", "/act", { kind: "evaluate", fn, targetId })).status, 200)
}

async function click(name: string): Promise<string> {
  const { status, body } = await bench.call("POST", "/act", {
    kind: "click",
    ref: await bench.refOf(name),
    snapshot: "diff",
  })
  assert.equal(status, 200, JSON.stringify(body))
  return body.snapshot
}

test("tells in a line that the page is again as it was before a dialog, and what else has changed", async () => {
  await open()
  await bench.call("GET", "/snapshot?mode=efficient")
  assert.match(await click("Empty the bin"), /dialog "Sure\?": It cannot be undone\./)
  assert.equal(await click("Keep all"), "(again as it was before the last change)")
  await click("Empty the bin")
  assert.match(
    await click("Empty it"),
    /^\(again as it was before the last change, but for:\)\n\+- status.*: The bin is empty$/,
  )
})

test("tells the page as a whole where it is another one than before the dialog", async () => {
  await open()
  await bench.call("GET", "/snapshot?mode=efficient")
  await click("Empty the bin")
  const text = await click("Other")
  assert.match(text, /Open folder number 19/)
  assert.doesNotMatch(text, /again as it was/)
})
