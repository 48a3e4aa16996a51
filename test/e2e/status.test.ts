// What the status and `/readyz` say of parts that stopped working after a good start.
import assert from "node:assert/strict"
import { test } from "node:test"
import type { GatewayStatus, Readiness } from "../../src/gateway/contract.ts"
import { createWorld } from "../support/world.ts"

test("a part is asked how it is: the bot is ready when identified, a refused token and a dead model are seen, failures can be dismissed", async (context) => {
  const world = await createWorld(context)
  const gone = await world.addPerson({ firstName: "Gus" })
  await world.start()
  const ready = () => world.gateway.call<Readiness>("GET", "/readyz").catch((error: unknown) => error as Readiness)
  const status = () => world.gateway.call<GatewayStatus>("GET", "/api/status")
  await world.until("the bot is identified", async () => ((await ready()).ok ? true : undefined), 10_000)

  world.emulator.control.block({ userId: gone.id })
  const send = { channel: "chatapp", target: String(gone.id), message: "hi", waitSeconds: 10 }
  await world.gateway.call("POST", "/api/message/send", send)
  const failed = await status()
  assert.equal(failed.outbox.dead, 1)
  const asked = world.say("/status")
  const told = await world.reply("Gateway", { after: asked })
  assert.match(
    told.text ?? "",
    /Problems\s+• outbox: 1 messages will never arrive\. Next: svc outbox list --state dead/,
  )
  assert.ok(failed.problems.some(({ part, next }) => part === "outbox" && next?.includes("--state dead")))
  await world.gateway.call("POST", "/api/status/dismiss", {})
  const dismissed = await status()
  assert.deepEqual([dismissed.outbox.dead, dismissed.problems], [0, []])

  await world.model.stop()
  const dead = await world.until(
    "the dead model is seen",
    async () => {
      const { parts, problems } = await status()
      return parts["agent"] === "failed" ? problems.find(({ part }) => part === "agent") : undefined
    },
    15_000,
  )
  assert.match(dead.problem, /nothing answers at the address of test\//)
  assert.match(dead.next ?? "", /svc models test/)
  const again = world.say("/status")
  assert.match(
    (await world.reply("Gateway", { after: again })).text ?? "",
    /• agent: nothing answers.*Next: .*svc models test/,
  )
  // What comes in is kept while the model is away: whoever sends it is to go on.
  const { ok, parts } = await ready()
  assert.deepEqual([ok, parts["agent"]], [true, "failed"])

  world.emulator.control.revokeToken()
  const refused = await world.until(
    "the refused token is seen",
    async () => {
      const { parts, problems } = await status()
      return parts["chatapp"] === "failed" ? problems.find(({ part }) => part === "chatapp") : undefined
    },
    15_000,
  )
  assert.match(refused.problem, /has stopped: .*Unauthorized/)
  assert.equal((await fetch(`${world.gateway.url}/readyz`)).status, 503)
})

test("a browser that cannot start, a dead model and a malformed token that a change brings are seen, and gone when corrected", async (context) => {
  const world = await createWorld(context)
  await world.start()
  const problemOf = (part: string) => async () => {
    const { problems } = await world.gateway.call<GatewayStatus>("GET", "/api/status")
    return problems.find((each) => each.part === part)
  }
  const seen = (part: string) => world.until(`a problem of ${part} is seen`, problemOf(part), 15_000)
  const gone = (part: string) =>
    world.until(`nothing is wrong with ${part}`, async () => ((await problemOf(part)()) ? undefined : true), 15_000)
  await world.reconfigure({
    browser: { enabled: true, defaultProfile: "managed", executablePath: "/nowhere/chromium" },
  })
  const browser = await seen("browser")
  assert.match(browser.problem, /\/nowhere\/chromium/)
  assert.notEqual(browser.next ?? "", "")
  const guest = await world.addPerson({ firstName: "Gina" })
  await world.reconfigure({ channels: { chatapp: { dmPolicy: "open", allowFrom: [world.ada.id, "*"] } } })
  await world.reconfigure({ commands: { useAccessGroups: false } })
  const asked = world.say("/status", guest)
  const told = (await world.reply("Gateway", { after: asked, person: guest })).text ?? ""
  assert.match(told, /Problems with: browser$/)
  await world.reconfigure({ browser: { executablePath: process.execPath } })
  await gone("browser")

  const { botToken } = (world.config["channels"] as { chatapp: { botToken: string } }).chatapp
  await world.reconfigure({ channels: { chatapp: { botToken: "no-token" } } })
  const token = await seen("chatapp")
  assert.match(token.problem, /does not have the form <digits>:<secret>/)
  assert.match(token.next ?? "", /Correct the bot token/)
  await world.reconfigure({ channels: { chatapp: { botToken } } })
  await gone("chatapp")

  // What is not to run is neither ready nor wrong.
  await world.reconfigure({ channels: { chatapp: { enabled: false } } })
  await world.until("the chat is off", async () => {
    const { parts } = await world.gateway.call<GatewayStatus>("GET", "/api/status")
    return parts["chatapp"] === "off" || undefined
  })
  assert.equal((await fetch(`${world.gateway.url}/readyz`)).status, 200)
})
