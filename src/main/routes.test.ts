// Walks every route that the gateway and the control service register: each must stand in the one table of scopes, and
// be closed to whoever has not the scope that stands there.
import assert from "node:assert/strict"
import { after, before, test } from "node:test"
import { startBrowserBench } from "../../test/support/browser-service.ts"
import { endAll } from "../../test/support/ends.ts"
import { send } from "../../test/support/http-client.ts"
import { controlRoutes } from "../browser/routes/all.ts"
import { configSchema } from "../config/index.ts"
import { type Scope, type Surface, createDoor, mcpScopes, routeRules, scopes } from "../gateway/index.ts"
import { createApp } from "../gateway/server.ts"
import { gatewayToken, startGateway } from "../gateway/gateway.fixture.ts"
import { createFailureThrottle } from "../kernel/http/index.ts"
import { Secret, systemClock } from "../kernel/index.ts"
import { scopeReference } from "../../scripts/generate-scope-docs.ts"
import { readFileSync } from "node:fs"

type Gateway = Awaited<ReturnType<typeof startGateway>>
type Bench = Awaited<ReturnType<typeof startBrowserBench>>

let gateway: Gateway
let bench: Bench
const tokens = {} as Record<Scope, string>

before(async () => {
  gateway = await startGateway()
  for (const scope of scopes) tokens[scope] = (await gateway.tokens.create({ name: scope, scopes: [scope] })).token
  const { tokens: book, audit } = gateway
  const throttle = createFailureThrottle({ clock: systemClock, limit: 10_000 })
  const admit = createDoor({ surface: "control", token: new Secret(gatewayToken), tokens: book, audit, throttle })
  bench = await startBrowserBench({}, { admit })
})
after(() => endAll([() => bench.stop(), () => gateway.stop()]))

/** As their routers hold them; `ALL` answers only that a method is wrong. */
function registered(): { surface: Surface; method: string; path: string }[] {
  const own = createApp(gateway.options).routes.filter((route) => route.method !== "ALL")
  return [
    ...own.map(({ method, path }) => ({ surface: "gateway" as const, method, path })),
    ...controlRoutes.map(({ method, path }) => ({ surface: "control" as const, method, path })),
  ]
}

const ruleOf = ({ surface, method, path }: { surface: Surface; method: string; path: string }) =>
  routeRules[surface][`${method} ${path}`]

const call = (route: { surface: Surface; method: string; path: string }, token?: string) =>
  send(route.surface === "gateway" ? gateway.port : (bench.service.controlPort ?? 0), filled(route.path), {
    method: route.method,
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  })

const filled = (path: string) => path.replaceAll(/:\w+/g, "1")

test("no base path of webhooks is one that the gateway serves itself", () => {
  const served = registered().filter(({ surface }) => surface === "gateway")
  const bases = new Set(["/dashboard", "/takeover", ...served.map(({ path }) => `/${path.split("/")[1]}`)])
  assert.ok(bases.has("/mcp") && bases.has("/metrics"), "the routers were not found")
  const problem = (path: string) => configSchema.safeParse({ hooks: { path } }).error?.issues[0]?.message
  for (const base of bases) {
    for (const path of [base, `${base}/in`, base.slice(1)])
      assert.equal(problem(path), "is a path of the gateway's own")
    assert.equal(problem(`${base}s`), undefined)
  }
})

test("every registered route stands in the table of scopes", () => {
  const all = registered()
  assert.ok(all.length > 60, "the routers were not found")
  const missing = all.filter((route) => ruleOf(route) === undefined)
  assert.deepEqual(missing, [])
})

test("every route but the open ones wants a secret", async () => {
  for (const route of registered()) {
    const isOpen = ruleOf(route)?.scope === "open" || route.path === "/readyz"
    // The throttle may have had enough of us by now.
    const { status } = await call(route)
    if (isOpen) assert.equal(status, 200, route.path)
    else assert.ok(status === 401 || status === 429, `${route.method} ${route.path}: ${status}`)
  }
})

/** What a web page, a rebound name or a frame without an origin would send, each with the right token. */
const foreign = (port: number): Record<string, string>[] => [
  { host: `evil.example:${port}` },
  { host: `127.0.0.1.nip.io:${port}` },
  { host: "127.0.0.1:1" },
  { origin: "https://evil.example" },
  { origin: "null" },
  { origin: `http://localhost.evil.example:${port}` },
  { origin: `http://127.0.0.1:${port + 1}` },
  { referer: "https://evil.example/page" },
  { "sec-fetch-site": "cross-site" },
  { "sec-fetch-site": "same-site" },
]

/** Beside the routers: what proves itself by something else than a token. */
const besides: [method: string, path: string][] = [
  ["POST", "/dashboard/enter"],
  ["POST", "/takeover/claim"],
  ["GET", "/takeover"],
  ["GET", "/takeover/stream"],
  ["POST", "/takeover/input"],
  ["POST", "/takeover/give-back"],
  ["POST", "/hooks-not-there"],
]

