// What a tab pretends to be, as its page sees it.
import assert from "node:assert/strict"
import { createHash } from "node:crypto"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { after, before, type TestContext, test } from "node:test"
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
    const short = locale.split("-")[0]
    assert.deepEqual(await evaluate("() => [navigator.language, navigator.languages.join()]"), [
      locale,
      `${locale},${short}`,
    ])
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

test("asks sites for pages in the language that is set", async (t) => {
  const asked: string[] = []
  const site = createServer((request, response) => {
    asked.push(request.headers["accept-language"] ?? "")
    response.setHeader("content-type", "text/html").end("<!doctype html><title>Languages</title>")
  }).listen(0, "127.0.0.1")
  t.after(() => site.close())
  await once(site, "listening")
  const url = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`
  const targetId = await open("about:blank")
  await set("locale", { targetId, locale: "de-AT" })
  await bench.call("POST", "/navigate", { targetId, url })
  assert.match(asked[0] ?? "", /^de-AT,de(;q=[\d.]+)?/)
  await bench.call("DELETE", `/tabs/${targetId}`)
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
  const leave = `navigator.permissions.query({ name: "geolocation" }).then(({ state }) => state)`
  assert.equal(await evaluate(leave), "granted")
  // No other permission is touched.
  assert.equal(await evaluate(leave.replace("geolocation", "notifications")), "prompt")
  assert.equal((await overrides())[0].geolocation.origin, pages.url)
  await set("geolocation", { clear: true })
  assert.equal((await overrides())[0]?.geolocation, undefined)
  assert.equal(await evaluate(leave), "prompt", "the leave goes with the place")
  // Set before there is a site: for the first one that the tab is sent to, and for no other.
  const targetId = await open("about:blank")
  await set("geolocation", { targetId, latitude: 1, longitude: 2 })
  const ask = async (url: string, fn: string) => {
    await bench.call("POST", "/navigate", { targetId, url })
    return (await bench.call("POST", "/act", { kind: "evaluate", fn, targetId })).body.result
  }
  assert.deepEqual(await ask(`${pages.url}/sent.html`, place), [1, 2])
  assert.equal(await ask(`${pages.url.replace("127.0.0.1", "localhost")}/sent.html`, leave), "prompt")
  await set("geolocation", { targetId, clear: true })
  await bench.call("DELETE", `/tabs/${targetId}`)
  await set("geolocation", { latitude: 1 }, 400)
})

test("sends headers with each request, and keeps their values out of the status", async () => {
  await set("headers", { headers: { "X-Key": "secret-word" } })
  const { text } = { text: JSON.stringify(await overrides()) }
  assert.match(text, /X-Key/)
  assert.doesNotMatch(text, /secret-word/)
  await set("headers", { headers: { "bad name": "x" } }, 400)
  await set("headers", { headers: {} })
  assert.equal((await overrides())[0]?.headers, undefined)
})

/** A site that wants a name and password; what it was sent is kept. */
async function startClosedSite(context: TestContext, scheme: "Basic" | "Digest") {
  const seen: string[] = []
  const challenge = scheme === "Basic" ? 'Basic realm="x"' : 'Digest realm="x", nonce="n1", qop="auth"'
  const server = createServer((request, response) => {
    const given = request.headers.authorization ?? ""
    // Browsers ask for the icon when they like.
    if (given !== "" && request.url !== "/favicon.ico") seen.push(given)
    const user = userOf(given, request.method ?? "")
    if (user === undefined) response.writeHead(401, { "www-authenticate": challenge }).end("closed")
    else response.writeHead(200, { "content-type": "text/html" }).end(`<p id="user">${user}</p>`)
  })
  server.listen(0)
  await once(server, "listening")
  context.after(() => server.close().closeAllConnections())
  const { port } = server.address() as AddressInfo
  return { seen, here: `http://127.0.0.1:${port}`, there: `http://localhost:${port}` }
}

const passwords: Record<string, string> = { ada: "tea pot", bob: "cup" }
const md5 = (text: string) => createHash("md5").update(text).digest("hex")

function userOf(given: string, method: string): string | undefined {
  if (given.startsWith("Basic ")) {
    const [user = "", password] = Buffer.from(given.slice(6), "base64").toString().split(":")
    return passwords[user] === password ? user : undefined
  }
  const field = (name: string) => new RegExp(`${name}="?([^",]+)`).exec(given)?.[1] ?? ""
  const user = field("username")
  const proof = md5(`${user}:x:${passwords[user]}`)
  const rest = `n1:${field("nc")}:${field("cnonce")}:auth:${md5(`${method}:${field("uri")}`)}`
  return given.startsWith("Digest ") && field("response") === md5(`${proof}:${rest}`) ? user : undefined
}

const open = async (url: string) => (await bench.call("POST", "/tabs/open", { url })).body.targetId as string
const textOf = async (targetId: string) =>
  (await bench.call("POST", "/act", { kind: "evaluate", fn: "document.body.innerText", targetId })).body.result

test("answers the site that the tab is sent to, no other, until the credentials are changed or taken away", async (context) => {
  const site = await startClosedSite(context, "Basic")
  const targetId = await open("about:blank")
  await set("credentials", { targetId, username: "ada", password: "tea pot" })
  const shown = async (url: string) => {
    await bench.call("POST", "/navigate", { targetId, url })
    return textOf(targetId)
  }
  const listed = async () =>
    (await overrides()).find((each: { targetId: string }) => each.targetId === targetId)?.credentials
  assert.deepEqual(await listed(), { username: "ada", origin: null })
  assert.equal(await shown(`${site.here}/one`), "ada")
  assert.deepEqual(await listed(), { username: "ada", origin: site.here })
  const sent = site.seen.length
  assert.notEqual(await shown(`${site.there}/other`), "ada")
  assert.equal(site.seen.length, sent, "another host was sent the password")
  assert.equal(await shown(`${site.here}/again`), "ada")
  await set("credentials", { targetId, username: "bob", password: "cup" })
  assert.equal(await shown(`${site.here}/changed`), "bob")
  await set("credentials", { targetId, username: "bob", password: "wrong" })
  assert.notEqual(await shown(`${site.here}/wrong`), "bob")
  await set("credentials", { targetId, clear: true })
  const before = site.seen.length
  assert.notEqual(await shown(`${site.here}/cleared`), "ada")
  assert.equal(site.seen.length, before, "the password was sent after it was taken away")
  assert.equal(await listed(), undefined)
  await set("credentials", { targetId, password: "x" }, 400)
  await set("credentials", { targetId, username: "a:b", password: "x" }, 400)
  assert.doesNotMatch(bench.logLines.join("\n"), /tea pot/)
})

test("answers Digest, for the site that was named only", async (context) => {
  const site = await startClosedSite(context, "Digest")
  const targetId = await open("about:blank")
  await set("credentials", { targetId, username: "ada", password: "tea pot", origin: `${site.there}/path` })
  await bench.call("POST", "/navigate", { targetId, url: `${site.here}/` })
  assert.notEqual(await textOf(targetId), "ada")
  assert.equal(site.seen.length, 0)
  for (const page of ["", "again"]) {
    await bench.call("POST", "/navigate", { targetId, url: `${site.there}/${page}` })
    assert.equal(await textOf(targetId), "ada")
  }
  assert.ok(site.seen.every((given) => given.startsWith("Digest ")))
})

test("makes a tab look like a device, in other processes and popups too, and like itself again", async () => {
  const { targetId } = (await bench.call("POST", "/tabs/open", { url: `${pages.url}/forms.html` })).body
  const see = async (fn: string, id = targetId) =>
    (await bench.call("POST", "/act", { kind: "evaluate", fn, targetId: id })).body.result
  const look = `() => [innerWidth, devicePixelRatio, navigator.maxTouchPoints > 0, navigator.userAgentData?.mobile === true, navigator.userAgentData?.platform, /Pixel 7/.test(navigator.userAgent)]`
  const plain = await see(look)
  await set("device", { targetId, name: "pixel 7" })
  await bench.call("POST", "/navigate", { targetId, url: `${pages.url.replace("127.0.0.1", "localhost")}/sent.html` })
  const [, ...pixel] = await see(look)
  assert.deepEqual(pixel, [2.625, true, true, "Android", true])
  assert.equal((await bench.call("GET", "/")).body.overrides.at(-1).device, "Pixel 7")
  assert.equal(await see("screen.width"), 412)
  await see("() => void window.open('/forms.html')")
  await waitFor(async () => (await tabsOpenedBy(targetId)).length === 1)
  const [popup] = await tabsOpenedBy(targetId)
  await bench.call("POST", "/act", { kind: "wait", url: "*forms.html", loadState: "load", targetId: popup })
  assert.equal(await see("/Pixel 7/.test(navigator.userAgent)", popup), true)
  await set("device", { targetId, name: "iPhone 13" })
  assert.deepEqual(await see("() => [screen.width, /iPhone/.test(navigator.userAgent)]"), [390, true])
  await bench.call("POST", "/act", { kind: "resize", width: 500, height: 600, targetId })
  assert.equal(await see("devicePixelRatio"), 3)
  await set("device", { targetId, clear: true })
  await bench.call("POST", "/navigate", { targetId, url: `${pages.url}/forms.html` })
  assert.deepEqual(await see(look), plain)
  const wrong = await bench.call("POST", "/set/device", { targetId, name: "Pixl 7" })
  assert.equal(wrong.status, 400)
  assert.match(wrong.body.error.hint, /^These come close: .*Pixel 7/)
  const strange = await bench.call("POST", "/set/device", { targetId, name: "zzzzzzzzzzzz" })
  assert.match(strange.body.error.hint, /^Give a name such as/)
  await set("device", {}, 400)
})

/** Tabs that look like `targetId` because its page opened them: all others of the bench have no device. */
async function tabsOpenedBy(targetId: string): Promise<string[]> {
  const all = (await overrides()) as { targetId: string; device?: string }[]
  return all.filter((each) => each.device !== undefined && each.targetId !== targetId).map((each) => each.targetId)
}

async function waitFor(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20))
}

