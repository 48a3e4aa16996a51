// Browsers that somebody else runs: every form of address, credentials, lost connections, and leaving them as they were.
// A second Chromium stands behind a proxy that wants credentials and does what networks do.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { after, before, suite, test, type TestContext } from "node:test"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { WebSocketServer } from "ws"
import { setDefaultCACertificates } from "node:tls"
import { type BrowserBench, type Reply, startBrowserBench } from "../../../test/support/browser-service.ts"
import { type ChaosOptions, type ChaosProxy, startChaosProxy } from "../../../test/support/chaos-proxy.ts"
import { type PagesServer, startPagesServer } from "../../../test/support/pages-server.ts"
import { type RemoteBrowser, startRemoteBrowser } from "../../../test/support/remote-browser.ts"
import type { BrowserConfig } from "../config.ts"
import { inLongForm } from "../../../test/support/long.ts"

const fixtures = join(import.meta.dirname, "../../../test/fixtures")
const password = "p/ss wörd%1"
const basic = `ada@home:${password}`
/** As they stand in a URL. */
const userinfo = `ada%40home:${encodeURIComponent(password)}`
const token = "tok-4f9a0c1d22"

let remote: RemoteBrowser
let pages: PagesServer

before(async () => {
  const cert = readFileSync(join(fixtures, "tls/cert.pem"), "utf8")
  setDefaultCACertificates([cert])
  remote = await startRemoteBrowser()
  pages = await startPagesServer({ folder: join(fixtures, "pages") })
})

after(async () => {
  await remote.stop()
  await pages.stop()
})

async function startProxy(t: TestContext, options: Omit<ChaosOptions, "target"> = {}): Promise<ChaosProxy> {
  const proxy = await startChaosProxy({ target: remote.port, ...options })
  t.after(() => proxy.stop())
  return proxy
}

/** A service with the profile `far` at the address, and a way to call it there. */
async function startFar(t: TestContext, cdpUrl: string, settings: Partial<BrowserConfig> = {}) {
  const profiles: BrowserConfig["profiles"] = { far: { driver: "managed", cdpUrl } }
  const bench = await startBrowserBench({ defaultProfile: "far", profiles, ...settings })
  t.after(() => bench.stop())
  return bench
}

