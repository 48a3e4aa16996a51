// The shipped program against a running gateway: what each command prints, its exit codes, JSON that parses, and no
// secret in any of it.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { existsSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { before, test } from "node:test"
import { type RunResult, runProgram } from "../../cli/testing/run-program.ts"
import { text } from "../support/model-server/index.ts"
import { temporaryFolder } from "../support/temporary.ts"
import { type World, createWorld, hookToken, until } from "../support/world.ts"

const root = dirname(dirname(import.meta.dirname))
const program = join(root, "dist", "svc.cjs")

before(() => {
  execFileSync(process.execPath, [join(root, "scripts", "build.mjs"), "--if-changed"], { cwd: root })
})

function svc(stateFolder: string, ...words: string[]): Promise<RunResult> {
  return runProgram(words, { program, environment: { SVC_STATE_DIR: stateFolder, NO_COLOR: "1" } })
}

/** Runs a command that must succeed; what it prints must hold no secret. */
async function succeed(world: World, ...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await svc(world.stateFolder, ...words)
  assert.equal(code, 0, `svc ${words.join(" ")}: ${stderr}`)
  const secrets = [world.emulator.token, world.emulator.token.split(":")[1] ?? "", hookToken, world.gateway.token]
  for (const secret of secrets)
    assert.ok(!`${stdout}${stderr}`.includes(secret), `svc ${words.join(" ")} shows a secret`)
  return stdout
}

async function json<T>(world: World, ...words: string[]): Promise<T> {
  return JSON.parse(await succeed(world, ...words, "--json")) as T
}

test("every command tells of the running gateway, for people and as JSON, and shows no secret", async (context) => {
  const world = await createWorld(context)
  world.model.script(() => text("an answer"))
  await world.start()
  const stranger = world.emulator.control.addUser({ firstName: "Sly" })
  world.say("let me in", stranger)
  world.say("hello")
  await world.reply("an answer")
  await world.hook("wake", { text: "an event", mode: "next-heartbeat" })
  await world.hook("agent", { message: "a task", wakeMode: "next-heartbeat" })
  await world.settle()

  const status = await json<{ pid: number; port: number; outbox: { new: number } }>(world, "status")
  assert.deepEqual([status.pid, status.port], [world.gateway.process.pid, world.port])
  const { requests } = await json<{ requests: { code: string; senderId: string }[] }>(
    world,
    "pairing",
    "list",
    "chatapp",
  )
  assert.deepEqual(
    requests.map((request) => request.senderId),
    [String(stranger.id)],
  )
  const runs = await json<{ items: { runId: string; state: string }[] }>(world, "runs")
  assert.ok(runs.items.length >= 2 && runs.items.every((run) => run.state === "done"))
  const deliveries = await json<{ items: { id: number; state: string }[] }>(world, "deliveries")
  assert.ok(deliveries.items.length >= 3)
  const events = await json<{ items: { text: string }[] }>(world, "events")
  assert.ok(events.items.some((event) => event.text === "an event"))
  const channels = await json<{ channels: { state: string; probe: { ok: boolean } }[] }>(
    world,
    "channels",
    "status",
    "--probe",
  )
  assert.deepEqual([channels.channels[0]?.state, channels.channels[0]?.probe.ok], ["running", true])
  const detail = await json<{ steps: unknown[] }>(world, "runs", "show", runs.items[0]?.runId ?? "")
  assert.ok(detail.steps.length >= 2)
  for (const line of (await succeed(world, "logs", "--json")).trim().split("\n")) JSON.parse(line)
  for (const words of [
    "status",
    "pairing list chatapp",
    "runs",
    "deliveries",
    "events",
    "usage",
    "channels status",
    "logs",
    "config get",
  ]) {
    assert.notEqual(await succeed(world, ...words.split(" ")), "", words)
  }
  await succeed(world, "deliveries", "show", String(deliveries.items[0]?.id))
  const approved = await json<{ senderId: string }>(world, "pairing", "approve", "chatapp", requests[0]?.code ?? "")
  assert.equal(approved.senderId, String(stranger.id))
})