test("keeps every setting over navigations to other sites, and gives them to popups", async () => {
  const { targetId } = (await bench.call("POST", "/tabs/open", { url: `${pages.url}/forms.html` })).body
  await set("timezone", { targetId, timezoneId: "Asia/Tokyo" })
  await set("locale", { targetId, locale: "de-AT" })
  await set("media", { targetId, colorScheme: "dark" })
  await set("headers", { targetId, headers: { "x-kept": "yes" } })
  await bench.call("POST", "/act", { kind: "resize", width: 700, height: 500, targetId })
  const seen = `() => { const { timeZone, locale } = Intl.DateTimeFormat().resolvedOptions(); return [timeZone, locale, matchMedia("(prefers-color-scheme: dark)").matches, innerWidth] }`
  const see = async (fn: string, id: string) =>
    (await bench.call("POST", "/act", { kind: "evaluate", fn, targetId: id })).body.result
  await bench.call("POST", "/navigate", { targetId, url: `${pages.url.replace("127.0.0.1", "localhost")}/forms.html` })
  assert.deepEqual(await see(seen, targetId), ["Asia/Tokyo", "de-AT", true, 700])
  const known = new Set((await bench.call("GET", "/tabs")).body.tabs.map((tab: { targetId: string }) => tab.targetId))
  await see("() => void window.open('/sent.html')", targetId)
  const added = async () =>
    (await bench.call("GET", "/tabs")).body.tabs.filter((tab: { targetId: string }) => !known.has(tab.targetId))
  await waitFor(async () => (await added()).length === 1)
  const popup = (await added())[0].targetId
  await bench.call("POST", "/act", { kind: "wait", url: "*sent.html", loadState: "load", targetId: popup })
  assert.deepEqual((await see(seen, popup)).slice(0, 3), ["Asia/Tokyo", "de-AT", true])
  const listed = (await overrides()).find((each: { targetId: string }) => each.targetId === popup)
  assert.deepEqual(listed.headers, ["x-kept"])
})
