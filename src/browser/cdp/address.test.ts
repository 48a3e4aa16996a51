// Addresses of remote browsers: where they lead, with which credentials, and what may be shown of them.
import assert from "node:assert/strict"
import { test } from "node:test"
import { isLoopbackHost, parseCdpAddress } from "./address.ts"

test("asks below the path and with the query of the address, for each scheme", () => {
  const urls: [string, string][] = [
    ["http://10.0.0.7:9333", "http://10.0.0.7:9333/json/version"],
    ["https://host.example/team/a/?token=t1", "https://host.example/team/a/json/version?token=t1"],
    ["ws://127.0.0.1:9333/", "http://127.0.0.1:9333/json/version"],
    ["wss://host.example/chromium?token=t1&region=eu", "https://host.example/chromium/json/version?token=t1&region=eu"],
  ]
  for (const [given, asked] of urls) assert.equal(parseCdpAddress(given).endpoint("version").href, asked)
  assert.equal(parseCdpAddress("http://h/a?x=1").endpoint("list").href, "http://h/a/json/list?x=1")
  assert.deepEqual(
    ["http://h", "https://h", "https://h:8443", "wss://h", "ws://h:9/"].map((url) => parseCdpAddress(url).port),
    [80, 443, 8443, 443, 9],
  )
})

test("sends Basic credentials percent-decoded, and in no URL", () => {
  const address = parseCdpAddress("https://ada%40home:p%2Fw%25%C3%A4@host.example/x")
  assert.equal(address.headers["authorization"], `Basic ${Buffer.from("ada@home:p/w%ä").toString("base64")}`)
  assert.equal(address.endpoint("version").href, "https://host.example/x/json/version")
  assert.deepEqual(address.reach("ws://127.0.0.1:9222/x/devtools/browser/1"), [
    "wss://host.example/x/devtools/browser/1",
  ])
  assert.deepEqual(parseCdpAddress("http://host/").headers, {})
  // A key in place of the user, and a lone % that somebody meant as it stands.
  assert.equal(
    parseCdpAddress("http://k%y@host/").headers["authorization"],
    `Basic ${Buffer.from("k%y:").toString("base64")}`,
  )
})

test("knows all forms of its secrets, and shows none of them", () => {
  const text = "wss://ada:p%2Fssw%C3%B6rd@host.example/session/7f3c9a2b11e84d/x?token=a%2Bb-secret&stealth=true"
  const { secrets, shown } = parseCdpAddress(text)
  for (const secret of ["p/sswörd", "p%2Fssw%C3%B6rd", "a+b-secret", "a%2Bb-secret", "7f3c9a2b11e84d"])
    assert.ok(secrets.includes(secret), secret)
  assert.ok(secrets.includes(Buffer.from("ada:p/sswörd").toString("base64")))
  assert.equal(secrets.includes("true"), false)
  assert.equal(shown, "wss://host.example/session/***/x?token=***&stealth=***")
  assert.equal(parseCdpAddress("http://127.0.0.1:9222/").shown, "http://127.0.0.1:9222")
})

test("reaches the browser through the address it was given, whatever the browser says of itself", () => {
  const reach = (cdpUrl: string, advertised: string) => parseCdpAddress(cdpUrl).reach(advertised)
  const path = "/devtools/browser/1"
  assert.deepEqual(reach("https://h.example?token=t", `ws://127.0.0.1:9222${path}`), [`wss://h.example${path}?token=t`])
  assert.deepEqual(reach("http://10.0.0.7:81", `ws://0.0.0.0:9222${path}`), [`ws://10.0.0.7:81${path}`])
  assert.deepEqual(reach("http://127.0.0.1:9333", `ws://127.0.0.1:9222${path}`), [`ws://127.0.0.1:9333${path}`])
  assert.deepEqual(reach("https://h.example", `ws://evil.example:1${path}`), [`wss://h.example${path}`])
  // Its own parameters stay; ours are added where it has none of that name.
  assert.deepEqual(reach("http://h?token=ours&a=1", `ws://h${path}?token=theirs`), [`ws://h${path}?token=theirs&a=1`])
})

test("tries the path of a proxy with and without, the likelier first", () => {
  const { reach } = parseCdpAddress("http://h.example/team")
  const path = "/devtools/browser/1"
  assert.deepEqual(reach(`ws://127.0.0.1:9222${path}`), [`ws://h.example/team${path}`, `ws://h.example${path}`])
  assert.deepEqual(reach(`ws://h.example${path}`), [`ws://h.example${path}`, `ws://h.example/team${path}`])
  assert.deepEqual(reach(`ws://h.example/team${path}`), [`ws://h.example/team${path}`])
})

test("connects straight to a WebSocket address that names its browser", () => {
  const direct = parseCdpAddress("ws://u:p@127.0.0.1:9222/x/devtools/browser/7-a?token=t")
  assert.equal(direct.direct, "ws://127.0.0.1:9222/x/devtools/browser/7-a?token=t")
  assert.equal(direct.socket, undefined)
  const hosted = parseCdpAddress("wss://h.example/?token=t")
  assert.deepEqual([hosted.direct, hosted.socket], [undefined, "wss://h.example/?token=t"])
  assert.equal(parseCdpAddress("http://h/devtools/browser/1").direct, undefined)
})

test("takes only this machine's own addresses for loopback", () => {
  for (const host of ["localhost", "a.localhost", "127.0.0.1", "127.9.9.9", "[::1]", "::1", "::ffff:127.0.0.1"])
    assert.equal(isLoopbackHost(host), true, host)
  for (const host of ["0.0.0.0", "::", "[::]", "localhost.example", "127.0.0.1.example", "10.0.0.1", "::ffff:10.0.0.1"])
    assert.equal(isLoopbackHost(host), false, host)
})
