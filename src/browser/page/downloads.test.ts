// Downloads that begin when nobody waits for them any more.
import assert from "node:assert/strict"
import { test } from "node:test"
import { ScriptedBrowser } from "../../../test/support/scripted-browser.ts"
import { silentLog } from "../../../test/support/store.ts"
import { temporaryFolder } from "../../../test/support/temporary.ts"
import { createBackground } from "../../kernel/index.ts"
import { Downloads } from "./downloads.ts"

test("breaks off what begins before the browser has heard that nobody waits any more", async () => {
  const browser = new ScriptedBrowser()
  const background = createBackground(silentLog)
  const { tabs, tab } = await browser.open()
  const downloads = new Downloads({ connection: browser.connection, tabs, background, isOurs: true })
  await downloads.start()
  const caller = new AbortController()
  const limits = { folder: temporaryFolder(), maxBytes: 1_000, timeoutMs: 60_000, signal: caller.signal }
  const triggered = Promise.withResolvers<void>()
  const trigger = async () => triggered.resolve()
  const given = assert.rejects(downloads.wait(tab, limits, trigger), /gave up/)
  await triggered.promise
  const heard = Promise.withResolvers<object>()
  browser.answer("Browser.setDownloadBehavior", () => heard.promise)
  const told = browser.next("Browser.setDownloadBehavior")
  caller.abort(new Error("gave up"))
  assert.equal((await told).params["behavior"], "deny")
  const begin = { frameId: "TAB", url: "https://a.example/late.zip", suggestedFilename: "late.zip" }
  browser.event("Browser.downloadWillBegin", { ...begin, guid: "late" })
  heard.resolve({})
  await given
  await background.idle()
  const broken = browser.commands.filter(({ method }) => method === "Browser.cancelDownload")
  assert.deepEqual(
    broken.map(({ params }) => params["guid"]),
    ["late"],
  )
  // From then on the browser refuses by itself.
  browser.event("Browser.downloadWillBegin", { ...begin, guid: "refused" })
  await background.idle()
  assert.equal(browser.count("Browser.cancelDownload"), 1)
})
