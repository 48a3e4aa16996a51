// What a tab keeps of its frames and of tries that failed: nothing, once they are over.
import assert from "node:assert/strict"
import { test } from "node:test"
import { Secret } from "../../kernel/index.ts"
import { ScriptedBrowser } from "../../../test/support/scripted-browser.ts"
import { waitForBody } from "./response-body.ts"
import { watchEffects } from "./watch-effects.ts"

const signal = new AbortController().signal
const frameOf = (sessionId: string) => ({
  sessionId,
  targetInfo: { targetId: `frame of ${sessionId}`, type: "iframe", url: "https://ads.example/" },
})
/** An object of the page in its console, which is let go of as soon as it is told of. */
const word = { type: "log", args: [{ type: "object", objectId: "1" }], timestamp: 0 }

test("hears nothing more of the frames of a tab that was closed", async () => {
  const browser = new ScriptedBrowser()
  const { tabs, tab } = await browser.open()
  await tab.attach()
  browser.event("Target.attachedToTarget", frameOf("F1"), "S1")
  browser.event("Runtime.consoleAPICalled", word, "F1")
  assert.equal(browser.count("Runtime.releaseObjectGroup"), 1)
  await tabs.close(tab)
  browser.event("Runtime.consoleAPICalled", word, "F1")
  assert.equal(browser.count("Runtime.releaseObjectGroup"), 1)
})

/** Sessions that were told to be without a network, in order. */
function toldOffline({ commands }: ScriptedBrowser) {
  const told = commands.filter(({ method }) => method === "Network.emulateNetworkConditions")
  return told.map(({ sessionId }) => sessionId)
}

test("tells settings to the frames that there are, and to none that are gone", async () => {
  const browser = new ScriptedBrowser()
  const { tab } = await browser.open()
  await tab.attach()
  browser.event("Target.attachedToTarget", frameOf("F1"), "S1")
  browser.event("Target.detachedFromTarget", { sessionId: "F1" }, "S1")
  browser.event("Target.attachedToTarget", frameOf("F2"), "S1")
  await tab.overrides.set({ offline: true }, signal)
  assert.deepEqual(toldOffline(browser), ["S1", "F2"])
})

test("tells settings to a frame that comes while they are set", async () => {
  const browser = new ScriptedBrowser()
  const { tab } = await browser.open()
  await tab.attach()
  const answer = Promise.withResolvers<void>()
  browser.answer("Network.emulateNetworkConditions", ({ sessionId }) => (sessionId === "S1" ? answer.promise : {}))
  const set = tab.overrides.set({ offline: true }, signal)
  browser.event("Target.attachedToTarget", frameOf("F1"), "S1")
  answer.resolve()
  await set
  assert.deepEqual(toldOffline(browser), ["S1", "F1"])
})

test("sets a tab beside a frame that does not answer", async (context) => {
  const browser = new ScriptedBrowser()
  const { tab } = await browser.open()
  await tab.attach()
  browser.event("Target.attachedToTarget", frameOf("F1"), "S1")
  browser.event("Target.attachedToTarget", frameOf("F2"), "S1")
  context.mock.timers.enable({ apis: ["setTimeout"] })
  const told = Promise.withResolvers<void>()
  browser.answer("Network.emulateNetworkConditions", ({ sessionId }) => {
    if (sessionId === "F2") told.resolve()
    return sessionId === "F1" ? new Promise(() => undefined) : {}
  })
  const set = tab.overrides.set({ offline: true }, signal)
  await told.promise
  context.mock.timers.tick(1_000)
  await set
  assert.deepEqual(toldOffline(browser), ["S1", "F1", "F2"])
})

test("sets credentials although a frame goes away meanwhile", async () => {
  const browser = new ScriptedBrowser()
  const { tab } = await browser.open()
  await tab.attach()
  browser.event("Target.attachedToTarget", frameOf("F1"), "S1")
  const told = Promise.withResolvers<void>()
  browser.answer("Fetch.enable", ({ sessionId }) => {
    if (sessionId !== "F1") return {}
    told.resolve()
    return new Promise(() => undefined)
  })
  const pair = { username: "ada", password: new Secret("tea-pot"), origin: "https://a.example" }
  const set = tab.credentials.set(pair, signal)
  await told.promise
  browser.event("Target.detachedFromTarget", { sessionId: "F1" }, "S1")
  await set
})

