// What a tab pretends to be, as its page sees it.
import assert from "node:assert/strict"
import { join } from "node:path"
import { after, before, test } from "node:test"
import { type BrowserBench, startBrowserBench } from "../../test/support/browser-service.ts"
import { type PagesServer, startPagesServer } from "../../test/support/pages-server.ts"

let bench: BrowserBench
let pages: PagesServer

before(async () => {
  pages = await startPagesServer({ folder: join(import.meta.dirname, "../../test/fixtures/pages") })
  bench = await startBrowserBench()
  await bench.call("POST", "/navigate", { url: `${pages.url}/sent.html` })
})

after(async () => {
  await bench.stop()
  await pages.stop()
})

const evaluate = async (fn: string) => (await bench.call("POST", "/act", { kind: "evaluate", fn })).body.result
const set = async (name: string, body: object, status = 200) => {
  const reply = await bench.call("POST", `/set/${name}`, body)
  assert.equal(reply.status, status, JSON.stringify(reply.body))
}
const overrides = async () => (await bench.call("GET", "/")).body.overrides

test("sets time zone, language and colour scheme, changes them, and takes them away", async () => {
  const zone = "Intl.DateTimeFormat().resolvedOptions().timeZone"
  const language = "Intl.DateTimeFormat().resolvedOptions().locale"
  for (const timezoneId of ["Asia/Tokyo", "America/Lima"]) {
    await set("timezone", { timezoneId })
    assert.equal(await evaluate(zone), timezoneId)
  }
  for (const locale of ["de-AT", "fr-FR"]) {
    await set("locale", { locale })
    assert.equal(await evaluate(language), locale)
  }
  for (const colorScheme of ["dark", "light"]) {
    await set("media", { colorScheme })
    assert.equal(await evaluate(`matchMedia("(prefers-color-scheme: ${colorScheme})").matches`), true)
  }
  await bench.call("POST", "/navigate", { url: `${pages.url}/forms.html` })
  assert.equal(await evaluate(zone), "America/Lima")
  const [listed] = await overrides()
  assert.deepEqual([listed.timezoneId, listed.locale, listed.colorScheme], ["America/Lima", "fr-FR", "light"])
  await set("media", { colorScheme: "none" })
  assert.equal((await overrides())[0].colorScheme, undefined)
  await set("timezone", { timezoneId: "Nowhere/Land" }, 400)
  assert.equal((await overrides())[0].timezoneId, "America/Lima")
})

test("cuts the page off and connects it again", async () => {
  await set("offline", { offline: true })
  assert.equal(await evaluate("fetch('/hit').then(() => 'there', () => 'gone')"), "gone")
  await set("offline", { offline: "false" })
  assert.equal(await evaluate("fetch('/hit').then(() => 'there', () => 'gone')"), "there")
  await set("offline", {}, 400)
})

test("puts the page at a place, which it may ask for", async () => {
  const place =
    "() => new Promise((done) => navigator.geolocation.getCurrentPosition(({ coords }) => done([coords.latitude, coords.longitude]), (error) => done(error.message)))"
  for (const [latitude, longitude] of [
    [48.5, 16.25],
    [-12, -77],
  ]) {
    await set("geolocation", { latitude, longitude })
    assert.deepEqual(await evaluate(place), [latitude, longitude])
  }
  await set("geolocation", { clear: true })
  assert.equal((await overrides())[0].geolocation, undefined)
  await set("geolocation", { latitude: 1 }, 400)
})

test("sends headers with each request, and keeps their values out of the status", async () => {
  await set("headers", { headers: { "X-Key": "secret-word" } })
  const { text } = { text: JSON.stringify(await overrides()) }
  assert.match(text, /X-Key/)
  assert.doesNotMatch(text, /secret-word/)
  await set("headers", { headers: { "bad name": "x" } }, 400)
  await set("headers", { headers: {} })
  assert.equal((await overrides())[0].headers, undefined)
})
