// A tab in a person's hands is nobody else's, and the agent's again when it is given back, whatever its page is doing.
import assert from "node:assert/strict"
import { test } from "node:test"
import pino from "pino"
import { ScriptedBrowser } from "../../../test/support/scripted-browser.ts"
import { createBackground } from "../../kernel/index.ts"
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
