// Files of the store that are taken away or cut while the gateway runs on them.
import assert from "node:assert/strict"
import {
  closeSync,
  cpSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { DatabaseSync } from "node:sqlite"
import { examine } from "../../src/doctor/doctor.ts"
import { type RunningGateway, spawnGateway, startGateway } from "../support/gateway.ts"
import { temporaryFolder } from "../support/temporary.ts"
import { hookToken, rowsOf, until } from "../support/world.ts"

const config = {
  hooks: { enabled: true, token: hookToken },
  channels: { chatapp: { enabled: false } },
  browser: { enabled: false },
}

async function wake({ port }: RunningGateway, text: string): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/hooks/wake`, {
    method: "POST",
    headers: { authorization: `Bearer ${hookToken}`, "content-type": "application/json" },
    body: JSON.stringify({ text, mode: "next-heartbeat" }),
  })
  return response.status
}

const eventsIn = (folder: string) =>
  rowsOf<{ text: string }>(folder, "select text from event order by id").map(({ text }) => text)

/** What is in the database itself, whatever a log beside it says. */
function withoutLog(folder: string): string {
  const copy = temporaryFolder()
  cpSync(join(folder, "svc.db"), join(copy, "svc.db"))
  return copy
}

const losses: Record<string, (log: string) => void> = {
  "log is removed": (log) => rmSync(log),
  "log is replaced by an older one": (log) => {
    cpSync(log, `${log}.older`)
    renameSync(`${log}.older`, log)
  },
  "index of the log is removed": (log) => rmSync(log.replace(/-wal$/, "-shm")),
}
for (const [what, lose] of Object.entries(losses)) {
  test(`when the store's ${what} the gateway ends, and what it had accepted is there at the next start`, async (context) => {
    const stateFolder = join(temporaryFolder(), "state")
    const first = await startGateway(context, { stateFolder, config })
    assert.equal(await wake(first, "before"), 200)
    lose(join(stateFolder, "svc.db-wal"))
    assert.equal(await wake(first, "after"), 200)
    assert.equal(await first.ended, 1)
    assert.match(
      first.output(),
      /error: .*svc\.db-(wal|shm) was (removed|replaced) while the gateway ran on it\S* nothing more is accepted/,
    )
    assert.match(first.output(), /hint: .*written into svc\.db first\. Start again/)
    assert.deepEqual(eventsIn(withoutLog(stateFolder)), ["before", "after"])
    const second = await startGateway(context, { stateFolder, config })
    assert.equal(await wake(second, "again"), 200)
    assert.equal(await second.kill("SIGTERM"), 0)
    assert.deepEqual(eventsIn(stateFolder), ["before", "after", "again"])
    assert.deepEqual(
      readdirSync(stateFolder).filter((name) => /^svc\.db-wal./.test(name)).length,
      what.includes("replaced") ? 1 : 0,
    )
  })
}

const takings: Record<string, (path: string) => void> = {
  removed: (path) => rmSync(path),
  "removed with its log": (path) => ["", "-wal", "-shm"].forEach((suffix) => rmSync(`${path}${suffix}`)),
  "replaced by an empty file": (path) => {
    rmSync(path)
    writeFileSync(path, "")
  },
}
for (const [how, take] of Object.entries(takings)) {
  test(`a store that was ${how} is saved beside its place, and goes on when it is put back`, async (context) => {
    const stateFolder = join(temporaryFolder(), "state")
    const first = await startGateway(context, { stateFolder, config })
    assert.equal(await wake(first, "before"), 200)
    const path = join(stateFolder, "svc.db")
    take(path)
    assert.equal(await wake(first, "after"), 200)
    assert.equal(await first.ended, 1)
    assert.match(first.output(), /hint: .*svc\.db\.saved-/)
    const second = await spawnGateway(context, { stateFolder, config })
    assert.equal(await second.ended, 1)
    const [saved = ""] = /svc\.db\.saved-[\w.-]+Z/.exec(second.output()) ?? []
    assert.equal(statSync(join(stateFolder, saved)).mode & 0o777, 0o600)
    renameSync(join(stateFolder, saved), path)
    const third = await startGateway(context, { stateFolder, config })
    assert.equal(await wake(third, "again"), 200)
    assert.deepEqual(eventsIn(stateFolder), ["before", "after", "again"])
  })
}

/** Everything is in the database, and the log begins anew. */
function takeOver(folder: string): void {
  const database = new DatabaseSync(join(folder, "svc.db"))
  assert.equal(database.prepare("pragma wal_checkpoint(restart)").get()?.["busy"], 0)
  database.close()
}

