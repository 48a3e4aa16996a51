// Roles and names of what can be acted on are those that the browser computes for screen readers: slotted text, labels,
// words of style sheets, what custom elements say of themselves.
import assert from "node:assert/strict"
import { join } from "node:path"
import { after, before, test } from "node:test"
import { type BrowserBench, startBrowserBench } from "../../../../test/support/browser-service.ts"
import { type Compared, compareNames, explain, isSame } from "../../../../test/support/compare-names.ts"
import { freePort } from "../../../../test/support/gateway.ts"
import { type PagesServer, startPagesServer } from "../../../../test/support/pages-server.ts"

let bench: BrowserBench
let pages: PagesServer

before(async () => {
  pages = await startPagesServer({ folder: join(import.meta.dirname, "../../../../test/fixtures/pages") })
  // The judge has a connection of its own.
  bench = await startBrowserBench({ profiles: { managed: { driver: "managed", cdpPort: await freePort() } } })
})

after(async () => {
  await bench.stop()
  await pages.stop()
})

test("says the same roles and names as the browser", async () => {
  const all: Compared[] = []
  for (const page of [
    "names.html",
    "forms.html",
    "reach.html",
    "shadow.html",
    "actions.html",
    "dialogs.html",
    "shop/",
  ]) {
    const { targetId } = (await bench.call("POST", "/navigate", { url: `${pages.url}/${page}` })).body
    const compared = await compareNames(bench, targetId)
    assert.ok(compared.length > 3, `${page}: only ${compared.length}`)
    all.push(...compared)
  }
  const others = all.filter((each) => !isSame(each))
  assert.deepEqual(
    others.filter((each) => explain(each) === undefined),
    [],
    "each difference has one of the explanations of docs/decisions/accessible-names.md",
  )
  assert.ok(all.length > 100 && others.length <= 2, `${others.length} of ${all.length} differ`)
})
