import assert from "node:assert/strict"
import { readFileSync, readdirSync } from "node:fs"
import { connect } from "node:net"
import { join } from "node:path"
import { after, before, describe, test } from "node:test"
import { WebSocket } from "ws"
import { AppError } from "../kernel/index.ts"
import { resolveBinding } from "./binding.ts"
import { send } from "../../test/support/http-client.ts"
import { bearer, gatewayToken, startGateway } from "./gateway.fixture.ts"

type Gateway = Awaited<ReturnType<typeof startGateway>>

describe("the listener", () => {
  let gateway: Gateway
  before(async () => (gateway = await startGateway()))
  after(() => gateway.stop())

  test("tells its health without a secret", async () => {
    const health = await gateway.send("/healthz")
    assert.equal(health.status, 200)
    assert.deepEqual(health.json, { ok: true })
    assert.equal((await gateway.send("/readyz")).status, 200)
    assert.equal((await gateway.send("/healthz", { method: "POST" })).status, 405)
  })

  test("wants the token for everything else, also for what does not exist", async () => {
    const paths = [
      "/",
      "/api",
      "/api/status",
      "/api/nothing",
      "/healthz/",
      "/hooksx",
      "/api/%2e%2e/healthz",
      "//healthz",
    ]
    for (const path of paths) {
      for (const method of ["GET", "POST"]) assert.equal((await gateway.send(path, { method })).status, 401, path)
    }
    assert.equal((await gateway.get("/api/status")).status, 200)
    assert.equal((await gateway.get("/api/nothing")).json.error.code, "not-found")
    assert.equal((await gateway.get(`/api/status?token=${gatewayToken}`)).status, 200)
    assert.equal((await gateway.send(`/api/status?token=${gatewayToken}`)).status, 401)
  })

  test("sends security headers and no permission for foreign pages with every answer", async () => {
    for (const path of ["/healthz", "/api/status", "/api/nothing"]) {
      for (const headers of [{}, bearer]) {
        const answer = await gateway.send(path, { headers })
        assert.equal(answer.headers["cache-control"], "no-store")
        assert.equal(answer.headers["x-content-type-options"], "nosniff")
        assert.equal(answer.headers["referrer-policy"], "no-referrer")
        assert.match(String(answer.headers["content-security-policy"]), /default-src 'none'/)
        assert.equal(answer.headers["access-control-allow-origin"], undefined)
      }
    }
  })

  test("refuses foreign host names before anything else, and never repeats them", async () => {
    const hosts = ["evil.example", `evil.example:${gateway.port}`, "127.0.0.1:1", "127.0.0.1"]
    for (const host of hosts) {
      for (const path of ["/healthz", "/api/status"]) {
        const answer = await gateway.send(path, { headers: { ...bearer, host } })
        assert.equal(answer.status, 403, host)
        assert.ok(!answer.text.includes("evil"))
      }
    }
    for (const host of [
      `localhost:${gateway.port}`,
      `[::1]:${gateway.port}`,
      "Gateway.Example",
      "gateway.example:443",
    ]) {
      assert.equal((await gateway.send("/api/status", { headers: { ...bearer, host } })).status, 200, host)
    }
  })

  test("refuses web pages even with the token", async () => {
    const pages = [
      { origin: "https://evil.example" },
      { origin: "null" },
      { referer: "http://evil.example/" },
      { "sec-fetch-site": "cross-site" },
    ]
    for (const headers of pages) {
      assert.equal((await gateway.send("/api/status", { headers: { ...bearer, ...headers } })).status, 403)
      assert.equal((await gateway.send("/healthz", { headers })).status, 403)
    }
    const own = { ...bearer, origin: `http://127.0.0.1:${gateway.port}`, "sec-fetch-site": "same-origin" }
    assert.equal((await gateway.send("/api/status", { headers: own })).status, 200)
  })

  test("trusts no forwarded header", async () => {
    const forwarded = { "x-forwarded-host": `127.0.0.1:${gateway.port}`, "x-forwarded-for": "127.0.0.1" }
    assert.equal((await gateway.send("/api/status", { headers: forwarded })).status, 401)
    const foreign = { ...forwarded, ...bearer, host: "evil.example" }
    assert.equal((await gateway.send("/api/status", { headers: foreign })).status, 403)
  })

  test("answers broken percent-encoding with 400 and other spellings of a path with 404, and lives on", async () => {
    for (const path of ["/api/runs/%ZZ", "/api/%", "/%c"]) assert.equal((await gateway.get(path)).status, 400, path)
    const spellings = [
      "/api//status",
      "/api/./status",
      "/x/../api/status",
      "/api/%73tatus",
      "/api/status/",
      "/api\\status",
    ]
    for (const path of spellings) {
      const answer = await gateway.get(path)
      assert.ok(answer.status === 404 || answer.status === 400, `${path} ${answer.status}`)
    }
    assert.equal((await gateway.send("/healthz")).status, 200)
  })

  test("names the methods of a path", async () => {
    const answer = await gateway.send("/api/stop", { method: "GET", headers: bearer })
    assert.equal(answer.status, 405)
    assert.equal(answer.headers.allow, "POST")
    assert.equal(answer.json.error.code, "method-not-allowed")
  })

  test("a request that offers HTTP/2 is answered as if it had not, with its body", async () => {
    const socket = connect(gateway.port, "127.0.0.1")
    const body = JSON.stringify({ text: "x".repeat(100_000) })
    const lines = [
      "POST /api/stop HTTP/1.1",
      `Host: 127.0.0.1:${gateway.port}`,
      `Authorization: Bearer ${gatewayToken}`,
      "Connection: Upgrade, HTTP2-Settings, close",
      "Upgrade: h2c",
      "HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA",
      "Content-Type: application/json",
      `Content-Length: ${body.length}`,
    ]
    socket.write(`${lines.join("\r\n")}\r\n\r\n${body.slice(0, 1_000)}`)
    socket.write(body.slice(1_000))
    let answer = ""
    for await (const piece of socket) answer += String(piece)
    assert.match(answer, /^HTTP\/1\.1 202 /)
    assert.deepEqual(gateway.calls.at(-1), "stop")
  })

  test("only a WebSocket to the nodes' door is handed on", async () => {
    const ask = async (path: string) => {
      const socket = connect(gateway.port, "127.0.0.1")
      const lines = [
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: AAAA",
      ]
      socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${gateway.port}\r\n${lines.join("\r\n")}\r\n\r\n`)
      let answer = ""
      for await (const piece of socket) answer += String(piece)
      return answer.split("\r\n")[0]
    }
    assert.equal(await ask("/node"), "HTTP/1.1 101 Node")
    assert.equal(await ask("/api/status"), "HTTP/1.1 404 Not Found")
  })

  test("refuses WebSockets: pages with 403, others with 404", async () => {
    const attempt = (origin?: string) =>
      new Promise<number>((resolve, reject) => {
        const socket = new WebSocket(
          `ws://127.0.0.1:${gateway.port}/hooks/wake`,
          origin === undefined ? {} : { origin },
        )
        socket.on("unexpected-response", (_request, response) => {
          resolve(response.statusCode ?? 0)
          socket.terminate()
        })
        socket.on("error", reject)
        socket.on("open", () => reject(new Error("the upgrade was accepted")))
      })
    assert.equal(await attempt("https://evil.example"), 403)
    assert.equal(await attempt(), 404)
    assert.equal((await gateway.send("/healthz")).status, 200)
  })

  test("survives garbage instead of HTTP and requests without Host", async () => {
    for (const text of [
      "\u0000\u0001garbage\r\n\r\n",
      "GET / HTTP/1.0\r\n\r\n",
      "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
    ]) {
      const answer = await new Promise<string>((resolve, reject) => {
        let received = ""
        const socket = connect(gateway.port, "127.0.0.1", () => socket.end(text))
        socket.on("data", (chunk) => (received += chunk.toString()))
        socket.on("error", reject)
        socket.on("close", () => resolve(received))
      })
      assert.match(answer, /^HTTP\/1\.1 40\d /)
    }
    assert.equal((await gateway.send("/healthz")).status, 200)
  })
})

