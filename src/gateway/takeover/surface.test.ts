// The door of links to tabs, from outside: who has no link learns nothing, sends little, and finds nothing once the page is off.
import assert from "node:assert/strict"
import { after, before, test } from "node:test"
import { startGateway } from "../gateway.fixture.ts"
import type { TakeoverDesk } from "./contract.ts"

let gateway: Awaited<ReturnType<typeof startGateway>>
const token = "t".repeat(43)
const key = "k".repeat(43)
const tab = { id: "1", reason: "the captcha", expiresAt: 1 }
const hands = { watch: async () => () => undefined, input: async () => undefined, ended: new AbortController().signal }
const desk: TakeoverDesk = {
  claim: async (given) => (given === token ? { ...tab, key } : undefined),
  find: async (given) => (given === key ? { ...tab, hands } : undefined),
  giveBack: async () => undefined,
}

before(async () => void (gateway = await startGateway({ takeover: desk })))
after(() => gateway.stop())

const ask = (path: string, body?: string, more: Record<string, string> = {}) => {
  const headers = { "content-type": "application/json", origin: `http://127.0.0.1:${gateway.port}`, ...more }
  return gateway.send(`/takeover${path}`, { headers, ...(body === undefined ? {} : { body }) })
}
const claim = (given: string, more?: Record<string, string>) => ask("/claim", JSON.stringify({ token: given }), more)
const mine = { authorization: `Bearer ${key}` }

test("who has no link gets nothing, whatever else they have", async () => {
  assert.equal((await claim("w".repeat(43))).status, 401)
  assert.equal((await ask("/claim", JSON.stringify({ token, padding: "x".repeat(8_000) }))).status, 413)
  const others = { authorization: "Bearer gateway-secret-0123456789abcdef", cookie: "svc-page-1=x.y" }
  for (const path of ["", "/stream", "/input", "/give-back"])
    assert.equal((await ask(path, undefined, others)).status, 401)
  assert.equal((await claim(token, { origin: "https://evil.example" })).status, 403)
})

test("a key opens its tab and no route of the gateway, and nothing at all while the page is off", async () => {
  assert.equal((await claim(token)).json.key, key)
  assert.equal((await ask("/", undefined, mine)).json.reason, "the captcha")
  assert.equal((await gateway.send("/api/status", { headers: mine })).status, 401)
  const { page } = gateway.options
  const on = page.settings
  page.settings = () => ({ ...on(), enabled: false })
  for (const answer of [
    await claim(token),
    await ask("/", undefined, mine),
    await ask("/input", '{"events":[]}', mine),
  ])
    assert.equal(answer.status, 404)
  page.settings = on
  assert.equal((await ask("/", undefined, mine)).status, 200)
})
