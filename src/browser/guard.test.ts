// Where pages may go: nothing that a page does reaches an address that the policy refuses, and turns that act on words of
// others have places of their own. A real browser, a site that may be used, and a listener that must not be reached.
import assert from "node:assert/strict"
import { createSocket } from "node:dgram"
import { once } from "node:events"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { after, before, beforeEach, type TestContext, test } from "node:test"
import { WebSocketServer } from "ws"
import { systemClock } from "../kernel/index.ts"
import type { ToolContext } from "../agent/tool.ts"
import { type BrowserBench, startBrowserBench } from "../../test/support/browser-service.ts"
import { type RemoteBrowser, startRemoteBrowser } from "../../test/support/remote-browser.ts"
import { until } from "../../test/support/world.ts"
import { memorySites, toolContext } from "../../test/support/tool-context.ts"
import { type BrowserConfig, browserSchema } from "./config.ts"
import { inLongForm } from "../../test/support/long.ts"

/** What was asked of the listener that nobody may reach, by the name of the trap. */
const hits = new Set<string>()
const servers: Server[] = []
let open: BrowserBench
let strict: BrowserBench
/** A browser elsewhere, in which a name means something else than here. */
let remote: RemoteBrowser
/** What the open browser's clock is ahead. */
let skewMs = 0
/** Of the strict browser; tests may change it and put it back. */
let navigation: BrowserConfig["navigation"]
let site: string
let inside: string

async function listen(server: Server): Promise<string> {
  servers.push(server)
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const workerCode = (name: string) => `fetch("${inside}/${name}").catch(() => 0).then(() => postMessage?.("done"))`

/** Ways out that somebody has to take. */
const doorsPage = () => `<h1>Doors</h1>
<button onclick="window.open('${inside}/popup')">Popup</button>
<a href="/file" download>File</a>
<a href="${inside}/link">Link</a>
<a href="${inside}/blank" target="_blank">Blank</a>
<form action="${inside}/form"><button>Form</button></form>
<button onclick="location = '${inside}/location'">Location</button>
<button onclick="location = '/to-inside?button'">Redirect</button>`

/** Tries every way out that a page has by itself, then says so. */
const trapPage = () => `<h1>Trap</h1>
<p id="state">trying</p>
<img src="${inside}/image"><script src="${inside}/script"></script>
<link rel="stylesheet" href="${inside}/style"><link rel="prefetch" href="${inside}/prefetch">
<iframe src="${inside}/frame"></iframe><iframe src="/to-inside?frame"></iframe><iframe src="/refresh"></iframe>
<script>
  const settled = (promise) => promise.catch(() => 0)
  const event = (target, ...names) => new Promise((done) => names.forEach((name) => target.addEventListener(name, done)))
  navigator.sendBeacon("${inside}/beacon")
  const request = new XMLHttpRequest()
  request.open("POST", "${inside}/xhr")
  request.send("x")
  // It would try again and again, while another test looks.
  const source = new EventSource("${inside}/events")
  const tries = [
    settled(fetch("${inside}/fetch", { mode: "no-cors" })),
    settled(fetch("/to-inside?fetch", { mode: "no-cors" })),
    settled(fetch("${inside.replace("127.0.0.1", "localhost")}/localhost", { mode: "no-cors" })),
    settled(fetch("${inside.replace("127.0.0.1", "[::ffff:127.0.0.1]")}/mapped", { mode: "no-cors" })),
    event(request, "loadend"),
    event(new Worker("/worker.js"), "message"),
    event(source, "error").then(() => source.close()),
    settled(navigator.serviceWorker.register("/service.js").then(() => navigator.serviceWorker.ready)),
  ]
  Promise.all([...tries, event(window, "load")]).then(() => setTimeout(() => (state.textContent = "tried it all"), 300))
</script>`

/** Sends datagrams, in a frame too, and says whether it could. */
const directPage = (port: number) => `<p id="state">trying</p><script>
  const send = (world) => {
    const peer = new world.RTCPeerConnection({ iceServers: [{ urls: "stun:127.0.0.1:${port}" }] })
    peer.createDataChannel("x")
    peer.createOffer().then((offer) => peer.setLocalDescription(offer))
  }
  const frame = document.body.appendChild(document.createElement("iframe"))
  let sent = 0
  for (const world of [window, frame.contentWindow]) {
    try { send(world); sent += 1 } catch {}
  }
  state.textContent = "sent by " + sent
</script>`

before(async () => {
  const listener = createServer((request, response) => {
    // Asked for only when a page from here is shown, and then late: it would count for the next test.
    if (request.url !== "/favicon.ico") hits.add((request.url ?? "").slice(1))
    response.writeHead(200, { "access-control-allow-origin": "*", "content-type": "text/html" }).end("<p>inside words")
  })
  new WebSocketServer({ server: listener }).on("connection", (_socket, request) => hits.add(`${request.url}`.slice(1)))
  inside = await listen(listener)
  site = await listen(
    createServer((request, response) => {
      const { pathname, search } = new URL(request.url ?? "/", "http://site")
      if (pathname === "/to-inside") {
        response.writeHead(302, { location: `${inside}/redirect-${search.slice(1)}` }).end()
        return
      }
      if (pathname === "/closed" && request.headers.authorization !== `Basic ${btoa("ada:tea")}`) {
        response.writeHead(401, { "www-authenticate": 'Basic realm="x"' }).end("closed")
        return
      }
      const isScript = pathname.endsWith(".js")
      response.writeHead(200, {
        "content-type": isScript ? "text/javascript" : "text/html",
        "set-cookie": "visited=yes",
      })
      if (isScript) response.end(workerCode(pathname.slice(1)))
      else if (pathname === "/refresh") response.end(`<meta http-equiv="refresh" content="0; url=${inside}/refresh">`)
      else if (pathname === "/socket")
        response.end(
          `<p>socket</p><script>new WebSocket("${inside.replace("http", "ws")}/socket").onerror = () => (document.title = "closed")</script>`,
        )
      else if (pathname === "/direct") response.end(directPage(Number(search.slice(1))))
      else if (pathname === "/doors") response.end(doorsPage())
      else response.end(pathname === "/trap" ? trapPage() : `<p>hello ${request.headers.cookie ?? "stranger"}</p>`)
    }),
  )
  const allow = [new URL(site).host]
  const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + skewMs }
  open = await startBrowserBench({ navigation: { policy: "open", allow, deny: [] } }, { clock, maxGuests: 3 })
  navigation = { policy: "strict", allow, deny: [] }
  remote = await startRemoteBrowser({ more: ["--host-resolver-rules=MAP lie.example 127.0.0.1"] })
  const noSandbox = process.getuid?.() === 0
  strict = await startBrowserBench(
    {},
    {
      settings: () => ({ ...browserSchema.parse({ headless: true, noSandbox }), navigation }),
    },
  )
})

