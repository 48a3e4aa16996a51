// The page stays small: all that the build makes of it, before compression.
import assert from "node:assert/strict"
import { readdirSync, readFileSync, statSync } from "node:fs"
import { extname, join } from "node:path"
import { before, test } from "node:test"
import { temporaryFolder } from "../test/support/temporary.ts"
import { z } from "zod"
import { endpoints } from "../src/gateway/endpoints/index.ts"
import { arrows, buildDashboard, calledComponents, closedComponents, ownNames, shorten } from "./build-dashboard.mjs"

const folder = join(temporaryFolder(), "dashboard")
before(() => buildDashboard(folder))

const names = () => all().filter((name) => !name.startsWith("takeover"))
const all = () => readdirSync(folder).filter((name) => ![".br", ".gz"].includes(extname(name)))
const bytesOf = (list: string[]) => list.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)

test("all files of all pages together are under 100 KB, the stylesheet under 12 KB", () => {
  assert.ok(bytesOf(names()) < 100_000, `${bytesOf(names())} bytes`)
  assert.ok(bytesOf(names().filter((name) => name.endsWith(".css"))) < 12_000)
})

test("the page behind a link to a tab is one of its own, under 16 KB", () => {
  const own = all().filter((name) => name.startsWith("takeover"))
  assert.ok(own.includes("takeover.html") && bytesOf(own) < 16_000, `${bytesOf(own)} bytes`)
  assert.doesNotMatch(readFileSync(join(folder, "takeover.html"), "utf8"), /<style|<script(?![^>]* src=)|style="/)
})

test("what the first view loads is under 50 KB, and stands in the document, so that it is asked for at once", () => {
  const document = readFileSync(join(folder, "index.html"), "utf8")
  const asked = [...document.matchAll(/(?:href|src)="([^"]+)"/g)].map((match) => match[1] as string)
  assert.ok(asked.some((name) => name.startsWith("page-")) && asked.every((name) => names().includes(name)))
  assert.ok(bytesOf([...asked, "index.html"]) < 50_000, `${bytesOf(asked)} bytes`)
})

test("no page's file names one that is not there with the first view: it would be asked for only then", () => {
  const document = readFileSync(join(folder, "index.html"), "utf8")
  const scripts = names().filter((name) => name.endsWith(".js"))
  const needs = scripts.flatMap((name) =>
    Array.from(
      readFileSync(join(folder, name), "utf8").matchAll(/from"\.\/([^"]+)"/g),
      ([, needed]) => needed as string,
    ),
  )
  assert.ok(scripts.length >= 5 && needs.length >= 4, String(needs))
  assert.deepEqual(
    needs.filter((name) => !document.includes(name)),
    [],
  )
})

test("nothing is inline, and nothing comes from elsewhere", () => {
  const document = readFileSync(join(folder, "index.html"), "utf8")
  assert.doesNotMatch(document, /<style|<script(?![^>]* src=)|\son\w+=|style="/)
  for (const name of names().filter((one) => /\.(html|css|js)$/.test(one))) {
    const content = readFileSync(join(folder, name), "utf8")
    assert.doesNotMatch(
      content.replaceAll(/http:\/\/www\.w3\.org\/[\w/.]+/g, ""),
      /https?:\/\/(?!preactjs\.com|shop\.example)/,
      name,
    )
  }
})

test("each file has its compressed forms", () => {
  for (const name of names()) for (const form of [".br", ".gz"]) assert.ok(statSync(join(folder, name + form)).size > 0)
})

test("names of the page's own are none that the gateway's answers or the browser have", () => {
  const told = new Set<string>()
  const collect = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return
    for (const [name, inner] of Object.entries(value)) {
      if (name === "properties" && typeof inner === "object")
        for (const key of Object.keys(inner as object)) told.add(key)
      collect(inner)
    }
  }
  const schemas = Object.values(endpoints).flatMap((one) =>
    Object.values(one).filter((part) => part instanceof z.ZodType),
  )
  for (const schema of schemas) collect(z.toJSONSchema(schema, { unrepresentable: "any", io: "input" }))
  assert.ok(told.has("runId") && told.has("fingerprint") && told.size > 200, `${told.size}`)
  assert.deepEqual(
    ownNames.filter(
      (name) => told.has(name) || name in Array.prototype || name in Promise.prototype || name in Response.prototype,
    ),
    [],
  )
})

test("names of the page's own are written as words nowhere, such as keys that are looked up", () => {
  const root = join(import.meta.dirname, "../dashboard")
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) => /\.tsx?$/.test(name))
  const quoted = new RegExp(`(["'])(?:${ownNames.join("|")})\\1`)
  assert.ok(files.length > 40 && quoted.test('"act"'))
  assert.deepEqual(
    files.flatMap((name) => quoted.exec(readFileSync(join(root, name), "utf8"))?.[0] ?? []),
    [],
  )
})