test("message send puts one message into the named chat, and a dry run none", async (context) => {
  const world = await createWorld(context)
  await world.start()
  const target = ["--target", String(world.ada.id), "--channel", "chatapp"]
  await succeed(world, "message", "send", ...target, "--message", "not this", "--dry-run")
  const sent = await json<{ deliveries: number[] }>(world, "message", "send", ...target, "--message", "Good morning")
  assert.equal(sent.deliveries.length, 1)
  await world.reply("Good morning")
  const report = join(temporaryFolder(), "report.txt")
  writeFileSync(report, "all is well")
  await succeed(world, "message", "send", ...target, "--media", report, "--message", "Here it is")
  const { document } = await world.reply("Here it is")
  assert.equal(document?.file_name, "report.txt")
  assert.equal(world.emulator.control.file(document?.file_id ?? "").bytes.toString(), "all is well")
  await world.settle()
  assert.deepEqual(
    world.botTexts().filter((words) => words !== "ok"),
    ["Good morning", "Here it is"],
  )
})

test("what is said of a message or a run is what the platform did with it", async (context) => {
  const world = await createWorld(context)
  world.model.script(() => text("the result"))
  const gone = await world.addPerson({ firstName: "Gus", username: "gus_gone" })
  world.configure({ channels: { chatapp: { allowFrom: [String(world.ada.id), String(gone.id)] } } })
  await world.start()
  const { control } = world.emulator
  const send = (target: string) =>
    svc(world.stateFolder, "message", "send", "--channel", "chatapp", "--target", target, "--message", "hi", "--json")
  const delivery = (result: RunResult) =>
    (JSON.parse(result.stdout) as { delivery: { state: string; messages: { messageId: string; error: string }[] } })
      .delivery
  const toName = await send("@Gus_Gone")
  assert.deepEqual([toName.code, delivery(toName).state], [0, "sent"])
  const arrived = await world.reply("hi", { person: gone })
  assert.equal(delivery(toName).messages[0]?.messageId, String(arrived.message_id))
  const unknown = await send("@nobody_knows")
  assert.equal(unknown.code, 1)
  assert.match(unknown.stdout, /target-invalid.*nobody whom the bot can write to: .*not found/s)

  const hook = (query: string, to: number) =>
    world.hook(`agent${query}`, {
      message: "a task",
      deliver: true,
      channel: "chatapp",
      to: String(to),
      wakeMode: "next-heartbeat",
    })
  type Run = { runId: string; delivered: string; delivery: { state: string } }
  const good = (await hook("?wait=60", world.ada.id)).body as unknown as Run
  assert.match(good.delivered, new RegExp(`^sent to chatapp chat ${world.ada.id} as message [0-9]+$`))
  control.block({ userId: gone.id })
  const dead = await send(String(gone.id))
  assert.deepEqual([dead.code, delivery(dead).state], [1, "dead"])
  const bad = (await hook("?wait=60", gone.id)).body as unknown as Run
  assert.match(bad.delivered, /^not delivered to chatapp chat \d+: .*blocked by the user/)
  const asked = await fetch(`http://127.0.0.1:${world.port}/hooks/runs/${bad.runId}`, {
    headers: { authorization: `Bearer ${hookToken}` },
  })
  assert.partialDeepStrictEqual(await asked.json(), { state: "done", delivery: { state: "dead" }, error: null })
  assert.match(await succeed(world, "runs", "show", bad.runId), /Delivery\s+not delivered to .*blocked by the user/)
  const kept = await json<{ items: { id: number }[] }>(world, "hooks", "list")
  assert.match(await succeed(world, "hooks", "show", String(kept.items[0]?.id)), /done, not delivered to .*blocked/)
  assert.match((await svc(world.stateFolder, "hooks", "show", "999999")).stderr, /hint: .*svc hooks deliveries/)

  world.model.script(() => ({ kind: "status", status: 401, message: "wrong key" }))
  const failed = (await hook("?wait=60", world.ada.id)).body as { state?: string; error?: string }
  assert.equal(failed.state, "dead")
  assert.match(failed.error ?? "", /HTTP 401: wrong key/)
})

