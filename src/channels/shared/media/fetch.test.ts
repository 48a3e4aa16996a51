import assert from "node:assert/strict"
import { readFileSync, readdirSync } from "node:fs"
import { type RequestListener, createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { basename } from "node:path"
import { type TestContext, test } from "node:test"
import { temporaryFolder } from "../../../../test/support/temporary.ts"
import { fetchMedia } from "./fetch.ts"
import { isPublicAddress } from "./public-address.ts"

async function serve(context: TestContext, answer: RequestListener) {
  const server = createServer(answer).listen(0, "127.0.0.1")
  await new Promise((resolve) => server.once("listening", resolve))
  context.after(() => new Promise((resolve) => server.close(resolve)))
  return (server.address() as AddressInfo).port
}

function fetching(url: string, addresses: Record<string, string[]>) {
  const folder = temporaryFolder()
  const result = fetchMedia({
    url,
    folder,
    maxMb: 1 / 1024,
    signal: new AbortController().signal,
    resolve: async (host) => addresses[host] ?? [],
    isAllowed: (address) => address === "127.0.0.1" || isPublicAddress(address),
  })
  return { result, folder }
}
const refused = (why: RegExp) => ({ code: "media-refused", message: why })

test("a file keeps its name, and its kind as the server says it", async (context) => {
  const port = await serve(context, (request, response) => {
    if (request.url === "/moved") return response.writeHead(302, { location: "/in/a%20b.PDF?x=1" }).end()
    response.setHeader("content-type", "Application/PDF; charset=x")
    return response.end("x".repeat(1024))
  })
  const { result } = fetching(`http://files.example:${port}/moved`, { "files.example": ["127.0.0.1"] })
  const { path, mediaType } = await result
  assert.deepEqual([basename(path), mediaType, readFileSync(path).length], ["a_b.PDF", "application/pdf", 1024])
})

test("all addresses of a name have to be public, where a redirect leads too; nothing else is connected to", async (context) => {
  const seen: string[] = []
  const port = await serve(context, (request, response) => {
    seen.push(String(request.url))
    response.writeHead(302, { location: `http://inner.example:${port}/secret` }).end()
  })
  const addresses = {
    "files.example": ["127.0.0.1"],
    "inner.example": ["10.0.0.1"],
    "both.example": ["127.0.0.1", "192.168.1.1"],
  }
  const inner = /its address is not on the public internet/
  await assert.rejects(fetching(`http://files.example:${port}/`, addresses).result, refused(inner))
  await assert.rejects(fetching(`http://both.example:${port}/`, addresses).result, refused(inner))
  for (const host of ["10.0.0.1", "[::1]", "169.254.169.254", "[::ffff:10.0.0.1]"])
    await assert.rejects(fetching(`http://${host}:${port}/`, addresses).result, refused(inner), host)
  await assert.rejects(fetching("http://nobody.example/", addresses).result, refused(/its host has no address/))
  assert.deepEqual(seen, ["/"])
})

test("what is no file of the web, too large or not there leaves nothing behind", async (context) => {
  const port = await serve(context, (request, response) => {
    if (request.url === "/gone") return response.writeHead(404).end()
    if (request.url === "/loop") return response.writeHead(307, { location: "/loop" }).end()
    if (request.url === "/nowhere") return response.writeHead(302).end()
    if (request.url === "/declared") return response.writeHead(200, { "content-length": 1025 }).end("x".repeat(1025))
    return response.end("x".repeat(1025))
  })
  const cases: [string, RegExp][] = [
    [`http://files.example:${port}/gone`, /answered 404/],
    [`http://files.example:${port}/loop`, /redirected too often/],
    [`http://files.example:${port}/nowhere`, /answered 302/],
    [`http://files.example:${port}/declared`, /larger than/],
    [`http://files.example:${port}/`, /larger than/],
    ["ftp://files.example/x", /only http and https/],
    ["no address", /only http and https/],
    [`http://user@files.example:${port}/`, /carries a password/],
    [`http://:pass@files.example:${port}/`, /carries a password/],
  ]
  for (const [url, why] of cases) {
    const { result, folder } = fetching(url, { "files.example": ["127.0.0.1"] })
    await assert.rejects(result, refused(why), url)
    assert.deepEqual(readdirSync(folder), [], url)
  }
})

test("addresses of this machine, its network, tunnels and documents are not public", () => {
  const inner = "0.0.0.0 10.1.2.3 100.64.0.1 127.0.0.1 169.254.169.254 172.16.0.1 172.31.255.255 192.168.0.1 198.18.0.1"
  const others = "224.0.0.1 255.255.255.255 ::1 :: fe80::1 fc00::1 ::ffff:8.8.8.8 2001:db8::1 2002:a00:1::1 64:ff9b::1"
  for (const address of [...inner.split(" "), ...others.split(" "), "example.org", ""])
    assert.equal(isPublicAddress(address), false, address)
  for (const address of "8.8.8.8 172.32.0.1 100.128.0.1 192.167.1.1 2606:4700::1111 2a00:1450::1".split(" "))
    assert.equal(isPublicAddress(address), true, address)
})
