// The actions besides click, type and press, against a real page.
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

const go = (path = "actions.html") => bench.call("POST", "/navigate", { url: `${pages.url}/${path}` })
const act = (body: object) => bench.call("POST", "/act", body)
const done = async (body: object) => {
  const reply = await act(body)
  assert.equal(reply.status, 200, JSON.stringify(reply.body))
  return reply.body
}
const page = async () => (await bench.call("GET", "/snapshot")).body.snapshot as string
const evaluate = async (fn: string) => (await done({ kind: "evaluate", fn })).result

test("hovers over an element, so that what opens under the mouse is there", async () => {
  await go()
  assert.doesNotMatch(await page(), /In the menu/)
  await done({ kind: "hover", ref: await bench.refOf("Hover me") })
  assert.match(await page(), /button "In the menu"/)
})

test("scrolls an element into view", async () => {
  await go()
  await done({ kind: "scrollIntoView", ref: await bench.refOf("Far below") })
  assert.ok(Number(await evaluate("scrollY")) > 1_000)
})

test("drags with the browser's own drag and with the plain mouse", async () => {
  await go()
  await done({ kind: "drag", startRef: await bench.refOf("Parcel"), endRef: await bench.refOf("Shelf") })
  await done({ kind: "drag", startRef: await bench.refOf("Thumb"), endRef: await bench.refOf("End") })
  assert.match(await page(), /dropped:parcel;pulled:true/)
})

test("selects by value or label, several where the list takes them, and nothing when one is missing", async () => {
  await go()
  await done({ kind: "select", ref: await bench.refOf("Colour"), values: ["Green"] })
  await done({ kind: "select", ref: await bench.refOf("Extras"), values: ["Cream", "Ice"] })
  for (const [name, values] of [
    ["Colour", ["Purple"]],
    ["Colour", ["b"]],
    ["Colour", ["r", "g"]],
    ["Name", ["r"]],
  ] as const) {
    const refused = await act({ kind: "select", ref: await bench.refOf(name), values, timeoutMs: 500 })
    assert.deepEqual([refused.status, refused.body.error.code], [400, "bad-request"], name)
  }
  const chosen = "() => [...document.querySelectorAll('option:checked')].map((option) => option.text)"
  assert.deepEqual(await evaluate(chosen), ["Green", "Cream", "Ice"])
  assert.match(await page(), /change:colour;change:extras/)
})

test("fills fields of every kind at once, or none of them", async () => {
  await go()
  const fields = [
    { ref: await bench.refOf("Name"), value: "Ada" },
    { ref: await bench.refOf("News"), type: "checkbox", value: "true" },
    { ref: await bench.refOf("Small"), type: "radio", value: true },
    { ref: await bench.refOf("Colour"), type: "select", value: "g" },
  ]
  const state = `() => { const form = document.forms[0]; return [form.name.value, form.news.checked, form.size[0].checked, form.colour.value] }`
  const before = await evaluate(state)
  for (const wrong of [
    { ref: await bench.refOf("Locked"), value: "x" },
    { ref: "999999", value: "x" },
    { ref: fields[0]?.ref, type: "checkbox", value: true },
  ]) {
    assert.notEqual((await act({ kind: "fill", fields: [...fields, wrong], timeoutMs: 500 })).status, 200)
    assert.deepEqual(await evaluate(state), before)
  }
  await done({ kind: "fill", fields })
  assert.deepEqual(await evaluate(state), ["Ada", true, true, "g"])
  assert.equal((await act({ kind: "fill", fields: [] })).status, 400)
})

test("gives the page a view of another size, again and again", async () => {
  await go()
  for (const [width, height] of [
    [640, 480],
    [1000, 700],
  ]) {
    await done({ kind: "resize", width, height })
    assert.deepEqual(await evaluate("[innerWidth, innerHeight]"), [width, height])
  }
  assert.equal((await act({ kind: "resize", width: 0, height: 5 })).status, 400)
})

test("waits for each condition and for all of them together", async () => {
  await go()
  await done({ kind: "click", ref: await bench.refOf("Later") })
  const conditions = {
    timeMs: 5,
    text: "Here at last",
    textGone: "Still here",
    selector: "#late",
    url: "*done=1",
    loadState: "networkidle",
    fn: "() => document.title === 'Actions'",
  }
  await done({ kind: "wait", ...conditions })
  for (const [name, value] of Object.entries(conditions)) await done({ kind: "wait", [name]: value })
  await done({ kind: "click", ref: await bench.refOf("Leave") })
  await done({ kind: "wait", url: `${pages.url}/sent.html?from=actions`, loadState: "load" })
})

test("gives up a wait when its time is up, and says what it waited for", async () => {
  await go()
  for (const condition of [
    { text: "never" },
    { textGone: "Still here" },
    { selector: "#nothing" },
    { url: "*/nowhere" },
    { fn: "() => false" },
    { fn: "() => missing.thing" },
  ]) {
    const startedAt = performance.now()
    const late = await act({ kind: "wait", ...condition, timeoutMs: 500 })
    assert.deepEqual([late.status, late.body.error.code], [504, "timeout"], JSON.stringify(condition))
    assert.match(late.body.error.message, /in vain/)
    assert.ok(performance.now() - startedAt < 6_000)
  }
  assert.equal((await act({ kind: "wait", selector: "p[" })).status, 400)
  assert.equal((await act({ kind: "wait" })).status, 400)
})

test("evaluates functions and expressions, with an element too, and names what goes wrong", async () => {
  await go()
  assert.equal(await evaluate("1 + 1"), 2)
  assert.deepEqual(await evaluate("async () => ({ title: document.title })"), { title: "Actions" })
  assert.equal(await evaluate("() => undefined"), null)
  const ref = await bench.refOf("Name")
  assert.equal((await done({ kind: "evaluate", ref, fn: "(element) => element.name" })).result, "name")
  for (const fn of [
    "() => { throw new Error('no') }",
    "() => process",
    "this is no code",
    "() => { const a = {}; a.a = a; return a }",
  ]) {
    const failed = await act({ kind: "evaluate", fn })
    assert.deepEqual([failed.status, failed.body.error.code], [400, "evaluate-failed"], fn)
  }
  assert.match((await act({ kind: "evaluate", fn: "'x'.repeat(2e6)" })).body.error.message, /too large/)
})

test("ends code that never ends, with an element and without, and the tab works on", async () => {
  await go()
  const ref = await bench.refOf("Name")
  for (const more of [{}, { ref }]) {
    const endless = await act({ kind: "evaluate", fn: "() => { for (;;) {} }", timeoutMs: 600, ...more })
    assert.equal(endless.body.error.code, "timeout")
    assert.equal(await evaluate("1"), 1)
  }
})

test("closes a tab", async () => {
  const { targetId } = (await bench.call("POST", "/tabs/open", { url: `${pages.url}/sent.html` })).body
  assert.equal((await done({ kind: "close", targetId })).targetId, targetId)
  assert.equal((await bench.call("GET", `/snapshot?targetId=${targetId}`)).status, 404)
})

test("runs no code where evaluation is switched off", async () => {
  const closed = await startBrowserBench({ evaluateEnabled: false })
  try {
    for (const body of [
      { kind: "evaluate", fn: "1" },
      { kind: "wait", fn: "true" },
    ]) {
      const refused = await closed.call("POST", "/act", body)
      assert.deepEqual([refused.status, refused.body.error.code], [403, "evaluate-disabled"])
      assert.match(refused.body.error.hint, /browser\.evaluateEnabled/)
    }
    assert.equal((await closed.call("GET", "/tabs")).body.running, false)
  } finally {
    await closed.stop()
  }
})