test("every route is closed to web pages and foreign names, whatever token they bring", async () => {
  const own = besides.map(([method, path]) => ({ surface: "gateway" as const, method, path }))
  for (const [index, { surface, method, path }] of [...own, ...registered()].entries()) {
    const port = surface === "gateway" ? gateway.port : (bench.service.controlPort ?? 0)
    const token = surface === "gateway" || method === "GET" ? gatewayToken : tokens.browser
    // The guard stands before the router: behind the first routes each of them is tried by some of these, in turns.
    const tried = foreign(port).filter((_, at) => index < own.length || at % 4 === index % 4)
    const statuses = tried.map(async (headers) => {
      const body = method === "POST" ? { body: "{}" } : {}
      const bringing = { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers }
      const { status, json } = await send(port, filled(path), { method, headers: bringing, ...body })
      return `${status} ${json?.error?.code} ${JSON.stringify(headers)}`
    })
    for (const told of await Promise.all(statuses)) assert.match(told, /^403 forbidden-origin /, `${method} ${path}`)
  }
  assert.deepEqual(gateway.calls, [], "nothing was done")
})

test("a WebSocket is opened to nobody but nodes: no page, no foreign name, no other path", async () => {
  const headers = { connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13" }
  const upgrade = async (path: string, more: Record<string, string>) => {
    const key = { "sec-websocket-key": Buffer.alloc(16).toString("base64") }
    const all = { ...headers, ...key, authorization: `Bearer ${gatewayToken}`, ...more }
    return (await send(gateway.port, path, { headers: all })).status
  }
  for (const more of foreign(gateway.port)) assert.equal(await upgrade("/node", more), 403, JSON.stringify(more))
  assert.equal(await upgrade("/node", { origin: `http://127.0.0.1:${gateway.port}` }), 403, "not our own page either")
  for (const path of ["/", "/mcp", "/api/stream", "/takeover/stream", "/dashboard/", "/node/", "/node/x", "//node"])
    assert.equal(await upgrade(path, {}), 404, path)
})

test("a token without the scope of a route gets 403 with its name, on every route", async () => {
  for (const route of registered()) {
    const needed = ruleOf(route)?.scope
    if (needed === undefined || needed === "open" || needed === "any") continue
    for (const held of scopes) {
      if (held === needed || held === "admin" || (needed === "mcp" && mcpScopes.includes(held))) continue
      const answer = await call(route, tokens[held])
      assert.equal(answer.status, 403, `${route.method} ${route.path} with ${held}`)
      assert.equal(answer.json.error.code, "scope-missing")
      const words = needed === "mcp" ? `scopes ${mcpScopes.join(", ")}` : `scope ${needed}`
      assert.match(answer.json.error.message, new RegExp(`${words} \\(it has ${held}\\)`))
      assert.match(answer.json.error.hint, new RegExp(`--scope ${needed === "mcp" ? "browser" : needed}`))
    }
  }
})

/** What would not end, or would end the gateway. */
const endless = new Set(["/api/stop", "/api/stream"])

test("a token with the scope gets in, and admin gets in everywhere", async () => {
  // What would start or stop something is left out; none of these has a body, so none of them does anything.
  const harmless = registered().filter(({ method, surface }) => method === "GET" || surface === "gateway")
  for (const route of harmless.filter(({ path }) => !endless.has(path))) {
    const needed = ruleOf(route)?.scope
    if (needed === undefined || needed === "open") continue
    const usual = needed === "any" ? "hooks" : needed === "mcp" ? "browser" : needed
    for (const held of new Set([usual, "admin" as const])) {
      const { status } = await call(route, tokens[held])
      assert.ok(
        status !== 401 && (status !== 403 || needed === "any"),
        `${route.method} ${route.path} with ${held}: ${status}`,
      )
    }
  }
})

test("no spelling of a path or method needs less than its plain form", async () => {
  const spellings: [string, string][] = [
    ["GET", "/api/status/"],
    ["GET", "//api/status"],
    ["GET", "/api/./status"],
    ["GET", "/api/status;x"],
    ["GET", "/api/%73tatus"],
    ["GET", "/api/runs"],
    ["HEAD", "/api/runs"],
    ["POST", "/api/status"],
    ["GET", "/api/tokens?path=/api/status"],
    ["GET", "/hooks"],
    ["GET", "/api/:id"],
    ["GET", "/api/runs/:runId"],
    ["GET", "/nowhere"],
  ]
  for (const [method, path] of spellings) {
    const { status } = await send(gateway.port, path, { method, headers: { authorization: `Bearer ${tokens.status}` } })
    assert.ok(status === 403 || status === 404, `${method} ${path}: ${status}`)
  }
})

test("docs/reference/scopes.md is what the table says", () => {
  const page = readFileSync(new URL("../../docs/reference/scopes.md", import.meta.url), "utf8")
  assert.equal(page, scopeReference())
})
