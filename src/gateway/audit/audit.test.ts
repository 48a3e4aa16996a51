import assert from "node:assert/strict"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { newStateFolder } from "../../../test/support/state-folder.ts"
import { type Visitor } from "../../kernel/http/index.ts"
import { type Clock, createBackground, noCrash, systemClock, systemIds } from "../../kernel/index.ts"
import { openStore } from "../../store/index.ts"
import { bearer, gatewayToken, makeLog, startGateway } from "../gateway.fixture.ts"
import { createAudit } from "./audit.ts"

const hour = 3_600_000
const start = 1_800_000_000_000 - (1_800_000_000_000 % hour)
const owner: Visitor = { kind: "gateway-token", id: "", name: "gateway token" }
const knocking = (address: string): Visitor => ({ kind: "stranger", id: address, name: address })
const all = { since: 0, until: Number.MAX_SAFE_INTEGER, limit: 500 }

async function open(given?: string) {
  const folder = given ?? (await newStateFolder())
  const time = { now: start }
  const clock: Clock = { ...systemClock, now: () => time.now }
  const { log } = makeLog(folder)
  const store = await openStore({ folder, bootId: "b", crashPoint: noCrash, clock, ids: systemIds, log })
  const background = createBackground(log)
  const audit = createAudit({ store, clock, log, background })
  return { time, store, audit, folder, close: async () => (await audit.stop(), await store.close()) }
}

test("keeps one row an act, and one row an hour of what is counted", async () => {
  const { time, audit, close } = await open()
  const act = { door: "gateway", who: owner, action: "token.create", target: "ci", outcome: "ok" } as const
  audit.record(act)
  audit.record(act)
  for (const address of ["10.0.0.1", "10.0.0.1", "10.0.0.2"]) {
    audit.count({ door: "gateway", who: knocking(address), action: "auth.failed", outcome: "unauthorized" })
  }
  await audit.flush()
  time.now += 10
  audit.count({ door: "gateway", who: knocking("10.0.0.1"), action: "auth.failed", outcome: "unauthorized" })
  time.now += hour
  audit.count({ door: "gateway", who: knocking("10.0.0.1"), action: "auth.failed", outcome: "unauthorized" })
  await audit.flush()
  const rows = audit.read({ ...all, action: "auth" }).map(({ at, lastAt, who, count }) => [at, lastAt, who.id, count])
  assert.deepEqual(rows, [
    [start + hour, start + hour + 10, "10.0.0.1", 1],
    [start, start + 10, "10.0.0.1", 3],
    [start, start, "10.0.0.2", 1],
  ])
  assert.deepEqual(
    audit.read({ ...all, action: "token.create" }).map(({ target, count }) => [target, count]),
    [
      ["ci", 1],
      ["ci", 1],
    ],
  )
  assert.deepEqual(audit.read({ ...all, action: "tok" }), [])
  await close()
})

test("a clean stop loses nothing", async () => {
  const first = await open()
  first.audit.record({ door: "chat", who: { kind: "person", id: "chatapp:7", name: "" }, action: "a", outcome: "ok" })
  first.audit.count({ door: "control", who: owner, action: "browser.use", outcome: "" })
  await first.close()
  const second = await open(first.folder)
  assert.deepEqual(
    second.audit.read(all).map(({ action }) => action),
    ["browser.use", "a"],
  )
  await second.close()
})

test("a flood of addresses is a few rows, and pushes out nothing that was done", async () => {
  const { time, store, audit, folder, close } = await open()
  audit.record({ door: "gateway", who: owner, action: "token.revoke", target: "ci", outcome: "ok" })
  for (let n = 0; n < 5_000; n += 1) {
    audit.count({ door: "hooks", who: knocking(`2001:db8::${n}`), action: "auth.failed", outcome: "unauthorized" })
  }
  await audit.flush()
  const rows = audit.read({ ...all, action: "auth" })
  assert.equal(rows.length, 201)
  assert.equal(rows.find(({ who }) => who.id === "")?.count, 4_800)
  time.now += hour
  audit.count({ door: "hooks", who: knocking("2001:db8:1::"), action: "auth.failed", outcome: "unauthorized" })
  await audit.flush()
  assert.equal(audit.read({ ...all, action: "auth" })[0]?.who.id, "2001:db8:1::", "the next hour has names again")
  const fill = store.handle.raw.prepare(
    "insert into audit (at, last_at, door, who_kind, who_id, who_name, action, target, outcome, count, counted) values (?, ?, 'hooks', 'stranger', ?, '', 'auth.failed', '', '', 1, 1)",
  )
  store.handle.raw.exec("begin")
  for (let n = 0; n < 51_000; n += 1) fill.run(start, start, `x${n}`)
  store.handle.raw.exec("commit")
  await close()
  const again = await open(folder)
  await again.store.prune()
  const number = (sql: string) =>
    again.store.handle.prepare(`select count(*) as n from audit where ${sql}`).get()?.["n"]
  assert.equal(number("counted = 1"), 50_000)
  assert.equal(number("action = 'token.revoke'"), 1)
  await again.close()
})

