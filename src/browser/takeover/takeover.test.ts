// A tab in a person's hands is nobody else's, and the agent's again when it is given back, whatever its page is doing.
import assert from "node:assert/strict"
import { test } from "node:test"
import pino from "pino"
import { ScriptedBrowser } from "../../../test/support/scripted-browser.ts"
import { createBackground, systemClock } from "../../kernel/index.ts"
import { Casts } from "../live/casts.ts"
import { Takeover } from "./takeover.ts"

/** A tab in which the person has typed. */
async function takeOver() {
  const browser = new ScriptedBrowser()
  const background = createBackground(pino({ level: "silent" }))
  const { tabs, tab } = await browser.open({ background })
  browser.answer("Page.createIsolatedWorld", () => ({ executionContextId: 1 }))
  browser.answer("Runtime.evaluate", () => ({ result: { value: true } }))
  const takeover = await Takeover.begin({ tab, tabs, casts: new Casts(background), background })
  await takeover.input([{ kind: "text", text: "a word" }])
  return { browser, tab, takeover }
}

test("gives a tab back whose page asks a question", async () => {
  const { browser, tab, takeover } = await takeOver()
  const question = { type: "confirm", message: "Leave?", url: "https://a.example/" }
  browser.event("Page.javascriptDialogOpening", question, "S1")
  const before = browser.count("Runtime.evaluate")
  browser.answer("Runtime.evaluate", () => new Promise(() => undefined))
  await takeover.end()
  assert.equal(tab.isTaken, false)
  // It is told all the same, for when the question is answered.
  assert.equal(browser.count("Runtime.evaluate"), before + 1)
})

test("gives a tab back whose page cannot be told of it", async () => {
  const { browser, tab, takeover } = await takeOver()
  browser.answer("Runtime.evaluate", () => ({ result: {}, exceptionDetails: { text: "broken by the page" } }))
  await takeover.end()
  assert.equal(tab.isTaken, false)
})

/** A taken tab with a frame that does not answer before it is let. */
async function takeOverBesideStuckFrame(isField: boolean) {
  const browser = new ScriptedBrowser()
  const background = createBackground(pino({ level: "silent" }))
  // Whoever waits for the frame for some time only has waited long enough.
  const { tabs, tab } = await browser.open({ background, clock: { ...systemClock, sleep: () => Promise.resolve() } })
  const stuck = Promise.withResolvers<void>()
  browser.answer("Page.createIsolatedWorld", async ({ params }) => {
    if (params["frameId"] === "stuck") await stuck.promise
    return { executionContextId: 1 }
  })
  browser.answer("Runtime.evaluate", ({ params }) => ({
    result: { value: isField || !String(params["expression"]).includes("activeElement") },
  }))
  const takeover = await Takeover.begin({ tab, tabs, casts: new Casts(background), background })
  browser.event("Page.frameAttached", { frameId: "stuck", parentFrameId: "TAB" }, "S1")
  return { browser, takeover, stuck }
}

const press = {
  kind: "mouse",
  event: "down",
  x: 1,
  y: 2,
  button: "left",
  clicks: 1,
  held: false,
  modifiers: 0,
} as const

test("takes presses and words for the page beside a frame that does not answer", async () => {
  const { browser, takeover } = await takeOverBesideStuckFrame(true)
  await takeover.input([press, { kind: "text", text: "a word" }])
  assert.equal(browser.count("Input.dispatchMouseEvent"), 1)
  assert.equal(browser.count("Input.insertText"), 1)
})

test("types nothing into a frame before what is typed there is concealed", async () => {
  const { browser, takeover, stuck } = await takeOverBesideStuckFrame(false)
  await takeover.input([press])
  const asked = browser.next("Runtime.evaluate")
  const typed = takeover.input([{ kind: "text", text: "a word" }])
  await asked
  await new Promise(setImmediate)
  assert.equal(browser.count("Input.insertText"), 0)
  stuck.resolve()
  await typed
  assert.equal(browser.count("Input.insertText"), 1)
})

test("takes a tab before it is attached to, and gives it back where that fails", async () => {
  const browser = new ScriptedBrowser()
  const background = createBackground(pino({ level: "silent" }))
  const { tabs, tab } = await browser.open({ background })
  const attached = Promise.withResolvers<object>()
  browser.answer("Target.attachToTarget", () => attached.promise)
  const asked = browser.next("Target.attachToTarget")
  const beginning = Takeover.begin({ tab, tabs, casts: new Casts(background), background })
  await asked
  assert.throws(() => tab.checkTaken(), { code: "tab-taken" })
  attached.reject(new Error("the page hangs"))
  await assert.rejects(beginning, /the page hangs/)
  assert.equal(tab.isTaken, false)
})