after(async () => {
  await Promise.all([open?.stop(), strict?.stop()])
  await remote?.stop()
  for (const server of servers) server.close().closeAllConnections()
})

beforeEach(() => hits.clear())

function change(context: TestContext, to: typeof navigation): void {
  const before = navigation
  navigation = to
  context.after(() => (navigation = before))
}

/** Which sites such a turn may be sent to is looked at elsewhere. */
const sites = { ...memorySites(), has: () => true }
const context = toolContext({
  sessionKey: "agent:main:hook:1",
  origin: "webhook",
  trusted: false,
  tainted: true,
  sites,
})

async function useAs(more: Partial<ToolContext>, input: { action: string } & Record<string, unknown>): Promise<string> {
  const { tool } = open.service
  const { content } = await tool.run(tool.input.parse(input), { ...context, ...more })
  return content.map((part) => (part.type === "text" ? part.text : "")).join("\n")
}
const asGuest = (input: { action: string } & Record<string, unknown>) => useAs({}, input)
const asOwner = (input: { action: string } & Record<string, unknown>) =>
  useAs({ sessionKey: "agent:main:main", origin: "owner", trusted: true }, input)

const loaded = [
  "frame",
  "redirect-frame",
  "refresh",
  "fetch",
  "redirect-fetch",
  "xhr",
  "beacon",
  "image",
  "worker.js",
  "popup",
  "blank",
  "link",
  "form?",
  "location",
  "redirect-button",
]
const clicked = ["Popup", "Blank", "Link", "Form", "Location", "Redirect"]