test("rows end after ninety days", async () => {
  const { audit, folder, close } = await open()
  audit.record({ door: "gateway", who: owner, action: "old", outcome: "ok" })
  await close()
  const later = await open(folder)
  later.time.now = start + 89 * 24 * hour
  later.audit.record({ door: "gateway", who: owner, action: "new", outcome: "ok" })
  await later.audit.flush()
  await later.store.prune()
  assert.deepEqual(
    later.audit.read(all).map(({ action }) => action),
    ["new", "old"],
  )
  await later.close()
  const last = await open(folder)
  last.time.now = start + 91 * 24 * hour
  await last.store.prune()
  assert.deepEqual(
    last.audit.read(all).map(({ action }) => action),
    ["new"],
  )
  await last.close()
})

test("what the store refuses is kept and written later", async () => {
  const { store, audit, close } = await open()
  store.handle.raw.exec("create trigger stop_it before insert on audit begin select raise(abort, 'no'); end")
  audit.record({ door: "gateway", who: owner, action: "kept", outcome: "ok" })
  await audit.flush()
  assert.deepEqual(audit.read(all), [])
  store.handle.raw.exec("drop trigger stop_it")
  await audit.flush()
  assert.deepEqual(
    audit.read(all).map(({ action }) => action),
    ["kept"],
  )
  await close()
})

test("the doors tell who did what with what outcome, and no contents and no secrets", async (context) => {
  const gateway = await startGateway()
  context.after(() => gateway.stop())
  const { token, id } = await gateway.tokens.create({ name: "desk", scopes: ["message"] })
  const mine = { authorization: `Bearer ${token}` }
  const body = JSON.stringify({ channel: "chatapp", target: "42", message: "a very private word" })
  await gateway.send("/api/message/send", { method: "POST", headers: mine, body })
  await gateway.send("/api/message/send", { method: "POST", headers: mine, body: "{}" })
  await gateway.send("/api/runs", { headers: mine })
  await gateway.send("/api/runs", { headers: { authorization: "Bearer wrong-secret-0123" } })
  await gateway.send("/api/pairing/chatapp/approve", {
    method: "POST",
    headers: { ...bearer, "user-agent": "svc" },
    body: JSON.stringify({ code: "SECRET77" }),
  })
  await gateway.post("/api/hooks/5/replay", {})
  await gateway.post("/api/tokens", { name: "second", scopes: ["status"] })
  await gateway.post("/api/tokens/revoke", { token: "second" })
  await gateway.get("/api/runs")
  const { json } = await gateway.get("/api/audit?since=1h&limit=100")
  const told = json.items.map((item: Record<string, unknown>) => {
    const { kind, name } = item["who"] as { kind: string; name: string }
    return [kind, name, item["action"], item["target"], item["outcome"]].join("|")
  })
  assert.deepEqual(
    told.toSorted(),
    [
      "token|desk|message.send|chatapp 42|ok",
      "token|desk|message.send||status 400",
      "token|desk|scope.refused|admin|scope-missing",
      "stranger|127.0.0.1|auth.failed||unauthorized",
      "cli|svc|pairing.approve|chatapp default 7|ok",
      "gateway-token|gateway token|hook.replay|5|ok",
      "gateway-token|gateway token|token.create|second|ok",
      "gateway-token|gateway token|token.revoke|second|ok",
    ].toSorted(),
  )
  assert.equal(json.items.find((item: { action: string }) => item.action === "scope.refused").who.id, id)
  const files = readdirSync(gateway.folder).filter((file) => file.startsWith("svc.db"))
  const bytes = Buffer.concat(files.map((file) => readFileSync(join(gateway.folder, file))))
  for (const secret of ["a very private word", "SECRET77", "wrong-secret-0123", gatewayToken, token]) {
    assert.ok(!bytes.includes(secret), secret)
  }
})
