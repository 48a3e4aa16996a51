import assert from "node:assert/strict"
import { connect } from "node:net"
import { after, before, describe, test } from "node:test"
import { AppError } from "../kernel/index.ts"
import { bearer, hookToken, sendRaw, startHooks } from "./hooks.fixture.ts"

const head = (length: number | string, extra = "") =>
  `POST /hooks/wake HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${hookToken}\r\n${extra}` +
  (typeof length === "number" ? `Content-Length: ${length}\r\n\r\n` : `${length}\r\n\r\n`)

let server: Awaited<ReturnType<typeof startHooks>>
before(async () => (server = await startHooks({ bodyTimeoutMs: 300 })))
after(() => server.stop())

const alive = async () => assert.equal((await server.post("/hooks/wake", { text: "alive" })).status, 200)

describe("the body", () => {
  test("over the limit gets a 413 that can be read, declared or chunked, 300 KB or 10 MB", async () => {
    for (const size of [300 * 1024, 10 * 1024 * 1024]) {
      const body = Buffer.alloc(size, "a")
      for (const headers of [
        { ...bearer, "content-length": size },
        { ...bearer, "transfer-encoding": "chunked" },
      ]) {
        const answer = await server.send("/hooks/wake", { headers, body })
        assert.equal(answer.status, 413)
        assert.equal(answer.json.error.code, "payload-too-large")
      }
    }
    await alive()
  })

  test("up to the limit is taken, and the limit follows the configuration", async () => {
    const message = "x".repeat(262_144 - '{"message":""}'.length)
    assert.equal((await server.post("/hooks/agent", { message })).status, 202)
    assert.equal((await server.post("/hooks/agent", { message: `${message}x` })).status, 413)
    server.configure({ maxBodyBytes: 50 })
    assert.equal((await server.post("/hooks/wake", { text: "x".repeat(60) })).status, 413)
    server.configure({ maxBodyBytes: 262_144 })
  })

  test("of a stranger is not waited for", async () => {
    const answer = await sendRaw(
      server.port,
      "POST /hooks/wake HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 100000000\r\n\r\n{",
    )
    assert.match(answer, /^HTTP\/1\.1 401 /)
    const large = await server.send("/hooks/wake", { body: Buffer.alloc(10 * 1024 * 1024, "a") })
    assert.equal(large.status, 401)
  })

  test("that comes too slowly is cut off with 408", async () => {
    const answer = await sendRaw(server.port, `${head(100)}{"text":`)
    assert.match(answer, /^HTTP\/1\.1 408 /)
    assert.match(answer, /"request-timeout"/)
  })

  test("that is cut leaves nothing behind", async () => {
    const before = server.rows("select id from inbox").length
    await sendRaw(server.port, `${head(100)}{"text":"half`, { endAfterWrite: true })
    await alive()
    assert.equal(server.rows("select id from inbox").length, before + 1)
  })

  test("may be chunked, split anywhere", async () => {
    const chunks = ['{"te', 'xt":"a', 'b"}'].map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join("")
    const answer = await sendRaw(
      server.port,
      `${head("Transfer-Encoding: chunked", "Connection: close\r\n")}${chunks}0\r\n\r\n`,
    )
    assert.match(answer, /^HTTP\/1\.1 200 /)
  })

  test("must be UTF-8 JSON of bounded depth", async () => {
    const bodies = [
      Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]),
      "[".repeat(100_000),
      '{"a":'.repeat(40_000),
      "{",
      "",
    ]
    for (const body of bodies) {
      const answer = await server.send("/hooks/wake", { headers: bearer, body })
      assert.equal(answer.status, 400)
      assert.match(answer.json.error.code, /^bad-(json|request)$/)
    }
    await alive()
  })
})