describe("the hooks behind the listener", () => {
  test("get what is at or below their base, under any host name, with the path as it was sent", async () => {
    const gateway = await startGateway()
    try {
      const bodies = ["/hooks/wake", "/hooks//wake?a=b", "/hooks/../api/status", "/hooks/%ZZ"]
      for (const path of bodies) {
        const answer = await gateway.send(path, { headers: { host: "public.example" } })
        assert.equal(answer.text, `hook ${path}`)
      }
      const offer = await gateway.send("/hooks/wake", {
        method: "POST",
        headers: { connection: "Upgrade, HTTP2-Settings", upgrade: "h2c", "http2-settings": "AAMAAABkAAQ" },
      })
      assert.equal(offer.text, "hook /hooks/wake")
      for (const path of ["/hooksx", "/Hooks/wake", "/%68ooks/wake", "/x/../hooks/wake"]) {
        assert.equal((await gateway.send(path)).status, 401, path)
      }
    } finally {
      await gateway.stop()
    }
  })

  test("leave reading the base itself to the owner, who sees the list of deliveries there", async () => {
    const gateway = await startGateway()
    try {
      assert.equal((await gateway.send("/hooks")).status, 401)
      assert.equal((await gateway.send("/hooks", { headers: { ...bearer, host: "public.example" } })).status, 403)
      const list = await gateway.get("/hooks?limit=3&mapping=github")
      assert.equal(list.status, 200)
      assert.deepEqual(list.json, {
        ok: true,
        items: [],
        next: null,
        refused: {},
        query: { limit: 3, mapping: "github" },
      })
      assert.equal((await gateway.send("/hooks", { method: "POST" })).text, "hook /hooks")
    } finally {
      await gateway.stop()
    }
  })

  test("follow their base path at once, and cannot take the gateway's own paths", async () => {
    let path: string | undefined = "/in"
    const gateway = await startGateway({ hooks: { path: () => path, handle: async () => new Response("hook") } })
    try {
      assert.equal((await gateway.send("/in/wake")).text, "hook")
      path = "/other/base"
      assert.equal((await gateway.send("/in/wake")).status, 401)
      assert.equal((await gateway.send("/other/base/wake")).text, "hook")
      path = "/api"
      assert.equal((await gateway.send("/api/status")).status, 401)
      path = undefined
      assert.equal((await gateway.send("/other/base/wake")).status, 401)
    } finally {
      await gateway.stop()
    }
  })
})

