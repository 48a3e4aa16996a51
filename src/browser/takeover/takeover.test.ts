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

test("gives the page each thing that hands do, as a browser has it of mouse and keyboard", async () => {
  const { browser, takeover } = await takeOver()
  const mouse = { kind: "mouse", x: 3, y: 4, button: "left", clicks: 1, held: false, modifiers: 0 } as const
  const key = { kind: "key", event: "down", key: "a", code: "KeyA", keyCode: 65, modifiers: 0 } as const
  const given = async (event: Parameters<typeof takeover.input>[0][number]) => {
    browser.commands.length = 0
    await takeover.input([event])
    const told = browser.commands.filter(({ method }) => /^(?:Input|Page)\.(?!createIsolatedWorld)/.test(method))
    return told.map(({ method, params }) => [method.split(".")[1], params])
  }
  const at = { x: 3, y: 4, modifiers: 0 }
  const moved = { type: "mouseMoved", ...at }
  const letter = { key: "a", code: "KeyA", windowsVirtualKeyCode: 65, modifiers: 0 }
  for (const [event, method, params] of [
    [{ ...mouse, event: "move" }, "dispatchMouseEvent", { ...moved, button: "none", buttons: 0 }],
    [{ ...mouse, event: "move", held: true }, "dispatchMouseEvent", { ...moved, button: "left", buttons: 1 }],
    [
      { ...mouse, event: "move", held: true, button: "right" },
      "dispatchMouseEvent",
      { ...moved, button: "right", buttons: 2 },
    ],
    [
      { ...mouse, event: "down", button: "middle", clicks: 2, modifiers: 8 },
      "dispatchMouseEvent",
      { type: "mousePressed", ...at, modifiers: 8, button: "middle", buttons: 4, clickCount: 2 },
    ],
    [
      { ...mouse, event: "up" },
      "dispatchMouseEvent",
      { type: "mouseReleased", ...at, button: "left", buttons: 0, clickCount: 1 },
    ],
    [
      { kind: "wheel", x: 3, y: 4, dx: 5, dy: -6 },
      "dispatchMouseEvent",
      { type: "mouseWheel", x: 3, y: 4, deltaX: 5, deltaY: -6 },
    ],
    [key, "dispatchKeyEvent", { ...letter, type: "keyDown", text: "a", unmodifiedText: "a" }],
    [{ ...key, event: "up" }, "dispatchKeyEvent", { ...letter, type: "keyUp" }],
    [{ ...key, modifiers: 2 }, "dispatchKeyEvent", { ...letter, modifiers: 2, type: "rawKeyDown" }],
    [{ ...key, modifiers: 4 }, "dispatchKeyEvent", { ...letter, modifiers: 4, type: "rawKeyDown" }],
    [
      { ...key, key: "A", modifiers: 8 },
      "dispatchKeyEvent",
      { ...letter, key: "A", modifiers: 8, type: "keyDown", text: "A", unmodifiedText: "A" },
    ],
    [
      { ...key, key: "Enter", code: "Enter", keyCode: 13 },
      "dispatchKeyEvent",
      {
        key: "Enter",
        code: "Enter",
        windowsVirtualKeyCode: 13,
        modifiers: 0,
        type: "keyDown",
        text: "\r",
        unmodifiedText: "\r",
      },
    ],
    [
      { ...key, key: "Tab", code: "Tab", keyCode: 9 },
      "dispatchKeyEvent",
      { key: "Tab", code: "Tab", windowsVirtualKeyCode: 9, modifiers: 0, type: "rawKeyDown" },
    ],
    [{ kind: "text", text: "words" }, "insertText", { text: "words" }],
    [{ kind: "reload" }, "reload", {}],
  ] as const)
    assert.deepEqual(await given(event), [[method, params]], JSON.stringify(event))
  assert.deepEqual(await given({ kind: "dialog", accept: true }), [], "there is no question")
  browser.answer("Page.getNavigationHistory", () => ({ currentIndex: 1, entries: [{ id: 7 }, { id: 8 }] }))
  assert.deepEqual((await given({ kind: "back" })).at(-1), ["navigateToHistoryEntry", { entryId: 7 }])
  browser.answer("Page.getNavigationHistory", () => ({ currentIndex: 0, entries: [{ id: 7 }, { id: 8 }] }))
  assert.equal((await given({ kind: "back" })).length, 1, "there is nothing before")
  browser.event("Page.javascriptDialogOpening", { type: "prompt", message: "Name?", url: "https://a.example/" }, "S1")
  assert.deepEqual(takeover.state.dialog, { type: "prompt", message: "Name?" })
  for (const event of [{ ...mouse, event: "move" }, { kind: "text", text: "x" }, { kind: "reload" }] as const)
    assert.deepEqual(await given(event), [], "the question is first")
  const answered = await given({ kind: "dialog", accept: false, text: "Ada" })
  assert.deepEqual(answered, [["handleJavaScriptDialog", { accept: false, promptText: "Ada" }]])
  browser.event("Page.javascriptDialogClosed", { result: false }, "S1")
  await takeover.end()
  await assert.rejects(takeover.input([mouse as never]), { code: "tab-not-found", message: /not in anybody's hands/ })
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
