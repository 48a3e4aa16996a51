// Which addresses may be asked for, in every spelling, and the proxy that holds pages of untrusted turns to it.
import assert from "node:assert/strict"
import { createServer, type IncomingMessage, request as httpRequest } from "node:http"
import { type AddressInfo, connect, createServer as createTcpServer } from "node:net"
import { once } from "node:events"
import { mkdir } from "node:fs/promises"
import { networkInterfaces } from "node:os"
import { join } from "node:path"
import { type TestContext, test } from "node:test"
import pino from "pino"
import { temporaryFolder } from "../../../../test/support/temporary.ts"
import { AppError, Secret } from "../../../kernel/index.ts"
import { isMetadataHost, kindOf } from "./addresses.ts"
import { greetingUrl } from "./greeting.ts"
import { GuardProxy, proxyUser } from "./guard-proxy.ts"
import { parseRules, ruleProblem } from "./rules.ts"
import { createUrlPolicy, isUnknownName, type PolicySettings, rememberNames } from "./url-policy.ts"

const names: Record<string, string[]> = {
  "example.com": ["93.184.216.34", "2606:2800:220:1::1"],
  "inside.example": ["10.1.2.3"],
  "mixed.example": ["93.184.216.34", "127.0.0.1"],
  "meta.example": ["169.254.169.254"],
  "db.lan": ["192.168.1.9"],
}
const resolve = async (name: string) => names[name] ?? assert.fail(`no address for ${name}`)
const policyOf = (settings: Partial<PolicySettings> = {}) =>
  createUrlPolicy({ policy: "strict", allow: [], deny: [], ...settings }, resolve)

test("tells public addresses from those of machines and networks, however they are wrapped", () => {
  const kinds: [string, string[]][] = [
    [
      "public",
      [
        "93.184.216.34",
        "1.1.1.1",
        "2606:4700::1111",
        "::ffff:1.1.1.1",
        "::ffff:0:101:101",
        "64:ff9b::101:101",
        "2002:101:101::",
        "2001:0:1:1:1:1:fefe:fefe",
        "2606:4700::200:5efe:101:101",
      ],
    ],
    [
      "metadata",
      [
        "169.254.169.254",
        "169.254.170.2",
        "100.100.100.200",
        "192.0.0.192",
        "168.63.129.16",
        "fd00:ec2::254",
        "fd20:ce::254",
        "fe80::1",
        "fe80::1%eth0",
        "[fd00:ec2::254]",
        "::ffff:a9fe:a9fe",
        "::ffff:0:a9fe:a9fe",
        "::a9fe:a9fe",
        "64:ff9b::a9fe:a9fe",
        "2002:a9fe:a9fe::",
        "2001:0:1:1:1:1:5601:5601",
        "2606:4700::5efe:a9fe:a9fe",
      ],
    ],
    [
      "private",
      [
        "127.0.0.1",
        "0.0.0.0",
        "10.0.0.1",
        "172.31.0.1",
        "192.168.0.1",
        "100.64.0.1",
        "100.127.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "198.18.0.1",
        "198.19.0.1",
        "192.0.0.1",
        "192.0.2.1",
        "192.88.99.1",
        "198.51.100.1",
        "203.0.113.1",
        "100::1",
        "2001:2::1",
        "2001:10::1",
        "2001:20::1",
        "2001:db8::1",
        "3fff::1",
        "4000::1",
        "::2",
        "2606:4700::5efe:a00:1",
        "2606:4700::200:5efe:a00:1",
        "::",
        "::1",
        "::127.0.0.1",
        "::ffff:7f00:1",
        "::ffff:0:7f00:1",
        "64:ff9b::7f00:1",
        "64:ff9b:1::a00:1",
        "2002:7f00:1::",
        "2001:0:1:1:1:1:80ff:fffe",
        "fe81::5efe:a00:1",
        "fc00::1",
        "fec0::1",
        "ff02::1",
        "nonsense",
      ],
    ],
  ]
  for (const [kind, addresses] of kinds) {
    for (const address of addresses) {
      if (address.startsWith("fe81")) assert.notEqual(kindOf(address), "public", address)
      else assert.equal(kindOf(address), kind, address)
    }
  }
  for (const name of [
    "metadata",
    "Metadata.Google.Internal.",
    "metadata.goog",
    "instance-data",
    "instance-data.ec2.internal",
    "[fe80::1]",
  ])
    assert.ok(isMetadataHost(name), name)
  for (const name of ["metadata.example", "[2606:4700::1111]", "fe80::1.example"])
    assert.ok(!isMetadataHost(name), name)
})

