// A tab in a person's hands is nobody else's, and the agent's again when it is given back, whatever its page is doing.
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { test } from "node:test"
import pino from "pino"
import { startBrowserBench } from "../../../test/support/browser-service.ts"
import { ScriptedBrowser } from "../../../test/support/scripted-browser.ts"
import { createBackground, systemClock } from "../../kernel/index.ts"
import { Casts } from "../live/casts.ts"
import { findPicker } from "./pickers.ts"
import { Takeover } from "./takeover.ts"

/** A tab in which the person has typed. */
async function takeOver() {
  const browser = new ScriptedBrowser()
  const background = createBackground(pino({ level: "silent" }))
  const { tabs, tab } = await browser.open({ background })
  browser.answer("Page.createIsolatedWorld", () => ({ executionContextId: 1 }))
  browser.answer("Runtime.evaluate", () => ({ result: { value: true } }))
  const takeover = await Takeover.begin({ tab, tabs, casts: new Casts(background), background })
  await takeover.input([{ kind: "text", text: "a word" }])
  return { browser, tab, takeover }
}

test("gives a tab back whose page asks a question", async () => {
  const { browser, tab, takeover } = await takeOver()
  const question = { type: "confirm", message: "Leave?", url: "https://a.example/" }
  browser.event("Page.javascriptDialogOpening", question, "S1")
  const before = browser.count("Runtime.evaluate")
  browser.answer("Runtime.evaluate", () => new Promise(() => undefined))
  await takeover.end()
  assert.equal(tab.isTaken, false)
  // It is told all the same, for when the question is answered.
  assert.equal(browser.count("Runtime.evaluate"), before + 1)
})

test("gives a tab back whose page cannot be told of it", async () => {
  const { browser, tab, takeover } = await takeOver()
  browser.answer("Runtime.evaluate", () => ({ result: {}, exceptionDetails: { text: "broken by the page" } }))
  await takeover.end()
  assert.equal(tab.isTaken, false)
})

/** A taken tab with a frame that does not answer before it is let, and what the focus is in: a frame, or the page's own. */
async function takeOverBesideStuckFrame(focused: "stuck" | "login" | undefined) {
  const browser = new ScriptedBrowser()
  const background = createBackground(pino({ level: "silent" }))
  // Whoever waits for the frame for some time only has waited long enough.
  const { tabs, tab } = await browser.open({ background, clock: { ...systemClock, sleep: () => Promise.resolve() } })
  const stuck = Promise.withResolvers<void>()
  browser.answer("Page.createIsolatedWorld", async ({ params }) => {
    if (params["frameId"] === "stuck") await stuck.promise
    return { executionContextId: 1 }
  })
  browser.answer("Runtime.evaluate", ({ params }) => ({
    result: { value: !focused || !String(params["expression"]).includes("activeElement") },
  }))
  browser.answer("DOM.getFrameOwner", ({ params }) => ({ backendNodeId: params["frameId"] === focused ? 1 : 2 }))
  browser.answer("DOM.resolveNode", ({ params }) => ({ object: { objectId: String(params["backendNodeId"]) } }))
  browser.answer("Runtime.callFunctionOn", ({ params }) => ({ result: { value: params["objectId"] === "1" } }))
  const takeover = await Takeover.begin({ tab, tabs, casts: new Casts(background), background })
  browser.event("Page.frameAttached", { frameId: "stuck", parentFrameId: "TAB" }, "S1")
  return { browser, tab, takeover, stuck }
}

const press = {
  kind: "mouse",
  event: "down",
  x: 1,
  y: 2,
  button: "left",
  clicks: 1,
  held: false,
  modifiers: 0,
} as const

test("takes presses and words for the page beside a frame that does not answer", async () => {
  const { browser, takeover } = await takeOverBesideStuckFrame(undefined)
  await takeover.input([press, { kind: "text", text: "a word" }])
  assert.equal(browser.count("Input.dispatchMouseEvent"), 1)
  assert.equal(browser.count("Input.insertText"), 1)
  browser.connection.close()
})

test("types nothing into a frame before what is typed there is concealed", async () => {
  const { browser, takeover, stuck } = await takeOverBesideStuckFrame("stuck")
  await takeover.input([press])
  const asked = browser.next("Runtime.callFunctionOn")
  const typed = takeover.input([{ kind: "text", text: "a word" }])
  await asked
  await new Promise(setImmediate)
  assert.equal(browser.count("Input.insertText"), 0)
  stuck.resolve()
  await typed
  assert.equal(browser.count("Input.insertText"), 1)
})

test("takes the words for one frame beside another that does not answer", async () => {
  const { browser, takeover } = await takeOverBesideStuckFrame("login")
  browser.event("Page.frameAttached", { frameId: "login", parentFrameId: "TAB" }, "S1")
  await takeover.input([press, { kind: "text", text: "a word" }])
  assert.equal(browser.count("Input.insertText"), 1)
  browser.connection.close()
})

test("waits for no list of a frame that stops to answer", async () => {
  const { browser, tab, takeover, stuck } = await takeOverBesideStuckFrame(undefined)
  stuck.resolve()
  await takeover.input([press, press])
  browser.answer("Runtime.evaluate", () => new Promise(() => undefined))
  for (let count = 0; count < 2; count += 1)
    assert.equal(await findPicker(tab, new AbortController().signal), undefined)
  browser.connection.close()
})

test("types into the frame with the focus beside one of another site that hangs", async () => {
  const login = `<input style="position:fixed;left:0;top:0" oninput="parent.document.title = 'typed'">`
  const pages: Record<string, string> = {
    "/": `<title>login</title><body style="margin:0"><iframe style="border:0" srcdoc="${login.replaceAll('"', "&quot;")}"></iframe><iframe id="ad"></iframe><script>ad.src = "http://localhost:" + location.port + "/ad"</script>`,
    "/ad": "<script>onmessage = () => { for (;;); }; parent.postMessage('', '*')</script>",
  }
  const site = createServer((request, response) =>
    response.setHeader("content-type", "text/html").end(pages[request.url ?? ""] ?? ""),
  )
  await once(site.listen(0, "127.0.0.1"), "listening")
  const bench = await startBrowserBench()
  try {
    const url = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`
    const { targetId } = (await bench.call("POST", "/tabs/open", { url })).body
    await bench.call("POST", "/act", { kind: "evaluate", fn: "() => ad.contentWindow.postMessage('', '*')" })
    const takeover = await bench.service.takeOver({ profile: "managed", targetId })
    await takeover.input([
      { ...press, x: 10, y: 10 },
      { ...press, event: "up", x: 10, y: 10 },
    ])
    await takeover.input([{ kind: "text", text: "a word" }])
    await takeover.end()
    const { title } = (await bench.call("POST", "/act", { kind: "wait", timeMs: 1, targetId })).body
    assert.equal(title, "typed")
  } finally {
    await bench.stop()
    site.closeAllConnections()
    site.close()
  }
})

test("takes a tab before it is attached to, and gives it back where that fails", async () => {
  const browser = new ScriptedBrowser()
  const background = createBackground(pino({ level: "silent" }))
  const { tabs, tab } = await browser.open({ background })
  const attached = Promise.withResolvers<object>()
  browser.answer("Target.attachToTarget", () => attached.promise)
  const asked = browser.next("Target.attachToTarget")
  const beginning = Takeover.begin({ tab, tabs, casts: new Casts(background), background })
  await asked
  assert.throws(() => tab.checkTaken(), { code: "tab-taken" })
  attached.reject(new Error("the page hangs"))
  await assert.rejects(beginning, /the page hangs/)
  assert.equal(tab.isTaken, false)
})
