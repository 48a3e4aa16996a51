// What draws the page, in a browser, beside Preact, whose part it plays.
import assert from "node:assert/strict"
import { before, test } from "node:test"
import { build } from "esbuild"
import type { Page } from "playwright-core"
import { launchChromium } from "../../test/support/page-visitor.ts"
import { fileContext } from "../../test/support/world.ts"

const context = fileContext()
let page: Page
const errors: string[] = []

before(async () => {
  const entryPoints = [`${import.meta.dirname}/render.check.ts`]
  const { outputFiles } = await build({ entryPoints, bundle: true, format: "iife", write: false })
  const browser = await launchChromium(context)
  page = await browser.newPage()
  page.on("pageerror", ({ message }) => errors.push(message))
  await page.setContent("<!doctype html><title>Drawing</title>")
  await page.addScriptTag({ content: outputFiles[0]?.text ?? "" })
})

test("draws any tree over any other as Preact does", async () => {
  for (let seed = 1; seed <= 6; seed += 1)
    assert.equal(await page.evaluate(`checks.difference(${seed}, 40)`), undefined, `seed ${seed}`)
})

test("rows stay the same elements in every order, and what is typed into keeps the focus", async () => {
  assert.deepEqual(await page.evaluate("checks.keepsRows()"), [true, true, true, true, true])
})

test("effects run behind what was drawn, inner ones first, and are undone before they run again and at the end", async () => {
  const told = [
    "is b, is a, layout b, layout a, effect b, effect a",
    "was b, was a, is b, is c, no layout a, layout c, no effect a, effect c",
    "no layout c, no effect c, was c, no layout b, no effect b, was b",
  ]
  assert.deepEqual(await page.evaluate("checks.effects()"), told.join(", ").split(", "))
})

test("a part that throws takes no other with it, and is told of", async () => {
  errors.length = 0
  assert.equal(await page.evaluate("checks.afterError()"), "after")
  assert.deepEqual(new Set(errors), new Set(["one part"]))
})

test("what begins to listen while an event rises does not hear it", async () => {
  await page.evaluate("globalThis.told = checks.heard()")
  await page.locator("#press").click()
  assert.deepEqual(await page.evaluate("told"), ["button"])
  await page.locator("#press").click()
  assert.deepEqual(await page.evaluate("told"), ["button", "button", "panel"])
})
