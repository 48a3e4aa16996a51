// Places of guests: what each is apart from, who loses one, and what is told of those that are gone.
import assert from "node:assert/strict"
import { test } from "node:test"
import pino from "pino"
import { ScriptedBrowser } from "../../../test/support/scripted-browser.ts"
import { createBackground } from "../../kernel/index.ts"
import { Guests, type GuestsOptions } from "./guests.ts"

test("takes no place away that somebody waits for while it is made", async () => {
  const log = pino({ level: "silent" })
  const background = createBackground(log)
  const browser = new ScriptedBrowser()
  const { tabs } = await browser.open({ background })
  const { connection } = browser
  const made = Promise.withResolvers<void>()
  let count = 0
  browser.answer("Target.createBrowserContext", async () => {
    const browserContextId = `place ${(count += 1)}`
    if (count === 1) await made.promise
    return { browserContextId }
  })
  const onGone = () => undefined
  const guests = new Guests({ connection, tabs, proxy: undefined, log, background, onGone, now: () => 0, max: 2 })
  const first = guests.spaceFor("a")
  const others = [guests.spaceFor("b"), guests.spaceFor("c")]
  made.resolve()
  await Promise.all([first, ...others])
  const gone = () =>
    browser.commands
      .filter(({ method }) => method === "Target.disposeBrowserContext")
      .map(({ params }) => params["browserContextId"])
  assert.deepEqual(gone(), [])
  await guests.spaceFor("d")
  // The ones used longest ago, as before.
  assert.deepEqual(gone(), ["place 1", "place 2"])
  assert.equal(guests.find("c"), "place 3")
  connection.close()
})

/** Guests of a browser that makes places by number. */
async function openGuests(options: Partial<GuestsOptions> = {}) {
  const log = pino({ level: "silent" })
  const background = createBackground(log)
  const browser = new ScriptedBrowser()
  const { tabs } = await browser.open({ background })
  const { connection } = browser
  let made = 0
  browser.answer("Target.createBrowserContext", () => ({ browserContextId: `place ${(made += 1)}` }))
  const gone: string[] = []
  const clock = { now: 0 }
  const guests = new Guests({
    connection,
    tabs,
    proxy: undefined,
    log,
    background,
    onGone: (space) => gone.push(space),
    now: () => clock.now,
    ...options,
  })
  const sent = (method: string) => browser.commands.filter((each) => each.method === method).map(({ params }) => params)
  return { browser, tabs, guests, background, connection, gone, clock, sent }
}

test("a place is apart: it goes with its connection, takes no files, and its tabs are its own", async () => {
  const { browser, tabs, guests, sent, connection, gone } = await openGuests()
  assert.ok(guests.isEmpty)
  assert.equal(await guests.spaceFor("a"), "place 1")
  assert.equal(await guests.spaceFor("a"), "place 1")
  assert.deepEqual(
    [guests.find("a"), guests.find("b"), guests.isEmpty, guests.hasProxy],
    ["place 1", undefined, false, false],
  )
  assert.deepEqual(sent("Target.createBrowserContext"), [{ disposeOnDetach: true }])
  const noFiles = { behavior: "deny", browserContextId: "place 1", eventsEnabled: true }
  assert.deepEqual(sent("Browser.setDownloadBehavior"), [noFiles])
  const targetInfo = { targetId: "G", type: "page", title: "", url: "about:blank", browserContextId: "place 1" }
  browser.event("Target.targetCreated", { targetInfo })
  assert.equal(tabs.spaceOf(tabs.find("G")), "place 1")
  await guests.spaceFor("b")
  connection.close()
  await connection.closed
  assert.deepEqual(gone, ["place 1", "place 2"], "all are gone with the connection")
})

test("the place of whoever was there longest ago is taken, and told when nothing of it is left", async () => {
  const { browser, guests, sent, connection, gone } = await openGuests({ max: 2 })
  const targetInfo = { targetId: "G", type: "page", title: "", url: "about:blank", browserContextId: "place 2" }
  await guests.spaceFor("a")
  await guests.spaceFor("b")
  browser.event("Target.targetCreated", { targetInfo })
  await guests.spaceFor("a")
  await guests.spaceFor("c")
  assert.deepEqual(sent("Target.disposeBrowserContext"), [{ browserContextId: "place 2" }])
  assert.deepEqual([guests.find("a"), guests.find("b"), guests.find("c")], ["place 1", undefined, "place 3"])
  assert.deepEqual(gone, [], "a tab of it is still there")
  browser.answer("Target.disposeBrowserContext", () => {
    throw new Error("Failed to find context")
  })
  await guests.spaceFor("d")
  assert.deepEqual(gone, ["place 1"], "one that the browser has ended by itself")
  connection.close()
})

test("places that nobody has used for twenty minutes are closed, by themselves too", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] })
  const { guests, background, clock, connection, gone } = await openGuests()
  const minute = 60_000
  clock.now = 10 * minute
  await guests.spaceFor("a")
  clock.now = 20 * minute
  await guests.spaceFor("b")
  clock.now = 30 * minute
  await guests.sweep()
  assert.deepEqual(gone, [], "not yet")
  clock.now += 1
  await guests.sweep()
  assert.deepEqual(gone, ["place 1"])
  clock.now = 40 * minute + 1_001
  context.mock.timers.tick(20 * minute + 1_000)
  await background.idle()
  assert.deepEqual([gone, guests.isEmpty], [["place 1", "place 2"], true])
  connection.close()
})

test("a place that could not be made is asked for anew by whoever comes next, and nothing of it stays", async () => {
  const { browser, guests, sent, connection } = await openGuests()
  browser.answer("Browser.setDownloadBehavior", () => {
    throw new Error("refused")
  })
  await assert.rejects(guests.spaceFor("a"), /refused/)
  assert.deepEqual([guests.isEmpty, guests.find("a")], [true, undefined])
  assert.deepEqual(sent("Target.disposeBrowserContext"), [{ browserContextId: "place 1" }])
  browser.answer("Browser.setDownloadBehavior", () => ({}))
  assert.equal(await guests.spaceFor("a"), "place 2")
  browser.answer("Target.createBrowserContext", () => {
    throw new Error("Not supported")
  })
  await assert.rejects(guests.spaceFor("b"), { code: "profile-unsupported", hint: "Use a managed profile" })
  connection.close()
  await assert.rejects(guests.spaceFor("c"), { code: "browser-lost" })
})

test("the way of a place to the network is the proxy alone, this machine's own names included", async () => {
  const proxy = { url: async () => "http://127.0.0.1:1", login: () => undefined } as unknown as GuestsOptions["proxy"]
  const { browser, guests, sent, connection } = await openGuests({ proxy })
  browser.answer("Target.createTarget", () => ({ targetId: "greeting" }))
  browser.answer("Target.closeTarget", () => {
    browser.event("Target.targetDestroyed", { targetId: "greeting" })
    return {}
  })
  await guests.spaceFor("a")
  assert.ok(guests.hasProxy)
  assert.deepEqual(sent("Target.createBrowserContext"), [
    { disposeOnDetach: true, proxyServer: "http://127.0.0.1:1", proxyBypassList: "<-loopback>" },
  ])
  const [greeting] = sent("Target.createTarget")
  assert.equal(greeting?.["browserContextId"], "place 1", "it is told the proxy's secret")
  connection.close()
})
