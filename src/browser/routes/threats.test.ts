// Attacks on the control service: no secret, web pages, rebinding, malformed requests, forbidden addresses.
import assert from "node:assert/strict"
import { readFile } from "node:fs/promises"
import { request as httpRequest } from "node:http"
import { join } from "node:path"
import { after, before, test } from "node:test"
import { type BrowserBench, startBrowserBench, testToken } from "../../../test/support/browser-service.ts"
import { browsersOf } from "../../../test/support/left-browsers.ts"
import { listeningOf } from "../../../test/support/listening.ts"
import { startRemoteBrowser } from "../../../test/support/remote-browser.ts"
import { type PagesServer, startPagesServer } from "../../../test/support/pages-server.ts"

let bench: BrowserBench
let pages: PagesServer

before(async () => {
  pages = await startPagesServer({ folder: join(import.meta.dirname, "../../../test/fixtures/pages") })
  const environment = { ...process.env, MODEL_API_KEY: "key-of-nobody" }
  const profiles = { two: { driver: "managed" as const, cdpPort: 18_850 } }
  bench = await startBrowserBench({ profiles }, { environment })
})

after(async () => {
  await bench.stop()
  await pages.stop()
})

/** fetch() does not let one set Host and such; this does. */
function raw(method: string, path: string, headers: Record<string, string>, body?: string) {
  return new Promise<{ status: number; headers: Record<string, unknown>; text: string }>((resolve, reject) => {
    const request = httpRequest(
      { host: "127.0.0.1", port: bench.service.controlPort, method, path, headers },
      (response) => {
        let text = ""
        response.on("data", (chunk) => (text += chunk))
        response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }))
      },
    )
    request.on("error", reject)
    request.end(body)
  })
}

const authorized = { authorization: `Bearer ${testToken}` }

test("wants the token on every route, the first included, and says 404 to nobody without it", async () => {
  for (const [method, path] of [
    ["GET", "/"],
    ["GET", "/tabs"],
    ["POST", "/start"],
    ["GET", "/profiles"],
    ["GET", "/snapshot"],
    ["POST", "/act"],
    ["GET", "/nowhere"],
  ] as const) {
    assert.equal((await raw(method, path, {})).status, 401, path)
    assert.equal((await raw(method, path, { authorization: "Bearer wrong" })).status, 401, path)
  }
  assert.equal((await raw("GET", "/", authorized)).status, 200)
})

test("refuses web pages even with the token, and never allows an origin", async () => {
  const page = { ...authorized, origin: "https://evil.example" }
  assert.equal((await raw("POST", "/start", page)).status, 403)
  assert.equal((await raw("POST", "/start", { ...authorized, "sec-fetch-site": "cross-site" })).status, 403)
  const preflight = await raw("OPTIONS", "/start", {
    origin: "https://evil.example",
    "access-control-request-method": "POST",
  })
  assert.equal(preflight.headers["access-control-allow-origin"], undefined)
  assert.equal((await raw("POST", "/start", { ...authorized, "content-type": "text/plain" }, "{}")).status, 415)
  assert.equal((await bench.call("GET", "/tabs")).body.running, false)
})

test("A2: a page in any browser of the machine reaches nothing of the service, not even without asking for leave", async (t) => {
  const person = await startRemoteBrowser()
  t.after(() => person.stop())
  const attached = await startBrowserBench({
    attachOnly: true,
    profiles: { managed: { driver: "managed", cdpPort: person.port } },
  })
  t.after(() => attached.stop())
  await attached.call("POST", "/navigate", { url: `${pages.url}/sent.html` })
  await bench.call("POST", "/navigate", { url: `${pages.url}/sent.html` })
  const before = (await bench.call("GET", "/tabs")).body.tabs.length
  const fn = `async () => {
    const send = (path, more) => fetch("${bench.url}" + path, { method: "POST", ...more }).then(({ type }) => type, () => "failed")
    return [
      await send("/tabs/open", { mode: "no-cors", body: '{"url":"about:blank"}' }),
      await send("/tabs/open", { body: '{"url":"about:blank"}', headers: { "content-type": "application/json" } }),
      await send("/tabs/open", { headers: { authorization: "Bearer ${testToken}" } }),
    ]
  }`
  // The services of two gateways know nothing of each other: the request arrives, and is refused there.
  const elsewhere = (await attached.call("POST", "/act", { kind: "evaluate", fn })).body
  assert.deepEqual(elsewhere.result, ["opaque", "failed", "failed"], "nothing of an answer can be read")
  const own = (await bench.call("POST", "/act", { kind: "evaluate", fn })).body
  assert.deepEqual(own.result, ["failed", "failed", "failed"], "not even asked")
  assert.equal((await bench.call("GET", "/tabs")).body.tabs.length, before)
  await bench.call("POST", "/stop")
})