test("the traps work: with the open policy each of them reaches its aim", inLongForm, async () => {
  await open.call("POST", "/navigate", { url: `${site}/trap` })
  await open.call("POST", "/act", { kind: "wait", text: "tried it all" })
  await open.call("POST", "/navigate", { url: `${site}/socket` })
  await open.call("POST", "/act", { kind: "wait", loadState: "networkidle" })
  assert.ok(hits.has("socket"))
  for (const name of clicked) {
    await open.call("POST", "/navigate", { url: `${site}/doors` })
    await open.call("POST", "/act", { kind: "click", ref: await open.refOf(name) })
  }
  for (const trap of [...loaded, "localhost", "script", "style", "events", "service.js"])
    assert.ok(hits.has(trap), trap)
  assert.equal((await open.call("POST", "/navigate", { url: `${inside}/direct` })).status, 200)
})

test("A13: with the strict policy no page of the browser reaches a private address, whatever it tries", async () => {
  await strict.call("POST", "/navigate", { url: `${site}/trap` })
  await strict.call("POST", "/act", { kind: "wait", text: "tried it all" })
  for (const name of clicked) {
    await strict.call("POST", "/navigate", { url: `${site}/doors` })
    await strict.call("POST", "/act", { kind: "click", ref: await strict.refOf(name) })
  }
  assert.deepEqual([...hits], [])
  for (const url of [
    `${inside}/direct`,
    inside.replace("127.0.0.1", "0x7f.1"),
    inside.replace("127.0.0.1", "localhost."),
  ]) {
    for (const path of ["/navigate", "/tabs/open"]) {
      const reply = await strict.call("POST", path, { url })
      assert.deepEqual([reply.status, reply.body.error.code], [400, "navigation-refused"], `${path} ${url}`)
      assert.match(reply.body.error.hint, /browser\.navigation\.allow/)
    }
  }
  const redirected = await strict.call("POST", "/navigate", { url: `${site}/to-inside?direct` })
  assert.deepEqual([redirected.status, redirected.body.error.code], [400, "navigation-refused"])
  assert.deepEqual([...hits], [])
  assert.equal((await strict.call("POST", "/navigate", { url: `${site}/plain` })).status, 200)
})

test("A13: a turn of untrusted origin reaches no private address, through sockets neither", async () => {
  await asGuest({ action: "open", url: `${site}/trap` })
  await asGuest({ action: "act", request: { kind: "wait", text: "tried it all" } })
  for (const name of clicked) {
    await asGuest({ action: "navigate", url: `${site}/doors` })
    const [, ref] = new RegExp(`"${name}" \\[ref=(\\w+)\\]`).exec(await asGuest({ action: "snapshot" })) ?? []
    await asGuest({ action: "act", request: { kind: "click", ref } })
  }
  await asGuest({ action: "navigate", url: `${site}/socket` })
  await asGuest({ action: "act", request: { kind: "wait", loadState: "networkidle" } })
  for (const url of [`${inside}/direct`, "http://169.254.169.254/", "http://[::1]/", "file:///etc/passwd"])
    await assert.rejects(asGuest({ action: "navigate", url }), { code: "navigation-refused" }, url)
  await assert.rejects(asGuest({ action: "navigate", url: `${site}/to-inside?direct` }), { code: "navigation-refused" })
  assert.doesNotMatch(await asGuest({ action: "snapshot" }), /inside words/)
  assert.deepEqual([...hits], [])
})

