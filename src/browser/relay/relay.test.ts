// The person's own tabs, end to end: a real Chromium with the real extension, whose button is pressed, and the real relay.
// One browser and one service for all; what one check leaves behind, the next one finds.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { createServer, type Server } from "node:http"
import { createServer as createSocketServer } from "node:net"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { after, before, describe, test } from "node:test"
import { WebSocket } from "ws"
import { allowedMethods } from "../../../extension/src/allowed.ts"
import { type BrowserBench, startBrowserBench, testToken } from "../../../test/support/browser-service.ts"
import { freePort } from "../../../test/support/gateway.ts"
import { type PersonBrowser, startPersonBrowser } from "../../../test/support/person-browser.ts"
import { toolContext } from "../../../test/support/tool-context.ts"
import { type Admit, bearerToken, createFailureThrottle, refuse } from "../../kernel/http/index.ts"
import { systemClock } from "../../kernel/index.ts"
import { CdpConnection } from "../cdp/index.ts"
import { extensionOrigin } from "./contract.ts"

/** How often the worker is killed; 20 in the long form. */
const kills = Number(process.env["SVC_RELAY_KILLS"] ?? 3)

let person: PersonBrowser
let bench: BrowserBench
let site: Server
let siteUrl: string
let otherUrl: string
let page: string
let code: string
let controlPort: number
/** Taken back by a test. */
let isTokenGood = true
const seenCookies: string[] = []

const relayPort = () => controlPort + 1
const call = (method: string, path: string, body?: unknown) =>
  bench.call(method, `${path}${path.includes("?") ? "&" : "?"}profile=relay`, body)

const html = (title: string, body: string) => `<!doctype html><title>${title}</title><h1>${title}</h1>${body}`

before(async () => {
  site = createServer((request, response) => {
    seenCookies.push(request.headers.cookie ?? "")
    response.setHeader("content-type", "text/html")
    if (request.url === "/login") response.setHeader("set-cookie", ["sid=own-cookie; HttpOnly", "kind=mild"])
    const path = request.url ?? ""
    const frame = `<iframe src="${otherUrl}/frame"></iframe><button onclick="document.title='pressed'">Go</button>`
    const inner = "<button onclick=\"parent.postMessage(1, '*'); this.textContent = 'done'\">Inside</button>"
    response.end(html(path, path === "/frame" ? inner : frame))
  }).listen(0, "127.0.0.1")
  controlPort = await freePort()
  const sitePort = (site.address() as AddressInfo).port
  siteUrl = `http://127.0.0.1:${sitePort}`
  // Another site, so another process: the frame has a session of its own.
  otherUrl = `http://localhost:${sitePort}`
  ;[bench, person] = await Promise.all([startBrowserBench({}, { controlPort, admit }), startPersonBrowser()])
})

after(async () => {
  await Promise.all([person.stop(), bench.stop()])
  site.close()
  site.closeAllConnections()
})

/** The door of a gateway, with one token that can be taken back. */
const throttle = createFailureThrottle({ clock: systemClock, limit: 1_000 })
const admit: Admit = (request) => {
  if (bearerToken(request.headers.authorization) !== testToken || !isTokenGood)
    refuse(throttle, "test", { message: "The token is wrong", hint: "" })
  const visitor = { kind: "token" as const, id: "1", name: "test" }
  return { visitor, scopes: ["browser"], target: "", holds: () => isTokenGood, end: () => undefined }
}

async function cdp(): Promise<CdpConnection> {
  const headers = { authorization: `Bearer ${testToken}` }
  return CdpConnection.connect({ url: `ws://127.0.0.1:${relayPort()}/cdp`, headers, timeoutMs: 5_000 })
}