async function until(holds: () => Promise<boolean> | boolean, what: string, ms = 30_000): Promise<void> {
  for (const end = performance.now() + ms; !(await holds());) {
    if (performance.now() > end) throw new Error(`not so within ${ms} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** From now on the service waits for so long, and for twice that the second time. */
async function limitTo(bench: BrowserBench, ms: number): Promise<void> {
  bench.settings.remoteCdpTimeoutMs = ms
  bench.settings.remoteCdpHandshakeTimeoutMs = ms
  await bench.service.reconfigure()
}

/** Not even before the log's own redaction. */
function assertNoSecret(bench: BrowserBench, replies: Reply[]): void {
  const text = JSON.stringify(replies.map(({ body }) => body)) + bench.logLines.join("\n")
  for (const secret of [password, encodeURIComponent(password), token, Buffer.from(basic).toString("base64")])
    assert.equal(text.includes(secret), false, `shows ${secret}`)
}

const errorOf = ({ status, body }: Reply) => [status, body.error?.code]
const openPage = (bench: BrowserBench, page = "forms.html") =>
  bench.call("POST", "/tabs/open", { url: `${pages.url}/${page}` })

test("reaches a browser by each form of address, with its credentials on every request and on the WebSocket", async (t) => {
  const tls = {
    cert: readFileSync(join(fixtures, "tls/cert.pem"), "utf8"),
    key: readFileSync(join(fixtures, "tls/key.pem"), "utf8"),
  }
  const forms: [ChaosOptions | object, (proxy: ChaosProxy) => string][] = [
    [{ basic }, ({ port }) => `http://${userinfo}@127.0.0.1:${port}`],
    [{ token, prefix: "/team/a" }, ({ port }) => `http://127.0.0.1:${port}/team/a/?token=${token}`],
    [{ basic, token, tls }, ({ port }) => `https://${userinfo}@localhost:${port}?token=${token}`],
    [{ token }, ({ port }) => `ws://127.0.0.1:${port}?token=${token}`],
    [{ basic, tls }, ({ port }) => `wss://${userinfo}@127.0.0.1:${port}/`],
    [{ basic }, ({ port }) => `ws://${userinfo}@127.0.0.1:${port}${remote.path}`],
    [{ token, onlySocket: remote.path }, ({ port }) => `ws://127.0.0.1:${port}/hosted?token=${token}&stealth=true`],
  ]
  for (const [options, address] of forms) {
    const proxy = await startProxy(t, options)
    const cdpUrl = address(proxy)
    const bench = await startFar(t, cdpUrl)
    const replies = [
      await bench.call("GET", "/profiles"),
      await bench.call("GET", "/tabs"),
      await bench.call("GET", "/"),
    ]
    const [{ body: list }, { body: tabs }, { body: status }] = replies as [Reply, Reply, Reply]
    assert.deepEqual([tabs.running, status.connected, status.running], [true, true, true], cdpUrl)
    const far = list.profiles.find(({ name }: { name: string }) => name === "far")
    assert.deepEqual([far.running, far.isRemote, far.isDefault, far.cdpPort], [true, true, true, proxy.port])
    const isAsked = !cdpUrl.includes("/devtools/") && !("onlySocket" in options)
    assert.equal(far.tabCount, isAsked ? (await remote.pages()).length : 0, cdpUrl)
    const refused = proxy.requests.filter(({ status }) => status === 401 || status === 403)
    assert.deepEqual(refused, [], cdpUrl)
    if (cdpUrl.includes("/devtools/"))
      assert.ok(
        proxy.requests.every(({ isSocket }) => isSocket),
        "asks nothing before",
      )
    assertNoSecret(bench, replies)
    await bench.stop()
  }
})

test("says that credentials were refused, and shows them nowhere", async (t) => {
  const proxy = await startProxy(t, { basic: "ada:another", token: "another" })
  for (const path of ["", remote.path]) {
    const scheme = path === "" ? "http" : "ws"
    const bench = await startFar(t, `${scheme}://${userinfo}@127.0.0.1:${proxy.port}${path}?token=${token}`)
    const started = await bench.call("POST", "/start")
    assert.deepEqual(errorOf(started), [503, "browser-unreachable"])
    assert.match(started.body.error.message, /credentials were refused.*401/)
    const status = await bench.call("GET", "/")
    assert.deepEqual([status.body.running, status.body.connected], [false, false])
    assert.match(status.body.lastError, /401/)
    const tabs = await bench.call("GET", "/tabs")
    assert.deepEqual(tabs.body, { running: false, tabs: [] })
    assertNoSecret(bench, [started, status, tabs, await bench.call("GET", "/profiles")])
    await bench.stop()
  }
})

test("shares one connection among calls at the same time, and makes no other while it lasts", async (t) => {
  const proxy = await startProxy(t)
  const bench = await startFar(t, `http://127.0.0.1:${proxy.port}`)
  const opened = await Promise.all(Array.from({ length: 5 }, () => openPage(bench, "sent.html")))
  assert.deepEqual(
    opened.map(({ status }) => status),
    [200, 200, 200, 200, 200],
  )
  assert.equal(proxy.requests.filter(({ isSocket }) => isSocket).length, 1)
  assert.equal(proxy.sockets, 1)
  for (const { body } of opened) await bench.call("DELETE", `/tabs/${body.targetId}`)
})