test("refuses a foreign Host name", async () => {
  for (const host of ["evil.example", `evil.example:${bench.service.controlPort}`, "127.0.0.1:1"]) {
    assert.equal((await raw("GET", "/", { ...authorized, host })).status, 403, host)
  }
})

test("answers malformed requests with 4xx and stays alive", async () => {
  assert.equal((await raw("DELETE", "/tabs/%ZZ", authorized)).status, 400)
  const json = { ...authorized, "content-type": "application/json" }
  assert.equal((await raw("POST", "/act", json, "{")).status, 400)
  assert.equal((await raw("POST", "/act", json, "[]")).status, 400)
  assert.equal((await raw("POST", "/act", json, `{"kind":"click","ref":"${"1".repeat(1_100_000)}"}`)).status, 413)
  assert.equal((await raw("PUT", "/start", authorized)).status, 405)
  assert.equal((await raw("GET", "/nowhere", authorized)).status, 404)
  assert.equal((await raw("GET", "/", authorized)).status, 200)
})

test("explains what it does not take", async () => {
  const selector = await bench.call("POST", "/act", { kind: "click", selector: "#buy" })
  assert.deepEqual([selector.status, selector.body.error.code], [400, "selector-unsupported"])
  const kind = await bench.call("POST", "/act", { kind: "teleport" })
  assert.match(kind.body.error.message, /teleport.*click, type, press/)
  assert.equal((await bench.call("POST", "/act", {})).status, 400)
  const profile = await bench.call("GET", "/?profile=nobody")
  assert.equal(profile.status, 404)
  assert.match(profile.body.error.message, /managed/)
  assert.equal((await bench.call("POST", "/start", { profile: "relay" })).body.error.code, "relay-not-connected")
  assert.equal((await bench.call("POST", "/tabs/focus", {})).status, 400)
  assert.equal((await bench.call("GET", "/tabs")).body.running, false)
})

test("opens nothing but http, https and about:blank, and no metadata service under any spelling", async () => {
  const refused = [
    "file:///etc/passwd",
    "data:text/html,x",
    "javascript:alert(1)",
    "view-source:http://127.0.0.1/",
    "chrome://settings",
    "ftp://127.0.0.1/",
    "about:config",
    "example.com",
    "http://169.254.169.254/latest/meta-data/",
    "http://2852039166/",
    "http://0xa9.254.169.254/",
    "http://[::ffff:169.254.169.254]/",
    "http://[fd00:ec2::254]/",
    "http://metadata.google.internal./",
  ]
  for (const path of ["/navigate", "/tabs/open"]) {
    for (const url of refused) {
      const reply = await bench.call("POST", path, { url })
      assert.deepEqual([reply.status, reply.body.error.code], [400, "navigation-refused"], `${path} ${url}`)
    }
  }
  assert.equal((await bench.call("GET", "/tabs")).body.running, false, "refused before anything is started")
})

test("gives out nothing of a page that sends itself to a file or to a metadata service", async () => {
  await bench.call("POST", "/navigate", { url: `${pages.url}/escape.html` })
  const { body } = await bench.call("GET", "/snapshot")
  assert.match(body.snapshot, /safe page/)
  assert.doesNotMatch(body.snapshot, /root:/)
  const redirect = await bench.call("POST", "/navigate", { url: `${pages.url}/metadata`, timeoutMs: 2_000 })
  assert.notEqual(redirect.status, 200)
})

test("A18: no process of the browser listens anywhere, and its command line is free of what it need not have", async () => {
  await bench.call("POST", "/start")
  const { pid, cdpPort, cdpUrl, cdpHttp } = (await bench.call("GET", "/")).body
  assert.deepEqual([cdpPort, cdpUrl, cdpHttp], [null, null, false])
  const line = await readFile(`/proc/${pid}/cmdline`, "utf8")
  assert.match(line, /--remote-debugging-pipe\0/)
  assert.doesNotMatch(line, /debugging-port|remote-debugging-address|remote-allow-origins|disable-web-security/)
  if (process.getuid?.() !== 0) assert.doesNotMatch(line, /--no-sandbox/)
  assert.deepEqual(listeningOf(browsersOf(bench.stateFolder)), [])
  const environment = await readFile(`/proc/${pid}/environ`, "utf8")
  assert.doesNotMatch(environment, /MODEL_API_KEY|key-of-nobody/)
})