/** As it is on the wire: how the relay answers a command. */
async function wire() {
  const socket = new WebSocket(`ws://127.0.0.1:${relayPort()}/cdp`, {
    headers: { authorization: `Bearer ${testToken}` },
  })
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject))
  const closed = new Promise((resolve) => socket.once("close", resolve))
  const waiting = new Map<number, (answer: Answer) => void>()
  const events: string[] = []
  socket.on("message", (data) => {
    const message = JSON.parse(String(data)) as Answer & { id?: number }
    if (message.id === undefined) events.push(String(data))
    else waiting.get(message.id)?.(message)
  })
  let id = 0
  return {
    events,
    closed,
    close: () => socket.close(),
    send: (method: string, params: object = {}, sessionId?: string) =>
      new Promise<Answer>((resolve) => {
        waiting.set(++id, resolve)
        socket.send(JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) }))
      }),
  }
}

interface Answer {
  // oxlint-disable-next-line typescript/no-explicit-any
  result?: any
  error?: { message: string; data?: { svc?: string } }
}

const svcCode = ({ error }: Answer) => error?.data?.svc

describe("before a tab is attached", () => {
  test("nothing can be done, and it says what to do; the button says why it cannot", async () => {
    const unpaired = await call("GET", "/snapshot")
    assert.equal(unpaired.body.error.code, "relay-not-connected")
    assert.match(unpaired.body.error.hint, /extension pair/)
    assert.equal((await bench.call("GET", "/")).body.profile, "managed")
    page = await person.open(`${siteUrl}/login`)
    await person.press(page)
    await person.waitForBadge(page, "!", /Not paired/)
    code = (await bench.call("POST", "/extension/pair", {})).body.code
    const half = (await bench.call("GET", "/extension")).body
    assert.deepEqual([half.paired, half.codeWaits], [false, true], "a code that nobody has is no pairing")
    assert.equal((await bench.call("GET", "/")).body.profile, "managed")
    assert.match((await call("GET", "/snapshot")).body.error.hint, /paste it into the extension's options/)
  })

  test("a listener that is not the gateway learns nothing, and the button says so", async () => {
    const received: Buffer[] = []
    const sockets = createSocketServer((socket) => void socket.on("data", (data) => received.push(data)))
    const fake = createServer()
    const { WebSocketServer } = await import("ws")
    const squatter = new WebSocketServer({ server: fake })
    squatter.on("connection", (socket) => {
      socket.on("message", (data) => {
        received.push(data as Buffer)
        socket.send(JSON.stringify({ type: "challenge", nonce: "0".repeat(43), proof: "0".repeat(64) }))
      })
    })
    await new Promise<void>((resolve) => fake.listen(0, "127.0.0.1", resolve))
    const port = (fake.address() as AddressInfo).port
    const [, ...secret] = code.split("-")
    await person.pair([port, ...secret].join("-"))
    await person.press(page)
    await person.waitForBadge(page, "!", /has not the secret/)
    const text = Buffer.concat(received).toString()
    assert.match(text, /"type":"hello"/)
    assert.doesNotMatch(text, /proof/)
    assert.equal(text.includes(secret.join("")), false)
    fake.close()
    fake.closeAllConnections()
    sockets.close()
  })

  test("nobody comes in without the secret or the token, from wherever", async () => {
    const base = `http://127.0.0.1:${relayPort()}`
    const bearer = { authorization: `Bearer ${testToken}` }
    const status = async (path: string, headers: Record<string, string> = {}) =>
      (await fetch(base + path, { headers })).status
    assert.deepEqual(
      await Promise.all(["/", "/json/list", "/json/version", "/extension/status"].map((p) => status(p))),
      [401, 401, 401, 401],
    )
    assert.equal(await status("/json/list", bearer), 200)
    assert.equal(await status(`/json/version?token=${testToken}`), 200)
    assert.equal(await status("/json/list", { ...bearer, origin: "https://evil.example" }), 403)
    const upgrade = (path: string, headers: Record<string, string>) =>
      new Promise<number>((resolve) => {
        const socket = new WebSocket(`ws://127.0.0.1:${relayPort()}${path}`, { headers })
        socket.once("open", () => resolve(101))
        socket.once("unexpected-response", (_request, { statusCode = 0 }) => resolve(statusCode))
        socket.on("error", () => undefined)
      })
    assert.equal(await upgrade("/cdp", {}), 401)
    assert.equal(await upgrade("/cdp", { authorization: "Bearer wrong" }), 401)
    assert.equal(await upgrade("/cdp", { ...bearer, origin: "https://evil.example" }), 403)
    assert.equal(await upgrade("/cdp", { ...bearer, host: `evil.example:${relayPort()}` }), 403)
    assert.equal(await upgrade("/cdp", bearer), 503)
    for (const origin of ["https://evil.example", "chrome-extension://aaaabbbbccccddddeeeeffffgggghhhh", "null"])
      assert.equal(await upgrade("/extension", { origin }), 403, origin)
    assert.equal(await upgrade("/extension", {}), 403)
    assert.equal(await upgrade("/extension", { origin: extensionOrigin, host: `evil.example:${relayPort()}` }), 403)
    const words = `new Promise((done) => { const s = new WebSocket("ws://127.0.0.1:${relayPort()}/extension"); s.onopen = () => done("open"); s.onerror = () => done("refused") })`
    assert.equal(await person.inPage(page, words), "refused")
  })

  test("a program that claims to be the extension is turned away without the secret", async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${relayPort()}/extension`, { origin: extensionOrigin })
    const said: string[] = []
    socket.on("message", (data) => {
      said.push(String(data))
      if (!String(data).includes("challenge")) return
      const proof = "0".repeat(64)
      socket.send(JSON.stringify({ type: "proof", proof, instance: "x", takeover: true, check: false, userAgent: "x" }))
    })
    socket.once("open", () =>
      socket.send(JSON.stringify({ type: "hello", protocol: 1, nonce: "1".repeat(64), version: "0" })),
    )
    await new Promise((resolve) => socket.once("close", resolve))
    assert.deepEqual(JSON.parse(said.at(-1) as string), { type: "refused", reason: "wrong-secret" })
  })
})

describe("an attached tab", () => {
  test("is the only one there is, and says so on the button", async () => {
    await person.pair(code)
    const other = await person.open(`${siteUrl}/mine`)
    await person.press(page)
    await person.waitForBadge(page, "ON")
    const { paired, codeWaits } = (await bench.call("GET", "/extension")).body
    assert.deepEqual([paired, codeWaits], [true, false])
    assert.equal((await bench.call("GET", "/")).body.profile, "relay", "from the pairing on it is the usual one")
    assert.equal((await person.badge(other)).text, "")
    const { tabs } = (await call("GET", "/tabs")).body
    assert.deepEqual(
      tabs.map((tab: { targetId: string }) => tab.targetId),
      [page],
    )
    await person.close(other)
  })

  test("is not there for turns that act on words of others, by whatever name", async () => {
    const { tool } = bench.service
    const stranger = toolContext({ sessionKey: "hook:one", trusted: false, origin: "webhook" })
    const use = async (action: string) =>
      await tool.run(tool.input.parse({ action, profile: "relay", targetId: page }), stranger)
    const [list] = (await use("tabs")).content
    assert.deepEqual(JSON.parse(list?.type === "text" ? list.text : "").tabs, [])
    for (const action of ["snapshot", "screenshot", "attach"]) {
      await assert.rejects(use(action), { code: "forbidden" }, action)
    }
  })

  test("is read and worked, frames of other sites too, and the badge outlives navigation", async () => {
    const { body } = await call("GET", "/snapshot")
    assert.match(body.snapshot, /button "Go"/)
    assert.match(body.snapshot, /button "Inside"/)
    const refOf = (name: string) =>
      Object.entries(body.refs).find(([, ref]) => (ref as { name: string }).name === name)?.[0]
    assert.equal((await call("POST", "/act", { kind: "click", ref: refOf("Inside") })).status, 200)
    assert.match((await call("GET", "/snapshot")).body.snapshot, /button "done"/)
    assert.equal((await call("POST", "/act", { kind: "evaluate", fn: "() => document.title" })).body.result, "/login")
    assert.equal((await call("POST", "/navigate", { url: `${siteUrl}/two` })).status, 200)
    await person.waitForBadge(page, "ON")
    assert.equal((await call("POST", "/screenshot", {})).status, 200)
    assert.equal((await call("POST", "/pdf", {})).status, 200)
    for (const scheme of ["file:///etc/passwd", "javascript:alert(1)", "chrome://version"])
      assert.equal((await call("POST", "/navigate", { url: scheme })).body.error.code, "navigation-refused", scheme)
  })

  test("gives the cookies of its page and no others, and keeps them out of events", async () => {
    const client = await wire()
    const { result } = await client.send("Target.attachToTarget", { targetId: page, flatten: true })
    const session = result.sessionId as string
    await client.send("Network.enable", {}, session)
    await client.send("Page.navigate", { url: `${siteUrl}/login` }, session)
    await person.waitForBadge(page, "ON")
    await call("GET", "/snapshot")
    assert.ok(
      seenCookies.some((cookie) => cookie.includes("own-cookie")),
      "the page itself has it",
    )
    assert.equal(client.events.join("").includes("own-cookie"), false)
    const { body } = await call("GET", "/cookies")
    assert.deepEqual(body.cookies.map(({ name }: { name: string }) => name).toSorted(), ["kind", "sid"])
    const others = await client.send("Network.getCookies", { urls: ["https://bank.example/"] }, session)
    assert.equal(svcCode(others), "relay-refused")
    for (const [method, path, given] of [
      ["POST", "/cookies/clear", {}],
      ["POST", "/cookies/set", { cookie: { name: "a", value: "b", url: siteUrl } }],
      ["POST", "/wait/download", {}],
      ["POST", "/trace/start", {}],
      ["POST", "/set/credentials", { username: "a", password: "b" }],
      ["POST", "/set/geolocation", { latitude: 1, longitude: 2 }],
    ] as const)
      assert.equal((await call(method, path, given)).body.error.code, "profile-unsupported", path)
    client.close()
  })

  test("takes only commands with parameters that stay inside it", async () => {
    const client = await wire()
    const other = await person.open(`${siteUrl}/mine`)
    const session = (await client.send("Target.attachToTarget", { targetId: page })).result.sessionId as string
    const tries: [string, object][] = [
      ["Page.navigate", { url: "file:///etc/passwd" }],
      ["Page.navigate", { url: "javascript:1" }],
      ["Page.createIsolatedWorld", { frameId: page, grantUniveralAccess: true }],
      ["Runtime.evaluate", { expression: "1", contextId: 99_999 }],
      ["Runtime.evaluate", { expression: "1", uniqueContextId: "1.2" }],
      ["Runtime.callFunctionOn", { functionDeclaration: "() => 1", objectId: "1.99999.1" }],
      ["Input.dispatchDragEvent", { type: "drop", x: 1, y: 1, data: { items: [], files: ["/etc/passwd"] } }],
      ["Fetch.continueRequest", { requestId: "1", url: "https://bank.example/" }],
      ["Page.printToPDF", { transferMode: "ReturnAsStream" }],
    ]
    for (const [method, params] of tries) {
      const answer = await client.send(method, params, session)
      assert.ok(
        ["relay-refused", "navigation-refused"].includes(svcCode(answer) ?? ""),
        `${method}: ${JSON.stringify(answer)}`,
      )
    }
    assert.equal(svcCode(await client.send("Target.closeTarget", { targetId: page })), "relay-refused")
    assert.equal(svcCode(await client.send("Target.closeTarget", { targetId: other })), "relay-no-tab")
    assert.ok((await client.send("Target.attachToTarget", { targetId: other })).error)
    assert.ok((await client.send("Runtime.evaluate", { expression: "1" }, "T-made-up")).error)
    const { result } = await client.send("Target.getTargets")
    assert.deepEqual(
      result.targetInfos.map(({ targetId }: { targetId: string }) => targetId),
      [page],
    )
    await person.close(other)
    client.close()
  })

  test("is served to a client for as long as its token is good, and no longer", async (context) => {
    context.after(() => (isTokenGood = true))
    const client = await wire()
    assert.ok((await client.send("Target.getTargets")).result)
    isTokenGood = false
    await client.closed
    await assert.rejects(wire(), /401/)
  })

  test("is served to several clients at once, who do not switch off what others want", async () => {
    const [one, two] = await Promise.all([cdp(), cdp()])
    const sessionOf = async (connection: CdpConnection) =>
      connection.session(
        (await connection.root.send<{ sessionId: string }>("Target.attachToTarget", { targetId: page })).sessionId,
      )
    const [first, second] = await Promise.all([sessionOf(one), sessionOf(two)])
    const told: string[] = []
    first.on("Runtime.executionContextCreated", () => told.push("context"))
    second.on("Network.requestWillBeSent", () => told.push("request"))
    await first.send("Runtime.enable")
    assert.ok(told.includes("context"), "a client that comes late is told what there is")
    await Promise.all([first.send("Network.enable"), second.send("Network.enable")])
    await first.send("Network.disable")
    await second.send("Runtime.evaluate", { expression: "fetch('/again').then((r) => r.text())", awaitPromise: true })
    assert.ok(told.includes("request"))
    one.close()
    two.close()
    assert.match((await call("GET", "/snapshot")).body.snapshot, /Go/)
  })
})

describe("every method of the protocol", () => {
  test("is refused through the relay unless the extension's list has it", { timeout: 60_000 }, async () => {
    const port = readFileSync(join(person.dataFolder, "DevToolsActivePort"), "utf8").split("\n")[0]
    const protocol = (await (await fetch(`http://127.0.0.1:${port}/json/protocol`)).json()) as {
      domains: { domain: string; commands: { name: string }[] }[]
    }
    const methods = protocol.domains.flatMap(({ domain, commands }) => commands.map(({ name }) => `${domain}.${name}`))
    assert.ok(methods.length > 500, String(methods.length))
    const client = await wire()
    const session = (await client.send("Target.attachToTarget", { targetId: page })).result.sessionId as string
    const own = ["Target.getTargetInfo", "Target.detachFromTarget"]
    const answered = ["Browser.getVersion", "Browser.setDownloadBehavior", "Target.attachToTarget", "Target.getTargets"]
    const atBrowser = new Set([
      ...allowedMethods.browser,
      ...answered,
      ...own,
      "Target.setAutoAttach",
      "Target.setDiscoverTargets",
    ])
    const atTab = new Set([...allowedMethods.tab, ...own])
    const refused = async (method: string, sessionId?: string) =>
      assert.equal(svcCode(await client.send(method, {}, sessionId)), "relay-refused", method)
    await Promise.all([
      ...methods.filter((method) => !atTab.has(method)).map((method) => refused(method, session)),
      ...methods.filter((method) => !atBrowser.has(method)).map((method) => refused(method)),
    ])
    const wide =
      /^(Storage|Browser|SystemInfo|Tracing|Extensions|Security|ServiceWorker|WebAuthn|IO|CacheStorage|IndexedDB)\./
    assert.deepEqual(
      allowedMethods.tab.filter((method) => wide.test(method)),
      [],
    )
    assert.deepEqual(
      allowedMethods.tab.filter((method) => !methods.includes(method)),
      [],
      "the list has only what there is",
    )
    client.close()
  })
})

