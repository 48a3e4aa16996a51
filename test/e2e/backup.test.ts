// Backups through the command line, beside a gateway at work: what had been acknowledged is in them, a restored gateway
// goes on, a restore that is killed half-way has done nothing, and the schedule makes its own and tells when it cannot.
import assert from "node:assert/strict"
import { randomBytes } from "node:crypto"
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { test } from "node:test"
import { setTimeout as delay } from "node:timers/promises"
import { runProgram, startProgram } from "../../cli/testing/run-program.ts"
import type { RestoreReport } from "../../src/backup/contract.ts"
import type { GatewayStatus } from "../../src/gateway/contract.ts"
import { Load, randomFrom } from "../support/endurance/load.ts"
import { taskOf } from "../support/endurance/tally.ts"
import { startGateway } from "../support/gateway.ts"
import { text } from "../support/model-server/index.ts"
import { lastPrompt } from "../support/prompts.ts"
import { temporaryFolder } from "../support/temporary.ts"
import { createWorld, rowsOf, until } from "../support/world.ts"

async function svc<T>(stateFolder: string, ...words: string[]): Promise<T> {
  const result = await runProgram([...words, "--json"], { environment: { SVC_STATE_DIR: stateFolder } })
  assert.equal(result.code, 0, result.stdout + result.stderr)
  return JSON.parse(result.stdout) as T
}

test("nothing that was acknowledged before a backup began is missing from it, and the restored gateway goes on", async (context) => {
  const world = await createWorld(context, { config: { logging: { level: "warn" }, session: { dmScope: "per-peer" } } })
  const people = [world.ada, await world.addPerson({ firstName: "Bob" }), await world.addPerson({ firstName: "Cy" })]
  world.configure({ channels: { chatapp: { allowFrom: people.map(({ id }) => id) } } })
  world.model.script(async (request) => {
    // Some work is always under way.
    await delay(150)
    return text(`did ${taskOf(lastPrompt(request)) ?? "nothing"}`)
  })
  await world.start()
  const load = new Load(world, { people, random: randomFrom(7) })
  let isDone = false
  const working = (async () => {
    while (!isDone) await load.round(() => !isDone)
  })()
  await world.until("there is work", () => (load.acknowledged.length > 10 ? true : undefined))
  const before = [...load.acknowledged]
  const wakes = [...load.wakes]
  const made = await svc<{ archive: string; gateway: string }>(world.stateFolder, "backup", "create")
  assert.equal(made.gateway, "running")
  const during = load.acknowledged.length
  isDone = true
  await working
  assert.ok(during > before.length, "work went on meanwhile")
  await world.gateway.kill("SIGKILL")

  const to = join(temporaryFolder(), "restored")
  const report = await svc<RestoreReport & { notes: string[] }>(
    world.stateFolder,
    "backup",
    "restore",
    made.archive,
    "--to",
    to,
  )
  assert.ok(report.openWork.jobs > 0, "the backup was taken in the middle of work")
  const inDoubt = "select count(*) as n from outbox where state = 'uncertain'"
  assert.equal(rowsOf<{ n: number }>(to, inDoubt)[0]?.n, report.unsent.messages)
  const payloads = rowsOf<{ payload: string }>(to, "select payload from job").map(({ payload }) => payload)
  const runsOf = (id: string) => payloads.filter((payload) => payload.includes(`please do ${id}"`)).length
  assert.deepEqual(
    before.filter((id) => runsOf(id) !== 1),
    [],
    "every acknowledged run is there, once",
  )
  const known = rowsOf<{ delivery_id: string }>(to, "select delivery_id from inbox").map((row) => row.delivery_id)
  assert.deepEqual(
    wakes.filter((id) => !known.some((delivery) => delivery.includes(id))),
    [],
  )

  const sentBefore = world.botTexts().length
  const restored = await startGateway(context, { stateFolder: to, port: world.port })
  const open =
    "select 1 from job where state in ('ready', 'running') union select 1 from outbox where state in ('new', 'sending')"
  await until("the open work is done", () => (rowsOf(to, open).length === 0 ? true : undefined))
  assert.deepEqual(rowsOf(to, "select error from job where state <> 'done'"), [])
  assert.ok(world.botTexts().length >= sentBefore)
  const [first = ""] = before
  await world.hook("agent", { message: `please do ${first}` }, { "idempotency-key": first })
  assert.equal(rowsOf(to, `select 1 from job where payload like '%please do ${first}"%'`).length, 1, "still recognised")
  const sent = world.say("please do job-new-1")
  await world.reply("did job-new-1", { after: sent })
  const status = await restored.call<GatewayStatus>("GET", "/api/status")
  assert.equal(status.outbox.uncertain, report.unsent.messages)
})

test("a restore that is killed leaves nothing or everything, and the next one cleans up", async (context) => {
  const world = await createWorld(context)
  mkdirSync(join(world.stateFolder, "media", "inbound"), { recursive: true })
  for (let n = 0; n < 10; n += 1)
    writeFileSync(join(world.stateFolder, "media", "inbound", `${n}.bin`), randomBytes(1e6))
  await world.start()
  const { archive } = await svc<{ archive: string }>(world.stateFolder, "backup", "create")
  const parent = temporaryFolder()
  const to = join(parent, "state")
  for (const [step, waitMs] of [
    ["reading the archive", 30],
    ["checking the database", 0],
  ] as const) {
    const running = startProgram(["backup", "restore", archive, "--to", to], { environment: { HOME: parent } })
    await running.printed(step, "stderr")
    await delay(waitMs)
    running.child.kill("SIGKILL")
    await running.ended
    assert.ok(!existsSync(to) || existsSync(join(to, "svc.db")), "whole or not there")
  }
  if (!existsSync(to)) await svc(world.stateFolder, "backup", "restore", archive, "--to", to)
  assert.deepEqual(readdirSync(parent), ["state"])
  assert.equal(readdirSync(join(to, "media", "inbound")).length, 10)
  const own = join(world.stateFolder, "media", "inbound", "7.bin")
  assert.deepEqual(readFileSync(join(to, "media", "inbound", "7.bin")), readFileSync(own))
})

test("the schedule makes backups by itself; why it cannot stands in the status", async (context) => {
  const world = await createWorld(context)
  const folder = join(temporaryFolder(), "backups")
  writeFileSync(folder, "a file where the folder should be")
  world.configure({ backup: { every: "1h", folder } })
  const backup = async () => (await world.gateway.call<GatewayStatus>("GET", "/api/status")).backup
  await world.start()
  const failure = await world.until("the failure is told", async () => (await backup())?.failure ?? undefined)
  assert.match(failure.error, /EEXIST|ENOTDIR|backup folder/)
  const said = await runProgram(["status"], { environment: { SVC_STATE_DIR: world.stateFolder } })
  assert.match(said.stdout, /^backup +none made yet; the last try FAILED: /m)
  await world.gateway.kill("SIGTERM")

  const place = join(dirname(folder), "good")
  world.configure({ backup: { folder: place } })
  await world.start()
  const last = await world.until("a backup is made", async () => (await backup())?.last ?? undefined)
  assert.deepEqual(
    readdirSync(place).map((name) => join(place, name)),
    [last.archive],
  )
  const listed = await svc<{ items: { scheduled: boolean }[] }>(world.stateFolder, "backup", "list")
  assert.deepEqual(
    listed.items.map(({ scheduled }) => scheduled),
    [true],
  )
})
