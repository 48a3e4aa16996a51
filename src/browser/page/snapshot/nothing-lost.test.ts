// The full snapshot leaves out no word that the browser paints, over random trees of roles, handlers, slots and shadow roots.
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
  await bench.call("POST", "/navigate", { url: `${pages.url}/random-tree.html` })
})

after(async () => {
  await bench.stop()
  await pages.stop()
})

const trees = Number(process.env["SVC_TEST_TREES"] ?? 15)

test("has every word that a person can see, or says what it left out", async () => {
  let words = 0
  for (let seed = 1; seed <= trees; seed += 1) {
    const built = await bench.call("POST", "/act", { kind: "evaluate", fn: `() => build(${seed * 7919})` })
    const visible = built.body.result as string[]
    const { snapshot } = (await bench.call("GET", "/snapshot?maxChars=0")).body
    const said = new Set((snapshot as string).match(/w\d+w/g) ?? [])
    const missing = visible.filter((word) => !said.has(word))
    assert.deepEqual(missing, [], `tree ${seed} lost ${missing.length} of ${visible.length} words:\n${snapshot}`)
    words += visible.length
  }
  assert.ok(words > trees * 20, `${words} words are too few to say anything`)
})