describe("tabs besides the one that was attached", () => {
  test("the agent opens and closes its own; what a page opens is the person's until the options say otherwise", async () => {
    const { body: opened } = await call("POST", "/tabs/open", { url: `${siteUrl}/new` })
    assert.equal(opened.url, `${siteUrl}/new`)
    await person.waitForBadge(opened.targetId, "ON")
    assert.equal((await call("DELETE", `/tabs/${opened.targetId}`)).status, 200)
    const count = async () => (await call("GET", "/tabs")).body.tabs.length as number
    assert.equal(await count(), 1)
    await call("GET", "/snapshot")
    await person.inPage(page, `void window.open("${siteUrl}/popup1")`)
    await person.change({ newTabs: false })
    const refused = await call("POST", "/tabs/open", { url: `${siteUrl}/new` })
    assert.equal(refused.body.error.code, "relay-refused")
    assert.equal(await count(), 1)
    await person.change({ newTabs: true, popups: true })
    // A person looks at the page in which they press something.
    await person.browser.send("Target.activateTarget", { targetId: page })
    await person.inPage(page, `void window.open("${siteUrl}/popup2")`)
    for (let tries = 0; tries < 200 && (await count()) < 2; tries += 1)
      await new Promise((done) => setTimeout(done, 20))
    const { tabs } = (await call("GET", "/tabs")).body
    assert.ok(
      tabs.some(({ url }: { url: string }) => url.endsWith("/popup2")),
      JSON.stringify(tabs),
    )
    assert.equal(
      tabs.some(({ url }: { url: string }) => url.endsWith("/popup1")),
      false,
    )
    await person.change({ popups: false })
  })
})

