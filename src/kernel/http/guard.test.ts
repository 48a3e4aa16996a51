import assert from "node:assert/strict"
import { test } from "node:test"
import { bearerToken } from "./bearer.ts"
import { checkOrigin } from "./guard.ts"

const rules = { port: 18789, extraHosts: ["svc.example.com"] }
const refused = { code: "forbidden-origin" }

test("takes the names of loopback with the right port, and the names that are configured", () => {
  for (const host of ["127.0.0.1:18789", "localhost:18789", "LOCALHOST:18789", "[::1]:18789", "svc.example.com"]) {
    checkOrigin({ host }, rules)
  }
  checkOrigin({ host: "svc.example.com:8443" }, rules)
  checkOrigin({ host: "localhost" }, { port: 80 })
})

test("refuses other names, other ports, and none", () => {
  const hosts = [
    "attacker.example:18789",
    "127.0.0.1",
    "127.0.0.1:1",
    "127.0.0.2:18789",
    "localhost.attacker:18789",
    "",
    "a:b:c",
  ]
  for (const host of hosts) assert.throws(() => checkOrigin({ host }, rules), refused, host)
  assert.throws(() => checkOrigin({}, rules), refused)
  checkOrigin({ host: "anything.example" }, { port: undefined })
})

test("refuses what a page of another site sends, and takes what our own page does", () => {
  const host = "127.0.0.1:18789"
  const own = `http://${host}`
  checkOrigin({ host, origin: own, referer: `${own}/dashboard/`, "sec-fetch-site": "same-origin" }, rules)
  checkOrigin({ host, "sec-fetch-site": "none" }, rules)
  for (const site of ["cross-site", "same-site", "anything"]) {
    assert.throws(() => checkOrigin({ host, "sec-fetch-site": site }, rules), refused, site)
  }
  for (const origin of ["http://127.0.0.1:9", "http://localhost:18789", "https://attacker.example", "null"]) {
    assert.throws(() => checkOrigin({ host, origin }, rules), refused, origin)
    assert.throws(() => checkOrigin({ host, referer: origin }, rules), refused, origin)
  }
  assert.throws(() => checkOrigin({ host, origin: own }, { port: undefined }), refused, "no page is ours there")
})

test("takes a bearer token as the header has it, and nothing else", () => {
  assert.equal(bearerToken("Bearer abc"), "abc")
  assert.equal(bearerToken("bearer  abc "), "abc")
  for (const header of [undefined, "", "Bearer", "Bearer ", "Basic abc", "abc", "Bearer a b", "xBearer abc"]) {
    assert.equal(bearerToken(header), undefined, header)
  }
})
