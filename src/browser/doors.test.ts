// Attacks on what the browser must not open a way to: the gateway's own ports and metadata services in the open policy, tried
// by everything that a page can do, and files that nobody asked for. A real browser; the doors are real listeners.
import assert from "node:assert/strict"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { mkdir, readdir } from "node:fs/promises"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { after, before, beforeEach, test } from "node:test"
import { WebSocketServer } from "ws"
import { type BrowserBench, startBrowserBench } from "../../test/support/browser-service.ts"
import { browsersOf } from "../../test/support/left-browsers.ts"
import { startRemoteBrowser } from "../../test/support/remote-browser.ts"
import { until } from "../../test/support/world.ts"
import { inLongForm } from "../../test/support/long.ts"

/** What was asked of the door, by the name of the attack; and how many connections there were. */
const hits = new Set<string>()
let connections = 0
const servers: Server[] = []
let bench: BrowserBench
/** A port, and whether it is the gateway's own. */
let door: string
let isOwn = true
/** A person's own service on another port. */
let site: string

async function listen(server: Server): Promise<string> {
  servers.push(server)
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const ownPorts = () => (isOwn ? [Number(new URL(door).port)] : [])

const names: Record<string, string[]> = {
  "door.example": ["127.0.0.1"],
  "mixed.example": ["93.184.216.34", "::ffff:127.0.0.1"],
  "meta.example": ["169.254.169.254"],
  "link.example": ["fe80::1"],
  "mine.example": ["127.0.0.1"],
}

/** Aims of the attacks: the door under its names, and services that nobody may reach. */
const aims = () => [
  door,
  ...["localhost", "app.localhost", "[::ffff:127.0.0.1]", "0.0.0.0", "door.example", "mixed.example"].map((host) =>
    door.replace("127.0.0.1", host),
  ),
  "http://169.254.169.254",
  "http://meta.example",
  "http://metadata.google.internal",
]

/** Those that a page tries in every way that it has: what differs by name alone is tried by name alone. */
const pageAims = () => [
  door,
  door.replace("127.0.0.1", "door.example"),
  "http://meta.example",
  "http://169.254.169.254",
]
/** A browser holds sockets back once some have failed. */
const socketAims = () => pageAims().slice(0, 2)

/** Everything that asks for an address by itself, for each aim; then says how it went. */
const attackPage = () => `<h1>Attack</h1><p id="state">trying</p>
${pageAims()
  .map(
    (aim) => `<img src="${aim}/image"><script src="${aim}/script"></script><iframe src="${aim}/frame"></iframe>
<link rel="stylesheet" href="${aim}/style"><link rel="prefetch" href="${aim}/prefetch"><link rel="preload" as="fetch" href="${aim}/preload">
<iframe src="/to?${aim}/redirected-frame"></iframe><video src="${aim}/video"></video><object data="${aim}/object"></object>
<script type="speculationrules">{"prefetch":[{"urls":["${aim}/speculated"],"eagerness":"immediate"}],"prerender":[{"urls":["/to?${aim}/prerendered"],"eagerness":"immediate"}]}</script>`,
  )
  .join("\n")}
<script>
  const answered = []
  const told = (name) => (answer) => answered.push(name + " " + (answer && answer.type))
  const settled = (promise, name) => promise.then(told(name), () => 0)
  const event = (target, ...names) => new Promise((done) => names.forEach((name) => target.addEventListener(name, done)))
  const tries = []
  for (const aim of ${JSON.stringify(socketAims())}) {
    const socket = new WebSocket(aim.replace("http", "ws") + "/socket")
    socket.onopen = () => answered.push(aim + " socket")
    tries.push(event(socket, "close", "open"))
  }
  for (const aim of ${JSON.stringify(pageAims())}) {
    navigator.sendBeacon(aim + "/beacon")
    const source = new EventSource(aim + "/events")
    tries.push(
      settled(fetch(aim + "/fetch", { mode: "no-cors" }), aim),
      settled(fetch(aim + "/post", { mode: "no-cors", method: "POST", body: "x" }), aim + " post"),
      settled(fetch("/to?" + aim + "/redirected", { mode: "no-cors" }), aim + " redirected"),
      event(source, "error", "open").then(() => source.close()),
    )
  }
  const worker = new Worker("/worker.js")
  const shared = new SharedWorker("/worker.js?shared")
  shared.port.start()
  tries.push(
    event(worker, "message"),
    event(shared.port, "message"),
    navigator.serviceWorker.register("/service.js").then(() => navigator.serviceWorker.ready),
    event(window, "load"),
  )
  Promise.all(tries).then(() => setTimeout(() => (state.textContent = "tried it all: " + JSON.stringify(answered)), 300))
</script>`

const workerCode = (name: string) => `
const tell = () => globalThis.postMessage?.("done")
const socketTo = (aim) => new Promise((done) => {
  const socket = new WebSocket(aim.replace("http", "ws") + "/${name}-socket")
  socket.onclose = socket.onopen = done
})
const all = Promise.all([
  ...${JSON.stringify(pageAims())}.map((aim) => fetch(aim + "/${name}", { mode: "no-cors" }).catch(() => 0)),
  socketTo("${door}"),
])
if ("onconnect" in globalThis) onconnect = ({ ports: [port] }) => all.then(() => port.postMessage("done"))
else if ("clients" in globalThis) oninstall = (event) => event.waitUntil(all)
else all.then(tell)`

before(async () => {
  const listener = createServer((request, response) => {
    hits.add((request.url ?? "").slice(1))
    response.writeHead(200, { "access-control-allow-origin": "*", "content-type": "text/html" }).end("<p>secret words")
  })
  listener.on("connection", () => (connections += 1))
  new WebSocketServer({ server: listener }).on("connection", (_socket, request) => hits.add(`${request.url}`.slice(1)))
  door = await listen(listener)
  site = await listen(
    createServer((request, response) => {
      const { pathname, search } = new URL(request.url ?? "/", "http://site")
      if (pathname === "/to") {
        response.writeHead(302, { location: search.slice(1) }).end()
        return
      }
      if (pathname === "/file") {
        const send = () =>
          response.writeHead(200, { "content-disposition": 'attachment; filename="x.bin"' }).end("data")
        if (search === "?late") setTimeout(send, 400)
        else send()
        return
      }
      const isScript = pathname.endsWith(".js")
      response.writeHead(200, { "content-type": isScript ? "text/javascript" : "text/html" })
      if (isScript) response.end(workerCode(pathname.slice(1) + search.slice(1)))
      else if (pathname === "/attack") response.end(attackPage())
      else if (pathname === "/drive-by") response.end(driveByPage)
      else response.end("<p>hello")
    }),
  )
  const resolve = async (name: string) => names[name] ?? Promise.reject(new Error(`no address for ${name}`))
  bench = await startBrowserBench({}, { ownPorts, resolve })
})

after(async () => {
  await bench?.stop()
  for (const server of servers) server.close().closeAllConnections()
})

beforeEach(() => {
  hits.clear()
  connections = 0
})

const attacks = [
  "image",
  "script",
  "style",
  "frame",
  "object",
  "video",
  "preload",
  "prefetch",
  "speculated",
  "prerendered",
  "fetch",
  "post",
  "beacon",
  "events",
  "socket",
  "redirected",
  "redirected-frame",
  ...["worker.js", "worker.jsshared", "service.js"].flatMap((name) => [name, `${name}-socket`]),
]

test("the attacks work: on a port that is not the gateway's own each of them arrives", inLongForm, async (t) => {
  isOwn = false
  t.after(() => (isOwn = true))
  await bench.call("POST", "/navigate", { url: `${site}/attack` })
  await bench.call("POST", "/act", { kind: "wait", text: "tried it all", timeoutMs: 60_000 })
  for (const attack of attacks) assert.ok(hits.has(attack), attack)
})

/** Over TLS, which the door does not speak: a connection to it is what there is to see. */
async function tryEncrypted(): Promise<unknown> {
  await bench.call("POST", "/navigate", { url: `${site}/plain` })
  const hosts = ["127.0.0.1", "app.localhost", "door.example"]
  const aims = hosts.map((host) => door.replace("http:", "https:").replace("127.0.0.1", host))
  const fn = `async () => {
    const failed = (target, how) => new Promise((done) => { target.onerror = done; target.onload = done; how(target) })
    for (const aim of ${JSON.stringify(aims)}) await Promise.all([
      fetch(aim + "/fetch", { mode: "no-cors" }).catch(() => 0),
      failed(new Image(), (image) => (image.src = aim + "/image")),
      failed(document.createElement("iframe"), (frame) => { frame.src = aim + "/frame"; document.body.append(frame) }),
      failed(new WebSocket(aim.replace("https", "wss") + "/socket"), () => 0),
    ])
    return "tried"
  }`
  return (await bench.call("POST", "/act", { kind: "evaluate", fn, timeoutMs: 30_000 })).body.result
}

test("A13: over https, too, not even a connection reaches the gateway's ports; others are reached", async (t) => {
  assert.equal(await tryEncrypted(), "tried")
  assert.equal(connections, 0)
  isOwn = false
  t.after(() => (isOwn = true))
  assert.equal(await tryEncrypted(), "tried")
  assert.ok(connections > 0)
})

test("A13: in the open policy nothing that a page does by itself reaches the gateway's ports or metadata services", async () => {
  const reply = await bench.call("POST", "/navigate", { url: `${site}/attack` })
  assert.equal(reply.status, 200, "a person's own service is there as ever")
  const waited = await bench.call("POST", "/act", { kind: "wait", text: "tried it all", timeoutMs: 60_000 })
  assert.equal(waited.status, 200, JSON.stringify(waited.body))
  const { result } = (await bench.call("POST", "/act", { kind: "evaluate", fn: "() => state.textContent" })).body
  assert.equal(result, "tried it all: []", "nothing was answered")
  assert.deepEqual([[...hits], connections], [[], 0])
  for (const host of ["169.254.169.254", "meta.example"])
    assert.ok(
      bench.logLines.some((line) => line.includes("request refused") && line.includes(host)),
      host,
    )
})

test("A13: an address is refused under every name, directly, through a redirect, and by what a page opens", async () => {
  const spellings = ["127.1", "2130706433", "0x7f.1", "0177.0.0.1", "[::1]", "[::]", "localhost.", "LOCALHOST"]
  const urls = [...aims(), ...spellings.map((host) => door.replace("127.0.0.1", host)), "http://link.example/"]
  for (const url of [...urls, "https://meta.example/", "https://169.254.169.254/"]) {
    for (const path of ["/navigate", "/tabs/open"]) {
      const reply = await bench.call("POST", path, { url: `${url}/direct` })
      assert.deepEqual([reply.status, reply.body.error?.code], [400, "navigation-refused"], `${path} ${url}`)
    }
  }
  for (const aim of aims()) {
    const reply = await bench.call("POST", "/navigate", { url: `${site}/to?${aim}/redirected` })
    assert.deepEqual([reply.status, reply.body.error?.code], [400, "navigation-refused"], aim)
  }
  for (const aim of pageAims()) {
    await bench.call("POST", "/navigate", { url: `${site}/plain` })
    const fn = `() => { window.open("${aim}/popup"); location = "${aim}/location" }`
    await bench.call("POST", "/act", { kind: "evaluate", fn })
    const { body } = await bench.call("GET", "/snapshot")
    assert.doesNotMatch(JSON.stringify(body), /secret words/)
  }
  assert.deepEqual([[...hits], connections], [[], 0])
  const mine = await bench.call("POST", "/navigate", { url: `${site.replace("127.0.0.1", "mine.example")}/plain` })
  assert.equal(mine.status, 200, JSON.stringify(mine.body))
})

test("A13: of a browser elsewhere the same is refused as far as its requests can be seen", async (t) => {
  const remote = await startRemoteBrowser()
  t.after(() => remote.stop())
  const far = await startBrowserBench(
    {
      defaultProfile: "far",
      profiles: { far: { driver: "managed", cdpUrl: `http://127.0.0.1:${remote.port}` } },
    },
    { ownPorts },
  )
  t.after(() => far.stop())
  assert.equal((await far.call("POST", "/navigate", { url: `${site}/plain` })).status, 200)
  const own = await far.call("POST", "/navigate", { url: `http://127.0.0.1:${remote.port}/json/version` })
  assert.equal(own.body.error?.code, "navigation-refused", "its own CDP port is one of ours")
  const redirected = await far.call("POST", "/navigate", { url: `${site}/to?${door}/redirected` })
  assert.equal(redirected.body.error?.code, "navigation-refused")
  await far.call("POST", "/navigate", { url: `${site}/plain` })
  const fn = `async () => {
    const worker = new Worker("/worker.js")
    return Promise.all(["${door}", "${door.replace("127.0.0.1", "localhost")}", "http://169.254.169.254"].map((aim) =>
      fetch(aim + "/fetch", { mode: "no-cors" }).then(() => "answered", () => "failed")))
  }`
  const { result } = (await far.call("POST", "/act", { kind: "evaluate", fn })).body
  assert.deepEqual(result, ["failed", "failed", "failed"])
  assert.deepEqual(
    [...hits].filter((name) => !name.endsWith("-socket")),
    [],
  )
})

test("a browser whose network process has crashed finds its way again", async () => {
  await bench.call("POST", "/start")
  const isNetwork = (pid: number) =>
    readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("network.mojom.NetworkService")
  const network = browsersOf(bench.stateFolder).filter(isNetwork)
  assert.equal(network.length, 1)
  process.kill(Number(network[0]), "SIGKILL")
  await until("pages load again", async () => {
    const { body } = await bench.call("POST", "/navigate", { url: `${site}/plain` })
    return body.ok === true && (await bench.call("GET", "/snapshot")).body.snapshot.includes("hello") ? true : undefined
  })
})

const driveByPage = `<a href="/file">File</a><a href="/file?late" target="_blank">Elsewhere</a>
<button onclick="open('/plain')">Page</button>
<a download="note.txt" href="data:text/plain,note">Note</a><button onclick="document.title = 'clicked'">Plain</button>`

test("fetches no file that nobody asked for, and says what was refused", async () => {
  const { targetId } = (await bench.call("POST", "/tabs/open", { url: `${site}/drive-by` })).body
  const query = `?targetId=${targetId}`
  for (const [name, file] of [
    ["File", "x.bin"],
    // The tab that it opens has no page until the site has answered.
    ["Elsewhere", "x.bin"],
    ["Note", "note.txt"],
  ] as const) {
    const ref = await bench.refOf(name, query)
    const { status, body } = await bench.call("POST", "/act", { kind: "click", ref, targetId })
    assert.equal(status, 200)
    assert.match(body.note ?? "", new RegExp(`^A download of ${file} was refused.*download`), name)
  }
  for (const name of ["Plain", "Page"]) {
    const { body } = await bench.call("POST", "/act", { kind: "click", ref: await bench.refOf(name, query), targetId })
    assert.equal(body.note, undefined, name)
  }
  const file = await bench.call("POST", "/navigate", { url: `${site}/file`, targetId })
  assert.equal(file.body.download, true)
  assert.match(file.body.note, /x\.bin was refused/)
  const folder = join(bench.stateFolder, "downloads")
  await mkdir(folder, { recursive: true })
  assert.deepEqual(await readdir(folder), [])
})

test("while somebody waits for a file in one tab, other tabs get none", async () => {
  const [one, two] = await Promise.all(
    [1, 2].map(async () => (await bench.call("POST", "/tabs/open", { url: `${site}/drive-by` })).body.targetId),
  )
  const waiting = bench.call("POST", "/wait/download", { targetId: one, timeoutMs: 60_000 })
  const click = async (targetId: string) =>
    bench.call("POST", "/act", { kind: "click", targetId, ref: await bench.refOf("File", `?targetId=${targetId}`) })
  const other = await click(two)
  assert.match(other.body.note, /x\.bin was refused/)
  let reply: Awaited<typeof waiting> | undefined
  void waiting.then((answer) => (reply = answer))
  await until("the wait has begun", async () => ((await click(one)).body.note === undefined ? true : undefined))
  const { download } = (await waiting).body
  assert.equal(download.suggestedFilename, "x.bin", JSON.stringify(reply?.body))
  await until("nothing else is there", async () =>
    (await readdir(join(bench.stateFolder, "downloads", ".part"))).length === 0 ? true : undefined,
  )
  assert.equal((await readdir(join(bench.stateFolder, "downloads"))).filter((name) => name !== ".part").length, 1)
  const after = await click(two)
  assert.match(after.body.note, /was refused/)
})
