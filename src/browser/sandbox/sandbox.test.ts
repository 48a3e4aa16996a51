// Browsers of sandboxed sessions: what a page in there cannot reach, where calls go, and how long a browser lasts.
import assert from "node:assert/strict"
import { randomUUID } from "node:crypto"
import { writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { after, before, test } from "node:test"
import type { ToolContext } from "../../agent/tool.ts"
import { isProcessAlive } from "../../kernel/process-alive.ts"
import { type BrowserBench, startBrowserBench } from "../../../test/support/browser-service.ts"
import { type PagesServer, startPagesServer } from "../../../test/support/pages-server.ts"
import { type SandboxBench, sandboxProblem, startSandboxBench, textOf } from "../../../test/support/sandbox.ts"
import { temporaryFolder } from "../../../test/support/temporary.ts"
import { toolContext } from "../../../test/support/tool-context.ts"

const skip = await sandboxProblem("browser")
let boxes: SandboxBench
let bench: BrowserBench
let pages: PagesServer

before(async () => {
  pages = await startPagesServer({ folder: join(import.meta.dirname, "../../../test/fixtures/pages") })
  boxes = startSandboxBench({ mode: "all", tools: "trusted", exec: { network: true } })
  const allow = [`127.0.0.1:${new URL(pages.url).port}`]
  bench = await startBrowserBench({ navigation: { policy: "open", allow, deny: [] } }, { sandbox: boxes.links })
  boxes.useProxy(bench.service.proxySocket)
})

after(async () => {
  await bench.stop()
  await boxes.sandbox.stop()
  await pages.stop()
})

const use = async (input: object, more: Partial<ToolContext> = {}) => {
  const { tool } = bench.service
  const context = toolContext(more)
  const value = tool.input.parse(input)
  const gated = await tool.gate?.(value, context)
  if (gated) throw new Error(`asks: ${gated.reason}`)
  return await tool.run(value, context)
}
const evaluate = async (fn: string, more: Partial<ToolContext> = {}) =>
  textOf(await use({ action: "act", request: { kind: "evaluate", fn } }, more))

test(
  "a sandboxed session browses what the strict policy lets it, with Chromium's own sandbox on",
  { skip },
  async () => {
    const opened = JSON.parse(textOf(await use({ action: "open", url: `${pages.url}/shop/` }))) as { title: string }
    assert.equal(opened.title, "Corner Shop")
    assert.match(textOf(await use({ action: "snapshot" })), /button "Add Green Tea to basket"/)
    const status = JSON.parse(textOf(await use({ action: "status" }))) as Record<string, unknown>
    assert.deepEqual([status["profile"], status["noSandbox"], status["cdpPort"]], ["sandbox", false, null])
    const [box] = boxes.sandbox.list()
    assert.deepEqual([box?.kind, box?.session], ["browser", "agent:main:main"])
  },
)

test("a page in it reaches no file, port, socket or service of the host, and no metadata", { skip }, async () => {
  const secret = `secret-${randomUUID()}`
  const file = join(temporaryFolder(), "gateway-token")
  writeFileSync(file, secret)
  let hits = 0
  const listener = createServer((_request, response) => {
    hits += 1
    response.setHeader("access-control-allow-origin", "*")
    response.end(secret)
  }).listen(0, "127.0.0.1")
  try {
    await new Promise((resolve) => listener.once("listening", resolve))
    const { port } = listener.address() as AddressInfo
    const control = bench.service.controlPort
    const addresses = [
      `http://127.0.0.1:${port}/`,
      `http://localhost:${port}/`,
      `http://[::1]:${port}/`,
      `http://[::ffff:127.0.0.1]:${port}/`,
      `http://0.0.0.0:${port}/`,
      `http://127.0.0.1:${control}/`,
      "http://169.254.169.254/latest/meta-data/",
      "http://metadata.google.internal/",
      "http://127.0.0.1:3128/",
    ]
    const reached = await evaluate(
      `async () => (await Promise.all(${JSON.stringify(addresses)}.map((url) => fetch(url).then((r) => r.text() + url, () => ""))))`,
    )
    assert.deepEqual(
      JSON.parse(reached).result,
      addresses.map(() => ""),
    )
    const socket = await evaluate(
      `() => new Promise((done) => { const s = new WebSocket("ws://127.0.0.1:${port}/"); s.onopen = () => done("in"); s.onerror = () => done("no") })`,
    )
    assert.equal(JSON.parse(socket).result, "no")
    for (const url of [...addresses, `file://${file}`, "file:///etc/passwd", "chrome://version"]) {
      await assert.rejects(use({ action: "open", url }), { code: "navigation-refused" })
    }
    const said = await boxes.use("exec", { command: `perl -MIO::Socket::INET -e '${viaProxy(port)}'`, network: true })
    assert.match(textOf(said), /^HTTP\/1\.1 403/)
    assert.equal(hits, 0)
  } finally {
    listener.close()
  }
})

/** From a command too the proxy is the only way, and it holds to the same policy. */
function viaProxy(port: number): string {
  const ask = `GET http://127.0.0.1:${port}/ HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\nConnection: close\\r\\n\\r\\n`
  return `for (1..50) { $s = IO::Socket::INET->new("127.0.0.1:3128") and last; select(undef, undef, undef, 0.1) } print $s "${ask}"; print <$s>`
}

test("each session has a browser of its own, kept from the host's, which ends with the session", { skip }, async () => {
  const mine = { sessionKey: "hook:one", trusted: false, origin: "webhook" } as const
  await use({ action: "open", url: `${pages.url}/shop/` }, mine)
  const tabs = JSON.parse(textOf(await use({ action: "tabs" }, mine))) as { tabs: { url: string }[] }
  assert.deepEqual(
    tabs.tabs.map(({ url }) => new URL(url).pathname).filter((path) => path !== "blank"),
    ["/shop/"],
  )
  for (const [input, code] of [
    [{ action: "tabs", target: "host" }, "forbidden"],
    [{ action: "tabs", profile: "relay" }, "forbidden"],
    [{ action: "tabs", profile: "managed" }, "bad-request"],
    [{ action: "tabs", target: "node" }, "bad-request"],
    [{ action: "tabs", target: "host", node: "laptop" }, "bad-request"],
  ] as const) {
    await assert.rejects(use(input, mine), { code })
  }
  boxes.configure({ mode: "untrusted", browser: { allowHostControl: true, max: 1 } })
  assert.equal(JSON.parse(textOf(await use({ action: "tabs", target: "host" }, mine))).running, false)
  assert.equal(
    JSON.parse(textOf(await use({ action: "tabs" }))).running,
    false,
    "an owner's session is not sandboxed now",
  )
  const box = boxes.sandbox.list().find(({ session }) => session === "hook:one")
  assert.ok(box)
  boxes.sessions.set("hook:one", "another")
  const again = JSON.parse(textOf(await use({ action: "tabs" }, mine))) as { running: boolean }
  assert.equal(again.running, false)
  await boxes.sandbox.ended(box.id)
  assert.ok(!isProcessAlive(box.pid))
  boxes.configure({ mode: "off" })
  await assert.rejects(use({ action: "tabs", target: "sandbox" }), { code: "sandbox-unavailable" })
})