const closed = [
  "http://127.0.0.1:8080/",
  "http://2130706433/",
  "http://0x7f.1/",
  "http://0177.0.0.1/",
  "http://127.1/",
  "http://[::1]/",
  "http://[::ffff:127.0.0.1]/",
  "http://[::ffff:7f00:1]/",
  "http://[64:ff9b::127.0.0.1]/",
  "http://[2002:7f00:1::]/",
  "http://0/",
  "http://[::]/",
  "http://10.0.0.1/",
  "http://100.64.1.1/",
  "http://224.0.0.1/",
  "http://localhost/",
  "http://localhost./",
  "http://LOCALHOST/",
  "http://app.localhost/",
  "http://printer.local/",
  "http://db.internal/",
  "http://nas.home.arpa./",
  "http://user:pass@127.0.0.1/",
  "http://example.com@127.0.0.1/",
  "http://１２７.0.0.1/",
  "http://127。0。0。1/",
  "http://169.254.169.254/",
]

test("refuses every spelling of a private address when strict, and only metadata services when open", async () => {
  const strict = policyOf()
  for (const url of closed) {
    assert.throws(() => strict.checkOpen(url), { code: "navigation-refused" }, url)
    assert.throws(() => strict.checkRead(url), { code: "navigation-refused" }, url)
    await assert.rejects(strict.checkRequest(url), { code: "navigation-refused" }, url)
    if (!url.includes("169.254")) assert.ok(policyOf({ policy: "open" }).checkOpen(url), url)
  }
  assert.equal(strict.checkOpen("about:blank"), "about:blank")
  for (const url of ["file:///etc/passwd", "data:text/html,x", "javascript:1", "ftp://example.com/", "example.com"])
    assert.throws(() => strict.checkOpen(url), { code: "navigation-refused" }, url)
  await assert.rejects(strict.checkRequest("file:///etc/passwd"), { code: "navigation-refused" })
  assert.deepEqual(await strict.checkRequest("data:text/plain,x"), [])
  await assert.rejects(strict.checkRequest("http://a b/"), { code: "navigation-refused" })
})

test("refuses names that stand for a private address, one among public ones too, and names that stand for none", async () => {
  const strict = policyOf()
  assert.deepEqual(await strict.checkRequest("https://example.com/"), names["example.com"])
  assert.deepEqual(await strict.checkRequest("wss://example.com./"), names["example.com"])
  for (const host of ["inside.example", "mixed.example", "meta.example"])
    await assert.rejects(strict.checkRequest(`http://${host}/`), { code: "navigation-refused" }, host)
  await assert.rejects(strict.checkRequest("http://nowhere.example/"), { code: "navigation-failed" })
  const open = policyOf({ policy: "open" })
  assert.deepEqual(await open.checkRequest("http://inside.example/"), ["10.1.2.3"])
  await assert.rejects(open.checkRequest("http://meta.example/"), { code: "navigation-refused" })
  assert.equal(strict.allowsAddress("http://example.com/", "93.184.216.34"), true)
  assert.equal(strict.allowsAddress("http://example.com/", "[::1]"), false)
})