test("takes a lost connection up again with the next action, in the same tab, and knows its refs for stale", async (t) => {
  const proxy = await startProxy(t)
  const bench = await startFar(t, `http://127.0.0.1:${proxy.port}`)
  await openPage(bench, "controls.html")
  const { targetId } = (await openPage(bench)).body
  const ref = await bench.refOf("Send form")
  for (const lose of [proxy.cut, proxy.halfClose]) {
    const pending = bench.call("POST", "/act", { kind: "wait", text: "never to be seen", timeoutMs: 60_000 })
    await until(() => proxy.commands.at(-1) === "Runtime.evaluate", "the wait has begun")
    lose()
    const lost = await pending
    assert.deepEqual(errorOf(lost), [503, "browser-lost"])
    assert.match(lost.body.error?.hint ?? "", /connects to it again/)
    assert.match((await bench.call("GET", "/")).body.lastError, /\w/)
    // Without naming the tab: it is still the one that was used last, not the first of the browser.
    const stale = await bench.call("POST", "/act", { kind: "click", ref })
    assert.deepEqual(errorOf(stale), [409, "stale-ref"])
    assert.equal((await bench.call("GET", "/snapshot")).body.targetId, targetId)
  }
  const again = await bench.refOf("Send form")
  const clicked = await bench.call("POST", "/act", { kind: "click", ref: again })
  assert.equal(clicked.body.title, "Sent")
  assert.equal(bench.logLines.filter((line) => line.includes('"browser lost"')).length, 2)
  assert.equal((await bench.call("GET", "/")).body.lastError, null)
})

test("keeps what a tab pretends to be over a lost connection, until it is stopped", async (t) => {
  const proxy = await startProxy(t)
  const bench = await startFar(t, `http://127.0.0.1:${proxy.port}`)
  await openPage(bench)
  const isDark = async () => {
    const fn = "() => matchMedia('(prefers-color-scheme: dark)').matches"
    return (await bench.call("POST", "/act", { kind: "evaluate", fn })).body.result
  }
  await bench.call("POST", "/set/media", { colorScheme: "dark" })
  await bench.call("POST", "/set/geolocation", { latitude: 48, longitude: 16 })
  assert.equal(await isDark(), true)
  for (let time = 0; time < 2; time += 1) {
    proxy.cut()
    await until(async () => !(await bench.call("GET", "/")).body.connected, "the cut is noticed")
    assert.equal(await isDark(), true)
    assert.equal((await bench.call("GET", "/")).body.overrides[0].colorScheme, "dark")
  }
  await bench.call("POST", "/navigate", { url: `${pages.url}/forms.html` })
  const fn = `navigator.permissions.query({ name: "geolocation" }).then(({ state }) => state)`
  assert.equal((await bench.call("POST", "/act", { kind: "evaluate", fn })).body.result, "granted")
  await bench.call("POST", "/stop", {})
  assert.equal(await isDark(), false)
})

