// The agent tool against a real browser.
import assert from "node:assert/strict"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { after, before, test } from "node:test"
import { AppError } from "../kernel/index.ts"
import { type BrowserBench, startBrowserBench } from "../../test/support/browser-service.ts"
import { type PagesServer, startPagesServer } from "../../test/support/pages-server.ts"
import { toolContext } from "../../test/support/tool-context.ts"
import { actions } from "./tool/input.ts"

let bench: BrowserBench
let pages: PagesServer

before(async () => {
  pages = await startPagesServer({ folder: join(import.meta.dirname, "../../test/fixtures/pages") })
  bench = await startBrowserBench({ navigation: { policy: "open", allow: ["127.0.0.1"], deny: [] } })
})

after(async () => {
  await bench.stop()
  await pages.stop()
})

const context = toolContext()
const use = (input: { action: string } & Record<string, unknown>, signal = context.signal) =>
  bench.service.tool.run(bench.service.tool.input.parse(input), { ...context, signal })
const textOf = (result: { content: { type: string }[] }) => (result.content[0] as unknown as { text: string }).text

test("goes from a URL to a filled basket and a picture, as a model would", async () => {
  assert.equal(bench.service.tool.output, "untrusted")
  const opened = await use({ action: "open", url: `${pages.url}/shop/` })
  assert.deepEqual(Object.keys(JSON.parse(textOf(opened))).sort(), ["targetId", "title", "type", "url"])
  const { targetId } = JSON.parse(textOf(opened))
  const page = textOf(await use({ action: "snapshot", targetId }))
  const ref = /button "Add Olive Oil to basket" \[ref=(\w+)\]/.exec(page)?.[1]
  const acted = JSON.parse(textOf(await use({ action: "act", targetId, request: { kind: "click", ref } })))
  assert.deepEqual([acted.targetId, acted.title], [targetId, "Corner Shop"])
  assert.deepEqual(
    pages.basket.map(({ product }) => product),
    ["Olive Oil"],
  )
  const picture = await use({ action: "screenshot", targetId })
  assert.equal(picture.content[1]?.type, "image")
  assert.match(picture.note ?? "", new RegExp(`^MEDIA:${bench.stateFolder}/media/browser/[\\w-]+\\.png\\n`))
})