interface Status {
  parts: Record<string, string>
  problems: { part: string; problem: string }[]
}

const cuts: Record<string, (path: string) => void> = {
  "svc.db is cut": (path) => truncateSync(path, statSync(path).size - 8_192),
  "svc.db is emptied": (path) => truncateSync(path, 0),
  "svc.db-wal is emptied": (path) => truncateSync(`${path}-wal`, 0),
}
for (const [what, cut] of Object.entries(cuts)) {
  test(`when ${what} nothing more is accepted, and readiness and status say so`, async (context) => {
    const stateFolder = join(temporaryFolder(), "state")
    const gateway = await startGateway(context, { stateFolder, config })
    takeOver(stateFolder)
    assert.equal(await wake(gateway, "before"), 200)
    const path = join(stateFolder, "svc.db")
    cut(path)
    const ready = async () => (await fetch(`${gateway.url}/readyz`)).status
    await until("it is noticed", async () => ((await ready()) === 503 ? true : undefined))
    assert.equal(await wake(gateway, "after"), 503)
    const problem = await until("it is named", async () => {
      const { problems } = await gateway.call<Status>("GET", "/api/status")
      return problems.find(({ part, problem: words }) => part === "store" && words.startsWith("Damaged"))?.problem
    })
    assert.match(problem, /restore a backup.*--new-store/)
    assert.equal(await ready(), 503)
    // A database that is whole but for what the log held is not spoilt by taking over what is left of that.
    assert.equal(await gateway.kill("SIGTERM"), 0)
    if (!what.includes("wal")) return
    const [check] = rowsOf<{ integrity_check: string }>(withoutLog(stateFolder), "pragma integrity_check")
    assert.equal(check?.integrity_check, "ok")
  })
}

test("a log that was emptied and written on is in the database before a kill can lose it", async (context) => {
  const stateFolder = join(temporaryFolder(), "state")
  const gateway = await startGateway(context, { stateFolder, config })
  takeOver(stateFolder)
  assert.equal(await wake(gateway, "before"), 200)
  truncateSync(join(stateFolder, "svc.db-wal"), 0)
  // The same pages once more, so nothing is missing but the beginning of the log.
  assert.equal(await wake(gateway, "after"), 200)
  await until("it was looked through", () => (/no damage was found/.test(gateway.log()) ? true : undefined))
  assert.equal(await wake(gateway, "later"), 200)
  await gateway.kill("SIGKILL")
  await startGateway(context, { stateFolder, config })
  assert.deepEqual(eventsIn(stateFolder), ["before", "after", "later"])
})

test("what a damaged log has lost by the next start is told before it, and until somebody has seen it", async (context) => {
  const stateFolder = join(temporaryFolder(), "state")
  const first = await startGateway(context, { stateFolder, config })
  takeOver(stateFolder)
  for (let n = 0; n < 20; n += 1) assert.equal(await wake(first, `event ${n}`), 200)
  await first.kill("SIGKILL")
  const file = openSync(join(stateFolder, "svc.db-wal"), "r+")
  // In its thirtieth page: each of the events has some.
  writeSync(file, Buffer.alloc(16, 0xa5), 0, 16, 32 + 30 * (24 + 4096) - 1_000)
  closeSync(file)
  const found = await examine({
    variables: { SVC_STATE_DIR: stateFolder, HOME: stateFolder, SVC_GATEWAY_PORT: String(first.port) },
    nodeVersion: process.versions.node,
    gateway: undefined,
    signal: AbortSignal.timeout(30_000),
    lookMs: 30_000,
  })
  const told = found.find(({ code }) => code === "store-damaged")
  assert.match(told?.cause ?? "", /svc\.db-wal, at byte \d+\. The next start .* goes on without \d+ changes/)
  const second = await startGateway(context, { stateFolder, config })
  const left = eventsIn(stateFolder).length
  assert.ok(left > 0 && left < 20, `${left} are left`)
  const status = () => second.call<Status>("GET", "/api/status")
  const { parts, problems } = await status()
  assert.equal(parts["store"], "ready", "it works")
  const kept = /(\d+) changes in it are lost; a copy is (.*\.damaged-.*)$/.exec(problems[0]?.problem ?? "")
  assert.ok(Number(kept?.[1]) >= 20 - left - 1)
  assert.equal(statSync(kept?.[2] ?? "").isFile(), true)
  await second.call("POST", "/api/status/dismiss")
  assert.deepEqual((await status()).problems, [])
})