// Most of the time is spent on waiting for what does not answer: together.
suite("lines that are slow or dead", { concurrency: 4 }, () => {
  test("notices a half-open connection by itself, and hangs on nothing that does not answer", async (t) => {
    const proxy = await startProxy(t)
    const bench = await startFar(t, `http://127.0.0.1:${proxy.port}`)
    await openPage(bench)
    await limitTo(bench, 300)
    const pending = bench.call("POST", "/act", { kind: "wait", text: "never to be seen", timeoutMs: 100_000 })
    await until(() => proxy.commands.at(-1) === "Runtime.evaluate", "the wait has begun")
    proxy.swallow = true
    assert.deepEqual(errorOf(await pending), [503, "browser-lost"])
    const refused = await bench.call("GET", "/snapshot")
    assert.deepEqual(errorOf(refused), [503, "browser-unreachable"])
    assert.match(refused.body.error.message, /longer than 600 ms/, "the second try gets twice the time")
    assert.equal((await bench.call("GET", "/tabs")).body.running, false)
    proxy.swallow = false
    await limitTo(bench, 10_000)
    assert.equal((await bench.call("GET", "/snapshot")).status, 200)
  })

  test("asks all profiles at once how they are, and takes no longer than the slowest", async (t) => {
    const proxy = await startProxy(t)
    proxy.swallow = true
    const profile = { driver: "managed" as const, cdpUrl: `http://127.0.0.1:${proxy.port}` }
    const bench = await startFar(t, "http://127.0.0.1:9", {
      profiles: { a: profile, b: profile, c: profile },
      defaultProfile: "managed",
      remoteCdpTimeoutMs: 1_500,
    })
    const { body } = await bench.call("GET", "/profiles")
    assert.deepEqual(
      body.profiles.map(({ name, ...is }: Record<string, unknown>) => [name, is["running"], is["connected"]]),
      ["managed", "a", "b", "c", "relay"].map((name) => [name, false, false]),
    )
    assert.equal(proxy.waiting.most, 6, "version and list of three")
  })

  test("works over a slow line, and takes a second try with twice the time", inLongForm, async (t) => {
    const proxy = await startProxy(t)
    const bench = await startFar(t, `http://127.0.0.1:${proxy.port}`, { remoteCdpTimeoutMs: 1_500 })
    proxy.swallow = true
    const started = bench.call("POST", "/start")
    await until(() => proxy.requests.length === 1, "the first try")
    proxy.swallow = false
    assert.equal((await started).status, 200)
    assert.equal(proxy.requests.filter(({ url }) => url === "/json/version").length, 2)
    proxy.delayMs = 100
    assert.equal((await openPage(bench)).status, 200)
    const clicked = await bench.call("POST", "/act", { kind: "click", ref: await bench.refOf("Send form") })
    assert.equal(clicked.body.title, "Sent")
  })

  test("a stop ends a connecting that goes nowhere", async (t) => {
    const proxy = await startProxy(t)
    proxy.swallow = true
    const bench = await startFar(t, `http://127.0.0.1:${proxy.port}`, { remoteCdpTimeoutMs: 60_000 })
    const callers = [bench.call("POST", "/start"), openPage(bench)]
    await until(() => proxy.requests.length > 0, "it is connecting")
    assert.equal((await bench.call("POST", "/stop", {})).body.stopped, false)
    for (const caller of callers) assert.deepEqual(errorOf(await caller), [499, "aborted"])
  })
})

test("notices a frozen browser, and goes on when it wakes", async (t) => {
  const bench = await startFar(t, `ws://127.0.0.1:${remote.port}${remote.path}`)
  assert.equal((await openPage(bench)).status, 200)
  await limitTo(bench, 1_000)
  t.after(() => remote.thaw())
  remote.freeze()
  await until(async () => !(await bench.call("GET", "/")).body.connected, "the connection is given up")
  // The kernel still takes the connection; only an answer proves that somebody is there.
  const refused = await openPage(bench)
  assert.deepEqual(errorOf(refused), [503, "browser-unreachable"])
  remote.thaw()
  await until(async () => (await openPage(bench)).status === 200, "it answers again")
})

test("tells the browser to bring a tab to the front when it is asked to, and only then", async (t) => {
  const proxy = await startProxy(t)
  const { call } = await startFar(t, `http://127.0.0.1:${proxy.port}`)
  const open = async () => (await call("POST", "/tabs/open", { url: `${pages.url}/sent.html` })).body.targetId as string
  const tabs = [await open(), await open()]
  // A browser without a window shows all of its tabs as if each was in front: what it was told is all that can be seen.
  const told = () => proxy.commands.filter((name) => name === "Target.activateTarget").length
  assert.equal(told(), 0)
  for (const targetId of tabs) assert.equal((await call("POST", "/tabs/focus", { targetId })).status, 200)
  assert.equal(told(), 2)
  for (const targetId of tabs) await call("DELETE", `/tabs/${targetId}`)
})

test("leaves the browser as it was: no focus taken, nothing overridden, nothing closed", async (t) => {
  const proxy = await startProxy(t)
  const bench = await startFar(t, `http://127.0.0.1:${proxy.port}`)
  const before = await remote.pages()
  const { targetId } = (await openPage(bench)).body
  await bench.call("POST", "/act", { kind: "type", ref: await bench.refOf("Mail"), text: "ada@example.com" })
  await bench.call("POST", "/act", { kind: "click", ref: await bench.refOf("Send form") })
  assert.equal((await bench.call("GET", "/tabs")).body.tabs.length, before.length + 1)
  const stopped = await bench.call("POST", "/stop", {})
  assert.deepEqual(stopped.body, { ok: true, stopped: true, profile: "far" })
  await until(() => proxy.sockets === 0, "disconnected")
  assert.equal((await bench.call("POST", "/stop", {})).body.stopped, false)
  await bench.stop()
  assert.equal(remote.isAlive(), true)
  assert.ok(
    (await remote.pages()).some(({ id }) => id === targetId),
    "its tabs stay",
  )
  const forbidden = /close|bringToFront|activateTarget|setDownloadBehavior|setFocusEmulation|clear|setDeviceMetrics/i
  assert.deepEqual(
    proxy.commands.filter((name) => forbidden.test(name)),
    [],
  )
})