test("says what may be opened instead, and what of a browser's own needs no network", async () => {
  const strict = policyOf({ deny: ["example.com"] })
  for (const [url, hint] of [
    ["example.com", /with its scheme: https/],
    ["ftp://example.com/", /^Only http:, https: and about:blank may$/],
    ["http://127.0.0.1/", /operator can add others to browser\.navigation\.allow/],
    ["http://example.com/", /^browser\.navigation\.deny lists it$/],
  ] as const)
    assert.throws(() => strict.checkOpen(url), { code: "navigation-refused", hint }, url)
  assert.throws(() => strict.checkRead("file:///etc/passwd"), { hint: /Navigate the tab to an http/ })
  for (const url of ["", "no address", "about:blank", "blob:https://example.org/1", "chrome-error://chromewebdata/"])
    strict.checkRead(url)
  for (const url of ["chrome://new-tab-page/", "chrome-extension://a/b", "chrome-untrusted://a/", "devtools://a/"]) {
    assert.deepEqual(await strict.checkRequest(url), [], url)
    assert.throws(() => strict.checkRead(url), { code: "navigation-refused" }, url)
  }
  assert.equal(strict.allowsAddress("no address", "127.0.0.1"), true)
  assert.deepEqual(
    [policyOf(), policyOf({ policy: "open" }), policyOf({ policy: "open", deny: ["a.example"] })].map(
      ({ filters }) => filters,
    ),
    [true, false, true],
  )
})

test("a name of the local network is opened where what it stands for is allowed", async () => {
  const look = async (name: string) => (name === "printer.local" ? ["192.168.1.9"] : ["10.0.0.1"])
  const policy = createUrlPolicy({ policy: "strict", allow: ["192.168.0.0/16"], deny: [] }, look)
  assert.ok(policy.checkOpen("http://printer.local/"))
  assert.deepEqual(await policy.checkRequest("http://printer.local/"), ["192.168.1.9"])
  await assert.rejects(policy.checkRequest("http://nas.local/"), { code: "navigation-refused" })
})

test("a name of which nothing is known is told from one that may not be opened, and nobody waits for it who has given up", async () => {
  const none = createUrlPolicy({ policy: "open", allow: [], deny: [] }, async () => [])
  await assert.rejects(none.checkRequest("http://none.example/"), { code: "navigation-failed", hint: /host name/ })
  const silent = createUrlPolicy({ policy: "open", allow: [], deny: [] }, () => new Promise(() => undefined))
  const caller = new AbortController()
  const asked = silent.checkRequest("http://silent.example/", caller.signal)
  caller.abort(new AppError("aborted", "The turn was stopped"))
  await assert.rejects(asked, { code: "aborted" })
  const codes = ["navigation-failed", "timeout", "navigation-refused", "aborted"] as const
  assert.deepEqual(
    codes.map((code) => isUnknownName(new AppError(code, ""))),
    [true, true, false, false],
  )
})

test("refuses the gateway's own ports on this machine, whatever it is called, in every policy, and nobody else's", async () => {
  const own = (settings: Partial<PolicySettings>) =>
    createUrlPolicy({ policy: "open", allow: [], deny: [], ...settings }, resolve, (port) => port === 18_789)
  const hosts = [
    "127.0.0.1",
    "127.9.9.9",
    "2130706433",
    "0x7f.1",
    "0177.0.0.1",
    "127.1",
    "0.0.0.0",
    "0",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:0.0.0.0]",
    "[64:ff9b::7f00:1]",
    "１２７.0.0.1",
    "127。0。0。1",
    "user@127.0.0.1",
    "localhost",
    "LOCALHOST",
    "localhost.",
    "app.localhost",
    "a.b.localhost.",
    "mixed.example",
    ...Object.values(networkInterfaces()).flatMap((list) =>
      (list ?? []).map(({ address, family }) => (family === "IPv6" ? `[${address}]` : address)),
    ),
  ]
  for (const policy of [own({}), own({ allow: ["127.0.0.1:18789", "localhost"] }), own({ policy: "strict" })]) {
    for (const host of hosts) {
      for (const scheme of ["http", "ws", "https"])
        await assert.rejects(policy.checkRequest(`${scheme}://${host}:18789/`), { code: "navigation-refused" }, host)
    }
  }
  for (const host of ["127.0.0.1", "localhost", "app.localhost."])
    assert.throws(() => own({}).checkOpen(`http://${host}:18789/`), { hint: /svc dashboard/ }, host)
  assert.deepEqual(await own({}).checkRequest("http://127.0.0.1:3000/"), ["127.0.0.1"])
  assert.ok((await own({}).checkRequest("http://app.localhost:3000/")).includes("127.0.0.1"))
  assert.deepEqual(await own({}).checkRequest("http://inside.example:18789/"), ["10.1.2.3"], "another machine's")
})

