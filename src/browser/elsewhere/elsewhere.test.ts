// The tool at a node's browser: what holds for words of others at home holds there, although the words travel. Two services of
// their own; between them every call is what goes over the wire, as JSON.
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { after, before, test } from "node:test"
import type { ToolContext } from "../../agent/tool.ts"
import { errorTable, siteOf } from "../../kernel/index.ts"
import { type BrowserBench, startBrowserBench } from "../../../test/support/browser-service.ts"
import { startSandboxBench, textOf } from "../../../test/support/sandbox.ts"
import { memorySites, toolContext } from "../../../test/support/tool-context.ts"
import type { NodeCall, NodeLinks } from "./links.ts"

/** What was asked of the other site, which is the same server by another name. */
const elsewhere: string[] = []
const server = createServer((request, response) => {
  const { host = "", cookie = "stranger" } = request.headers
  if (host.startsWith("localhost")) elsewhere.push(request.url ?? "")
  if (request.url?.startsWith("/away")) {
    const location = `http://localhost:${(server.address() as AddressInfo).port}/arrived`
    return void response.writeHead(302, { location }).end()
  }
  response.setHeader("content-type", "text/html")
  response.setHeader("set-cookie", "visited=yes; path=/")
  response.end(`<p>hello ${cookie}</p><a href="/away?by=link">away</a>`)
})
const boxes = startSandboxBench({ mode: "off", browser: { allowHostControl: true } })
const calls: NodeCall[] = []
let home: BrowserBench
let node: BrowserBench
let site: string

const links: NodeLinks = {
  settings: () => ({ mode: "auto" }),
  browsers: () => [{ id: "n1", name: "studio", profiles: ["managed", "relay"], defaultProfile: "managed" }],
  named: () => ({ id: "n1", name: "studio", isConnected: true }),
  async call(_id, call, { signal }) {
    calls.push(call)
    const done = await node.service.perform(JSON.parse(JSON.stringify(call)), [], signal)
    return { status: done.status, body: JSON.parse(JSON.stringify(done.body)), files: [] }
  },
  transfers: () => [],
}

before(async () => {
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const open = { defaultProfile: "managed" }
  // Strangers reach what the node's owner has allowed, and nothing else of this machine.
  const navigation = { policy: "open" as const, allow: [new URL(site).host], deny: [] }
  node = await startBrowserBench({ ...open, navigation }, { listens: false, offered: () => ({ enabled: true }) })
  home = await startBrowserBench(open, { nodes: links, sandbox: boxes.links })
})

after(async () => {
  await Promise.all([home.stop(), node.stop(), boxes.sandbox.stop()])
  server.closeAllConnections()
  server.close()
})

async function use(input: object, more: Partial<ToolContext> = {}) {
  const { tool } = home.service
  return await tool.run(tool.input.parse({ node: "studio", ...input }), toolContext(more))
}

const asStranger = { sessionKey: "hook:one", trusted: false, origin: "webhook" } as const

test("who acts on words of others has tabs and cookies of its own on a node too, and stays out of the owner's", async () => {
  const own = JSON.parse(textOf(await use({ action: "open", url: `${site}/own` }))) as { targetId: string }
  await use({ action: "navigate", url: `${site}/again` })
  assert.match(textOf(await use({ action: "snapshot", mode: "full" })), /hello visited=yes/)
  const guest = JSON.parse(textOf(await use({ action: "open", url: `${site}/guest` }, asStranger)))
  assert.match(textOf(await use({ action: "snapshot", mode: "full" }, asStranger)), /hello stranger/)
  const { tabs } = JSON.parse(textOf(await use({ action: "tabs" }, asStranger)))
  assert.deepEqual(
    tabs.map(({ targetId }: { targetId: string }) => targetId),
    [guest.targetId],
  )
  for (const action of ["snapshot", "screenshot", "focus", "close"]) {
    const { isError, note = "" } = await use({ action, targetId: own.targetId }, asStranger)
    // No word of the other machine's.
    const known = `This was the browser of the node studio.\ntab-not-found: ${errorTable["tab-not-found"].meaning}`
    assert.deepEqual([isError, note], [true, known], action)
  }
  const code = { action: "act", request: { kind: "evaluate", fn: "() => document.cookie" } }
  await assert.rejects(use(code, asStranger), { code: "forbidden" })
  boxes.configure({ mode: "off" })
  await assert.rejects(use({ action: "tabs" }, asStranger), { code: "forbidden" })
  boxes.configure({ mode: "off", browser: { allowHostControl: true } })
})

test("what is asked about names the element and the page of a node's browser too", async () => {
  const { targetId } = JSON.parse(textOf(await use({ action: "open", url: `${site}/own` }))) as { targetId: string }
  const ref = /link "away" \[ref=(\w+)\]/.exec(textOf(await use({ action: "snapshot", targetId, mode: "full" })))?.[1]
  const { tool } = home.service
  const input = tool.input.parse({ node: "studio", action: "act", request: { kind: "click", ref, targetId } })
  const deed = await tool.describe?.(input, toolContext())
  assert.match(deed?.summary ?? "", /click the link "away" on a page of 127\.0\.0\.1/)
  assert.match(JSON.stringify(deed?.action), /"page":"http:\/\/127\.0\.0\.1:\d+\/own"/)
})

test("an address that such a turn has made itself stays on named sites on a node too", async () => {
  const tainted = { tainted: true, sites: memorySites([siteOf(site) ?? ""]) }
  const before = calls.length
  const { isError, note = "" } = await use({ action: "open", url: `${site}/away?by=${"words".repeat(5)}` }, tainted)
  assert.deepEqual([isError, /navigation-refused/.test(note)], [true, true], note)
  assert.deepEqual(elsewhere, [])
  const opens = calls.slice(before).filter(({ path }) => path === "/tabs/open")
  assert.deepEqual(opens[0]?.staysOn, { sites: [siteOf(site)], orNone: true })
  // The same for a turn that has read nothing of others.
  assert.notEqual((await use({ action: "open", url: `${site}/away?by=owner` })).isError, true)
  assert.deepEqual(
    elsewhere.filter((path) => path === "/arrived"),
    ["/arrived"],
  )
})
