// Where pages may go: nothing that a page does reaches an address that the policy refuses, and turns that act on words of
// others have places of their own. A real browser, a site that may be used, and a listener that must not be reached.
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { after, before, beforeEach, test } from "node:test"
import { WebSocketServer } from "ws"
import type { ToolContext } from "../agent/tool.ts"
import { type BrowserBench, startBrowserBench } from "../../test/support/browser-service.ts"

/** What was asked of the listener that nobody may reach, by the name of the trap. */
const hits = new Set<string>()
const servers: Server[] = []
let open: BrowserBench
let strict: BrowserBench
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
  const tries = [
    settled(fetch("${inside}/fetch", { mode: "no-cors" })),
    settled(fetch("/to-inside?fetch", { mode: "no-cors" })),
    settled(fetch("${inside.replace("127.0.0.1", "localhost")}/localhost", { mode: "no-cors" })),
    settled(fetch("${inside.replace("127.0.0.1", "[::ffff:127.0.0.1]")}/mapped", { mode: "no-cors" })),
    event(request, "loadend"),
    event(new Worker("/worker.js"), "message"),
    event(new EventSource("${inside}/events"), "error"),
    settled(navigator.serviceWorker.register("/service.js").then(() => navigator.serviceWorker.ready)),
  ]
  Promise.all([...tries, event(window, "load")]).then(() => setTimeout(() => (state.textContent = "tried it all"), 300))
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
      else if (pathname === "/doors") response.end(doorsPage())
      else response.end(pathname === "/trap" ? trapPage() : `<p>hello ${request.headers.cookie ?? "stranger"}</p>`)
    }),
  )
  const allow = [new URL(site).host]
  open = await startBrowserBench({ navigation: { policy: "open", allow, deny: [] } })
  strict = await startBrowserBench({ navigation: { policy: "strict", allow, deny: [] } })
})

after(async () => {
  await Promise.all([open?.stop(), strict?.stop()])
  for (const server of servers) server.close().closeAllConnections()
})

beforeEach(() => hits.clear())

const context: ToolContext = {
  agentId: "main",
  sessionKey: "agent:main:hook:1",
  runId: "1",
  origin: "webhook",
  trusted: false,
  route: null,
  signal: new AbortController().signal,
}

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

test("the traps work: with the open policy each of them reaches its aim", async () => {
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
  const listed = (await open.call("GET", "/tabs")).body.tabs as { targetId: string }[]
  assert.ok(listed.some(({ targetId }) => targetId === guest.targetId))
})

test("an owner who goes on in a guest's tab is held to the same addresses there", async () => {
  const { targetId } = JSON.parse(await asGuest({ action: "open", url: `${site}/guest` }))
  const reply = await open.call("POST", "/navigate", { targetId, url: `${inside}/direct` })
  assert.deepEqual([reply.status, reply.body.error.code], [400, "navigation-refused"])
  assert.deepEqual([...hits], [])
})

test("only the guests used last keep their places", async () => {
  await asGuest({ action: "open", url: `${site}/guest` })
  const others = Array.from({ length: 8 }, (_, number) => ({ sessionKey: `agent:main:hook:many-${number}` }))
  await Promise.all(others.map((other) => useAs(other, { action: "open", url: `${site}/guest` })))
  assert.deepEqual(JSON.parse(await asGuest({ action: "tabs" })).tabs, [])
  const { tabs } = JSON.parse(await useAs({ sessionKey: "agent:main:hook:many-0" }, { action: "tabs" }))
  assert.equal(tabs.length, 1)
})

test("A13: a name that changes its meaning between look and load leaves a blank page", async (context) => {
  // The name itself is refused in any case; with an address allowed it counts what it stands for.
  const allow = [new URL(site).host, "10.0.0.0/8"]
  const lying = await startBrowserBench(
    { navigation: { policy: "strict", allow, deny: [] } },
    { resolve: async () => ["93.184.216.34"] },
  )
  context.after(() => lying.stop())
  await lying.call("POST", "/navigate", { url: `${inside.replace("127.0.0.1", "localhost")}/lie` })
  await lying.call("POST", "/act", { kind: "wait", url: "about:blank" })
  assert.doesNotMatch((await lying.call("GET", "/snapshot")).body.snapshot, /inside words/)
  assert.ok(hits.has("lie"))
  assert.match(lying.logLines.join("\n"), /page with a refused address/)
})

test("a socket to a private address leaves a blank page under the strict policy", async () => {
  await strict.call("POST", "/navigate", { url: `${site}/socket` })
  const reply = await strict.call("POST", "/act", { kind: "wait", url: "about:blank" })
  assert.equal(reply.status, 200, JSON.stringify(reply.body))
})

test("what the operator denies is denied with the open policy too", async (context) => {
  const bench = await startBrowserBench({ navigation: { policy: "open", allow: [], deny: [new URL(inside).host] } })
  context.after(() => bench.stop())
  await bench.call("POST", "/navigate", { url: `${site}/trap` })
  await bench.call("POST", "/act", { kind: "wait", text: "tried it all" })
  assert.equal(
    (await bench.call("POST", "/navigate", { url: `${inside}/direct` })).body.error.code,
    "navigation-refused",
  )
  hits.delete("localhost")
  assert.deepEqual([...hits], [])
})