test("A20: a turn of untrusted origin sees its own tabs only, has no cookies of the owner, and changes nobody's usual tab", async () => {
  await asOwner({ action: "open", url: `${site}/plain` })
  const own = JSON.parse(await asOwner({ action: "open", url: `${site}/own` }))
  assert.match(await asOwner({ action: "snapshot", mode: "full" }), /hello visited=yes/)
  const other = { sessionKey: "agent:main:group:7", origin: "group" as ToolContext["origin"] }
  assert.deepEqual(JSON.parse(await useAs(other, { action: "tabs" })).tabs, [])
  const guest = JSON.parse(await useAs(other, { action: "open", url: `${site}/guest` }))
  assert.match(await useAs(other, { action: "snapshot", mode: "full" }), /hello stranger/)
  const tabs = JSON.parse(await useAs(other, { action: "tabs" })).tabs as { targetId: string }[]
  assert.deepEqual(
    tabs.map(({ targetId }) => targetId),
    [guest.targetId],
  )
  for (const action of ["snapshot", "screenshot", "focus", "close", "console"])
    await assert.rejects(useAs(other, { action, targetId: own.targetId }), { code: "tab-not-found" }, action)
  await assert.rejects(asGuest({ action: "snapshot", targetId: guest.targetId }), { code: "tab-not-found" })
  await assert.rejects(useAs(other, { action: "stop" }), { code: "forbidden" })
  assert.match(await asOwner({ action: "snapshot" }), new RegExp(`"targetId":"${own.targetId}"`))
  assert.match(await asOwner({ action: "snapshot", mode: "full", targetId: guest.targetId }), /hello stranger/)
  const listed = (await open.call("GET", "/tabs")).body.tabs as { targetId: string; guest?: true }[]
  assert.deepEqual(
    listed
      .filter(({ guest: apart }) => apart)
      .map(({ targetId }) => targetId)
      .includes(guest.targetId),
    true,
  )
  assert.equal(listed.find(({ targetId }) => targetId === own.targetId)?.guest, undefined)
})

test("an owner who goes on in a guest's tab is held to the same addresses there", async () => {
  const { targetId } = JSON.parse(await asGuest({ action: "open", url: `${site}/guest` }))
  const reply = await open.call("POST", "/navigate", { targetId, url: `${inside}/direct` })
  assert.deepEqual([reply.status, reply.body.error.code], [400, "navigation-refused"])
  assert.deepEqual([...hits], [])
})

test("a page of an untrusted turn cannot pass the proxy with datagrams", async (context) => {
  const listener = createSocket("udp4")
  context.after(() => listener.close())
  listener.bind(0, "127.0.0.1")
  await once(listener, "listening")
  let heard = 0
  listener.on("message", () => (heard += 1))
  const url = `${site}/direct?${listener.address().port}`
  await asGuest({ action: "open", url })
  assert.match(await asGuest({ action: "snapshot", mode: "full" }), /sent by 0/)
  assert.equal(heard, 0)
  // The same page where nothing is taken from it.
  const arrived = once(listener, "message")
  await open.call("POST", "/navigate", { url })
  assert.match((await open.call("GET", "/snapshot")).body.snapshot, /sent by 2/)
  await arrived
})

test("only the guests used last keep their places, and only for a while", { timeout: 180_000 }, async () => {
  await asGuest({ action: "open", url: `${site}/guest` })
  const [first, ...others] = Array.from({ length: 3 }, (_, number) => ({
    sessionKey: `agent:main:hook:many-${number}`,
  }))
  await useAs(first ?? {}, { action: "open", url: `${site}/guest` })
  // Each gets its place before it turns out that there is no such tab in it.
  const nowhere = { action: "snapshot", targetId: "none" }
  await Promise.all(others.map((other) => assert.rejects(useAs(other, nowhere), { code: "tab-not-found" })))
  assert.deepEqual(JSON.parse(await asGuest({ action: "tabs" })).tabs, [])
  const { tabs } = JSON.parse(await useAs({ sessionKey: "agent:main:hook:many-0" }, { action: "tabs" }))
  assert.equal(tabs.length, 1)
  skewMs += 30 * 60_000
  await useAs({ sessionKey: "agent:main:hook:many-1" }, { action: "open", url: `${site}/guest` })
  await until("the places of the others are closed", async () => {
    const { tabs: all } = (await open.call("GET", "/tabs")).body as { tabs: { guest?: true }[] }
    return all.filter(({ guest }) => guest).length === 1 ? true : undefined
  })
})

test("A13: a name that means something else to a browser elsewhere leaves a blank page", async (t) => {
  const far = await startBrowserBench(
    {
      defaultProfile: "far",
      profiles: { far: { driver: "managed", cdpUrl: `http://127.0.0.1:${remote.port}` } },
      navigation: { policy: "strict", allow: [], deny: [] },
    },
    { resolve: async () => ["93.184.216.34"] },
  )
  t.after(() => far.stop())
  await far.call("POST", "/navigate", { url: `${inside.replace("127.0.0.1", "lie.example")}/lie` })
  await far.call("POST", "/act", { kind: "wait", url: "about:blank" })
  assert.doesNotMatch((await far.call("GET", "/snapshot")).body.snapshot, /inside words/)
  assert.ok(hits.has("lie"))
  assert.match(far.logLines.join("\n"), /page with a refused address/)
})

