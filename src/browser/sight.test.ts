// What a page shows of where it is, beside frames that do not answer.
import assert from "node:assert/strict"
import { test } from "node:test"
import { ScriptedBrowser } from "../../test/support/scripted-browser.ts"
import { systemClock } from "../kernel/index.ts"
import type { CoreOptions } from "./access.ts"
import type { Caller } from "./caller.ts"
import { sightOperations } from "./sight.ts"

/** A page with a frame that does not answer, and one behind it. */
async function open(sleep: () => Promise<void>) {
  const browser = new ScriptedBrowser()
  const { tabs, tab } = await browser.open({ clock: { ...systemClock, sleep } })
  await tab.attach()
  for (const frameId of ["stuck", "behind"])
    browser.event("Page.frameAttached", { frameId, parentFrameId: "TAB" }, "S1")
  browser.answer("Page.createIsolatedWorld", ({ params }) => {
    if (params["frameId"] === "stuck") return new Promise(() => undefined)
    return { executionContextId: params["frameId"] }
  })
  const profile = { live: { tabs }, ensure: () => Promise.resolve({ tabs }) }
  const guard = { enter: () => Promise.resolve(undefined), spaceOf: () => undefined }
  const sight = sightOperations({ registry: { get: () => profile }, guard } as unknown as CoreOptions)
  const shows = () => sight.showsLink({} as Caller, "https://b.example/", "TAB")
  const links = (isBehind: boolean) =>
    browser.answer("Runtime.evaluate", ({ params }) => ({
      result: { value: isBehind && params["contextId"] === "behind" },
    }))
  return { shows, links }
}

test("finds a link behind a frame that does not answer", async () => {
  const { shows, links } = await open(() => new Promise(() => undefined))
  links(true)
  assert.equal(await shows(), true)
})

test("finds no link where only a frame could have it that does not answer", async () => {
  const { shows, links } = await open(() => Promise.resolve())
  links(false)
  assert.equal(await shows(), false)
})