test("readiness is 503 with the state of each part until all have started", async () => {
  const gateway = await startGateway({
    readiness: () => ({ ok: false, parts: { store: "ready", chatapp: "starting" } }),
  })
  try {
    const answer = await gateway.get("/readyz")
    assert.equal(answer.status, 503)
    assert.deepEqual(answer.json, { ok: false, parts: { store: "ready", chatapp: "starting" } })
    const stranger = await gateway.send("/readyz")
    assert.deepEqual([stranger.status, stranger.json], [503, { ok: false }])
    const guess = () => gateway.send("/readyz", { headers: { authorization: "Bearer guessed-value" } })
    for (let count = 0; count < 20; count += 1) assert.equal((await guess()).status, 401)
    assert.equal((await guess()).status, 429)
  } finally {
    await gateway.stop()
  }
})

test("guessing the token is slowed down while the right one passes", async () => {
  const gateway = await startGateway()
  try {
    const guess = () => gateway.send("/api/status", { headers: { authorization: "Bearer guessed-value" } })
    for (let count = 0; count < 20; count += 1) assert.equal((await guess()).status, 401)
    const refused = await guess()
    assert.equal(refused.status, 429)
    assert.ok(Number(refused.headers["retry-after"]) > 0)
    assert.equal((await gateway.get("/api/status")).status, 200)
    assert.ok(!gateway.logged().includes("guessed-value"))
  } finally {
    await gateway.stop()
  }
})