test("lets the operator allow and deny hosts, networks and ports; deny wins, and metadata services stay closed", async () => {
  const allow = policyOf({ allow: ["127.0.0.1:8080", "*.lan", "10.0.0.0/8", "meta.example"] })
  assert.ok(allow.checkOpen("http://127.0.0.1:8080/"))
  assert.throws(() => allow.checkOpen("http://127.0.0.1:8081/"), { code: "navigation-refused" })
  assert.deepEqual(await allow.checkRequest("http://db.lan/"), ["192.168.1.9"])
  assert.deepEqual(await allow.checkRequest("http://inside.example/"), ["10.1.2.3"])
  await assert.rejects(allow.checkRequest("http://mixed.example/"), { code: "navigation-refused" })
  await assert.rejects(allow.checkRequest("http://meta.example/"), { code: "navigation-refused" })
  const deny = policyOf({ policy: "open", deny: ["*.example", "192.168.0.0/16"], allow: ["inside.example"] })
  await assert.rejects(deny.checkRequest("http://inside.example/"), { code: "navigation-refused" })
  await assert.rejects(deny.checkRequest("http://db.lan/"), { code: "navigation-refused" })
  assert.throws(() => deny.checkOpen("http://A.Example/"), { code: "navigation-refused" })
  assert.ok(deny.checkOpen("http://example.com/"))
})

test("a rule with a port is about that port, also where an address does not name it", () => {
  const allow = policyOf({ allow: ["db.lan:80", "web.lan:443"] })
  for (const url of ["http://db.lan/", "ws://db.lan/", "http://db.lan:80/", "https://web.lan/", "wss://web.lan:443/"]) {
    assert.ok(allow.allowsAddress(url, "192.168.1.9"), url)
  }
  for (const url of ["https://db.lan/", "wss://db.lan/", "http://web.lan/", "ws://web.lan/", "http://db.lan:443/"]) {
    assert.ok(!allow.allowsAddress(url, "192.168.1.9"), url)
  }
})

test("reads the operator's lists and says what is wrong with an entry", () => {
  const rules = parseRules(["[::1]:80", "Example.COM.", "*.bücher.example", "fd00::/8"])
  assert.ok(rules.matches("[::1]", 80) && !rules.matches("[::1]", 81))
  assert.ok(rules.matches("example.com", 443) && !rules.matches("www.example.com", 443))
  assert.ok(rules.matches("www.xn--bcher-kva.example", 443) && !rules.matches("xn--bcher-kva.example", 443))
  assert.ok(rules.matches("any", 1, ["fd12::1"]))
  for (const text of [
    "",
    "10.0.0.0/33",
    "10.0.0.0/8x",
    "10.0.0.0/",
    "::/129",
    "http://x",
    "a/b",
    "*",
    "x:65536",
    "x:0",
    "a b",
    "*.*.x",
  ])
    assert.notEqual(ruleProblem(text), undefined, text)
  for (const text of ["10.0.0.0/0", "10.0.0.0/32", "fd00::/128", "x:65535", "x:1", "[::1]", " x "])
    assert.equal(ruleProblem(text), undefined, text)
  const alone = parseRules(["10.0.0.1", "fd00::1"])
  assert.ok(alone.byAddress && !parseRules(["example.com"]).byAddress)
  assert.ok(alone.matches("any", 1, ["10.0.0.1"]) && !alone.matches("any", 1, ["10.0.0.2"]))
  assert.ok(alone.matches("[fd00::1]", 1) && !alone.matches("[fd00::2]", 1))
})