test(
  "never mixes profiles: two managed browsers and a remote one at once",
  { timeout: 120_000, ...inLongForm },
  async (t) => {
    const proxy = await startProxy(t)
    const bench = await startFar(t, `http://127.0.0.1:${proxy.port}`, {
      profiles: {
        far: { driver: "managed", cdpUrl: `http://127.0.0.1:${proxy.port}` },
        work: { driver: "managed", color: "#0066CC" },
      },
    })
    const names = ["managed", "work", "far"]
    const opened = await Promise.all(
      names.map((name) => bench.call("POST", `/tabs/open?profile=${name}`, { url: `${pages.url}/sent.html?${name}` })),
    )
    const ids = opened.map(({ body }) => body.targetId as string)
    const statuses = await Promise.all(names.map((name) => bench.call("GET", `/?profile=${name}`)))
    assert.deepEqual(
      statuses.map(({ body }) => body.cdpPort),
      [null, null, proxy.port],
    )
    for (const [index, name] of names.entries()) {
      const targetId = String(ids[index])
      const { url } = (await bench.call("GET", `/snapshot?profile=${name}`)).body
      assert.ok(url.endsWith(`?${name}`), `${name} shows ${url}`)
      for (const other of names.filter((candidate) => candidate !== name)) {
        const reply = await bench.call("GET", `/snapshot?profile=${other}&targetId=${targetId}`)
        assert.deepEqual(errorOf(reply), [404, "tab-not-found"])
      }
    }
    // Ending one leaves the others.
    await bench.call("POST", "/stop?profile=work", {})
    for (const name of ["managed", "far"])
      assert.equal((await bench.call("GET", `/snapshot?profile=${name}`)).status, 200)
  },
)

test("browser.cdpUrl is the profile remote and the default, and turns no other profile remote", async (t) => {
  const proxy = await startProxy(t, { token })
  const bench = await startBrowserBench({
    cdpUrl: `http://127.0.0.1:${proxy.port}?token=${token}`,
    profiles: { local: { driver: "managed", cdpPort: 18_870 } },
  })
  t.after(() => bench.stop())
  const { body } = await bench.call("GET", "/profiles")
  assert.deepEqual(
    body.profiles.map((profile: { name: string; isRemote: boolean; isDefault: boolean }) => [
      profile.name,
      profile.isRemote,
      profile.isDefault,
    ]),
    [
      ["managed", false, false],
      ["remote", true, true],
      ["local", false, false],
      ["relay", false, false],
    ],
  )
  assert.equal((await bench.call("GET", "/tabs")).body.running, true)
  assert.equal((await bench.call("GET", "/?profile=relay")).body.running, false)
})

test("attachOnly uses a browser that its owner started, and never starts or ends one", async (t) => {
  const attach = (cdpPort: number) =>
    startBrowserBench({ attachOnly: true, profiles: { managed: { driver: "managed", cdpPort } } })
  const without = await attach(18_879)
  t.after(() => without.stop())
  const refused = await without.call("POST", "/start")
  assert.deepEqual(errorOf(refused), [409, "browser-not-running"])
  assert.match(refused.body.error.hint, /attachOnly.*--remote-debugging-port=18879/)
  const usual = await startBrowserBench({ attachOnly: true })
  t.after(() => usual.stop())
  assert.equal((await usual.call("GET", "/")).body.cdpPort, 18_800, "the first of the range")
  const bench = await attach(remote.port)
  t.after(() => bench.stop())
  assert.equal((await bench.call("POST", "/start")).status, 200)
  const { body } = await bench.call("GET", "/")
  assert.deepEqual([body.running, body.cdpPort, body.pid, body.headless], [true, remote.port, null, true])
  assert.match(body.chosenBrowser, /Chrome/)
  assert.equal((await bench.call("GET", "/profiles")).body.profiles[0].isRemote, false)
  assert.deepEqual(errorOf(await bench.call("POST", "/reset-profile", {})), [409, "profile-unsupported"])
  await bench.call("POST", "/stop", {})
  assert.equal(remote.isAlive(), true)
})

