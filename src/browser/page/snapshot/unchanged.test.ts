// A snapshot that is asked for again is the last one where nothing has changed: also what leaves no trace in the document is
// a change. Another tab tells the page what to do, since input to the tab itself is reason enough to walk anew.
import assert from "node:assert/strict"
import { join } from "node:path"
import { after, before, test } from "node:test"
import { type BrowserBench, startBrowserBench } from "../../../../test/support/browser-service.ts"
import { type PagesServer, startPagesServer } from "../../../../test/support/pages-server.ts"

let bench: BrowserBench
let pages: PagesServer
let page: string
let other: string

before(async () => {
  pages = await startPagesServer({ folder: join(import.meta.dirname, "../../../../test/fixtures/pages") })
  bench = await startBrowserBench()
  const open = async () => {
    const { body } = await bench.call("POST", "/tabs/open", { url: `${pages.url}/traceless.html` })
    return body.targetId as string
  }
  page = await open()
  other = await open()
})

after(async () => {
  await bench.stop()
  await pages.stop()
})

async function snapshot(query = "mode=full"): Promise<string> {
  return (await bench.call("GET", `/snapshot?${query}&targetId=${page}`)).body.snapshot
}

/** Has the page do it, and waits until it has. */
async function tell(what: string): Promise<void> {
  const fn = `() => new Promise((resolve) => {
    const answers = new BroadcastChannel("done")
    answers.onmessage = ({ data }) => resolve(data)
    new BroadcastChannel("do").postMessage(${JSON.stringify(what)})
  })`
  const { body } = await bench.call("POST", "/act", { kind: "evaluate", fn, targetId: other })
  assert.equal(body.result, what, JSON.stringify(body))
}

const cases: [name: string, what: string, shown: RegExp][] = [
  ["a popover that a script opens", "openPopover", /^\+.*: Saved to disk$/m],
  ["a popover in a shadow root", "openInner", /^\+.*: Saved inside$/m],
  ["a further choice of a list", "chooseMore", /^\+.*option "Rome" \[selected\]$/m],
  ["a box that is neither ticked nor not", "setMixed", /^\+.*checkbox "All".*\[checked=mixed\]$/m],
  ["a rule that a script puts into a style sheet", "showByRule", /^\+.*: Shown by a rule$/m],
  ["a style sheet that is switched off", "showBySheet", /^\+.*: Shown without a sheet$/m],
  ["a component that is defined late", "defineOpen", /^\+.*button "Late and open"/m],
  ["a closed component that is defined late", "defineClosed", /^\+.*button "Late and closed"/m],
]
for (const [name, what, shown] of cases)
  test(`tells ${name} from the snapshot before`, async () => {
    const first = await snapshot()
    assert.equal(await snapshot("mode=full&diff=true"), "(no changes)")
    await tell(what)
    assert.match(await snapshot("mode=full&diff=true"), shown, first)
  })