test("remembers what a name stood for, for a while, and no failure", async () => {
  let now = 0
  let asked = 0
  const remembered = rememberNames(
    async () => {
      asked += 1
      if (asked === 1) throw new Error("no answer")
      return ["1.1.1.1"]
    },
    () => now,
  )
  await assert.rejects(remembered("a.example"))
  await remembered("a.example")
  await remembered("a.example")
  assert.equal(asked, 2)
  now = 60_000
  await remembered("a.example")
  assert.equal(asked, 3)
  // So many at most: the one that was asked for first is looked up anew.
  for (let count = 0; count < 500; count += 1) await remembered(`${count}.example`)
  await remembered("499.example")
  assert.equal(asked, 503)
  await remembered("a.example")
  assert.equal(asked, 504)
})

async function startSite(context: TestContext) {
  const hits: string[] = []
  const site = createServer((request, response) => {
    hits.push(`${request.method} ${request.headers.host}${request.url} ${request.headers["proxy-authorization"] ?? ""}`)
    request.pipe(response)
  })
  site.listen(0, "127.0.0.1")
  await once(site, "listening")
  context.after(() => site.close())
  return { hits, port: (site.address() as AddressInfo).port }
}

async function startProxy(context: TestContext, settings: Partial<PolicySettings>, look = resolve) {
  const policy = createUrlPolicy({ policy: "strict", allow: [], deny: [], ...settings }, look)
  const log = pino({ level: "silent" })
  const proxy = new GuardProxy({ policy: () => policy, log, secret: new Secret("word") })
  context.after(() => proxy.stop())
  const { port } = new URL(await proxy.url())
  const authorization = `Basic ${Buffer.from(`${proxyUser}:word`).toString("base64")}`
  const ask = (path: string, headers: Record<string, string> = { "proxy-authorization": authorization }, body = "") =>
    new Promise<{ status: number | undefined; text: string }>((done, reject) => {
      const request = httpRequest({ port, host: "127.0.0.1", path, headers, method: body === "" ? "GET" : "POST" })
      request.on("response", async (response) => {
        let text = ""
        for await (const chunk of response) text += String(chunk)
        done({ status: response.statusCode, text })
      })
      request.on("error", reject).end(body)
    })
  const say = async (words: string) => {
    const socket = connect(Number(port), "127.0.0.1")
    socket.write(`${words} HTTP/1.1\r\nHost: x\r\nProxy-Authorization: ${authorization}\r\n\r\n`)
    const [first] = (await once(socket, "data")) as [Buffer]
    return { socket, text: String(first), line: String(first).split("\r\n")[0] }
  }
  return {
    proxy,
    ask,
    say,
    tunnel: (target: string) => say(`CONNECT ${target}`),
    explain: (url: string) => proxy.explain(url),
  }
}

test("the proxy connects to the very address that it checked, and asks for it once", async (context) => {
  const site = await startSite(context)
  const answers = [["127.0.0.1"], ["169.254.169.254"]]
  const { ask } = await startProxy(context, { allow: ["twice.example"] }, async () => answers.shift() ?? assert.fail())
  const reply = await ask(`http://twice.example:${site.port}/a?b=c`, undefined, "body")
  assert.deepEqual(reply, { status: 200, text: "body" })
  assert.deepEqual(site.hits, [`POST twice.example:${site.port}/a?b=c `])
  assert.equal(answers.length, 1)
})

