// Requests of the person's tabs are held up in the tabs and frames that there are, and in none that are gone.
import assert from "node:assert/strict"
import { test } from "node:test"
import { ScriptedBrowser } from "../../../test/support/scripted-browser.ts"
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