describe("the connection", () => {
  test("takes pipelined deliveries and answers each, in order", async () => {
    const one = (text: string, extra = "") => head(text.length, extra) + text
    const answer = await sendRaw(
      server.port,
      one('{"text":"1"}') + one('{"text":""}') + one('{"text":"3","mode":"next-heartbeat"}', "Connection: close\r\n"),
    )
    assert.deepEqual(answer.match(/HTTP\/1\.1 \d+/g), ["HTTP/1.1 200", "HTTP/1.1 400", "HTTP/1.1 200"])
    assert.match(answer, /next-heartbeat"\}$/)
  })

  test("with two tokens in one request is judged by the first header, never by a later one", async () => {
    const request = (first: string, second: string) =>
      `POST /hooks/wake HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${first}\r\nAuthorization: Bearer ${second}\r\n` +
      'Connection: close\r\nContent-Length: 12\r\n\r\n{"text":"t"}'
    assert.match(await sendRaw(server.port, request(hookToken, "wrong")), /^HTTP\/1\.1 200 /)
    assert.match(await sendRaw(server.port, request("wrong", hookToken)), /^HTTP\/1\.1 401 /)
  })

  test("is answered while 200 others dawdle over their headers", async () => {
    const idle = Array.from({ length: 200 }, () => connect(server.port, "127.0.0.1"))
    await Promise.all(idle.map((socket) => new Promise((resolve) => socket.once("connect", resolve))))
    for (const socket of idle) socket.write("POST /hooks/wake HTTP/1.1\r\n")
    await alive()
    for (const socket of idle) socket.destroy()
  })
})

describe("the path", () => {
  test("has one spelling: any other is 401 without the token and 404 with it", async () => {
    const body = '{"text":"t"}'
    const paths = [
      "/hooks/%77ake",
      "/hooks//wake",
      "/hooks/wake/",
      "/hooks/./wake",
      "/hooks/../wake",
      "/hooks/x/../wake",
      "/hooks/wake%2f",
      "/hooks/%2e%2e/wake",
      "/hooks/wake;a",
      "/hooks/Wake",
      "/hooks/wake#x",
      "/hooks/",
      "/hooks",
      "/hooks/unknown",
      "/hooks/__proto__",
    ]
    for (const path of paths) {
      assert.equal((await server.send(path, { body })).status, 401, path)
      assert.equal((await server.send(path, { headers: bearer, body })).status, 404, path)
    }
    assert.equal((await server.send("/hooks/%ZZ", { headers: bearer, body })).status, 400)
    await alive()
  })

  test("is used with POST only", async () => {
    for (const method of ["GET", "PUT", "DELETE", "HEAD"]) {
      const answer = await server.send("/hooks/wake", { method, headers: bearer })
      assert.equal(answer.status, 405)
      assert.equal(answer.headers.allow, "POST, OPTIONS")
    }
    const options = await server.send("/hooks/wake", { method: "OPTIONS", headers: bearer })
    assert.equal(options.status, 204)
    assert.equal(options.headers.allow, "POST, OPTIONS")
    assert.equal(options.headers["access-control-allow-origin"], undefined)
  })
})

test("web pages are refused even with the token, and forwarded headers change nothing", async () => {
  const pages = [
    { origin: "https://evil.example" },
    { referer: "https://evil.example/x" },
    { "sec-fetch-site": "cross-site" },
  ]
  for (const headers of pages) {
    const answer = await server.post("/hooks/wake", { text: "t" }, headers)
    assert.equal(answer.status, 403)
    assert.equal(answer.headers["access-control-allow-origin"], undefined)
  }
  const forwarded = { "x-forwarded-for": "127.0.0.1", "x-forwarded-host": "evil", "x-forwarded-proto": "https" }
  assert.equal((await server.send("/hooks/wake", { headers: forwarded, body: '{"text":"t"}' })).status, 401)
  assert.equal((await server.post("/hooks/wake", { text: "t" }, forwarded)).status, 200)
})

test("a stopping gateway and a full disk answer 503 with Retry-After", async () => {
  let accepting = false
  const full = new AppError("storage-full", "The disk is full", { retryAfterSeconds: 10 })
  const local = await startHooks({ accepting: () => accepting, ingest: async () => Promise.reject(full) })
  try {
    const stopping = await local.post("/hooks/wake", { text: "t" })
    assert.equal(stopping.status, 503)
    assert.equal(stopping.json.error.code, "not-ready")
    assert.ok(Number(stopping.headers["retry-after"]) > 0)
    accepting = true
    const refused = await local.post("/hooks/wake", { text: "t" })
    assert.equal(refused.status, 503)
    assert.equal(refused.json.error.code, "storage-full")
    assert.equal(refused.headers["retry-after"], "10")
  } finally {
    await local.stop()
  }
})

test("an unforeseen failure is a 500 that shows nothing of it, and the log has it", async () => {
  const local = await startHooks({ ingest: async () => Promise.reject(new Error("inner words")) })
  try {
    const answer = await local.post("/hooks/wake", { text: "t" })
    assert.equal(answer.status, 500)
    assert.ok(!answer.text.includes("inner words"))
    assert.match(local.logged(), /inner words/)
  } finally {
    await local.stop()
  }
})