test("the proxy refuses private addresses to requests and to tunnels, and wants its secret", async (context) => {
  const site = await startSite(context)
  const { ask, say, tunnel, explain } = await startProxy(context, {})
  for (const [url, status, code] of [
    [`http://127.0.0.1:${site.port}/`, 403, "navigation-refused"],
    ["http://inside.example/", 403, "navigation-refused"],
    ["http://nowhere.example/", 502, "navigation-failed"],
  ] as const) {
    const { line, text } = await say(`GET ${url}`)
    assert.match(line ?? "", new RegExp(` ${status} `), url)
    assert.equal(text.match(/content-length/gi)?.length, 2, "no page takes it for an answer")
    assert.equal(explain(url)?.code, code)
  }
  assert.match((await tunnel(`127.0.0.1:${site.port}`)).line ?? "", / 403 /)
  assert.match((await tunnel(`[::ffff:127.0.0.1]:${site.port}`)).line ?? "", / 403 /)
  assert.equal((await ask(greetingUrl, {})).status, 407)
  assert.equal((await ask(greetingUrl, { "proxy-authorization": "Basic c3ZjOndyb25n" })).status, 407)
  assert.equal((await ask(greetingUrl)).status, 204)
  assert.match((await say("GET /path")).line ?? "", / 502 /)
  assert.deepEqual(site.hits, [])
})

