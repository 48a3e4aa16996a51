// What programs see of the control service, against a real browser: the OpenAPI document against the routes and their real
// answers, and every command of `svc browser` with what it prints for people, as JSON, and for mistakes.
import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { after, before, test } from "node:test"
import { setTimeout } from "node:timers/promises"
import { createContext } from "../../cli/context.ts"
import type { Output } from "../../cli/output.ts"
import { runProgram } from "../../cli/program.ts"
import { type BrowserBench, startBrowserBench } from "../../test/support/browser-service.ts"
import { type PagesServer, startPagesServer } from "../../test/support/pages-server.ts"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { browserCommands } from "./cli.ts"
import { operationId } from "./openapi/document.ts"
import { renderBrowserApi } from "./openapi/reference.ts"
import { replies, type ReplyName } from "./replies/index.ts"
import { controlRoutes } from "./routes/all.ts"

let bench: BrowserBench
let pages: PagesServer
/** A folder of the person's own. */
const own = temporaryFolder()

before(async () => {
  pages = await startPagesServer({ folder: join(import.meta.dirname, "../../test/fixtures/pages") })
  bench = await startBrowserBench({ defaultProfile: "managed" })
  await mkdir(join(bench.stateFolder, "uploads"), { recursive: true })
  await writeFile(join(bench.stateFolder, "uploads", "a.txt"), "a")
  // By these the program finds the service, as it finds the gateway's.
  const tokenFile = join(bench.stateFolder, "gateway-token")
  await writeFile(tokenFile, `${bench.token}\n`, { mode: 0o600 })
  const port = bench.service.controlPort
  const file = { pid: process.pid, bootId: "boot", host: "127.0.0.1", port, controlPort: port, tokenFile }
  await writeFile(join(bench.stateFolder, "gateway.json"), JSON.stringify(file), { mode: 0o600 })
})

after(async () => {
  await bench.stop()
  await pages.stop()
})

const keyOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`

test("takes files from anywhere and puts them anywhere for the person who runs the command, and only for that person", async () => {
  await mkdir(own, { recursive: true })
  await writeFile(join(own, "mine.txt"), "mine")
  const outside = join(own, "mine.txt")
  await bench.call("POST", "/navigate", { url: `${pages.url}/files.html` })
  const refused = await bench.call("POST", "/hooks/file-chooser", { paths: [outside], inputRef: await ref("Photos") })
  assert.equal(refused.status, 400)
  const input = await ref("Photos")
  const { code } = await svc("upload", outside, "--input-ref", input)
  assert.equal(code, 0)
  const names =
    "() => [...document.querySelectorAll('input[type=file]')].flatMap((each) => [...each.files].map((f) => f.name))"
  const { body } = await bench.call("POST", "/act", { kind: "evaluate", fn: names })
  assert.deepEqual(body.result, ["mine.txt"])
  await svc("download", await ref("Get zip"), own)
  assert.equal(await readFile(join(own, "a.zip"), "utf8"), "PK")
  assert.equal((await svc("upload", join(own, "none.txt"), "--input-ref", input)).code, 2)
})

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
  const file = join(import.meta.dirname, "../../docs/reference/browser-api.md")
  assert.equal(await readFile(file, "utf8"), renderBrowserApi(controlRoutes))
})

type Call = [path: string, body?: object]

/** What brings about that which the next call waits for; done again and again until its answer is there. */
let meanwhile: (() => Promise<unknown>) | undefined

async function answerOf(method: string, [path, body]: Call) {
  const bringAbout = meanwhile
  meanwhile = undefined
  return during(bench.call(method, path, body), bringAbout)
}

/** Does something again and again until there is an answer. */
async function during<Answer>(answer: Promise<Answer>, bringAbout: (() => Promise<unknown>) | undefined) {
  let waiting = true
  const ended = answer.finally(() => (waiting = false))
  while (bringAbout && waiting) await Promise.race([ended, bringAbout().then(() => setTimeout(100))])
  return ended
}

async function keptOnce(): Promise<Call> {
  const steps = [{ kind: "read", find: "link zip", as: "link" }]
  await show("files.html")
  await bench.call("POST", "/act", { kind: "run", steps, keep: "once" })
  return ["/scripts/once"]
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
  "GET /downloads": () => ["/downloads"],
  "POST /wait/download": async () => {
    const ref = await bench.refOf("Get zip")
    meanwhile = () => bench.call("POST", "/act", { kind: "click", ref })
    return ["/wait/download", {}]
  },
  "GET /scripts": () => ["/scripts"],
  "GET /scripts/:name": keptOnce,
  "DELETE /scripts/:name": keptOnce,
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
  "POST /extension/install": () => ["/extension/install", {}],
  "POST /extension/pair": () => ["/extension/pair", {}],
  "GET /explain": () => ["/explain?target=host"],
  "GET /extension": () => ["/extension"],
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

/** The program in this process, with its words gathered. */
async function svc(...words: string[]): Promise<{ code: number; text: string; errors: string }> {
  let text = ""
  let errors = ""
  const output: Output = {
    write: (piece) => void (text += piece),
    line: (line) => void (text += `${line}\n`),
    named: (advice) => advice,
    json: (value) => void (text += `${JSON.stringify(value, null, 2)}\n`),
    note: (line) => void (errors += `${line}\n`),
    error(error, json) {
      if (json)
        text += JSON.stringify({ ok: false, error: { code: error.code, message: error.message, hint: error.hint } })
      else errors += `error: ${error.message}\nhint: ${error.hint}\n`
    },
    colour: () => false,
    drained: () => Promise.resolve(),
  }
  const environment = { ...process.env, SVC_STATE_DIR: bench.stateFolder }
  const context = createContext({ environment, output, programFile: join(import.meta.dirname, "../../cli/main.ts") })
  return { code: await runProgram(["browser", ...words], context), text, errors }
}

const ref = (name: string) => bench.refOf(name)
const show = (path: string) => bench.call("POST", "/navigate", { url: `${pages.url}/${path}` })

interface Case {
  /** What comes behind the command. */
  words?: () => Promise<string[]> | string[]
  /** Done again and again until the command has its answer. */
  meanwhile?: () => Promise<unknown>
  /** What the command prints for people. */
  prints: RegExp
  /** What it tells beside that; nothing where it is not given. */
  advises?: RegExp
}

/** Profiles, by number: each command is given twice. */
const count = { made: 0, deleted: 0 }

/** In this order, each twice: for people and as JSON. */
const cases: Record<string, Case> = {
  start: { prints: /^profile managed: running$/m },
  status: { prints: /^profile: managed\nenabled: true\nrunning: true$/m },
  profiles: { prints: /^managed: running/m },
  "create-profile": {
    words: () => [`made-${(count.made += 1)}`, "--color", "0066CC"],
    prints: /^created profile made-1 \(managed, #0066CC\)$/m,
  },
  "reset-profile": { words: () => ["--browser-profile", "made-1"], prints: /^reset profile made-1; it had no data$/m },
  "delete-profile": { words: () => [`made-${(count.deleted += 1)}`], prints: /^deleted profile made-1$/m },
  "extension install": { prints: /^\/.*\/browser\/extension$/m, advises: /Load unpacked/ },
  "extension path": { prints: /^\/.*\/browser\/extension$/m },
  "extension pair": { prints: /^\d+(-[a-z2-7]{4}){8}$/m, advises: /not shown again/ },
  "extension status": { prints: /^paired: not yet: .*\nrelay: 127\.0\.0\.1:\d+\nconnected: no/m },
  explain: {
    prints: /^a call would go to: the browser of the gateway's machine\nbecause: this gateway takes in no nodes$/m,
  },
  open: { words: () => [`${pages.url}/files.html`], prints: /^opened: .*files\.html\nid: \w+$/m },
  tabs: { prints: /^1\. / },
  "tab list": { prints: /^1\. / },
  "tab new": { prints: /^opened new tab$/m },
  "tab select": { words: () => ["1"], prints: /^selected tab 1$/m },
  "tab close": { words: () => ["1"], prints: /^closed tab$/m },
  focus: { words: async () => [await newTab()], prints: /^focused tab / },
  close: { words: async () => [await newTab()], prints: /^closed tab$/m },
  navigate: { words: () => [`${pages.url}/files.html`, "--snapshot"], prints: /^navigated to .*\n.*Get zip/m },
  upload: {
    words: async () => ["a.txt", "--input-ref", await ref("Photos")],
    prints: /^uploaded 1 file\(s\)$/m,
  },
  download: {
    words: async () => [await ref("Get zip"), join(own, "new", "a.zip")],
    prints: /^downloaded: \/.*\/new\/a\.zip \(2 bytes\)$/m,
  },
  downloads: { prints: /^no downloads under way$/m },
  waitfordownload: {
    words: () => ["--timeout-ms", "30000"],
    meanwhile: async () => bench.call("POST", "/act", { kind: "click", ref: await ref("Get zip") }),
    prints: /^downloaded: \//m,
  },
  run: {
    async words() {
      const steps = [
        { kind: "read", find: "link zip", as: "link" },
        { kind: "set", as: "said", to: "{{greeting}}" },
      ]
      await writeFile(join(own, "script.json"), JSON.stringify({ steps, values: { greeting: "none" } }))
      return [join(own, "script.json"), "--value", "greeting=hello", "--keep", "read-link"]
    },
    prints: /^2 steps done\ngreeting: hello\nlink: Get zip\nsaid: hello\nkept as read-link$/m,
  },
  "scripts list": { prints: /^read-link: 2 steps on 127\.0\.0\.1:\d+, run 0 times; takes greeting$/m },
  "scripts show": { words: () => ["read-link"], prints: /"find": "link zip"/ },
  "scripts run": {
    words: () => ["read-link", "--value", "greeting=again", "--snapshot", "efficient"],
    prints: /^3 steps done\n[^]*said: again$[^]*- link "Get zip"/m,
  },
  "scripts remove": {
    async words() {
      const steps = [{ kind: "read", find: "link zip", as: "link" }]
      await bench.call("POST", "/act", { kind: "run", steps, keep: "short" })
      return ["short"]
    },
    prints: /^removed short$/m,
  },
  snapshot: { words: () => ["--interactive", "--labels"], prints: /link "Get zip" \[ref=e\d+\][^]*^MEDIA:\/.+\.png$/m },
  find: { words: () => ["zip"], prints: /^- link "Get zip" \[ref=e\d+\]$/m },
  screenshot: { words: () => ["--full-page"], prints: /^MEDIA:\/.+\.png$/m },
  pdf: { prints: /^PDF:\/.+\.pdf$/m },
  highlight: { words: async () => [await ref("Get zip")], prints: /^highlighted ref / },
  console: { words: () => ["--level", "debug"], prints: /^\[/ },
  errors: { prints: /^no errors$/m },
  requests: { words: () => ["--filter", "files.html"], prints: /GET 200 ok .*files\.html/ },
  responsebody: {
    words: () => ["*/hit?body"],
    meanwhile: () => bench.call("POST", "/act", { kind: "evaluate", fn: "() => void fetch('/hit?body')" }),
    prints: /^hit$/m,
  },
  dialog: { words: () => ["--dismiss"], prints: /^dialog armed$/m },
  click: {
    words: async () => {
      await show("actions.html")
      return [await ref("Hover me"), "--double", "--modifiers", "Shift"]
    },
    prints: /^clicked ref \d+ on /,
  },
  type: { words: async () => [await ref("Name"), "Ada"], prints: /^typed into ref \d+$/m },
  press: { words: async () => ["Tab", "--ref", await ref("Name")], prints: /^pressed Tab$/m },
  hover: { words: async () => [await ref("Hover me")], prints: /^hovering over ref / },
  scroll: { words: async () => ["--to", "end"], prints: /^scrolled/ },
  scrollintoview: { words: async () => [await ref("Far below")], prints: /^scrolled to ref / },
  drag: { words: async () => [await ref("Thumb"), await ref("End")], prints: /^dragged \d+ → \d+$/m },
  select: { words: async () => [await ref("Colour"), "Green"], prints: /^selected Green in ref / },
  fill: {
    words: async () => ["--fields", JSON.stringify([{ ref: await ref("Name"), value: "Eve" }])],
    prints: /^filled 1 field\(s\)$/m,
  },
  resize: { words: () => ["900", "700"], prints: /^resized to 900x700$/m },
  wait: { words: () => ["#from", "--load", "load", "--fn", "() => true"], prints: /^wait complete$/m },
  evaluate: { words: () => ["--fn", "() => 6 * 7"], prints: /^42$/m },
  "cookies set": { words: () => ["a", "1", "--url", pages.url], prints: /^cookie set: a$/m },
  "cookies list": { prints: /"name": "a"/ },
  "cookies clear": { prints: /^cookies cleared$/m },
  ...Object.fromEntries(
    ["local", "session"].flatMap((kind): [string, Case][] => [
      [`storage ${kind} set`, { words: () => ["k", "v"], prints: /^set k$/m }],
      [`storage ${kind} get`, { prints: /"k": "v"/ }],
      [`storage ${kind} clear`, { prints: /storage cleared$/m }],
    ]),
  ),
  "set viewport": { words: () => ["1000", "700"], prints: /^viewport 1000x700$/m },
  "set headers": { words: () => ['{"x-test":"1"}'], prints: /^headers set$/m },
  "set geo": { words: () => ["48.2", "16.4"], prints: /^geolocation set$/m },
  "set media": { words: () => ["dark"], prints: /^media dark$/m },
  "set timezone": { words: () => ["Europe/Vienna"], prints: /^timezone Europe\/Vienna$/m },
  "set locale": { words: () => ["de-AT"], prints: /^locale de-AT$/m },
  "trace start": { words: () => inTrace(false), prints: /^trace started$/m },
  "trace stop": { words: () => inTrace(true), prints: /^TRACE:\/.+\.zip$/m },
  "set credentials": { words: () => ["ada", "secret"], prints: /^credentials set$/m },
  "set device": { words: () => ["Pixel 7"], prints: /^device Pixel 7$/m },
  "set offline": { words: () => ["off"], prints: /^offline off$/m },
  schema: { words: () => ["cookies", "set"], prints: /"\$ref": "#\/\$defs\/Done"/ },
  stop: { prints: /^profile managed: stopped$/m },
}

/** A trace that runs, or none, whatever was before. */
async function inTrace(runs: boolean): Promise<string[]> {
  await bench.call("POST", runs ? "/trace/start" : "/trace/stop", {})
  return []
}

test("every command does its work, and its JSON is as its schema says", { timeout: 240_000 }, async () => {
  const commands = browserCommands()
  const missing = commands.map(({ words }) => words).filter((words) => !Object.hasOwn(cases, words))
  assert.deepEqual(missing, [], "add a case for these commands")
  for (const [path, { words = () => [], meanwhile: bringAbout, prints, advises = /^$/ }] of Object.entries(cases)) {
    const command = commands.find((candidate) => candidate.words === path)
    assert.ok(command, `there is no command ${path}`)
    const told = await during(svc(...path.split(" "), ...(await words())), bringAbout)
    assert.equal(told.code, 0, `${path}: ${told.text}${told.errors}`)
    assert.match(told.errors, advises, path)
    assert.match(told.text, prints, path)
    for (const [, file] of told.text.matchAll(/^(?:MEDIA|PDF|TRACE):(.+)$/gm))
      assert.ok(existsSync(file as string), file)
    const asJson = await during(svc(...path.split(" "), ...(await words()), "--json"), bringAbout)
    const value: unknown = JSON.parse(asJson.text)
    checkReply(command.spec.json, value, `${path} --json`)
  }
})

test("hands out the schema of one command or of all, closed under its references", async () => {
  const one = JSON.parse((await svc("schema", "snapshot")).text)
  assert.deepEqual(one.anyOf[0], { $ref: "#/$defs/SnapshotAnswer" })
  assert.deepEqual(JSON.parse((await svc("schema", "cookies")).text).anyOf[0], { $ref: "#/$defs/CookiesReply" })
  const all = JSON.parse((await svc("schema", "--json")).text)
  assert.deepEqual(
    Object.keys(all.properties).toSorted(),
    browserCommands()
      .map(({ words }) => words)
      .toSorted(),
  )
  for (const schema of [one, all]) {
    for (const [, name] of JSON.stringify(schema).matchAll(/"\$ref":"#\/\$defs\/(\w+)"/g))
      assert.ok(schema.$defs[name as string], name)
    assert.doesNotMatch(JSON.stringify(schema), /#\/components/)
  }
  assert.equal((await svc("schema", "dance")).code, 2)
})

test("writes a snapshot to a file and prints where", async () => {
  await show("files.html")
  const out = join(bench.stateFolder, "snapshot.txt")
  assert.equal((await svc("snapshot", "--out", out)).text, `${out}\n`)
  assert.match(await readFile(out, "utf8"), /Get zip/)
  await svc("snapshot", "--format", "aria", "--out", out)
  assert.equal(JSON.parse(await readFile(out, "utf8")).format, "aria")
})

test("lists the tabs when it is only said that it is about tabs", async () => {
  assert.match((await svc("tab")).text, /^1\. /)
})

test("ends with 2 for wrong use and 1 for what could not be done, with a hint, also as JSON", async () => {
  await show("files.html")
  for (const [words, code, error] of [
    [["type"], 2, /missing required argument 'ref'/],
    [["click"], 2, /needs a ref, or x and y/],
    [["click", "--x", "5"], 2, /needs a ref, or x and y/],
    [["scroll", "--to", "end", "--pages", "2"], 2, /exclude each other/],
    [["click", "p.main"], 2, /is not a ref/],
    [["click", "999999"], 1, /no element with ref/],
    [["snapshot", "--format", "xml"], 2, /--format/],
    [["snapshot", "--depth", "deep"], 2, /depth: must be a number/],
    [["resize", "wide", "5"], 2, /width: must be a number/],
    [["wait", "--text", "x", "--timeout-ms", "soon"], 2, /timeoutMs: must be a number/],
    [["waitfordownload", "--timeout-ms", "soon"], 2, /timeoutMs: must be a number/],
    [["responsebody", "x", "--timeout-ms", "soon"], 2, /timeoutMs: must be a number/],
    [["close", "FFFF"], 1, /FFFF|no tab/i],
    [["set", "offline", "maybe"], 2, /on or off/],
    [["set", "media", "blue"], 2, /colorScheme|blue/],
    [["dialog"], 2, /--accept or --dismiss/],
    [["fill"], 2, /--fields or --fields-file/],
    [["status", "--browser-profile", "nobody"], 1, /nobody/],
    [["wait"], 2, /at least one/],
    [["nonsense"], 2, /nonsense/],
  ] as const) {
    const told = await svc(...words)
    assert.equal(told.code, code, `${words.join(" ")}: ${told.errors}`)
    assert.match(told.errors, error, words.join(" "))
    const asJson = await svc(...words, "--json")
    assert.equal(asJson.code, code)
    assert.equal(JSON.parse(asJson.text).ok, false, words.join(" "))
  }
})
