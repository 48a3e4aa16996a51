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
