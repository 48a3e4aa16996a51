// Who gives files to the choosers of a tab: the one that armed last, and nobody whose call has failed.
import assert from "node:assert/strict"
import { test } from "node:test"
import { ScriptedBrowser } from "../../../test/support/scripted-browser.ts"
import { silentLog } from "../../../test/support/store.ts"
import { createBackground, systemClock } from "../../kernel/index.ts"

const intercept = "Page.setInterceptFileChooserDialog"

async function open() {
  const browser = new ScriptedBrowser()
  const { tab } = await browser.open()
  await tab.attach()
  const background = createBackground(silentLog)
  const arm = (file: string, limit: Promise<void>) =>
    tab.chooser.arm(tab, {
      timeoutMs: 30_000,
      files: () => Promise.resolve([file]),
      background,
      clock: { ...systemClock, sleep: () => limit },
    })
  return { browser, tab, background, arm }
}

test("of two that arm at the same time the later one counts, also when the time of the first is over", async () => {
  const { browser, tab, background, arm } = await open()
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  await Promise.all([arm("first.txt", first.promise), arm("second.txt", second.promise)])
  first.resolve()
  // All that follows of it is promises, which are settled by then.
  await new Promise(setImmediate)
  assert.equal(browser.commands.findLast(({ method }) => method === intercept)?.params["enabled"], true)
  const given = browser.next("DOM.setFileInputFiles")
  browser.event("Page.fileChooserOpened", { frameId: "TAB", mode: "selectSingle", backendNodeId: 4 }, "S1")
  assert.deepEqual((await given).params["files"], ["second.txt"])
  second.resolve()
  await background.idle()
  assert.equal(browser.count("DOM.setFileInputFiles"), 1)
  await tab.chooser.disarm()
})

test("gives no files to a chooser of later when arming has failed", async () => {
  const { browser, background, arm } = await open()
  browser.answer(intercept, ({ params }) => {
    if (params["enabled"] === true) throw new Error("the page hangs")
    return {}
  })
  await assert.rejects(arm("late.txt", Promise.resolve()), /the page hangs/)
  browser.event("Page.fileChooserOpened", { frameId: "TAB", mode: "selectSingle", backendNodeId: 4 }, "S1")
  await background.idle()
  assert.equal(browser.count("DOM.setFileInputFiles"), 0)
})