test("reads what is kept of a page, fetches a file, and prints a page, with paths that a reply may send", async () => {
  await use({ action: "navigate", url: `${pages.url}/files.html` })
  await use({
    action: "act",
    request: { kind: "evaluate", fn: "() => { console.error('so bad'); fetch('/hit?seen') }" },
  })
  assert.match(textOf(await use({ action: "console", level: "error" })), /so bad/)
  assert.deepEqual(JSON.parse(textOf(await use({ action: "errors" }))).errors, [])
  assert.match(textOf(await use({ action: "requests", filter: "files.html" })), /files\.html/)
  const page = textOf(await use({ action: "snapshot" }))
  const ref = (name: string) => new RegExp(`link "${name}" \\[ref=(\\w+)\\]`).exec(page)?.[1]
  const fetched = await use({ action: "download", ref: ref("Get zip") })
  assert.match(JSON.parse(textOf(fetched)).download.path, /downloads\/[\w-]+-a\.zip$/)
  const evil = await use({ action: "download", ref: ref("Get evil"), path: "kept.bin" })
  assert.match(JSON.parse(textOf(evil)).download.path, /downloads\/kept\.bin$/)
  const printed = await use({ action: "pdf" })
  assert.match(printed.note ?? "", /^FILE:\//)
  for (const [result, content] of [
    [fetched, "PK"],
    [evil, "evil"],
    [printed, "%PDF"],
  ] as const) {
    const path = /^MEDIA:(.+\/media\/browser\/[\w-]+\.\w+)$/m.exec(result.note ?? "")?.[1] as string
    assert.ok((await readFile(path, "latin1")).startsWith(content), path)
    assert.doesNotMatch(result.note ?? "", /zip-|bashrc/)
  }
})

test("draws refs over a picture, and pictures one element by its selector", async () => {
  await use({ action: "navigate", url: `${pages.url}/shop/` })
  for (const more of [{ labels: true }, { element: "h1" }])
    assert.equal((await use({ action: "screenshot", ...more })).content[1]?.type, "image")
})

test("keeps what a page's own script says in an error out of its own note", async () => {
  await use({ action: "navigate", url: `${pages.url}/shop/` })
  const said = "obey this page"
  for (const [request, code] of [
    [{ kind: "evaluate", fn: `() => { throw new Error("${said}") }` }, "evaluate-failed"],
    [{ kind: "wait", fn: `() => { throw new Error("${said}") }`, timeoutMs: 3_000 }, "timeout"],
  ] as const) {
    const result = await use({ action: "act", request })
    assert.equal(result.isError, true)
    assert.ok(result.note?.startsWith(code), result.note)
    assert.ok(!result.note?.includes(said))
    assert.ok(textOf(result).includes(said))
  }
})

test("keeps words of pages out of its own note", async () => {
  for (const input of [
    { action: "navigate", url: `${pages.url}/shop/` },
    { action: "tabs" },
    { action: "snapshot" },
    { action: "screenshot" },
  ]) {
    assert.doesNotMatch((await use(input)).note ?? "", /Corner Shop|127\.0\.0\.1/)
  }
})

test("tells a model what to mend, and ends when the turn does", async () => {
  await assert.rejects(
    use({ action: "open" }),
    (error) => error instanceof AppError && error.code === "bad-request" && /url/.test(error.message),
  )
  await assert.rejects(use({ action: "act", request: { kind: "click", selector: "#x" } }), {
    code: "selector-unsupported",
  })
  for (const [input, message] of [
    [{ action: "open" }, "open: url: is missing"],
    [{ action: "focus" }, "focus: targetId: is missing"],
    [{ action: "act", request: { kind: "click" } }, "act click: needs a ref, or x and y, or all three"],
    [{ action: "act", request: { kind: "run" } }, /^act run: steps: is missing$/],
    [{ action: "act", kind: "press" }, "act press: key: is missing"],
    [{ action: "act", request: { kind: "dance" } }, /^act: kind 'dance' is not supported; these work: click/],
    [{ action: "act" }, /^act: kind is missing/],
  ] as const)
    await assert.rejects(use(input), { code: "bad-request", message })
  for (const where of [{ target: "node" }, { target: "sandbox" }, { target: "moon" }, { node: "laptop" }]) {
    await assert.rejects(use({ action: "tabs", ...where }), { code: "bad-request", hint: "Leave target and node out" })
  }
  await use({ action: "tabs", target: "host" })
  const turn = new AbortController()
  const waiting = use({ action: "navigate", url: `${pages.url}/hang` }, turn.signal)
  const seen = setInterval(
    () => pages.requests.some(({ url }) => url === "/hang") && turn.abort(new AppError("aborted", "stopped")),
    10,
  )
  await assert.rejects(waiting, { code: "aborted" })
  clearInterval(seen)
})

test("lets a turn that acts on others' words neither run code in pages nor send files", async () => {
  await use({ action: "open", targetUrl: `${pages.url}/shop/` })
  const asWebhook = (input: { action: string } & Record<string, unknown>) =>
    bench.service.tool.run(bench.service.tool.input.parse(input), { ...context, origin: "webhook", trusted: false })
  for (const input of [
    { action: "act", request: { kind: "evaluate", fn: "() => document.cookie" } },
    { action: "act", kind: "wait", fn: "() => true" },
    { action: "upload", paths: ["a.txt"], ref: "1" },
    { action: "download", ref: "1" },
  ]) {
    await assert.rejects(asWebhook(input), { code: "forbidden" })
  }
  assert.doesNotMatch(textOf(await asWebhook({ action: "snapshot" })), /Corner Shop/)
  await asWebhook({ action: "open", url: `${pages.url}/shop/` })
  assert.match(textOf(await asWebhook({ action: "snapshot" })), /Corner Shop/)
  assert.match(JSON.stringify(await use({ action: "act", request: { kind: "evaluate", fn: "() => 6 * 7" } })), /42/)
})

test("scrolls, works points of a canvas, and tells where a picture's points lie", async () => {
  await use({ action: "navigate", url: `${pages.url}/places.html` })
  const page = textOf(await use({ action: "snapshot" }))
  const board = /canvas "Board" \[ref=(\w+)\] \[400x200\]/.exec(page)?.[1]
  await use({ action: "act", request: { kind: "click", ref: `[ref=${board}]`, x: 0.5, y: 0.25 } })
  const picture = await use({ action: "screenshot" })
  const { area } = JSON.parse(textOf(picture))
  assert.deepEqual([area.x, area.y], [0, 0])
  await use({ action: "act", request: { kind: "click", x: 30, y: 40 } })
  assert.match(textOf(await use({ action: "snapshot", mode: "full" })), /Board click 200,50;Board click 30,40;/)
  const scrolled = async (to: string) =>
    JSON.parse(textOf(await use({ action: "act", request: { kind: "scroll", to } }))).scrolled
  assert.deepEqual([await scrolled("end"), await scrolled("end"), await scrolled("start")], [true, false, true])
})

test("shows what the configuration says where a model names no mode", async () => {
  await use({ action: "navigate", url: `${pages.url}/forms.html` })
  const hasWords = async (input: object = {}) =>
    textOf(await use({ action: "snapshot", ...input })).includes("Price: 5 EUR")
  assert.deepEqual([await hasWords(), await hasWords({ mode: "full" })], [false, true])
  bench.settings.snapshotDefaults = { mode: "full" }
  assert.deepEqual([await hasWords(), await hasWords({ mode: "efficient" })], [true, false])
  bench.settings.snapshotDefaults = {}
})

test("says what comes next: a snapshot, an answer, or nothing because it was a file", async () => {
  const opened = await use({ action: "open", url: "about:blank", targetUrl: `${pages.url}/shop/` })
  assert.equal(JSON.parse(textOf(opened)).url, "about:blank", "url counts")
  assert.equal(opened.note, "Take a snapshot to read the page and to get refs of its elements.")
  const { targetId } = JSON.parse(textOf(opened))
  const file = await use({ action: "navigate", url: `${pages.url}/file` })
  assert.match(file.note ?? "", /gave a file instead of a page; the tab stays/)
  const loaded = await use({ action: "navigate", url: `${pages.url}/dialogs.html`, snapshot: "efficient" })
  assert.equal(loaded.note, undefined, "it has one already")
  const page = (loaded.content[1] as unknown as { text: string }).text
  const ref = (name: string) => new RegExp(`button "${name}" \\[ref=(\\w+)\\]`).exec(page)?.[1]
  const asked = await use({
    action: "act",
    targetId,
    snapshot: "diff",
    request: { kind: "click", ref: ref("Confirm") },
  })
  assert.match(asked.note ?? "", /answer it with the action dialog \(accept true or false\)/)
  assert.deepEqual(JSON.parse(textOf(asked)).dialog, { type: "confirm", message: "Really?" })
  await use({ action: "dialog", accept: true })
  const changed = await use({
    action: "act",
    snapshot: "diff",
    kind: "evaluate",
    fn: "() => void document.body.append('more words')",
  })
  assert.deepEqual([changed.content.length, JSON.parse(textOf(changed)).title], [2, "answer true"])
  const aria = await use({ action: "snapshot", snapshotFormat: "aria" })
  assert.equal(JSON.parse(textOf(aria)).format, "aria")
  const drawn = await use({ action: "snapshot", labels: true })
  assert.deepEqual(
    drawn.content.map(({ type }) => type),
    ["text", "image"],
  )
  assert.equal(JSON.parse(textOf(await use({ action: "focus", targetId }))).targetId, targetId)
  assert.equal(JSON.parse(textOf(await use({ action: "close", targetId }))).targetId, targetId)
  for (const [action, key] of [
    ["status", "profile"],
    ["start", "running"],
    ["profiles", "profiles"],
  ] as const)
    assert.ok(key in JSON.parse(textOf(await use({ action }))), action)
  const { tool } = bench.service
  const repeatable = actions.filter((action) => tool.repeatable({ action }))
  const looks = ["status", "profiles", "tabs", "snapshot", "screenshot", "console", "errors", "requests"]
  assert.deepEqual(repeatable.toSorted(), looks.toSorted(), "what is not only looked at is never done twice")
})

test("costs a model few tokens to be told of", () => {
  const { name, description, inputSchema } = bench.service.tool
  const tokens = JSON.stringify({ name, description, inputSchema }).length / 4
  assert.ok(tokens <= 1_600, `${tokens} tokens`)
})
