// Lists of suggestions that open at a key, not at what the field holds.
import assert from "node:assert/strict"
import { join } from "node:path"
import { after, before, test } from "node:test"
import { type BrowserBench, startBrowserBench } from "../../../test/support/browser-service.ts"
import { type PagesServer, startPagesServer } from "../../../test/support/pages-server.ts"

let bench: BrowserBench
let pages: PagesServer

before(async () => {
  pages = await startPagesServer({ folder: join(import.meta.dirname, "../../../test/fixtures/pages") })
  bench = await startBrowserBench()
  await bench.call("POST", "/navigate", { url: `${pages.url}/openers.html` })
})

after(async () => {
  await bench.stop()
  await pages.stop()
})

async function type(name: string, text: string): Promise<string> {
  const ref = await bench.refOf(name, "?mode=efficient")
  const { status, body } = await bench.call("POST", "/act", { kind: "type", ref, text, snapshot: "efficient" })
  assert.equal(status, 200, JSON.stringify(body))
  return body.snapshot
}

test("opens the list of a field for suggestions with the text that is typed into it, also letter by letter", async () => {
  assert.match(await type("Town", "gr"), /combobox "Town" .*\[expanded\].*: gr\n.*\n- option "Graz"/)
  assert.match(await type("Town", "w"), /combobox "Town" .*\[expanded\].*: w\n.*\n- option "Wels"/)
})

test("gives other fields their text without keys", async () => {
  assert.match(await type("Note", "gr"), /textbox "Note" .*: gr$/m)
  const { body } = await bench.call("POST", "/act", { kind: "evaluate", fn: "() => keys.textContent" })
  assert.equal(body.result, "")
})
