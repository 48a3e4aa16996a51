// "Use my tab": asked in the chat, the agent tells which button to press and waits in the store, through a kill of the gateway;
// the person presses it in their own browser, and the agent goes on in that tab.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { test } from "node:test"
import { text, toolCall } from "../support/model-server/index.ts"
import { startPersonBrowser } from "../support/person-browser.ts"
import { lastPrompt, lastWords } from "../support/prompts.ts"
import { createWorld } from "../support/world.ts"

test("a tab that is asked for in the chat is waited for, through a kill, and used when it is there", async (context) => {
  const site = createServer((_request, response) => {
    response.setHeader("content-type", "text/html")
    response.end("<!doctype html><title>Orders</title><h1>Three parcels are on their way</h1>")
  }).listen(0, "127.0.0.1")
  const person = await startPersonBrowser()
  context.after(() => Promise.all([person.stop(), site.close(), site.closeAllConnections()]))
  const world = await createWorld(context, { config: { browser: { enabled: true } } })
  const prompts: string[] = []
  world.model.script((request) => {
    const prompt = lastPrompt(request)
    const step = world.model.requests.filter((each) => lastPrompt(each) === prompt).length
    if (step === 1) prompts.push(prompt)
    if (prompt.endsWith("use my tab")) {
      return step === 1 ? toolCall("browser", { action: "attach" }) : text(`Told: ${lastWords(request)}`)
    }
    if (!prompt.includes("has attached the tab")) return text("ok")
    if (step === 1) return toolCall("browser", { action: "snapshot", profile: "relay" })
    return text(lastWords(request).includes("Three parcels") ? "Three parcels are coming." : "I cannot see them.")
  })
  await world.start()
  const control = async (path: string) => {
    const token = readFileSync(join(world.stateFolder, "gateway-token"), "utf8").trim()
    const response = await fetch(`http://127.0.0.1:${world.port + 2}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: "{}",
    })
    return (await response.json()) as { code: string }
  }
  world.say("use my tab")
  await world.reply(/No browser extension has been paired/)
  await person.pair((await control("/extension/pair")).code)
  const page = await person.open(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`)
  const again = world.say("please use my tab")
  await world.reply(/press the button/, { after: again })
  await world.gateway.kill("SIGKILL")
  await world.start()
  await person.press(page)
  await person.waitForBadge(page, "ON")
  await world.reply("Three parcels are coming.", { after: again })
  const told = prompts.filter((prompt) => prompt.includes("has attached the tab"))
  assert.equal(told.length, 1)
  assert.match(told[0] ?? "", /<untrusted-content[^]*Orders/)
})