test("logins and places of untrusted turns work behind the gate too", async () => {
  await strict.call("POST", "/navigate", { url: `${site}/plain` })
  const closed = await strict.call("POST", "/navigate", { url: `${site}/closed` })
  assert.notEqual(closed.status, 200)
  assert.match(closed.body.error.hint, /credentials/)
  await strict.call("POST", "/navigate", { url: `${site}/plain` })
  await strict.call("POST", "/set/credentials", { username: "ada", password: "tea" })
  for (const _again of [1, 2]) {
    assert.equal((await strict.call("POST", "/navigate", { url: `${site}/closed` })).status, 200)
    assert.match((await strict.call("GET", "/snapshot")).body.snapshot, /hello/)
  }
  await strict.call("POST", "/set/credentials", { clear: true })
  const { tool } = strict.service
  await tool.run(tool.input.parse({ action: "open", url: `${site}/plain` }), context)
  const { content } = await tool.run(tool.input.parse({ action: "snapshot", mode: "full" }), context)
  assert.match(JSON.stringify(content), /hello stranger/)
})

test("a socket to a private address leaves a blank page under the strict policy", async () => {
  await strict.call("POST", "/navigate", { url: `${site}/socket` })
  const reply = await strict.call("POST", "/act", { kind: "wait", url: "about:blank" })
  assert.equal(reply.status, 200, JSON.stringify(reply.body))
})

test("what the operator denies is denied with the open policy too", async (context) => {
  change(context, { policy: "open", allow: [], deny: [new URL(inside).host] })
  await strict.call("POST", "/navigate", { url: `${site}/trap` })
  await strict.call("POST", "/act", { kind: "wait", text: "tried it all" })
  const reply = await strict.call("POST", "/navigate", { url: `${inside}/direct` })
  assert.equal(reply.body.error.code, "navigation-refused")
  assert.deepEqual([...hits], [])
})

test("A13: in a browser elsewhere, which cannot reach the proxy, an untrusted turn is held by the gate, and only it is", async (t) => {
  const bench = await startBrowserBench({
    defaultProfile: "far",
    profiles: { far: { driver: "managed", cdpUrl: `http://127.0.0.1:${remote.port}` } },
    navigation: { policy: "open", allow: [new URL(site).host], deny: [] },
  })
  t.after(() => bench.stop())
  const guest = (input: { action: string } & Record<string, unknown>) =>
    bench.service.tool.run(bench.service.tool.input.parse(input), context)
  await bench.call("POST", "/tabs/open", { url: `${site}/plain` })
  await guest({ action: "open", url: `${site}/trap` })
  await guest({ action: "act", request: { kind: "wait", text: "tried it all" } })
  await assert.rejects(guest({ action: "navigate", url: `${site}/to-inside?direct` }), { code: "navigation-refused" })
  assert.deepEqual([...hits], [])
  const { content } = await guest({ action: "tabs" })
  assert.doesNotMatch(JSON.stringify(content), /plain/)
  assert.equal((await bench.call("POST", "/navigate", { url: `${inside}/owner` })).status, 200)
  assert.deepEqual([...hits], ["owner"])
})

test("a change of the configuration counts from the next action on, and downloads go on under the strict policy", async (context) => {
  const before = navigation
  change(context, { ...navigation, policy: "open" })
  assert.equal((await strict.call("POST", "/navigate", { url: `${inside}/before` })).status, 200)
  navigation = before
  const snapshot = await strict.call("GET", "/snapshot")
  assert.equal(snapshot.body.error.code, "navigation-refused", "what is shown is not given out")
  assert.equal((await strict.call("POST", "/navigate", { url: `${inside}/after` })).status, 400)
  await strict.call("POST", "/navigate", { url: `${site}/doors` })
  const got = await strict.call("POST", "/download", { ref: await strict.refOf("File"), path: "file.txt" })
  assert.equal(got.status, 200, JSON.stringify(got.body))
  assert.deepEqual([...hits], ["before"])
})