test("says what answers in place of a browser", async (t) => {
  const bench = await startFar(t, pages.url, { remoteCdpTimeoutMs: 5_000 })
  const reply = await bench.call("GET", "/snapshot")
  assert.deepEqual(errorOf(reply), [503, "browser-unreachable"])
  assert.match(reply.body.error.message, /HTTP 404/)
  assert.match(reply.body.error.hint, /Check that the browser runs/)
  assert.equal(pages.requests.filter(({ url }) => url === "/json/version").length, 1, "it would say the same again")
  const gone = await startChaosProxy({ target: remote.port })
  await gone.stop()
  const closed = await startFar(t, `http://127.0.0.1:${gone.port}`)
  assert.match((await closed.call("POST", "/start")).body.error.message, /ECONNREFUSED/)
})

test("survives whatever a hostile address sends, and says that it is no CDP", async (t) => {
  const replies: Record<string, (id: number) => string> = {
    "/no-json": () => "not json",
    "/null": () => "null",
    "/no-info": (id) => `{"id":${id},"result":{}}\n`,
    "/rude": (id) => JSON.stringify({ id, error: { message: `no\u001b[2J\n${"x".repeat(5_000)}` } }),
    "/bad-event": () => '{"method":"Target.targetCreated","params":{}}',
  }
  const server = createServer((_request, response) => response.writeHead(404).end())
  const sockets = new WebSocketServer({ server })
  sockets.on("connection", (socket, request) => {
    socket.on("message", (data) => {
      const { id, method } = JSON.parse(String(data)) as { id: number; method: string }
      const path = String(request.url)
      // The first question is answered well, so that what follows is heard by everybody.
      if (method === "Browser.getVersion" && path === "/bad-event") socket.send(`{"id":${id},"result":{}}`)
      else socket.send(replies[path]?.(id) ?? "")
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  t.after(() => {
    for (const socket of sockets.clients) socket.terminate()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  for (const path of ["/no-json", "/null", "/bad-event"]) {
    const bench = await startFar(t, `ws://127.0.0.1:${port}${path}`)
    const reply = await bench.call("POST", "/start")
    assert.deepEqual(errorOf(reply), [503, "browser-unreachable"], path)
    assert.match(reply.body.error.message, /not CDP/, path)
    assert.equal((await bench.call("GET", "/")).status, 200)
  }
  const rude = await startFar(t, `ws://127.0.0.1:${port}/rude`)
  const { message } = (await rude.call("POST", "/start")).body.error
  assert.match(message, /Browser\.getVersion: no \[2J xxx/)
  assert.ok(message.length < 500)
  // Tells nothing of itself and has no tabs: that is not wrong yet.
  const quiet = await startFar(t, `ws://127.0.0.1:${port}/no-info`)
  assert.deepEqual((await quiet.call("GET", "/tabs")).body, { running: true, tabs: [] })
})

test("says at once that a browser on another machine can take and give no files", async (t) => {
  const bench = await startFar(t, "http://10.255.255.1:9222")
  for (const [path, body] of [
    ["/hooks/file-chooser", { paths: ["a.txt"] }],
    ["/download", { ref: "1", path: "a.txt" }],
    ["/wait/download", {}],
  ] as const) {
    const reply = await bench.call("POST", path, body)
    assert.deepEqual(errorOf(reply), [409, "profile-unsupported"], path)
  }
})
