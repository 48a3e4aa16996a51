// The OpenAPI document against the routes, and the routes' real answers against the document's schemas.
import assert from "node:assert/strict"
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { after, before, test } from "node:test"
import { setTimeout } from "node:timers/promises"
import { type BrowserBench, startBrowserBench } from "../../../test/support/browser-service.ts"
import { type PagesServer, startPagesServer } from "../../../test/support/pages-server.ts"
import { replies, type ReplyName } from "../replies/index.ts"
import { controlRoutes } from "../routes/app.ts"
import { operationId } from "./document.ts"
import { renderBrowserApi } from "./reference.ts"

let bench: BrowserBench
let pages: PagesServer

before(async () => {
  pages = await startPagesServer({ folder: join(import.meta.dirname, "../../../test/fixtures/pages") })
  bench = await startBrowserBench()
  await mkdir(join(bench.stateFolder, "uploads"), { recursive: true })
  await writeFile(join(bench.stateFolder, "uploads", "a.txt"), "a")
})

after(async () => {
  await bench.stop()
  await pages.stop()
})

const keyOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`

test("describes every route that is served, and no other", async () => {
  const { status, body } = await bench.call("GET", "/openapi.json")
  assert.equal(status, 200)
  assert.equal(body.openapi, "3.1.0")
  const described = Object.entries(body.paths as Record<string, object>).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const served = controlRoutes.map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, "{$1}")}`)
  assert.deepEqual(described.toSorted(), served.toSorted())
  for (const [path, operations] of Object.entries(body.paths as Record<string, Record<string, object>>)) {
    for (const method of Object.keys(operations)) {
      const wrong = method === "get" ? "DELETE" : "GET"
      if (Object.hasOwn(operations, wrong.toLowerCase())) continue
      const answer = await bench.call(wrong, path.replace(/\{\w+\}/g, "local"))
      assert.equal(answer.status, 405, `${wrong} ${path} says that the route is there, under ${method}`)
    }
  }
})

test("is closed under its references, names each operation once, and has examples that its routes take", async () => {
  const text = JSON.stringify((await bench.call("GET", "/openapi.json")).body)
  const document = JSON.parse(text)
  for (const [, reference] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
    const found = (reference as string).split("/").reduce((value, name) => value?.[name], document)
    assert.ok(found, reference)
  }
  const ids = controlRoutes.map(operationId)
  assert.equal(new Set(ids).size, ids.length)
  for (const route of controlRoutes) {
    if (route.example) assert.ok(route.request.safeParse(route.example).success, keyOf(route))
  }
})

test("wants the token for itself too", async () => {
  assert.equal((await fetch(`${bench.url}/openapi.json`)).status, 401)
})

test("docs/reference/browser-api.md is up to date (node scripts/generate-browser-api-docs.ts)", async () => {
  const file = join(import.meta.dirname, "../../../docs/reference/browser-api.md")
  assert.equal(await readFile(file, "utf8"), renderBrowserApi(controlRoutes))
})

type Call = [path: string, body?: object]

/** What brings about that which the next call waits for; done again and again until its answer is there. */
let meanwhile: (() => Promise<unknown>) | undefined

async function answerOf(method: string, [path, body]: Call) {
  const bringAbout = meanwhile
  meanwhile = undefined
  let waiting = true
  const answer = bench.call(method, path, body).finally(() => (waiting = false))
  while (bringAbout && waiting) await Promise.race([answer, bringAbout().then(() => setTimeout(100))])
  return answer
}