test("message edit, react and delete change what the bot has sent", async (context) => {
  const world = await createWorld(context)
  await world.start()
  const place = ["--target", String(world.ada.id)]
  await succeed(world, "message", "send", ...place, "--channel", "chatapp", "--message", "Good mornign")
  await world.reply("Good mornign")
  const { control } = world.emulator
  const sent = control.messages({ chatId: world.ada.id }).find((message) => message.text === "Good mornign")
  const which = [...place, "--channel", "chatapp", "--message-id", String(sent?.message_id)]
  const dry = await json<{ deliveries: number[] }>(world, "message", "delete", ...which, "--dry-run")
  assert.deepEqual(dry.deliveries, [])
  const edited = control.waitForCall({ method: "editMessageText" })
  await succeed(world, "message", "edit", ...which, "--message", "Good *morning*")
  await edited
  const reacted = control.waitForCall({ method: "setMessageReaction" })
  await succeed(world, "message", "react", ...which, "--emoji", "👍")
  await reacted
  await world.settle()
  assert.ok(world.botTexts().includes("Good morning"))
  const deleted = control.waitForCall({ method: "deleteMessage" })
  await succeed(world, "message", "delete", ...which)
  await deleted
  await world.settle()
  assert.ok(!world.botTexts().includes("Good morning"))
})

test("config get and set work on the file of the running gateway, which follows", async (context) => {
  const world = await createWorld(context)
  await world.start()
  assert.equal((await succeed(world, "config", "get", "agents.defaults.maxConcurrent")).trim(), "4")
  assert.equal(
    (await succeed(world, "config", "get", "channels.chatapp.botToken")).includes(world.emulator.token),
    false,
  )
  await succeed(world, "config", "set", "channels.chatapp.dmPolicy", "disabled")
  await until("the gateway follows", () =>
    /config.*(changed|reload|applied)/i.test(world.gateway.log()) ? true : undefined,
  )
  const refused = await svc(world.stateFolder, "config", "set", "channels.chatapp.dmPolicy", "sometimes")
  assert.notEqual(refused.code, 0)
  assert.match(refused.stderr, /dmPolicy/)
  assert.match(await succeed(world, "config", "get", "channels.chatapp.dmPolicy"), /disabled/)
})

test("failures have their exit codes: wrong use, unknown things, no gateway", async (context) => {
  const world = await createWorld(context)
  await world.start()
  const wrongUse = await svc(world.stateFolder, "runs", "list", "--limit", "many")
  assert.equal(wrongUse.code, 2)
  const unknown = await svc(world.stateFolder, "runs", "show", "nothing", "--json")
  assert.notEqual(unknown.code, 0)
  assert.equal((JSON.parse(unknown.stdout) as { ok: boolean }).ok, false)
  const wrongCode = await svc(world.stateFolder, "pairing", "approve", "chatapp", "AAAAAAAA")
  assert.notEqual(wrongCode.code, 0)
  assert.match(wrongCode.stderr, /error: .*\nhint: /)
  const nobody = await svc(temporaryFolder(), "status")
  assert.notEqual(nobody.code, 0)
  assert.match(nobody.stderr, /gateway/)
})

test("stop ends the gateway cleanly and waits for it", async (context) => {
  const world = await createWorld(context)
  await world.start()
  assert.match(await succeed(world, "stop"), /stopped the gateway/)
  assert.equal(await world.gateway.ended, 0)
  assert.equal(existsSync(join(world.stateFolder, "gateway.json")), false)
  assert.notEqual((await svc(world.stateFolder, "status")).code, 0)
})
