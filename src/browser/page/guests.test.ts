// Who loses a place when there are too many.
import assert from "node:assert/strict"
import { test } from "node:test"
import pino from "pino"
import { ScriptedBrowser } from "../../../test/support/scripted-browser.ts"
import { createBackground } from "../../kernel/index.ts"
import { Guests } from "./guests.ts"

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
