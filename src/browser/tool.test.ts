// The agent tool against a real browser, and the commands against the control service.
import assert from "node:assert/strict"
import { join } from "node:path"
import { after, before, test } from "node:test"
import { Command } from "commander"
import type { ToolContext } from "../agent/tool.ts"
import { AppError } from "../kernel/index.ts"
import { type BrowserBench, startBrowserBench } from "../../test/support/browser-service.ts"
import { type PagesServer, startPagesServer } from "../../test/support/pages-server.ts"
import { registerBrowserCommands } from "./cli.ts"

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

const context: ToolContext = {
  agentId: "main",
  sessionKey: "agent:main:main",
  runId: "run-1",
  origin: "owner",
  trusted: true,
  route: null,
  signal: new AbortController().signal,
}
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
  await assert.rejects(use({ action: "tabs", target: "node" }), { code: "bad-request" })
  const turn = new AbortController()
  const waiting = use({ action: "navigate", url: `${pages.url}/hang` }, turn.signal)
  const seen = setInterval(
    () => pages.requests.some(({ url }) => url === "/hang") && turn.abort(new AppError("aborted", "stopped")),
    10,
  )
  await assert.rejects(waiting, { code: "aborted" })
  clearInterval(seen)
})

async function svc(...words: string[]): Promise<{ printed: string; json: unknown }> {
  let printed = ""
  let json: unknown
  const program = new Command().exitOverride()
  registerBrowserCommands(program, {
    async call(method, path, { query = {}, body }) {
      const parameters = new URLSearchParams()
      for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value))
      const reply = await bench.call(method, `${path}?${parameters}`, body)
      if (reply.status >= 400) throw new AppError(reply.body.error.code, reply.body.error.message)
      return reply.body
    },
    print: (text) => void (printed += `${text}\n`),
    printJson: (value) => void (json = value),
  })
  await program.parseAsync(["browser", ...words], { from: "user" })
  return { printed, json }
}

test("lets a turn that acts on others' words neither run code in pages nor send files", async () => {
  await use({ action: "open", targetUrl: `${pages.url}/shop/` })
  const asWebhook = (input: { action: string } & Record<string, unknown>) =>
    bench.service.tool.run(bench.service.tool.input.parse(input), { ...context, origin: "webhook", trusted: false })
  for (const input of [
    { action: "act", request: { kind: "evaluate", fn: "() => document.cookie" } },
    { action: "act", kind: "wait", fn: "() => true" },
    { action: "upload", paths: ["a.txt"], ref: "1" },
  ]) {
    await assert.rejects(asWebhook(input), { code: "forbidden" })
  }
  assert.doesNotMatch(textOf(await asWebhook({ action: "snapshot" })), /Corner Shop/)
  await asWebhook({ action: "open", url: `${pages.url}/shop/` })
  assert.match(textOf(await asWebhook({ action: "snapshot" })), /Corner Shop/)
  assert.match(JSON.stringify(await use({ action: "act", request: { kind: "evaluate", fn: "() => 6 * 7" } })), /42/)
})

test("does the same from the command line", async () => {
  const opened = await svc("open", `${pages.url}/shop/`)
  const id = /^id: (\w+)$/m.exec(opened.printed)?.[1] as string
  const { printed: page } = await svc("snapshot", "--target-id", id, "--interactive")
  const ref = /searchbox "Search" \[ref=(\w+)\]/.exec(page)?.[1] as string
  assert.equal((await svc("type", ref, "honey", "--submit", "--target-id", id)).printed, `typed into ref ${ref}\n`)
  assert.doesNotMatch((await svc("snapshot", "--target-id", id)).printed, /Rye Bread/)
  assert.equal((await svc("press", "Tab")).printed, "pressed Tab\n")
  assert.match((await svc("screenshot", "--full-page")).printed, /^MEDIA:\/.+\.png\n$/)
  assert.match((await svc("status")).printed, /^profile: managed\nenabled: true\nrunning: true\n/)
  const tabs = (await svc("tabs", "--json")).json as { tabs: { targetId: string }[] }
  const place = tabs.tabs.findIndex((tab) => tab.targetId === id) + 1
  assert.match((await svc("tab")).printed, /Corner Shop/)
  assert.equal((await svc("tab", "select", String(place))).printed, `selected tab ${place}\n`)
  assert.equal((await svc("close", id)).printed, "closed tab\n")
  await assert.rejects(svc("click", "1", "--browser-profile", "nobody"), { code: "profile-not-found" })
  assert.match((await svc("profiles")).printed, /^managed: running \(\d+ tabs\) \[default\]/)
})