describe("the connection", () => {
  test(`outlives the worker, killed ${kills} times, and consent stays what it was`, { timeout: 120_000 }, async () => {
    const alone = await person.open(`${siteUrl}/alone`)
    const before = (await call("GET", "/tabs")).body.tabs.length
    const { refs } = (await call("GET", "/snapshot?targetId=" + page)).body
    const go = Object.entries(refs).find(([, ref]) => (ref as { name: string }).name === "Go")?.[0]
    for (let kill = 0; kill < kills; kill += 1) {
      await person.killWorker()
      const answer = await call("POST", "/act", { kind: "evaluate", fn: "() => 6 * 7", targetId: page })
      assert.equal(answer.body.result, 42, JSON.stringify(answer.body))
    }
    // The page has not changed, so what was seen of it still counts.
    assert.equal((await call("POST", "/act", { kind: "click", ref: go, targetId: page })).status, 200)
    assert.equal(await person.inPage(page, "document.title"), "pressed")
    assert.equal((await call("GET", "/tabs")).body.tabs.length, before)
    assert.equal((await person.badge(alone)).text, "")
    await person.waitForBadge(page, "ON")
  })

  test("goes on after the whole browser has slept", async () => {
    person.freeze()
    const answer = call("POST", "/act", { kind: "evaluate", fn: "() => 'awake'", targetId: page })
    await new Promise((resolve) => setTimeout(resolve, 300))
    person.thaw()
    assert.equal((await answer).body.result, "awake")
  })

  test("is not taken by another browser without a click there", async () => {
    const { createHmac } = await import("node:crypto")
    const { proofText, parsePairingCode } = await import("./contract.ts")
    const secret = parsePairingCode(code)?.secret as string
    const connect = (takeover: boolean) =>
      new Promise<{ type: string; reason?: string }>((resolve) => {
        const socket = new WebSocket(`ws://127.0.0.1:${relayPort()}/extension`, { origin: extensionOrigin })
        const nonce = "2".repeat(64)
        socket.once("open", () => socket.send(JSON.stringify({ type: "hello", protocol: 1, nonce, version: "0" })))
        socket.on("message", (data) => {
          const message = JSON.parse(String(data)) as { type: string; nonce: string; reason?: string }
          if (message.type !== "challenge") {
            socket.close()
            return resolve(message)
          }
          const text = proofText("extension", relayPort(), { extension: nonce, relay: message.nonce })
          const proof = createHmac("sha256", secret).update(text).digest("hex")
          const rest = { instance: "second browser", check: false, userAgent: "x" }
          socket.send(JSON.stringify({ type: "proof", proof, takeover, ...rest }))
        })
      })
    assert.deepEqual(await connect(false), { type: "refused", reason: "taken" })
    assert.equal((await call("GET", "/snapshot?targetId=" + page)).status, 200)
  })

  test("comes back by itself when the gateway has been started again", { timeout: 60_000 }, async () => {
    const { stateFolder } = bench
    await bench.stop()
    // First that it waits, soon what for.
    await person.waitForBadge(page, "!", /not running/)
    bench = await startBrowserBench({}, { controlPort, stateFolder })
    await person.waitForBadge(page, "ON")
    const { body } = await call("GET", "/snapshot?targetId=" + page)
    assert.match(body.snapshot, /Go/)
  })

  test("ends for a tab in which nothing was done for as long as the options say", { timeout: 60_000 }, async () => {
    await person.change({ idleMinutes: 1 })
    const letTimePass = (minutes: number) =>
      person.inOptions(
        `chrome.storage.session.get("attached").then(({ attached }) => chrome.storage.session.set({ attached: attached.map((kept) => ({ ...kept, usedAt: Date.now() - ${minutes * 60_000} })) }))`,
      )
    // The browser's own alarm comes once in half a minute.
    const alarm = () => person.inOptions(`chrome.alarms.create("test", { when: Date.now() })`)
    await letTimePass(0.5)
    await person.killWorker()
    await alarm()
    await person.waitForBadge(page, "ON")
    assert.equal((await call("GET", "/snapshot?targetId=" + page)).status, 200)
    await letTimePass(2)
    await person.killWorker()
    await alarm()
    await person.waitForBadge(page, "")
    await person.change({ idleMinutes: 60 })
    await person.press(page)
    await person.waitForBadge(page, "ON")
  })

  test("ends for a tab by the options, whose list keeps the focus while it is told anew each second", async () => {
    const url = (await person.inPage(page, "location.href")) as string
    const button = `[...document.querySelectorAll("#tabs li")].find((line) => line.textContent.includes(${JSON.stringify(url)}))?.querySelector("button")`
    await person.inOptions(
      `new Promise((done) => { const look = () => { if (!${button}) return setTimeout(look, 50); ${button}.focus(); done() }; look() })`,
    )
    // Another tab comes into the list, which is seen only when the list has been told anew.
    const other = await person.open(`${siteUrl}/other`)
    await person.press(other)
    await person.waitForBadge(other, "ON")
    const isListed = `document.querySelector("#tabs").textContent.includes("/other")`
    await person.inOptions(
      `new Promise((done) => { const look = () => (${isListed} ? done() : setTimeout(look, 50)); look() })`,
    )
    const named = await person.inOptions<string>(`document.activeElement.getAttribute("aria-label")`)
    assert.equal(named, `Detach ${await person.inPage<string>(page, "document.title")}`)
    await person.inOptions("document.activeElement.click()")
    await person.waitForBadge(page, "")
    await person.waitForBadge(other, "ON")
    await person.close(other)
    await person.press(page)
    await person.waitForBadge(page, "ON")
  })

  test("stays for a tab that is attached while the last other one is let go", async () => {
    const other = await person.open(`${siteUrl}/other`)
    for (const [from, to] of [
      [page, other],
      [other, page],
    ] as const) {
      // Nothing waits for the first press before the second.
      await person.press(to)
      await person.press(from)
      await person.waitForBadge(from, "")
      await person.waitForBadge(to, "ON")
      assert.equal((await call("GET", "/snapshot?targetId=" + to)).status, 200)
    }
    await person.close(other)
  })

  test("ends for a tab when the button is pressed again, at once", async () => {
    await person.press(page)
    await person.waitForBadge(page, "")
    const answer = await call("GET", "/snapshot?targetId=" + page)
    assert.ok(["tab-not-found", "relay-not-connected"].includes(answer.body.error.code), JSON.stringify(answer.body))
  })
})

describe("a profile of the person's whole running browser", () => {
  test("finds it by the file that it writes, and keeps one connection", async () => {
    bench.settings.profiles["mine"] = { driver: "existing", userDataDir: person.dataFolder }
    bench.settings.profiles["none"] = { driver: "existing", userDataDir: join(person.dataFolder, "nothing") }
    await bench.service.reconfigure()
    const { body } = await bench.call("GET", "/tabs?profile=mine")
    assert.ok(body.tabs.some(({ targetId }: { targetId: string }) => targetId === page))
    const none = await bench.call("GET", "/snapshot?profile=none")
    assert.equal(none.body.error.code, "browser-not-running")
    assert.match(none.body.error.hint, /chrome:\/\/inspect/)
    const { body: read } = await bench.call("GET", `/snapshot?profile=mine&targetId=${page}`)
    assert.match(read.snapshot, /Go/)
    assert.equal(bench.logLines.filter((line) => line.includes("asking the running browser")).length, 1)
  })
})