/** One call of each route, in this order, against a page that has what it needs. */
const calls: Record<string, () => Promise<Call | Call[]> | Call | Call[]> = {
  "GET /openapi.json": () => ["/openapi.json"],
  "POST /start": () => ["/start", {}],
  "GET /": () => ["/"],
  "GET /profiles": () => ["/profiles"],
  "POST /tabs/open": () => ["/tabs/open", { url: `${pages.url}/files.html` }],
  "GET /tabs": () => ["/tabs"],
  "POST /tabs/action": () => [
    ["/tabs/action", { action: "list" }],
    ["/tabs/action", { action: "new" }],
    ["/tabs/action", { action: "select", index: "0" }],
    ["/tabs/action", { action: "close", index: 0 }],
  ],
  "POST /navigate": () => ["/navigate", { url: `${pages.url}/files.html`, snapshot: "efficient" }],
  "POST /tabs/focus": async () => ["/tabs/focus", { targetId: await newTab() }],
  "DELETE /tabs/:targetId": async () => [`/tabs/${await newTab()}`],
  "POST /hooks/file-chooser": () => ["/hooks/file-chooser", { paths: ["a.txt"], element: "input[type=file]" }],
  "POST /download": async () => ["/download", { ref: await bench.refOf("Get zip"), path: "a.zip" }],
  "POST /wait/download": async () => {
    const ref = await bench.refOf("Get zip")
    meanwhile = () => bench.call("POST", "/act", { kind: "click", ref })
    return ["/wait/download", {}]
  },
  "POST /act": async () => {
    const ref = await onPage("dialogs.html", "Confirm")
    return [
      ["/act", { kind: "evaluate", fn: "[1, { a: null }]", snapshot: "diff" }],
      ["/act", { kind: "click", ref }],
    ]
  },
  "POST /hooks/dialog": () => [
    ["/hooks/dialog", { accept: false }],
    ["/hooks/dialog", { accept: true }],
  ],
  "GET /snapshot": async () => {
    await onPage("controls.html?n=30")
    return [["/snapshot?interactive=yes&labels=1"], ["/snapshot?maxTokens=60"], ["/snapshot?format=aria&limit=5"]]
  },
  "POST /screenshot": () => [
    ["/screenshot", { type: "jpeg" }],
    ["/screenshot", { fullPage: true }],
  ],
  "POST /highlight": async () => ["/highlight", { ref: await bench.refOf("Button 1") }],
  "POST /pdf": () => ["/pdf", {}],
  "GET /console": async () => {
    const fn = "() => { console.warn('careful'); setTimeout(() => { throw new TypeError('late') }) }"
    await bench.call("POST", "/act", { kind: "evaluate", fn })
    return ["/console"]
  },
  "GET /errors": () => ["/errors"],
  "GET /requests": () => ["/requests?filter=controls"],
  "POST /response/body": () => {
    meanwhile = () => bench.call("POST", "/act", { kind: "evaluate", fn: "() => void fetch('/hit?body')" })
    return ["/response/body", { url: "*/hit?body", maxChars: 2 }]
  },
  "POST /cookies/set": () => ["/cookies/set", { cookie: { name: "a", value: "1", url: pages.url, sameSite: "Lax" } }],
  "GET /cookies": () => ["/cookies"],
  "POST /cookies/clear": () => ["/cookies/clear", {}],
  "POST /storage/:kind/set": () => ["/storage/session/set", { key: "a", value: "1" }],
  "GET /storage/:kind": () => ["/storage/session"],
  "POST /storage/:kind/clear": () => ["/storage/session/clear", {}],
  "POST /set/offline": () => ["/set/offline", { offline: "no" }],
  "POST /set/headers": () => ["/set/headers", { headers: { "x-test": "1" } }],
  "POST /set/geolocation": () => ["/set/geolocation", { latitude: "1", longitude: 2 }],
  "POST /set/media": () => ["/set/media", { colorScheme: "dark" }],
  "POST /set/timezone": () => ["/set/timezone", { timezoneId: "Europe/Vienna" }],
  "POST /set/device": () => ["/set/device", { name: "Pixel 7" }],
  "POST /set/credentials": () => ["/set/credentials", { username: "ada", password: "secret" }],
  "POST /set/locale": () => ["/set/locale", { locale: "de-AT" }],
  "POST /trace/start": () => ["/trace/start", { screenshots: "no" }],
  "POST /trace/stop": () => ["/trace/stop", {}],
  "POST /profiles/create": () => [
    ["/profiles/create", { name: "work" }],
    ["/profiles/create", { name: "far", cdpUrl: "http://127.0.0.1:9", color: "0066cc" }],
  ],
  "DELETE /profiles/:name": () => ["/profiles/far"],
  "POST /reset-profile": () => ["/reset-profile", {}],
  "POST /stop": () => ["/stop", {}],
}

async function newTab(): Promise<string> {
  return (await bench.call("POST", "/tabs/open", { url: "about:blank" })).body.targetId
}

async function onPage(path: string, name?: string): Promise<string> {
  await bench.call("POST", "/navigate", { url: `${pages.url}/${path}` })
  return name === undefined ? "" : bench.refOf(name)
}

/** A schema leaves out fields that it does not know, so an answer that comes out the same has no other. */
function checkReply(name: ReplyName, body: unknown, call: string): void {
  const parsed = replies[name].safeParse(body)
  assert.ok(
    parsed.success,
    `${call} is no ${name}: ${parsed.error?.message} in ${JSON.stringify(body).slice(0, 2_000)}`,
  )
  assert.deepEqual(parsed.data, body, `${call} has fields that ${name} does not name`)
}

test("answers of every route are as described", { timeout: 240_000 }, async () => {
  const missing = controlRoutes.map(keyOf).filter((key) => !Object.hasOwn(calls, key))
  assert.deepEqual(missing, [], "add a call for these routes")
  for (const [key, prepare] of Object.entries(calls)) {
    const route = controlRoutes.find((candidate) => keyOf(candidate) === key)
    assert.ok(route, `${key} is not served`)
    const prepared = await prepare()
    for (const call of Array.isArray(prepared[0]) ? (prepared as Call[]) : [prepared as Call]) {
      const answer = await answerOf(route.method, call)
      assert.equal(answer.status, 200, `${key}: ${JSON.stringify(answer.body)}`)
      checkReply(route.reply, answer.body, key)
    }
    if (key === "POST /set/locale") {
      // Once more with something in it: what tabs pretend to be.
      const { body } = await bench.call("GET", "/")
      assert.equal(body.overrides.length, 1)
      checkReply("ProfileStatus", body, "GET /")
    }
  }
})

test("errors are as described", async () => {
  for (const [method, path, body] of [
    ["GET", "/nowhere"],
    ["POST", "/act", { kind: "dance" }],
    ["GET", "/?profile=nobody"],
  ] as const) {
    const answer = await bench.call(method, path, body)
    assert.deepEqual(Object.keys(answer.body).toSorted(), ["error", "ok"])
    assert.equal(answer.body.ok, false)
  }
})
