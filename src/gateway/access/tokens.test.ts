import assert from "node:assert/strict"
import { readFileSync, readdirSync } from "node:fs"
import { Agent, request as httpRequest } from "node:http"
import { join } from "node:path"
import { after, before, describe, test } from "node:test"
import { newStateFolder } from "../../../test/support/state-folder.ts"
import { type Clock, createBackground, noCrash, systemClock, systemIds } from "../../kernel/index.ts"
import { openStore } from "../../store/index.ts"
import { makeLog, startGateway } from "../gateway.fixture.ts"
import { readExpiry } from "./expiry.ts"
import { makeToken, parseToken } from "./token-form.ts"
import { createTokens } from "./tokens.ts"

type Gateway = Awaited<ReturnType<typeof startGateway>>

const bearerOf = (token: string) => ({ authorization: `Bearer ${token}` })

describe("tokens over the API", () => {
  let gateway: Gateway
  before(async () => (gateway = await startGateway()))
  after(() => gateway.stop())

  const create = async (body: object) => (await gateway.post("/api/tokens", body)).json
  const ask = (path: string, token: string) => gateway.send(path, { headers: bearerOf(token) })

  test("are shown once, listed with scopes, last use and end, and revoked by name or id", async () => {
    const made = await create({ name: "monitor one", scopes: ["message", "status"], expires: "30d" })
    assert.match(made.token, /^svct_[a-z0-9]{10}_[A-Za-z0-9_-]{43}$/)
    assert.deepEqual(made.scopes, ["status", "message"])
    const before = (await gateway.get("/api/tokens")).json.tokens[0]
    assert.equal(before.lastUsedAt, null)
    assert.ok(Math.abs(before.expiresAt - Date.now() - 30 * 86_400_000) < 60_000)
    assert.equal((await ask("/api/status", made.token)).status, 200)
    const listed = await gateway.get("/api/tokens")
    assert.ok(listed.json.tokens[0].lastUsedAt > 0)
    assert.ok(!listed.text.includes(parseToken(made.token)?.secret ?? "?"))
    const other = await create({ name: "other", scopes: ["status"] })
    for (const [token, by] of [
      [made.token, "monitor one"],
      [other.token, other.id],
    ]) {
      assert.equal((await gateway.post("/api/tokens/revoke", { token: by })).status, 200)
      assert.equal((await ask("/api/status", token)).status, 401)
    }
    assert.deepEqual((await gateway.get("/api/tokens")).json.tokens, [])
  })

  test("say clearly what is wrong with a wish", async () => {
    await create({ name: "taken", scopes: ["status"] })
    const wrong: [object, string, RegExp][] = [
      [{ name: "taken", scopes: ["status"] }, "conflict", /named taken already/],
      [{ name: "x", scopes: [] }, "bad-request", /at least one of browser, hooks/],
      [{ name: "x", scopes: ["root"] }, "bad-request", /scopes/],
      [{ name: "x\ny", scopes: ["status"] }, "bad-request", /name/],
      [{ name: "", scopes: ["status"] }, "bad-request", /name/],
      [{ name: "x", scopes: ["status"], expires: "soon" }, "bad-request", /expires: "soon"/],
      [{ name: "x", scopes: ["status"], expires: "2001-01-01" }, "bad-request", /expires/],
    ]
    for (const [body, code, message] of wrong) {
      const { error } = await create(body)
      assert.equal(error.code, code)
      assert.match(error.message, message)
    }
    const unknown = await gateway.post("/api/tokens/revoke", { token: "nobody" })
    assert.equal(unknown.status, 404)
    assert.match(unknown.json.error.hint, /svc token list/)
  })

  test("an open connection is refused by its next request after a revocation", async () => {
    const { token } = await create({ name: "kept open", scopes: ["status"] })
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const sockets = new Set<unknown>()
    const once = () =>
      new Promise<number>((resolve, reject) => {
        const request = httpRequest(
          { port: gateway.port, path: "/api/status", headers: bearerOf(token), agent },
          (response) => response.resume().on("end", () => resolve(response.statusCode ?? 0)),
        )
        request.on("socket", (socket) => sockets.add(socket))
        request.on("error", reject).end()
      })
    try {
      assert.equal(await once(), 200)
      await gateway.post("/api/tokens/revoke", { token: "kept open" })
      assert.equal(await once(), 401)
      assert.equal(sockets.size, 1)
    } finally {
      agent.destroy()
    }
  })

  test("nothing but a whole, right token opens anything, and right ones pass while others are throttled", async () => {
    const made = await create({ name: "whole", scopes: ["status"] })
    const [, id, secret] = /^svct_([a-z0-9]{10})_(.*)$/.exec(made.token) ?? []
    const wrong = [
      `svct_${id}_${"A".repeat(43)}`,
      `svct_${id}_`,
      `svct_aaaaaaaaaa_${secret}`,
      `svct_${id}_${secret}A`,
      `SVCT_${id}_${secret}`,
      secret ?? "",
      id ?? "",
    ]
    for (const token of wrong) assert.equal((await ask("/api/status", token)).status, 401, token)
    for (let n = 0; n < 20; n += 1) await ask("/api/status", wrong[0] as string)
    assert.equal((await ask("/api/status", wrong[0] as string)).status, 429)
    assert.equal((await ask("/api/status", made.token)).status, 200)
    assert.equal((await gateway.send(`/api/status?token=${made.token}`)).status, 429)
  })

  test("neither the log nor the database holds a secret", async () => {
    const { token } = await create({ name: "leak", scopes: ["status"] })
    gateway.redactor.redact(token)
    await ask("/api/status", token)
    assert.equal(gateway.redactor.redact(`a ${token} b`).includes(parseToken(token)?.secret ?? "?"), false)
    await gateway.tokens.stop()
    const folder = String(gateway.folder)
    for (const file of readdirSync(folder)) {
      if (!file.startsWith("svc.db")) continue
      assert.equal(readFileSync(join(folder, file)).includes(parseToken(token)?.secret ?? "?"), false, file)
    }
    assert.ok(!gateway.logged().includes(parseToken(token)?.secret ?? "?"))
  })
})

