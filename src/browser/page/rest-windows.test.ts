// Windows with several tabs, some of which come while the windows are looked through.
import assert from "node:assert/strict"
import { test } from "node:test"
import { ScriptedBrowser } from "../../../test/support/scripted-browser.ts"
import { silentLog } from "../../../test/support/store.ts"
import { createBackground, systemClock } from "../../kernel/index.ts"
import { Rest } from "./rest.ts"

test("a window found while others are looked for is one window for all of its tabs", async () => {
  const browser = new ScriptedBrowser()
  const background = createBackground(silentLog)
  const windows: Record<string, number> = { first: 1, slow: 2, used: 3, beside: 3 }
  const held = Promise.withResolvers<void>()
  browser.answer("Browser.getWindowForTarget", async ({ params }) => {
    const targetId = String(params["targetId"])
    if (targetId === "slow") await held.promise
    return { windowId: windows[targetId], bounds: { windowState: "normal" } }
  })
  let at = 0
  const tabs: { targetId: string }[] = []
  const rest = new Rest({
    connection: browser.connection,
    background,
    // Nobody uses anything for long.
    clock: { ...systemClock, monotonic: () => (at += 1_000) },
    tabs: () => [...tabs],
    afterMs: 1,
  })
  const open = (targetId: string) => {
    const tab = { targetId }
    tabs.push(tab)
    rest.add(tab)
    return tab
  }
  // One rests, so that from now on it is asked in which window a tab is that is used.
  const moved = browser.next("Browser.setWindowBounds")
  open("first")
  await moved
  await background.idle()
  const looked = browser.next("Browser.getWindowForTarget")
  open("slow")
  await looked
  const used = open("used")
  rest.use(used)
  await rest.awake(used)
  held.resolve()
  await background.idle()
  const besideLooked = browser.next("Browser.getWindowForTarget")
  open("beside")
  await besideLooked
  await background.idle()
  const resting = browser.commands.filter(({ method }) => method === "Browser.setWindowBounds")
  assert.deepEqual(
    resting.map(({ params }) => params["windowId"]),
    [1, 2],
  )
})

test("wakes a window that may have gone to rest after nobody waited any longer for its answer", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] })
  const browser = new ScriptedBrowser()
  const background = createBackground(silentLog)
  browser.answer("Browser.getWindowForTarget", () => ({ windowId: 1, bounds: { windowState: "normal" } }))
  browser.answer("Browser.setWindowBounds", () => new Promise(() => undefined))
  let at = 0
  const tab = { targetId: "slow" }
  const rest = new Rest({
    connection: browser.connection,
    background,
    clock: { ...systemClock, monotonic: () => (at += 1_000) },
    tabs: () => [tab],
    afterMs: 1,
  })
  const moved = browser.next("Browser.setWindowBounds")
  rest.add(tab)
  context.mock.timers.tick(1)
  await moved
  context.mock.timers.tick(2_000)
  await background.idle()
  browser.answer("Browser.setWindowBounds", () => ({}))
  rest.use(tab)
  await rest.awake(tab)
  const states = browser.commands.filter(({ method }) => method === "Browser.setWindowBounds")
  assert.deepEqual(
    states.map(({ params }) => params["bounds"]),
    [{ windowState: "minimized" }, { windowState: "normal" }],
  )
})