test("A18: a profile that asks for a port has it on loopback only, and no page reaches it or other ports of ours", async () => {
  await bench.call("POST", "/start")
  const { pid } = (await bench.call("GET", "/")).body
  await bench.call("POST", "/start?profile=two")
  const { cdpPort, cdpUrl, cdpHttp } = (await bench.call("GET", "/?profile=two")).body
  assert.deepEqual([cdpUrl, cdpHttp], [`http://127.0.0.1:${cdpPort}`, true])
  const port = (cdpPort as number).toString(16).toUpperCase().padStart(4, "0")
  assert.deepEqual(listeningOf(browsersOf(bench.stateFolder)), [`0100007F:${port}`])
  const line = await readFile(`/proc/${pid}/cmdline`, "utf8")
  const proxyPort = /--proxy-server=http=127\.0\.0\.1:(\d+)/.exec(line)?.[1]
  assert.ok(proxyPort, line)
  for (const own of [cdpPort, bench.service.controlPort, proxyPort]) {
    for (const host of ["127.0.0.1", "localhost", "[::1]", "0.0.0.0"]) {
      const reply = await bench.call("POST", "/navigate", { url: `http://${host}:${own}/json/version` })
      assert.deepEqual([reply.status, reply.body.error?.code], [400, "navigation-refused"], `${host}:${own}`)
    }
  }
  const fn = `() => new Promise((done) => {
    const socket = new WebSocket("ws://127.0.0.1:${cdpPort}/devtools/browser/x")
    socket.onopen = () => done("open")
    socket.onerror = () => done("failed")
  })`
  await bench.call("POST", "/navigate", { url: `${pages.url}/sent.html` })
  assert.equal((await bench.call("POST", "/act", { kind: "evaluate", fn })).body.result, "failed")
})

test("slows down whoever guesses the token, but never the one who has it", async () => {
  let last = 0
  for (let count = 0; count < 25; count += 1)
    last = (await raw("GET", "/", { authorization: `Bearer guess-${count}` })).status
  assert.equal(last, 429)
  assert.equal((await raw("GET", "/", authorized)).status, 200)
})

test("takes null fields and blank parameters for left out, and numbers for words", async () => {
  const { body: tab } = await bench.call("POST", "/tabs/open", { url: "about:blank", timeoutMs: null })
  const pictured = { targetId: tab.targetId, ref: null, element: null, fullPage: null, type: null, timeoutMs: null }
  assert.equal((await bench.call("POST", "/screenshot", pictured)).status, 200)
  const blank = "format=&mode=&interactive=&depth=&selector=&frame=&limit=&maxChars=&refs=&labels="
  assert.equal((await bench.call("GET", `/snapshot?targetId=&${blank}&profile=`)).body.targetId, tab.targetId)
  const act = async (fields: object) => (await bench.call("POST", "/act", { targetId: null, ...fields })).body
  assert.deepEqual(await act({ kind: "wait", timeMs: 1, text: null, fn: null, selector: null }), {
    ok: true,
    targetId: tab.targetId,
    url: "about:blank",
    title: "about:blank",
  })
  assert.equal((await act({ kind: "press", key: 5, selector: null })).ok, true)
  assert.equal((await act({ kind: "fill", fields: [{ ref: 99_999, value: null }] })).error.code, "ref-not-found")
  const fn = `() => { document.body.textContent = "floor 42" }`
  assert.equal((await act({ kind: "evaluate", fn, ref: null })).ok, true)
  assert.equal((await act({ kind: "wait", text: 42, timeoutMs: 2_000 })).ok, true)
  // In a script null may be meant.
  const named = { kind: "run", steps: [{ kind: "set", as: "x", to: null }], values: null, script: null }
  assert.deepEqual((await act(named)).values, { x: null })
  for (const [path, body] of [
    ["/hooks/dialog", { accept: null }],
    ["/set/headers", { headers: null }],
    ["/navigate", { url: null }],
  ] as const) {
    const reply = await bench.call("POST", path, body)
    assert.deepEqual([reply.status, reply.body.error.message], [400, `${Object.keys(body)[0]}: is missing`])
  }
})

test("never takes the default profile, or this machine, for one whose name it cannot read", async () => {
  for (const field of ["profile", "node"]) {
    for (const name of [{}, ["managed"], true]) {
      const { status, body } = await bench.call("POST", "/stop", { [field]: name })
      assert.deepEqual([status, body.error?.message], [400, `${field}: must be a string`])
    }
  }
  assert.equal((await bench.call("POST", "/stop", { profile: 5 })).body.error.code, "profile-not-found")
  assert.equal((await bench.call("POST", "/stop?profile=", { profile: "nobody" })).body.error.code, "profile-not-found")
  assert.equal((await bench.call("POST", "/stop?profile=managed", { profile: "nobody" })).status, 200)
  assert.equal((await bench.call("POST", "/stop", { profile: null, node: null })).status, 200)
})
