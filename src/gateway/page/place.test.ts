import assert from "node:assert/strict"
import type { IncomingMessage } from "node:http"
import { test } from "node:test"
import { placeOf } from "./place.ts"

interface Request {
  from: string
  to: string
  headers: Record<string, string>
}

function place({ from, to, headers }: Request, rules: { publicUrl?: string; allowHttp?: boolean } = {}): string {
  const request = { headers, socket: { remoteAddress: from, localAddress: to } } as unknown as IncomingMessage
  try {
    return placeOf(request, { allowHttp: false, ...rules }).isTls ? "tls" : "here"
  } catch (error) {
    return (error as { code: string }).code
  }
}
const here = (headers: Record<string, string>, from = "127.0.0.1") => ({ from, to: from, headers })

test("on this machine plain HTTP will do, by its own addresses and names", () => {
  for (const host of ["localhost:18789", "127.0.0.1:18789", "[::1]:18789", "LOCALHOST"])
    assert.equal(place(here({ host })), "here", host)
  assert.equal(place(here({ host: "[::1]:18789" }, "::1")), "here")
  assert.equal(place(here({ host: "192.168.1.5:18789" }, "192.168.1.5")), "here")
  const between = { from: "127.0.0.1", to: "127.0.0.2", headers: { host: "127.0.0.2:18789" } }
  assert.equal(place(between), "here")
  // Who calls an address of the network by a name of this machine is not what he says.
  assert.equal(place(here({ host: "localhost:18789" }, "192.168.1.5")), "page-insecure")
  for (const host of ["localhost.example", "xlocalhost", "127.0.0.1.example", "bot.example"])
    assert.equal(place({ from: "127.0.0.1", to: "127.0.0.2", headers: { host } }), "page-insecure", host)
})

test("what comes from another machine, or through a proxy of this one, needs TLS in front or the owner's word", () => {
  const far = { from: "192.168.1.9", to: "192.168.1.5", headers: { host: "192.168.1.5:18789" } }
  assert.equal(place(far), "page-insecure")
  assert.equal(place(far, { allowHttp: true }), "here")
  assert.equal(place({ ...far, headers: { host: "localhost" } }), "page-insecure")
  for (const header of ["x-forwarded-for", "forwarded"])
    assert.equal(place(here({ host: "localhost", [header]: "for=203.0.113.7" })), "page-insecure", header)
  assert.equal(place({ from: "", to: "", headers: { host: "bot.example" } }), "page-insecure")
})

test("TLS in front is told by the proxy or by the public address", () => {
  const proxied = here({ host: "bot.example", "x-forwarded-for": "203.0.113.7" })
  assert.equal(place({ ...proxied, headers: { ...proxied.headers, "x-forwarded-proto": "https" } }), "tls")
  assert.equal(
    place({ ...proxied, headers: { ...proxied.headers, "x-forwarded-proto": "http, https" } }),
    "page-insecure",
  )
  assert.equal(place(proxied, { publicUrl: "https://bot.example" }), "tls")
  assert.equal(place(proxied, { publicUrl: "https://other.example" }), "page-insecure")
  assert.equal(place(proxied, { publicUrl: "http://bot.example" }), "page-insecure")
  assert.equal(place(proxied, { publicUrl: "no address" }), "page-insecure")
})