describe("the book of tokens", () => {
  let now = 1_800_000_000_000
  const clock: Clock = { ...systemClock, now: () => now }

  async function open(folder: string) {
    const { log } = makeLog(folder)
    const store = await openStore({ folder, bootId: "b", crashPoint: noCrash, clock, ids: systemIds, log })
    const background = createBackground(log)
    const tokens = createTokens({ store, clock, ids: systemIds, background })
    return { store, tokens, close: async () => (await tokens.stop(), await store.close()) }
  }

  test("remembers tokens, ends and last uses over a restart, and forgets what was revoked", async () => {
    const folder = await newStateFolder()
    const first = await open(folder)
    const kept = await first.tokens.create({ name: "kept", scopes: ["hooks"], expires: "1h" })
    const gone = await first.tokens.create({ name: "gone", scopes: ["admin"] })
    assert.equal(first.tokens.find(kept.token).kind, "known")
    await first.tokens.revoke("gone")
    await first.close()
    const second = await open(folder)
    assert.deepEqual(second.tokens.list(), [
      {
        id: kept.id,
        name: "kept",
        scopes: ["hooks"],
        createdAt: now,
        lastUsedAt: now,
        expiresAt: now + 3_600_000,
        expired: false,
      },
    ])
    assert.equal(second.tokens.find(gone.token).kind, "unknown")
    assert.equal(second.tokens.find(kept.token).kind, "known")
    now += 3_600_000
    assert.deepEqual(second.tokens.find(kept.token), { kind: "expired", name: "kept" })
    assert.equal(second.tokens.list()[0]?.expired, true)
    await second.close()
  })

  test("a use writes nothing by itself", async () => {
    const { store, tokens, close } = await open(await newStateFolder())
    const { token } = await tokens.create({ name: "busy", scopes: ["status"] })
    const writes = () => store.handle.prepare("select last_used_at from access_token").get()
    for (let n = 0; n < 100; n += 1) tokens.find(token)
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual({ ...writes() }, { last_used_at: null })
    await tokens.stop()
    assert.deepEqual({ ...writes() }, { last_used_at: now })
    await close()
  })

  test("a last use that the disk refuses is written the next time", async () => {
    const { store, tokens, close } = await open(await newStateFolder())
    const { token } = await tokens.create({ name: "monthly", scopes: ["status"] })
    tokens.find(token)
    store.handle.raw.exec("create trigger stop_it before update on access_token begin select raise(abort, 'no'); end")
    await assert.rejects(tokens.stop())
    store.handle.raw.exec("drop trigger stop_it")
    await tokens.stop()
    assert.deepEqual({ ...store.handle.prepare("select last_used_at from access_token").get() }, { last_used_at: now })
    await close()
  })

  test("a revocation that the disk refuses closes the door all the same, and can be repeated", async () => {
    const { store, tokens, close } = await open(await newStateFolder())
    const { token } = await tokens.create({ name: "stubborn", scopes: ["status"] })
    store.handle.raw.exec("create trigger stop_it before delete on access_token begin select raise(abort, 'no'); end")
    await assert.rejects(tokens.revoke("stubborn"))
    assert.equal(tokens.find(token).kind, "unknown")
    store.handle.raw.exec("drop trigger stop_it")
    await tokens.revoke("stubborn")
    assert.equal(store.handle.prepare("select count(*) as n from access_token").get()?.["n"], 0)
    await close()
  })

  test("two at once cannot have one name", async () => {
    const { tokens, close } = await open(await newStateFolder())
    const both = await Promise.allSettled([1, 2].map(() => tokens.create({ name: "same", scopes: ["status"] })))
    assert.deepEqual(both.map(({ status }) => status).toSorted(), ["fulfilled", "rejected"])
    await close()
  })
})

test("a secret has 256 bits, and no two tokens share anything", () => {
  const made = Array.from({ length: 100 }, () => makeToken(systemIds))
  assert.equal(new Set(made.map(({ id }) => id)).size, 100)
  assert.equal(new Set(made.map(({ hash }) => hash)).size, 100)
  for (const { text } of made) assert.equal(Buffer.from(parseToken(text)?.secret ?? "", "base64url").length, 32)
})

test("reads ends as people write them", () => {
  const now = Date.parse("2026-11-22T10:00:00Z")
  assert.equal(readExpiry("12h", now), now + 12 * 3_600_000)
  assert.equal(readExpiry(" 30D ", now), now + 30 * 86_400_000)
  assert.equal(readExpiry("2027-01-31", now), Date.parse("2027-01-31"))
  for (const text of ["0d", "-1d", "1y", "99999d", "2026-13-01", "", "tomorrow", "Infinityd"]) {
    assert.throws(() => readExpiry(text, now), { code: "bad-request" }, text)
  }
})
