// "Use my tab": asked in the chat, the agent tells which button to press and waits in the store, through kills of the gateway and of
// the node; the person presses it in their own browser, on the gateway's machine or another, and the agent goes on in that tab.
import assert from "node:assert/strict"
import { once } from "node:events"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { after, before, test } from "node:test"
import { type Running, startProgram } from "../../cli/testing/run-program.ts"
import { text, toolCall } from "../support/model-server/index.ts"
import { type PersonBrowser, startPersonBrowser } from "../support/person-browser.ts"
import { lastPrompt, lastWords } from "../support/prompts.ts"
import { temporaryFolder } from "../support/temporary.ts"
import { type World, createWorld, fileContext, until } from "../support/world.ts"

const shared = fileContext()
const program = join(import.meta.dirname, "..", "..", "dist", "svc.cjs")
const nodeFolder = temporaryFolder()
const prompts: string[] = []
const site = createServer((_request, response) => {
  response.setHeader("content-type", "text/html")
  response.end("<!doctype html><title>Orders</title><h1>Three parcels are on their way</h1>")
})
let person: PersonBrowser
let world: World
let page: string

before(async () => {
  site.listen(0, "127.0.0.1")
  person = await startPersonBrowser()
  world = await createWorld(shared, { config: { browser: { enabled: true } } })
  world.model.script((request) => {
    const prompt = lastPrompt(request)
    const step = world.model.requests.filter((each) => lastPrompt(each) === prompt).length
    if (step === 1) prompts.push(prompt)
    const asked = /use my tab(?: on (\w+))?$/.exec(prompt)
    if (asked) {
      const where = asked[1] === undefined ? {} : { target: "node", node: asked[1] }
      return step === 1 ? toolCall("browser", { action: "attach", ...where }) : text(`Told: ${lastWords(request)}`)
    }
    if (!prompt.includes("has attached the tab")) return text("ok")
    const node = /node (\w+) and its targetId/.exec(prompt)?.[1]
    const where = node === undefined ? {} : { node }
    if (step === 1) return toolCall("browser", { action: "snapshot", profile: "relay", ...where })
    return text(lastWords(request).includes("Three parcels") ? "Three parcels are coming." : "I cannot see them.")
  })
  await world.start()
  page = await person.open(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`)
})

after(async () => {
  await person.stop()
  site.close()
  site.closeAllConnections()
})

const told = () => prompts.filter((prompt) => prompt.includes("has attached the tab"))

async function pair(node?: string): Promise<void> {
  const response = await fetch(`${world.gateway.controlUrl}/extension/pair`, {
    method: "POST",
    headers: { authorization: `Bearer ${world.gateway.token}`, "content-type": "application/json" },
    body: JSON.stringify(node === undefined ? {} : { node }),
  })
  await person.pair(((await response.json()) as { code: string }).code)
}

test("a tab that is asked for in the chat is waited for, through a kill, and used when it is there", async () => {
  world.say("use my tab")
  await world.reply(/No browser extension has been paired with this gateway/)
  await pair()
  const again = world.say("please use my tab")
  await world.reply(/press the button/, { after: again })
  await world.gateway.kill("SIGKILL")
  await world.start()
  await person.press(page)
  await person.waitForBadge(page, "ON")
  await world.reply("Three parcels are coming.", { after: again })
  assert.equal(told().length, 1)
  assert.match(told()[0] ?? "", /<untrusted-content[^]*Orders/)
  // Let go again.
  await person.press(page)
  await person.waitForBadge(page, "")
})

function runNode(): Running {
  const noSandbox = process.getuid?.() === 0
  mkdirSync(nodeFolder, { recursive: true })
  const config = { browser: { headless: true, noSandbox } }
  writeFileSync(join(nodeFolder, "svc.json"), JSON.stringify(config), { mode: 0o600 })
  const words = ["node", "run", "--gateway", `127.0.0.1:${world.port}`, "--name", "studio", "--state-dir", nodeFolder]
  // Of this machine's own, whose ports it must not share with the gateway.
  const environment = { SVC_GATEWAY_PORT: String(world.port + 10) }
  const node = startProgram(words, { program, environment })
  shared.after(async () => {
    node.child.kill("SIGKILL")
    await node.ended
  })
  return node
}

test("the same on a node: both machines are killed while it waits", async () => {
  const node = runNode()
  const asks = await node.printed("waiting to be let in", "stderr")
  await world.gateway.call("POST", "/api/nodes/approve", { node: /approve (\S{4}-\S{4})/.exec(asks)?.[1] })
  await node.printed("connected to", "stderr")
  const first = world.say("use my tab on studio")
  await world.reply(/No browser extension has been paired with the node studio/, {
    after: first,
  })
  await pair("studio")
  const asked = world.say("now use my tab on studio")
  await world.reply(/press the button/, { after: asked })
  await Promise.all([world.gateway.kill("SIGKILL"), kill(node)])
  await world.start()
  await runNode().printed("connected to", "stderr")
  await person.press(page)
  await person.waitForBadge(page, "ON")
  await world.reply("Three parcels are coming.", { after: asked })
  assert.equal(told().length, 2)
  assert.match(told()[1] ?? "", /<untrusted-content[^]*Orders[^]*on the node studio/)
  assert.equal(waiting(), 0)
})

test("when nobody presses it in time, the wait on a node ends with words", async () => {
  await person.press(page)
  await person.waitForBadge(page, "")
  const asked = world.say("once more use my tab on studio")
  await world.reply(/press the button/, { after: asked })
  assert.equal(waiting(), 1)
  await world.gateway.kill("SIGKILL")
  world.change("update job set run_at = 1 where kind = 'tab-wait' and state = 'ready'")
  await world.start()
  await until("the time is over", () => prompts.some((prompt) => prompt.includes("[tab: expired]")) || undefined)
})

const waiting = () => world.rows("select 1 from job where kind = 'tab-wait' and state = 'ready'").length

async function kill(node: Running): Promise<void> {
  const pid = node.child.pid ?? 0
  const workers = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean)
  const gone = once(node.child, "exit")
  for (const each of [pid, ...workers.map(Number)]) process.kill(each, "SIGKILL")
  await gone
}