test("the proxy carries a tunnel both ways", async (context) => {
  const site = await startSite(context)
  const { tunnel } = await startProxy(context, { allow: ["127.0.0.1"] })
  const { socket, line } = await tunnel(`127.0.0.1:${site.port}`)
  assert.match(line ?? "", / 200 /)
  socket.write("GET /through HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
  const [answer] = (await once(socket, "data")) as [Buffer]
  assert.match(String(answer), /^HTTP\/1\.1 200 /)
  assert.deepEqual(site.hits, ["GET x/through "])
  socket.destroy()
})

test("the proxy passes on what was said as it was said, and asks a site again that closed a kept connection", async (context) => {
  const heard: string[] = []
  let connections = 0
  const server = createTcpServer((socket) => {
    connections += 1
    let count = 0
    socket.on("error", () => undefined)
    socket.on("data", (data) => {
      heard.push(String(data).split("\r\n")[0] as string)
      count += 1
      // The second request on a connection is one that nobody reads any more.
      if (count === 2) socket.destroy()
      else socket.write("HTTP/1.1 200 Fine\r\nX-Two: a\r\nX-Two: b\r\nSet-Cookie: c=1\r\nContent-Length: 2\r\n\r\nok")
    })
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  context.after(() => server.close())
  const { say, ask } = await startProxy(context, { allow: ["127.0.0.1"] })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/form?`
  const { text } = await say(`GET ${url}`)
  assert.match(text, /^HTTP\/1\.1 200 Fine\r\nX-Two: a\r\nX-Two: b\r\nSet-Cookie: c=1\r\nContent-Length: 2\r\n/)
  assert.deepEqual(await ask(url), { status: 200, text: "ok" })
  assert.deepEqual(
    heard,
    Array.from({ length: 3 }, () => "GET /form? HTTP/1.1"),
  )
  assert.equal(connections, 2)
})

test("the proxy keeps to itself what belongs to one connection, and passes on all else, however long or odd", async (context) => {
  const heard: { names: string[]; long: number | undefined; kept: string | undefined; body: string }[] = []
  const site = createTcpServer((socket) => {
    let text = ""
    socket.on("error", () => undefined)
    socket.on("data", (data) => {
      text += String(data)
      const [head = "", body = ""] = text.split("\r\n\r\n")
      const lines = head.split("\r\n").slice(1)
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
      if (!text.includes("\r\n\r\n") || body.length < length) return
      const names = lines.map((line) => (line.split(":")[0] ?? "").toLowerCase())
      const kept = lines.find((line) => line.startsWith("Connection"))
      heard.push({ names, long: lines.find((line) => line.startsWith("X-Long"))?.length, kept, body })
      socket.end(
        "HTTP/1.1 200 OK\r\nKeep-Alive: 1\r\nProxy-Authenticate: x\r\nX-Odd: a\u0001b\r\nX-Long: " +
          "y".repeat(20_000) +
          "\r\nContent-Length: 2\r\n\r\nok",
      )
    })
  })
  site.listen(0, "127.0.0.1")
  await once(site, "listening")
  context.after(() => site.close())
  const { proxy } = await startProxy(context, { allow: ["127.0.0.1"] })
  const { port } = new URL(await proxy.url())
  const authorization = Buffer.from(`${proxyUser}:word`).toString("base64")
  const socket = connect(Number(port), "127.0.0.1")
  const own = ["Keep-Alive: 1", "TE: trailers", "Trailer: x", "Proxy-Connection: keep-alive", "Proxy-Authenticate: x"]
  const words = [
    `GET http://127.0.0.1:${(site.address() as AddressInfo).port}/ HTTP/1.1`,
    "Host: elsewhere.example",
    `Proxy-Authorization: Basic ${authorization}`,
    ...own,
    "Accept: a/b",
    `X-Long: ${"x".repeat(20_000)}`,
    "Content-Length: 4",
    "Connection: close, x-own",
  ]
  socket.write(`${words.join("\r\n")}\r\n\r\nbody`)
  let answer = ""
  for await (const chunk of socket) answer += String(chunk)
  const [{ names, long, kept, body }] = heard as [(typeof heard)[number]]
  assert.deepEqual(
    [names.toSorted(), long, body],
    [["accept", "connection", "content-length", "host", "x-long"], 20_008, "body"],
  )
  assert.equal(kept, "Connection: close")
  assert.match(answer, /^HTTP\/1\.1 200 OK\r\nX-Odd: a.b\r\nX-Long: y{20000}\r\n/)
  assert.doesNotMatch(answer, /keep-alive: 1|proxy-authenticate/i)
})

test("the proxy tries each address that was checked, says why none took it, and forgets that when one does", async (context) => {
  const closed = createTcpServer().listen(0, "127.0.0.1")
  await once(closed, "listening")
  const { port } = closed.address() as AddressInfo
  closed.close()
  await once(closed, "close")
  const look = async () => ["127.0.0.9", "127.0.0.1"]
  const { say, tunnel, explain } = await startProxy(context, { allow: ["*.example"] }, look)
  const url = `http://two.example:${port}/`
  for (const ask of [() => say(`GET ${url}`), () => tunnel(`two.example:${port}`)]) {
    assert.match((await ask()).line ?? "", / 502 /)
    const { code, message, hint } = explain(url) ?? {}
    assert.deepEqual([code, hint], ["navigation-failed", "Nothing listens at this address"])
    assert.match(message ?? "", new RegExp(`No connection to 127.0.0.1 port ${port} \\(ECONNREFUSED\\)`))
    const again = createServer((_request, response) => response.end("back")).listen(port, "127.0.0.1")
    await once(again, "listening")
    assert.match((await ask()).line ?? "", / 200 /)
    assert.equal(explain(url), undefined)
    again.close().closeAllConnections()
    await once(again, "close")
  }
})

test("the proxy takes what comes behind the head of a tunnel in one packet with it", async (context) => {
  const site = await startSite(context)
  const { proxy } = await startProxy(context, { allow: ["127.0.0.1"] })
  const { port } = new URL(await proxy.url())
  const authorization = Buffer.from(`${proxyUser}:word`).toString("base64")
  const socket = connect(Number(port), "127.0.0.1")
  const inside = "GET /early HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
  socket.write(
    `CONNECT 127.0.0.1:${site.port} HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic ${authorization}\r\n\r\n${inside}`,
  )
  let answer = ""
  for await (const chunk of socket) answer += String(chunk)
  assert.match(answer, /^HTTP\/1\.1 200 Connected\r\n\r\nHTTP\/1\.1 200 OK/)
  assert.deepEqual(site.hits, ["GET x/early "])
})

test("the proxy tells its secret to its own browsers alone, and of strangers who do not come to be told", async (context) => {
  const policy = policyOf()
  const log = pino({ level: "silent" })
  const taken = createTcpServer().listen(0, "127.0.0.1")
  await once(taken, "listening")
  context.after(() => taken.close())
  const proxy = new GuardProxy({ policy: () => policy, log, secret: new Secret("word") })
  context.after(() => proxy.stop())
  const ask = (origin: string, source?: "Proxy" | "Server") =>
    proxy.login({ origin, scheme: "basic", ...(source ? { source } : {}) })
  assert.equal(proxy.port, undefined)
  assert.equal(ask("http://127.0.0.1:undefined", "Proxy"), undefined)
  const { port } = taken.address() as AddressInfo
  const url = await proxy.url(port)
  assert.notEqual(url, `http://127.0.0.1:${port}`, "another has the port")
  assert.equal(await proxy.url(), url)
  assert.deepEqual(ask(url, "Proxy"), { response: "ProvideCredentials", username: proxyUser, password: "word" })
  for (const [origin, source] of [
    [url, "Server"],
    [url, undefined],
    [`http://127.0.0.1:${port}`, "Proxy"],
  ] as const)
    assert.equal(ask(origin, source), undefined)
  let strangers = 0
  const leave = proxy.onStranger(() => (strangers += 1))
  const come = async (path: string) => {
    const request = httpRequest({ port: new URL(url).port, host: "127.0.0.1", path }).end()
    const [response] = (await once(request, "response")) as [IncomingMessage]
    response.resume()
    return response.statusCode
  }
  assert.equal(await come(greetingUrl), 407)
  assert.equal(strangers, 0)
  assert.equal(await come("http://example.com/"), 407)
  assert.equal(strangers, 1)
  leave()
  await come("http://example.com/")
  assert.equal(strangers, 1)
})

test("the proxy outlives what a hostile server answers", async (context) => {
  const answers = ["HTTP/1.1 000 No\r\n\r\n", "nonsense\r\n\r\n", "HTTP/1.1 101 Switch\r\nUpgrade: x\r\n\r\n", ""]
  const server = createTcpServer((socket) => socket.on("error", () => undefined).end(answers.shift() ?? ""))
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  context.after(() => server.close())
  const { ask } = await startProxy(context, { allow: ["127.0.0.1"] })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  for (const _answer of [1, 2, 3, 4]) {
    await assert.rejects(ask(url))
  }
  assert.equal((await ask(greetingUrl)).status, 204)
})

test("the proxy stops although clients stay: at a refused tunnel, and at one that still waits for a name", async (context) => {
  const asked = Promise.withResolvers<void>()
  const { proxy, say } = await startProxy(context, {}, (name) => {
    if (name !== "slow.example") return resolve(name)
    asked.resolve()
    return new Promise(() => undefined)
  })
  const refused = await say("CONNECT inside.example:443")
  assert.match(refused.line ?? "", / 403 /)
  const { port } = new URL(await proxy.url())
  const waiting = connect(Number(port), "127.0.0.1")
  const authorization = Buffer.from(`${proxyUser}:word`).toString("base64")
  waiting.write(`CONNECT slow.example:443 HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic ${authorization}\r\n\r\n`)
  await asked.promise
  await Promise.all([proxy.stop(), once(waiting, "close")])
})

test("the proxy tries again to listen where it could not", async (context) => {
  const folder = join(temporaryFolder(), "later")
  const policy = policyOf()
  const proxy = new GuardProxy({ policy: () => policy, log: pino({ level: "silent" }), secret: undefined })
  context.after(() => proxy.stop())
  await assert.rejects(proxy.listenAt(join(folder, "guard.sock")))
  await mkdir(folder)
  assert.equal(await proxy.listenAt(join(folder, "guard.sock")), join(folder, "guard.sock"))
})
