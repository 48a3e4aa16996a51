// A trace beside tabs that stop to answer while it starts.
import assert from "node:assert/strict"
import { test } from "node:test"
import { ScriptedBrowser } from "../../../test/support/scripted-browser.ts"
import { silentLog } from "../../../test/support/store.ts"
import { createBackground, systemClock, systemIds } from "../../kernel/index.ts"
import { Trace } from "./trace.ts"

test("gives up a trace whose start a tab does not answer, and names the tab", async (context) => {
  const browser = new ScriptedBrowser()
  const { tabs, tab } = await browser.open()
  await tab.attach()
  context.after(() => browser.connection.close())
  // What the library needs to join a browser with one page.
  const targetInfo = { targetId: "TAB", type: "page", title: "A", url: "https://a.example/", browserContextId: "B" }
  browser.answer("Target.attachToBrowserTarget", () => ({ sessionId: "LIBRARY" }))
  browser.answer("Browser.getVersion", () => ({ product: "Chrome/140.0.0.0", userAgent: "Chrome", revision: "1" }))
  browser.answer("Target.setAutoAttach", ({ sessionId }) => {
    if (sessionId !== "LIBRARY") return {}
    const attached = { sessionId: "PAGE", targetInfo, waitingForDebugger: false }
    browser.event("Target.attachedToTarget", attached, "LIBRARY")
    return {}
  })
  browser.answer("Target.getTargetInfo", () => ({ targetInfo }))
  // Of what the library asks when it starts, the tab never answers the last; and it answers us no more.
  const asked = Promise.withResolvers<void>()
  browser.answer("Page.addScriptToEvaluateOnNewDocument", ({ params }) => {
    if (params["source"] === "") return { identifier: "1" }
    asked.resolve()
    return new Promise(() => undefined)
  })
  browser.answer("Runtime.evaluate", () => {
    throw new Error("the page hangs")
  })
  const clock = { ...systemClock, sleep: () => asked.promise }
  const parts = { connection: browser.connection, tabs, background: createBackground(silentLog), clock, ids: systemIds }
  const content = { screenshots: false, snapshots: true, sources: false }
  await assert.rejects(Trace.start({ ...parts, log: silentLog }, content), {
    code: "timeout",
    message: "The trace could not start: these tabs do not answer: TAB",
  })
})