test("elements, `undefined` and names of calls are shortened, and texts that look like them stay", () => {
  const shown = (code: string) => shorten(code).trim()
  assert.equal(shown(`h("div", { class: "a b" }, x)`), `$div("a b", x)`)
  assert.equal(
    shown(`h("div", null, h("table", null), h(Row, { class: "a" }))`),
    `$div(0, h("table", 0), h(Row, { class: "a" }))`,
  )
  assert.equal(
    shown(`h("p", { class: tone, id: "a" }, "h(\\"div\\", null)")`),
    `$p({ class: tone, id: "a" }, "h(\\"div\\", null)")`,
  )
  assert.equal(shown("x === void 0 ? 'void 0' : /void 0/"), "x === $undefined ? 'void 0' : /void 0/")
  assert.equal(
    shown("call(`POST /api/nodes/${act}`, { body }); send(`POST /api/x`)"),
    "call(`+nodes/${act}`, { body }); send(`POST /api/x`)",
  )
  assert.equal(
    shown(`h("a", { "aria-label": JSON.stringify(x) }, "aria-label")`),
    `$a({ [$label]: $stringify(x) }, "aria-label")`,
  )
  assert.equal(shown(`call("GET /api/runs"); say("GET /api/runs")`), `call("runs"); say("GET /api/runs")`)
})

test("properties of components get names that can be shortened, where nothing but their calls and first lines names them", () => {
  const code = `
    function Badge({ state, tone = "dim", children }) { return h("b", { title: state, class: tone }, children) }
    function Field({ label }) { return h("i", { label }) }
    function List(props) { return h(Badge, { key: 1, state: props.state }) }
    function Rest({ a, ...b }) { return [h(Field, { ...b }), h(List, { state: a }), h(Rest, { a })] }
    h(Badge, { state, tone: "good" })`
  const closed = closedComponents([code])
  assert.deepEqual([...closed], ["Badge"])
  const short = shorten(code, closed, new Set())
  assert.match(short, /function Badge\(\{ \$state: state, \$tone: tone = "dim", children \}\)/)
  assert.match(short, /h\("b", \{ title: state, class: tone \}, children\)/)
  assert.match(short, /h\(Badge, \{ key: 1, \$state: props\.state \}\)/)
  assert.match(short, /h\(Badge, \{ \$state: state, \$tone: "good" \}\)/)
  assert.match(short, /h\(Field, \{ \.\.\.b \}\), h\(List, \{ state: a \}\), h\(Rest, \{ a \}\)/)
})

test("components that others have elements of, and use for nothing else, are what makes these elements", () => {
  const parts = `
    export function Badge({ state }) { return h("b", { title: state }) }
    export function Empty({ children }) { return h("p", null, children) }
    export function Rare() { return h(Badge, { state: "rare" }) }
    export function Given() { return null }
    function Own() { return null }`
  const page = `
    const list = [h(Badge, { state: 1 }), h(Badge, { state: 2 }), h(Badge, { state: 3 }, "a")]
    const none = [h(Empty, null), h(Empty, null, list), h(Empty, null), h(Empty, { key: 1 })]
    const own = [h(Own, null), h(Own, null), h(Own, null), h(Own, null)]
    const pages = { Given, drawn: [h(Given, null), h(Given, null), h(Given, null), h(Given, null)] }`
  const called = calledComponents([parts, page])
  assert.deepEqual([...called], ["Badge", "Empty"])
  const short = shorten(page, new Set(), called)
  assert.match(short, /\[Badge\(\{ state: 1 \}\), Badge\(\{ state: 2 \}\), Badge\(\{ state: 3 \}, "a"\)\]/)
  assert.match(short, /\[Empty\(0\), Empty\(0, list\), Empty\(0\), Empty\(\{ key: 1 \}\)\]/)
  assert.match(short, /h\(Given, 0\)/)
  assert.match(arrows(parts, called), /^export const Badge = \$element\(\(\{ state \}\) => \{.*\}\);$/m)
  assert.match(arrows(parts, called), /^export const Rare = \(\) => /m)
})

test("functions of a module become arrows, and are there before all else in it, as functions are", async () => {
  const code = `
    import { basename } from "node:path"
    export const begun = double(2) + "!"
    export default async function load({ path = "a/b" }, ...more) { return [basename(path), ...more] }
    export function double(n) { return n * 2 }
    export function Old() { this.n = 1 }
    export function count() { return arguments.length }
    export function* each() { yield 1 }`
  const short = arrows(code)
  assert.match(short, /^export const double = \(n\) => /m)
  assert.deepEqual(short.match(/function\*? \w+/g), ["function Old", "function count", "function* each"])
  const made = (await import(`data:text/javascript,${encodeURIComponent(short)}`)) as Record<string, unknown>
  assert.equal(made["begun"], "4!")
  assert.deepEqual(await (made["default"] as (given: object, one: number) => unknown)({}, 3), ["b", 3])
  assert.equal((made["count"] as (...given: number[]) => number)(1, 2), 2)
})
