// A screencast lasts for as long as somebody looks, and not a moment longer.
import assert from "node:assert/strict"
import { test } from "node:test"
import pino from "pino"
import { ScriptedBrowser } from "../../../test/support/scripted-browser.ts"
import { createBackground } from "../../kernel/index.ts"
import { concealWords } from "../page/concealment.ts"
import { Casts } from "./casts.ts"

for (const step of ["Target.activateTarget", "Page.startScreencast"])
  test(`does not go on when nobody looks any more at ${step}`, async (t) => {
    t.mock.timers.enable({ apis: ["setInterval"] })
    const browser = new ScriptedBrowser()
    const background = createBackground(pino({ level: "silent" }))
    const { tab } = await browser.open({ background })
    const shown = Promise.withResolvers<void>()
    browser.answer(step, () => shown.promise)
    const viewer = new AbortController()
    const asked = browser.next(step)
    const watching = new Casts(background).watch(tab, viewer.signal)
    await asked
    viewer.abort()
    shown.resolve()
    await watching.catch(() => undefined)
    await background.idle()
    const casts = browser.commands.filter(({ method }) => /^Page\.st\w+Screencast$/.test(method))
    assert.notEqual(casts.at(-1)?.method, "Page.startScreencast")
    const looks = browser.count("Target.activateTarget")
    t.mock.timers.tick(3_000)
    await background.idle()
    assert.equal(browser.count("Target.activateTarget"), looks)
  })

test("does not begin for a viewer who left while the tab was attached to", async () => {
  const browser = new ScriptedBrowser()
  const background = createBackground(pino({ level: "silent" }))
  const { tab } = await browser.open({ background })
  const attached = Promise.withResolvers<object>()
  browser.answer("Target.attachToTarget", () => attached.promise)
  const viewer = new AbortController()
  const watching = new Casts(background).watch(tab, viewer.signal)
  viewer.abort()
  attached.resolve({ sessionId: "S1" })
  const { next } = await watching
  assert.equal(await next(), undefined)
  assert.equal(browser.count("Page.startScreencast"), 0)
})

test("shows a page beside a frame that does not answer, unless what was filled in may stand in that", async () => {
  const browser = new ScriptedBrowser()
  const background = createBackground(pino({ level: "silent" }))
  const { tab } = await browser.open({ background })
  browser.answer("Page.createIsolatedWorld", ({ params }) =>
    params["frameId"] === "stuck" ? new Promise(() => undefined) : { executionContextId: 1 },
  )
  browser.answer("Runtime.evaluate", () => ({ result: { value: "https://a.example" } }))
  await tab.attach()
  browser.event("Page.frameAttached", { frameId: "stuck", parentFrameId: "TAB" }, "S1")
  const show = (url: string, signal = new AbortController().signal) => {
    browser.event("Page.frameNavigated", { frame: { id: "stuck", parentId: "TAB", url, loaderId: url } }, "S1")
    return concealWords(tab, signal)
  }
  // A person has typed: that is concealed where it stands.
  tab.concealment.isUsed = true
  await show("https://a.example/frame")
  tab.concealment.add("https://a.example", "a secret")
  await show("https://b.example/")
  for (const url of ["https://a.example/frame", "about:blank"]) {
    const limit = new AbortController()
    const given = assert.rejects(show(url, limit.signal), /gave up/)
    limit.abort(new Error("gave up"))
    await given
  }
  browser.connection.close()
})