test("has one session in a tab whose first could not be set up", async () => {
  const browser = new ScriptedBrowser()
  const { tab } = await browser.open()
  browser.answer("Runtime.enable", ({ sessionId }) => {
    if (sessionId === "S1") throw new Error("the page hangs")
    return {}
  })
  await assert.rejects(tab.attach(), /the page hangs/)
  await tab.attach()
  tab.armDialog({ accept: true }, 60_000)
  for (const sessionId of ["S1", "S2"])
    browser.event("Page.javascriptDialogOpening", { type: "confirm", message: "Sure?", url: "" }, sessionId)
  for (const sessionId of ["S1", "S2"]) browser.event("Runtime.consoleAPICalled", word, sessionId)
  assert.equal(tab.dialog, undefined)
  assert.equal(browser.count("Page.handleJavaScriptDialog"), 1)
  assert.equal(tab.recorder.console(undefined).length, 1)
  assert.deepEqual(browser.commands.find(({ method }) => method === "Target.detachFromTarget")?.params, {
    sessionId: "S1",
  })
  await tab.overrides.set({ offline: true }, signal)
  const told = browser.commands.filter(({ method }) => method === "Network.emulateNetworkConditions")
  assert.deepEqual(
    told.map(({ sessionId }) => sessionId),
    ["S2"],
  )
})

test("says that the tab was closed to whoever waits for a response of it", async () => {
  const browser = new ScriptedBrowser()
  const { tabs, tab } = await browser.open()
  await tab.attach()
  const kept = browser.next("Network.enable")
  const waiting = waitForBody(tab, { url: "/never", maxChars: 10, timeoutMs: 20_000 }, undefined)
  const refused = assert.rejects(waiting, { code: "tab-not-found" })
  await kept
  await tabs.close(tab)
  await refused
})

test("makes the world of a document for all who wait for it, whoever of them gives up", async () => {
  const browser = new ScriptedBrowser()
  const { tab } = await browser.open()
  await tab.attach()
  const answer = Promise.withResolvers<object>()
  browser.answer("Page.createIsolatedWorld", () => answer.promise)
  browser.answer("Runtime.evaluate", () => ({ result: {} }))
  const first = new AbortController()
  const givenUp = assert.rejects(tab.frames.world(tab.frames.main, first.signal), /gave up/)
  const waiting = tab.frames.world(tab.frames.main, signal)
  first.abort(new Error("gave up"))
  await givenUp
  answer.resolve({ executionContextId: 7 })
  assert.equal((await waiting).contextId, 7)
  assert.equal(browser.count("Page.createIsolatedWorld"), 1)
})

test("knows the page that a tab has come to while it was attached, and not the one that it began with", async () => {
  const browser = new ScriptedBrowser()
  const { tab } = await browser.open()
  const frame = (id: string, url: string, loaderId: string) => ({ id, url, loaderId })
  const tree = Promise.withResolvers<object>()
  const asked = browser.next("Page.getFrameTree")
  browser.answer("Page.getFrameTree", () => tree.promise)
  const enabled = Promise.withResolvers<object>()
  browser.answer("Runtime.enable", () => enabled.promise)
  const attached = tab.attach()
  await asked
  const child = { ...frame("ad", "https://ads.example/", "2"), parentId: "TAB" }
  tree.resolve({ frameTree: { frame: frame("TAB", "about:blank", "1"), childFrames: [{ frame: child }] } })
  browser.event("Page.frameNavigated", { frame: frame("TAB", "https://b.example/", "3") }, "S1")
  enabled.resolve({})
  await attached
  assert.equal(tab.url, "https://b.example/")
  assert.deepEqual(
    tab.frames.all.map(({ id }) => id),
    ["TAB"],
  )
})

test("gives a response beside a frame that does not answer", async (context) => {
  const browser = new ScriptedBrowser()
  const { tab } = await browser.open()
  await tab.attach()
  browser.event("Target.attachedToTarget", frameOf("F1"), "S1")
  context.mock.timers.enable({ apis: ["setTimeout"] })
  browser.answer("Network.enable", ({ sessionId }) => (sessionId === "F1" ? new Promise(() => undefined) : {}))
  browser.answer("Network.getResponseBody", () => ({ body: "tea", base64Encoded: false }))
  const kept = browser.next("Network.enable")
  const waiting = waitForBody(tab, { url: "/tea", maxChars: 10, timeoutMs: 20_000 }, undefined)
  await kept
  const response = { url: "https://a.example/tea", status: 200, headers: {} }
  browser.event("Network.responseReceived", { requestId: "1", response }, "S1")
  browser.event("Network.loadingFinished", { requestId: "1" }, "S1")
  assert.equal((await waiting).body, "tea")
})

for (const order of ["before", "after"])
  test(`waits for the next page where the one that is left becomes ready ${order} it is on its way`, async () => {
    const browser = new ScriptedBrowser()
    const { tab } = await browser.open()
    await tab.attach()
    const tell = (loaderId: string, name: string) =>
      browser.event("Page.lifecycleEvent", { frameId: "TAB", loaderId, name }, "S1")
    const leave = () => browser.event("Page.frameRequestedNavigation", { frameId: "TAB" }, "S1")
    tell("1", "init")
    const watch = watchEffects(tab)
    if (order === "after") leave()
    tell("1", "DOMContentLoaded")
    if (order === "before") leave()
    let isSettled = false
    const settled = watch.settle(signal, true).then(() => (isSettled = true))
    await new Promise(setImmediate)
    assert.equal(isSettled, false)
    tell("2", "init")
    tell("2", "DOMContentLoaded")
    await settled
    watch.stop()
  })
