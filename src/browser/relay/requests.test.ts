// Requests of the person's tabs are held up in the tabs and frames that there are, and in none that are gone.
import assert from "node:assert/strict"
import { test } from "node:test"
import { ScriptedBrowser } from "../../../test/support/scripted-browser.ts"
import { AppError } from "../../kernel/index.ts"
import { requestsOf } from "./requests.ts"

const frameOf = (sessionId: string) => ({
  sessionId,
  targetInfo: { targetId: `frame of ${sessionId}`, type: "iframe", url: "https://ads.example/" },
})

test("no session is kept of frames and tabs that are gone", async () => {
  const browser = new ScriptedBrowser()
  const { tabs, tab } = await browser.open({ sharedSession: true })
  const requests = requestsOf(tabs)
  await tab.attach()
  for (const id of ["F1", "F2"]) browser.event("Target.attachedToTarget", frameOf(id), "S1")
  browser.event("Target.detachedFromTarget", { sessionId: "F1" }, "S1")
  const askedIn = async () => {
    const before = browser.commands.length
    await requests.send("Fetch.enable", { patterns: [] })
    return browser.commands.slice(before).map(({ sessionId }) => sessionId)
  }
  assert.deepEqual(await askedIn(), ["S1", "F2"])
  browser.event("Target.targetDestroyed", { targetId: "TAB" })
  assert.deepEqual(await askedIn(), [])
})

test("what could not be held up while the extension slept is asked for again, and nobody takes it for held up", async () => {
  const browser = new ScriptedBrowser(() => new AppError("relay-not-connected", "No browser extension is connected"))
  const { tabs, tab } = await browser.open({ sharedSession: true })
  const requests = requestsOf(tabs)
  await tab.attach()
  let isAway = true
  const asked: (string | undefined)[] = []
  browser.answer("Fetch.enable", ({ sessionId }) => {
    asked.push(sessionId)
    if (isAway) throw new Error("away")
  })
  await assert.rejects(requests.send("Fetch.enable", { patterns: [] }), { code: "relay-not-connected" })
  isAway = false
  await requests.send("Fetch.enable", { patterns: [] })
  assert.deepEqual(asked.splice(0), ["S1", "S1"])
  // The same for a frame that comes when it sleeps again.
  const heard = Promise.withResolvers<void>()
  browser.answer("Fetch.enable", ({ sessionId }) => {
    if (asked.push(sessionId) < 2) throw new Error("away")
    heard.resolve()
  })
  browser.event("Target.attachedToTarget", frameOf("F1"), "S1")
  await heard.promise
  assert.deepEqual(asked, ["F1", "F1"])
})

test("an answer goes to the session in which the request was held up, whatever its number looks like", async () => {
  const browser = new ScriptedBrowser()
  const { tabs, tab } = await browser.open({ sharedSession: true })
  const requests = requestsOf(tabs)
  const held: string[] = []
  const leave = requests.on("Fetch.requestPaused", ({ requestId }: { requestId: string }) => held.push(requestId))
  requests.on("Fetch.authRequired", ({ requestId }: { requestId: string }) => held.push(requestId))
  await tab.attach()
  browser.event("Target.attachedToTarget", frameOf("F1"), "S1")
  browser.event("Fetch.requestPaused", { requestId: "interception job 1" }, "S1")
  browser.event("Fetch.authRequired", { requestId: "2" }, "F1")
  assert.equal(new Set(held).size, 2)
  const said: unknown[] = []
  browser.answer("Fetch.continueRequest", ({ sessionId, params }) => {
    said.push([sessionId, params])
    return {}
  })
  for (const requestId of held) await requests.send("Fetch.continueRequest", { requestId, url: "https://a.example/" })
  const url = "https://a.example/"
  assert.deepEqual(said, [
    ["S1", { requestId: "interception job 1", url }],
    ["F1", { requestId: "2", url }],
  ])
  browser.event("Target.detachedFromTarget", { sessionId: "F1" }, "S1")
  await assert.rejects(requests.send("Fetch.continueRequest", { requestId: held[1] }), { code: "tab-not-found" })
  leave()
  browser.event("Fetch.requestPaused", { requestId: "3" }, "S1")
  assert.equal(held.length, 2)
})
