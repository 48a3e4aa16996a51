// What is made of the answers of a CDP address: a browser, one that refuses, something else, or nobody.
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer, type IncomingHttpHeaders } from "node:http"
import type { AddressInfo } from "node:net"
import { after, before, test } from "node:test"
import { AppError } from "../../kernel/index.ts"
import { parseCdpAddress } from "./address.ts"
import { askVersion, countPages } from "./endpoints.ts"

interface Said {
  status?: number
  headers?: Record<string, string>
  body?: string
}

let answer: Said | "silent" = {}
const heard: { url: string | undefined; headers: IncomingHttpHeaders }[] = []
const server = createServer(({ url, headers }, response) => {
  heard.push({ url, headers })
  if (answer === "silent") return
  const { status = 200, headers: given = {}, body = "" } = answer
  response.writeHead(status, given).end(body)
})
let base: string

before(async () => {
  await once(server.listen(0, "127.0.0.1"), "listening")
  base = `http://ada:tea@127.0.0.1:${(server.address() as AddressInfo).port}`
})

after(() => server.close().closeAllConnections())

const limits = { timeoutMs: 10_000 }
const ask = (said: Said) => {
  answer = said
  return askVersion(parseCdpAddress(base), limits)
}

test("tells a browser from what refuses, what is none, and nobody", async () => {
  const webSocketDebuggerUrl = "ws://127.0.0.1:1/devtools/browser/1"
  const json = (value: unknown) => ({ body: JSON.stringify(value) })
  assert.deepEqual(await ask(json({ Browser: "Chrome/1", webSocketDebuggerUrl, more: 1 })), {
    kind: "browser",
    product: "Chrome/1",
    webSocketUrl: webSocketDebuggerUrl,
  })
  assert.deepEqual(heard.at(-1)?.url, "/json/version")
  assert.equal(heard.at(-1)?.headers.authorization, `Basic ${Buffer.from("ada:tea").toString("base64")}`)
  const names = "/json/version names no WebSocket address"
  const wants = "HTTP 500: the browser wants an IP address or localhost as its host"
  for (const [said, kind, reason] of [
    [json({ Browser: "Chrome/1" }), "no-browser", names],
    [json({ webSocketDebuggerUrl: "http://127.0.0.1/" }), "no-browser", names],
    [json([]), "no-browser", names],
    [{ body: "<html>" }, "no-browser", "the answer is not JSON"],
    [{ status: 401 }, "refused", "the credentials were refused (HTTP 401)"],
    [{ status: 403 }, "refused", "the credentials were refused (HTTP 403)"],
    [{ status: 404 }, "no-browser", "HTTP 404"],
    [{ status: 500, body: "Host header is specified and is not an IP address" }, "no-browser", wants],
    [{ status: 302, headers: { location: "/elsewhere" } }, "no-browser", "HTTP 302: redirects are not followed"],
    [{ body: "x".repeat(4 * 1024 * 1024 + 1) }, "unreachable", "the answer is larger than 4194304 bytes"],
  ] as const)
    assert.deepEqual(await ask(said), { kind, reason })
  assert.equal(heard.at(-1)?.url, "/json/version", "nothing was asked elsewhere")
  const nobody = await askVersion(parseCdpAddress("http://127.0.0.1:1"), limits)
  assert.equal(nobody.kind, "unreachable")
})

test("counts pages alone, and nothing where there is no list", async () => {
  const count = (said: Said) => {
    answer = said
    return countPages(parseCdpAddress(base), limits)
  }
  const types = ["page", "iframe", "page", "service_worker", undefined]
  assert.equal(await count({ body: JSON.stringify(types.map((type) => ({ type }))) }), 2)
  assert.equal(heard.at(-1)?.url, "/json/list")
  assert.equal(await count({ body: "[]" }), 0)
  for (const said of [{ body: "{}" }, { body: "[1]" }, { status: 404, body: "[]" }])
    assert.equal(await count(said), undefined, JSON.stringify(said))
})

test("waits for no answer longer than it may, and tells who has given up from who did not answer", async () => {
  answer = "silent"
  const late = await askVersion(parseCdpAddress(base), { timeoutMs: 50 })
  assert.equal(late.kind, "unreachable")
  const caller = new AbortController()
  const arrived = once(server, "request")
  const asked = askVersion(parseCdpAddress(base), { ...limits, signal: caller.signal })
  await arrived
  caller.abort(new AppError("aborted", "The turn was stopped"))
  await assert.rejects(asked, { code: "aborted" })
})