test("a port that is taken is named", async () => {
  const gateway = await startGateway()
  try {
    await assert.rejects(startGateway({ port: gateway.port }), {
      code: "port-in-use",
      message: new RegExp(`${gateway.port}`),
    })
  } finally {
    await gateway.stop()
  }
})

describe("listening beyond this machine", () => {
  const resolve = (bind: string, length: number) => resolveBinding({ bind, token: { length } })

  test("needs a token of 24 characters", () => {
    for (const bind of ["lan", "0.0.0.0", "::", "[::]", "192.0.2.1"]) {
      assert.throws(() => resolve(bind, 23), { code: "config-invalid", message: /gateway\.bind/ })
      assert.equal(resolve(bind, 24).isPublic, true)
    }
    assert.equal(resolve("lan", 24).host, "0.0.0.0")
    assert.throws(() => resolve("somewhere", 24), { code: "config-invalid", message: /somewhere/ })
  })

  test("is said in the log", async () => {
    const gateway = await startGateway({ bind: "lan" })
    try {
      assert.match(gateway.logged(), /"level":40.*reachable from other machines/)
    } finally {
      await gateway.stop()
    }
  })

  test("is not what loopback means", () => {
    for (const bind of ["loopback", "localhost", "127.0.0.1", "::1"]) assert.equal(resolve(bind, 16).isPublic, false)
    assert.equal(resolve("loopback", 16).host, "127.0.0.1")
  })

  // Other systems give the loopback interface a single address.
  test("answers under the very address that was called", { skip: process.platform !== "linux" }, async () => {
    const gateway = await startGateway({ bind: "127.0.0.3" })
    try {
      const call = (host: string) =>
        send(gateway.port, "/api/status", { address: "127.0.0.3", headers: { ...bearer, host } })
      assert.equal((await call(`127.0.0.3:${gateway.port}`)).status, 200)
      assert.equal((await call(`127.0.0.4:${gateway.port}`)).status, 403)
    } finally {
      await gateway.stop()
    }
  })
})

test("no source compares a secret with an operator: comparisons go through Secret.matches", () => {
  const folder = import.meta.dirname
  for (const name of readdirSync(folder).filter((file) => file.endsWith(".ts") && !file.includes(".test."))) {
    const text = readFileSync(join(folder, name), "utf8")
    const compared = text.match(/\b\w*(?:token|secret)(?:\.\w+)*\s*(?:===?|!==?)(?!=|\s*undefined)\s*\S+/gi) ?? []
    assert.deepEqual(compared, [], name)
  }
})

test("who has the secret of the webhooks learns what is wrong with the address, nobody else and nowhere else", async (context) => {
  const explain = (authorization: string | undefined) =>
    authorization === "Bearer of-the-hooks" ? new AppError("not-found", "Webhooks are under /hooks here") : undefined
  const handle = async () => new Response("hook")
  const gateway = await startGateway({ hooks: { path: () => "/hooks", handle, explain } })
  context.after(() => gateway.stop())
  const ask = async (path: string, secret?: string) => {
    const headers = secret === undefined ? {} : { authorization: `Bearer ${secret}` }
    const { status, json } = await gateway.send(path, { method: "POST", headers })
    return `${status} ${json.error.message}`
  }
  assert.equal(await ask("/webhooks/github", "of-the-hooks"), "404 Webhooks are under /hooks here")
  for (const [path, secret] of [
    ["/webhooks/github", "of-nobody-else-here"],
    ["/webhooks/github", undefined],
    ["/api/status", "of-the-hooks"],
    ["/metrics", "of-the-hooks"],
  ] as const)
    assert.match(await ask(path, secret), /^401 /, path)
})

test("an address of the newer kind is listened on, and is a host of its own", async (context) => {
  const gateway = await startGateway({ bind: "::1" })
  context.after(() => gateway.stop())
  const status = async (host: string) =>
    (await send(gateway.port, "/healthz", { headers: { host }, address: "::1" })).status
  assert.equal(await status(`[::1]:${gateway.port}`), 200)
  assert.equal(await status(`[::2]:${gateway.port}`), 403)
})
