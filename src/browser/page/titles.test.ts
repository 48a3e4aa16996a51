// The title that answers carry is told by the page while it is read or clicked, and by the browser where a page cannot.
import assert from "node:assert/strict"
import { after, before, test } from "node:test"
import { type BrowserBench, startBrowserBench } from "../../../test/support/browser-service.ts"

let bench: BrowserBench

before(async () => {
  bench = await startBrowserBench()
})

after(() => bench.stop())

const show = async (html: string) => {
  await bench.call("POST", "/navigate", { url: "about:blank" })
  const fn = `() => { document.documentElement.innerHTML = ${JSON.stringify(html)} }`
  const { status, body } = await bench.call("POST", "/act", { kind: "evaluate", fn })
  assert.equal(status, 200, JSON.stringify(body))
}
const snapshot = async () => (await bench.call("GET", "/snapshot?interactive=true")).body
const click = async (name: string, more: object = {}) => {
  const { status, body } = await bench.call("POST", "/act", { kind: "click", ref: await bench.refOf(name), ...more })
  assert.equal(status, 200, JSON.stringify(body))
  return body
}

test("tells the title as a click has made it, and with the snapshot that was taken then", async () => {
  await show(
    `<title>Inbox</title><button value="0" onclick="document.title = 'Inbox (' + ++this.value + ')'">Check</button>`,
  )
  assert.equal((await snapshot()).title, "Inbox")
  assert.equal((await click("Check")).title, "Inbox (1)")
  assert.equal((await snapshot()).title, "Inbox (1)")
  assert.equal((await snapshot()).title, "Inbox (1)", "also where nothing has changed since")
  const { title, snapshot: text } = await click("Check", { snapshot: "efficient" })
  assert.equal(title, "Inbox (2)")
  assert.match(text, /button "Check"/)
})

test("asks the browser where a form has the name of the title, or the title is too long for an answer", async () => {
  await show(`<title>Signup</title><form name="title"><button type="button">Go</button></form>`)
  assert.equal((await snapshot()).title, "Signup")
  assert.equal((await click("Go")).title, "Signup")
  await show(`<title>Long</title><button onclick="document.title = 'x'.repeat(3000000)">Grow</button>`)
  const { title } = await click("Grow")
  assert.ok(title.startsWith("xxx") && title.length < 10_000, String(title.length))
})

test("tells the title of the next page when a click has loaded one", async () => {
  await show(`<title>First</title><button onclick="location.reload()">Go on</button>`)
  const { title } = await click("Go on")
  assert.notEqual(title, "First")
})

test("a tab that was closed is not there again by what it has still said of itself", async () => {
  const fn = `() => {
    addEventListener("pagehide", () => (document.title = "going"))
    setInterval(() => (document.title = String(Math.random())), 1)
  }`
  for (let count = 0; count < 10; count += 1) {
    const { targetId } = (await bench.call("POST", "/tabs/open", { url: "about:blank" })).body
    await bench.call("POST", "/act", { kind: "evaluate", targetId, fn })
    assert.equal((await bench.call("DELETE", `/tabs/${targetId}`)).status, 200)
    for (let looks = 0; looks < 5; looks += 1) {
      const { tabs } = (await bench.call("GET", "/tabs")).body as { tabs: { targetId: string }[] }
      assert.ok(!tabs.some((tab) => tab.targetId === targetId))
    }
    const next = await bench.call("POST", "/navigate", { url: "about:blank" })
    assert.equal(next.status, 200, JSON.stringify(next.body))
  }
})
