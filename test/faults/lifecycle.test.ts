// Starting, stopping and changing a gateway: one owner per state folder, ports that are taken, configurations that are
// broken before the start or while it runs, signals in the middle of work.
import assert from "node:assert/strict"
import { once } from "node:events"
import { readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { type TestContext, test } from "node:test"
import type { GatewayStatus } from "../../src/gateway/contract.ts"
import { freePort, spawnGateway } from "../support/gateway.ts"
import { text } from "../support/model-server/index.ts"
import { lastPrompt } from "../support/prompts.ts"
import { temporaryFolder } from "../support/temporary.ts"
import { type World, createWorld, hookToken, until, writeRawConfig } from "../support/world.ts"

/** A model that holds back its first answer until it is let go. */
function holdFirst(world: World) {
  const { promise, resolve } = Promise.withResolvers<void>()
  world.model.script(async (request) => {
    if (!lastPrompt(request).endsWith("slow")) return text("fine")
    if (world.model.requests.filter((each) => lastPrompt(each).endsWith("slow")).length === 1) await promise
    return text("slowly done")
  })
  return { letGo: resolve, asked: () => world.model.waitForRequest((request) => lastPrompt(request).endsWith("slow")) }
}

async function occupy(context: TestContext, port: number): Promise<void> {
  const server = createServer().listen(port, "127.0.0.1")
  await once(server, "listening")
  context.after(() => void server.close())
}

test("SIGTERM in the middle of a turn ends cleanly, and the turn goes on after the restart", async (context) => {
  const world = await createWorld(context)
  const hold = holdFirst(world)
  await world.start()
  world.say("slow")
  await hold.asked()
  const started = performance.now()
  assert.equal(await world.gateway.kill("SIGTERM"), 0)
  assert.ok(performance.now() - started < 15_000, "ten seconds, and what a busy machine adds")
  hold.letGo()
  await world.start()
  await world.reply("slowly done")
  await world.settle()
  assert.equal(world.botTexts().filter((words) => words === "slowly done").length, 1)
  const [run] = world.rows<{ state: string; attempts: number }>(
    "select state, attempts from job where payload like '%slow%'",
  )
  assert.equal(run?.state, "done")
})

test("SIGTERM ends a gateway whose disk takes nothing, and what it was sent is answered once", async (context) => {
  const world = await createWorld(context)
  world.model.script((request) => text(`echo ${lastPrompt(request).split("\n").at(-1)}`))
  const failing = join(temporaryFolder(), "failing")
  await world.start({ environment: { SVC_FAILING_DISK: failing } })
  writeFileSync(failing, "")
  world.say("hello")
  await until("the disk is known to fail", () =>
    world.gateway.log().includes("store cannot be forced to the disk") ? true : undefined,
  )
  assert.equal(await world.gateway.kill("SIGTERM"), 0)
  rmSync(failing)
  await world.start()
  await world.reply("echo hello")
  await world.settle()
  assert.equal(world.botTexts().filter((words) => words === "echo hello").length, 1)
})

test("a turn that ends within the grace is finished and sent before the gateway is gone", async (context) => {
  const world = await createWorld(context)
  const hold = holdFirst(world)
  await world.start()
  world.say("slow")
  await hold.asked()
  const ended = world.gateway.kill("SIGTERM")
  const refused = await until("webhooks are refused", async () => {
    const answer = await world.hook("wake", { text: "late" }).catch(() => undefined)
    return answer?.status === 503 ? answer : undefined
  })
  assert.match(refused.headers.get("retry-after") ?? "", /^\d+$/)
  // Whoever sends them by that sends them elsewhere.
  assert.equal((await fetch(`${world.gateway.url}/readyz`)).status, 503)
  hold.letGo()
  await world.reply("slowly done")
  assert.equal(await ended, 0)
})

test("a second signal ends the gateway at once; one that comes with the first does not", async (context) => {
  const world = await createWorld(context)
  const hold = holdFirst(world)
  await world.start()
  world.say("slow")
  await hold.asked()
  const ended = world.gateway.kill("SIGTERM")
  world.gateway.process.kill("SIGHUP")
  await until("the stop has begun", () => (world.gateway.log().includes("gateway stopping") ? true : undefined))
  assert.ok(!world.gateway.log().includes("second signal"))
  await until("a signal is the second one", () => {
    world.gateway.process.kill("SIGTERM")
    return world.gateway.process.exitCode === null ? undefined : true
  })
  // A clean end, after the running turn has had its time, would be 0.
  assert.equal(await ended, 1)
  hold.letGo()
})

test("a signal in the middle of a restart ends the gateway, as cleanly as ever", async (context) => {
  const world = await createWorld(context)
  const hold = holdFirst(world)
  await world.start()
  world.say("slow")
  await hold.asked()
  world.configure({ env: { vars: { SOMETHING: "else" } } })
  await until("the restart has begun", () => (world.gateway.log().includes("gateway stopping") ? true : undefined))
  const ended = world.gateway.kill("SIGTERM")
  hold.letGo()
  assert.equal(await ended, 0)
})

test("browser control that is switched on and cannot listen is told of as failed", async (context) => {
  const world = await createWorld(context)
  await world.start()
  await occupy(context, world.port + 2)
  world.configure({ browser: { enabled: true } })
  const status = () => world.gateway.call<GatewayStatus>("GET", "/api/status")
  const failed = await until("the browser has failed", async () => {
    const { parts, problems } = await status()
    return parts["browser"] === "failed" ? problems : undefined
  })
  const said = failed.find(({ part }) => part === "browser")?.problem
  assert.match(said ?? "", new RegExp(`Port ${world.port + 2} is in use`))
  world.configure({ browser: { enabled: false } })
  await until("it is off", async () => ((await status()).parts["browser"] === "off" ? true : undefined))
})

test("the console shows what logging.consoleLevel says, also once that has changed", async (context) => {
  const world = await createWorld(context, { config: { logging: { consoleLevel: "error" } } })
  await world.start()
  assert.match(world.gateway.log(), /gateway ready/)
  assert.doesNotMatch(world.gateway.output(), /gateway ready/)
  await world.reconfigure({ logging: { consoleLevel: "info" } })
  assert.equal(await world.gateway.kill("SIGTERM"), 0)
  assert.match(world.gateway.output(), /gateway stopping/)
})

test("a second gateway on the same state folder is refused and names the first; the lock ends with its owner", async (context) => {
  const world = await createWorld(context)
  await world.start()
  const second = await spawnGateway(context, { stateFolder: world.stateFolder })
  assert.notEqual(await second.ended, 0)
  assert.match(second.output(), new RegExp(`already runs.*process ${world.gateway.process.pid}\\b`))
  await world.gateway.kill("SIGKILL")
  await world.start()
  const ready = async () => (await fetch(`${world.gateway.url}/readyz`)).status === 200 || undefined
  await world.until("the bot is identified", ready, 10_000)
})

test("SIGUSR1 opens no inspector", async (context) => {
  const world = await createWorld(context)
  await world.start()
  const { process: gateway } = world.gateway
  gateway.kill("SIGUSR1")
  // Node.js says on standard error where its inspector listens; by the answer the signal has been dealt with.
  for (let count = 0; count < 3; count += 1) {
    assert.equal((await fetch(`${world.gateway.url}/healthz`)).status, 200)
    await new Promise((resolve) => setImmediate(resolve))
  }
  assert.equal(await world.gateway.kill("SIGTERM"), 0)
  assert.ok(!/Debugger listening|ebugger/.test(world.gateway.output()), world.gateway.output())
})

for (const { name, offset, key } of [
  { name: "the gateway's port", offset: 0, key: /gateway\.port/ },
  { name: "the browser control port", offset: 2, key: /gateway\.port/ },
]) {
  test(`a start with ${name} in use ends, naming port and key`, async (context) => {
    const port = await freePort()
    await occupy(context, port + offset)
    const gateway = await spawnGateway(context, { port, config: {} })
    assert.notEqual(await gateway.ended, 0)
    assert.match(gateway.output(), new RegExp(`\\b${port + offset}\\b`))
    assert.match(gateway.output(), key)
  })
}

test("a start with a broken configuration is refused, naming key and line", async (context) => {
  const stateFolder = temporaryFolder()
  writeRawConfig(stateFolder, '{\n  "gateway": {\n    "port": "many"\n  },\n  "hoks": {}\n}\n')
  const gateway = await spawnGateway(context, { stateFolder })
  assert.notEqual(await gateway.ended, 0)
  assert.match(gateway.output(), /gateway\.port/)
  assert.match(gateway.output(), /line 3|:3\b/)
  assert.match(gateway.output(), /hoks/)
})

const problem = (world: World) =>
  world.gateway.call<{ configProblem?: string }>("GET", "/api/status").then((answer) => answer.configProblem)

async function checkHook(world: World, token: string, expected: number): Promise<void> {
  const answer = await world.hook("wake", { text: "x", mode: "next-heartbeat" }, { authorization: `Bearer ${token}` })
  assert.equal(answer.status, expected)
}

test("a configuration that breaks while the gateway runs keeps the last good one, and is taken when mended", async (context) => {
  const world = await createWorld(context)
  await world.start()
  const path = join(world.stateFolder, "svc.json")
  const good = readFileSync(path, "utf8")
  const newToken = "another-hook-token-0123456789abc"
  for (const bad of [good.slice(0, good.length / 2), "", '{"hooks": {"enabled": "maybe"}}']) {
    writeRawConfig(world.stateFolder, bad)
    await until("the problem is told", () => problem(world))
    await checkHook(world, hookToken, 200)
  }
  truncateSync(path, 0)
  await checkHook(world, hookToken, 200)
  world.configure({ hooks: { token: newToken } })
  await until("the mended configuration is in force", async () =>
    (await problem(world)) === undefined ? true : undefined,
  )
  // A rotated token: the old one is refused at once, without a restart.
  await until("the new token is in force", async () => {
    const answer = await world.hook(
      "wake",
      { text: "x", mode: "next-heartbeat" },
      { authorization: `Bearer ${newToken}` },
    )
    return answer.status === 200 ? true : undefined
  })
  await checkHook(world, hookToken, 401)
})

test("a changed gateway port takes effect in the same process, and nothing is lost on the way", async (context) => {
  const port = await freePort()
  const world = await createWorld(context, { config: { gateway: { port } } })
  const hold = holdFirst(world)
  await world.start({ environment: { SVC_GATEWAY_PORT: "" } })
  const { pid } = world.gateway.process
  world.say("slow")
  await hold.asked()
  const next = await freePort()
  world.configure({ gateway: { port: next } })
  await until("it stops", () => world.gateway.log().includes("gateway stopping") || undefined)
  // What changes meanwhile is for the next run; nothing of the one that ends begins anew.
  const at = new Date(Date.now() + 3_000).toISOString()
  await world.reconfigure({ cron: { jobs: [{ id: "soon", at, text: "is it time?", session: "main" }] } })
  hold.letGo()
  await world.reply("slowly done")
  const file = await until("the gateway is at the new port", async () => {
    const ready = await fetch(`http://127.0.0.1:${next}/readyz`).catch(() => undefined)
    return ready?.ok
      ? (JSON.parse(readFileSync(join(world.stateFolder, "gateway.json"), "utf8")) as { pid: number; port: number })
      : undefined
  })
  assert.deepEqual([file.pid, file.port], [pid, next])
  await assert.rejects(fetch(`http://127.0.0.1:${port}/healthz`))
  world.say("still there?")
  await world.reply("fine")
  await until(
    "the schedule has run",
    () => world.rows("select 1 from job where state = 'done' and payload like '%is it time%'")[0],
  )
  assert.doesNotMatch(world.gateway.log(), /background work failed/)
})

const problemsOf = async (world: World) => {
  const { problems } = await world.gateway.call<GatewayStatus>("GET", "/api/status")
  return problems.filter(({ part }) => part === "config").map((found) => `${found.problem}. ${found.next}`)
}

test("a change with which the gateway could not come back leaves it running, and is told until it is taken back", async (context) => {
  const taken = await freePort()
  const world = await createWorld(context, { config: { browser: { enabled: true } } })
  world.model.script(() => text("yes"))
  const { port } = world
  world.configure({ gateway: { port } })
  await world.start({ environment: { SVC_GATEWAY_PORT: "" } })
  const { pid } = world.gateway.process
  await occupy(context, taken)
  const changes: [object, RegExp][] = [
    [{ port: taken }, new RegExp(`Port ${taken} is in use.*gateway\\.port`)],
    [{ port: taken - 2 }, new RegExp(`Port ${taken} is in use.*browser control`)],
    [{ port, bind: "192.0.2.1" }, /Cannot listen on 192\.0\.2\.1.*gateway\.bind/],
    [{ port, auth: { token: "short-012345678901" }, bind: "lan" }, /gateway token is short/],
  ]
  for (const [gateway, expected] of changes) {
    world.configure({ gateway: { bind: "loopback", auth: undefined, ...gateway } })
    await until(`${JSON.stringify(gateway)} is refused`, async () =>
      expected.test((await problemsOf(world)).join()) ? true : undefined,
    )
    assert.equal((await fetch(`${world.gateway.url}/readyz`)).status, 200)
  }
  world.say("still there?")
  await world.reply("yes")
  // What needs no restart has been taken up beside it.
  world.configure({
    gateway: { port: taken, bind: "loopback", auth: undefined },
    hooks: { token: "another-hook-token-0123456789abc" },
  })
  await until("the new hook token is in force", async () => {
    const headers = { authorization: "Bearer another-hook-token-0123456789abc" }
    const { status } = await world.hook("wake", { text: "x", mode: "next-heartbeat" }, headers)
    return status === 200 || undefined
  })
  world.configure({ gateway: { port } })
  await until("nothing is told any more", async () => (await problemsOf(world)).length === 0 || undefined)
  assert.equal(world.gateway.process.pid, pid)
  assert.doesNotMatch(world.gateway.log(), /gateway stopping/)
  const next = await freePort()
  world.configure({ gateway: { port: next } })
  await until(
    "it is at a port that is free",
    async () => (await fetch(`http://127.0.0.1:${next}/readyz`).catch(() => undefined))?.ok || undefined,
  )
})
