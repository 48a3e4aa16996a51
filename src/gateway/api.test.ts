import assert from "node:assert/strict"
import { setImmediate as turnOfTheLoop } from "node:timers/promises"
import { after, before, describe, test } from "node:test"
import { endJob, markDead, markUncertain, writeStep } from "../store/index.ts"
import type { KyselyPlugin } from "kysely"
import { bearer, gatewayToken, startGateway } from "./gateway.fixture.ts"
import { listDeliveries, listEvents, listRuns } from "./store.ts"

type Gateway = Awaited<ReturnType<typeof startGateway>>
let gateway: Gateway
before(async () => (gateway = await startGateway()))
after(() => gateway.stop())

const row = (n: number, laneKey = "chatapp:default:1") => ({
  laneKey,
  channel: "chatapp",
  account: "default",
  chatId: "1",
  route: { channel: "chatapp", account: "default", chatId: "1", chatKind: "private" },
  kind: "text",
  payload: { text: `message ${n}` },
})

describe("runs", () => {
  before(async () => {
    await gateway.store.write(async (write) => {
      for (let n = 1; n <= 12; n += 1) {
        write.addJob({ runId: `run-${n}`, kind: "turn", laneKey: `lane-${n}`, payload: { text: "x".repeat(9_000) } })
      }
      const job = (id: number) => ({ id, lane_key: `lane-${id}` })
      endJob(gateway.store, write, job(3), { state: "dead", error: "model failed" })
      endJob(gateway.store, write, job(4), { state: "done", result: "y".repeat(9_000) })
    })
    await writeStep(gateway.store, 4, { n: 1, kind: "prompt", data: { picture: "z".repeat(50_000) } })
  })

  test("are listed newest first, in pages, without their payloads", async () => {
    const seen: string[] = []
    let path = "/api/runs?limit=5"
    for (;;) {
      const { json } = await gateway.get(path)
      assert.equal(json.ok, true)
      for (const run of json.items) seen.push(run.runId)
      if (json.next === null) break
      path = `/api/runs?limit=5&before=${json.next}`
    }
    assert.deepEqual(
      seen,
      Array.from({ length: 12 }, (_, n) => `run-${12 - n}`),
    )
    const all = await gateway.get("/api/runs")
    assert.ok(all.text.length < 6_000)
    const dead = all.json.items.find((run: { state: string }) => run.state === "dead")
    assert.deepEqual([dead.runId, dead.error, dead.session], ["run-3", "model failed", "lane-3"])
  })

  test("are filtered by state", async () => {
    const of = async (state: string) => (await gateway.get(`/api/runs?state=${state}`)).json.items.length
    assert.deepEqual(await Promise.all(["ready", "running", "done", "dead", "cancelled"].map(of)), [10, 0, 1, 1, 0])
    assert.match((await gateway.get("/api/runs?state=odd")).json.error.message, /^state/)
    assert.match((await gateway.get("/api/runs?limit=0")).json.error.message, /^limit/)
    assert.match((await gateway.get("/api/runs?before=x")).json.error.message, /^before/)
  })

  test("are shown with their steps, long values shortened", async () => {
    const { json, text } = await gateway.get("/api/runs/run-4")
    assert.equal(json.state, "done")
    assert.equal(json.steps[0].kind, "prompt")
    assert.match(json.steps[0].data.picture, /^z+… \(50000 characters\)$/)
    assert.ok(text.length < 20_000)
    assert.equal((await gateway.get("/api/runs/run-4")).json.asked, "x".repeat(200))
    const missing = await gateway.get("/api/runs/nothing")
    assert.equal(missing.status, 404)
    assert.equal(missing.json.error.code, "turn-not-found")
  })
})

describe("deliveries", () => {
  const claim = (id: number) =>
    gateway.store.db.selectFrom("outbox").selectAll().where("id", "=", id).executeTakeFirstOrThrow()
  before(async () => {
    await gateway.store.write(async (write) => {
      for (let n = 1; n <= 4; n += 1) write.addOutbox({ ...row(n), jobId: 4 })
    })
    await markDead(gateway.store, await claim(1), "chat not found")
    await markUncertain(gateway.store, await claim(2), "cut")
  })

  test("are listed with their run, filtered and shown whole", async () => {
    const { json } = await gateway.get("/api/deliveries")
    assert.deepEqual(
      json.items.map((item: { id: number }) => item.id),
      [4, 3, 2, 1],
    )
    assert.equal(json.items[0].runId, "run-4")
    assert.equal(json.items[0].preview, "message 4")
    const dead = await gateway.get("/api/deliveries?state=dead")
    assert.deepEqual(
      dead.json.items.map((item: { error: string }) => item.error),
      ["chat not found"],
    )
    const waiting = await gateway.get("/api/deliveries?state=new&limit=1")
    assert.deepEqual([waiting.json.items.length, waiting.json.next], [1, 4])
    const one = await gateway.get("/api/deliveries/2")
    assert.deepEqual(one.json.payload, { text: "message 2" })
    assert.equal(one.json.route.chatId, "1")
    assert.equal((await gateway.get("/api/deliveries/99")).status, 404)
    assert.match((await gateway.get("/api/deliveries/x")).json.error.message, /^id/)
  })

  test("that are dead or uncertain go to the end of their lane once; others are a conflict", async () => {
    for (const id of [1, 2]) {
      const retried = await gateway.post(`/api/deliveries/${id}/retry`, {})
      assert.equal(retried.status, 202)
      const added = await claim(retried.json.id)
      const old = await claim(id)
      assert.deepEqual(
        [added.state, added.payload, added.lane_key, added.job_id],
        ["new", old.payload, old.lane_key, 4],
      )
      assert.ok(added.id > 4)
      assert.equal(added.head, 0)
      assert.equal((await gateway.post(`/api/deliveries/${id}/retry`, {})).status, 409)
    }
    assert.equal((await gateway.post("/api/deliveries/3/retry", {})).status, 409)
    assert.equal((await gateway.post("/api/deliveries/99/retry", {})).status, 404)
    assert.equal((await gateway.get("/api/deliveries")).json.items.length, 6)
  })
})

test("updates that could not be read are listed and shown as they came", async () => {
  const { handle } = gateway.store
  const row = handle.prepare(
    `insert into unreadable_update (channel, account, bot_id, update_id, received_at, reason, body)
     values ('chatapp', 'default', '7', ?, 1, 'odd', ?)`,
  )
  row.run(5, '{"update_id":5}')
  row.run(null, "[nul")
  const list = (await gateway.get("/api/updates?limit=1")).json
  assert.deepEqual([list.items.map((item: { updateId: number | null }) => item.updateId), list.next], [[null], 2])
  assert.equal((await gateway.get("/api/updates?limit=1&before=2")).json.items[0].updateId, 5)
  assert.deepEqual((await gateway.get("/api/updates/1")).json.body, { update_id: 5 })
  assert.equal((await gateway.get("/api/updates/2")).json.body, "[nul")
  assert.equal((await gateway.get("/api/updates/9")).status, 404)
})

test("events are listed, by session too, shortened and with their trust", async () => {
  await gateway.store.write(async (write) => {
    write.addEvent({ sessionKey: "a", text: "x".repeat(5_000), origin: "webhook", trusted: false })
    write.addEvent({ sessionKey: "b", text: "short", origin: "system", trusted: true })
  })
  const all = (await gateway.get("/api/events?limit=1")).json
  assert.deepEqual([all.items[0].session, all.items[0].trusted, all.items[0].shownByRun], ["b", true, null])
  const rest = (await gateway.get(`/api/events?limit=1&before=${all.next}`)).json
  assert.equal(rest.items[0].text.length, 1_000)
  const ofA = (await gateway.get("/api/events?session=a")).json
  assert.deepEqual(
    ofA.items.map((event: { origin: string }) => event.origin),
    ["webhook"],
  )
})

describe("in tables of 200,000 rows", () => {
  let large: Gateway
  before(async () => {
    large = await startGateway()
    const { raw } = large.store.handle
    const series = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 200000)"
    raw.exec(`${series} insert into job (run_id, kind, lane_key, payload, state, created_at, finished_at)
      select 'r' || i, 'turn', 'l', '{}', case i when 5 then 'dead' else 'done' end, i, i from n`)
    raw.exec(`${series} insert into outbox (lane_key, channel, account, chat_id, route, kind, payload, state, created_at)
      select 'l', 'c', 'a', '1', '{}', 'text', '{}', case i when 5 then 'dead' else 'sent' end, i from n`)
    raw.exec(`${series} insert into event (session_key, text, origin, trusted, created_at, consumed_by)
      select case i when 5 then 'rare' else 's' end, 't', 'webhook', 0, i, 1 from n`)
    raw.exec(
      "insert into job (run_id, kind, lane_key, payload, created_at, head) values ('open', 'turn', 'o', '{}', 1, 1)",
    )
  })
  after(() => large.stop())

  test("no list walks through a whole table", async () => {
    const { db, handle } = large.store
    const queries: Parameters<KyselyPlugin["transformQuery"]>[0][] = []
    const recorder: KyselyPlugin = {
      transformQuery(query) {
        queries.push(query)
        return query.node
      },
      transformResult: async ({ result }) => result,
    }
    const store = { ...large.store, db: db.withPlugin(recorder) }
    /** The plan of a list's own query, and the distance between the ids that it looks at. */
    const observe = async (list: Promise<unknown>) => {
      await list
      const { node, queryId } = queries.at(-1) ?? assert.fail("no query was made")
      const { sql, parameters } = db.getExecutor().compileQuery(node, queryId)
      const plan = handle.raw.prepare(`explain query plan ${sql}`).all() as { detail: string }[]
      const [below, from] = parameters as number[]
      return { plan: plan.map(({ detail }) => detail).join("; "), width: Number(below) - Number(from) }
    }
    const limit = 50
    for (const list of [listRuns(store, { limit }), listDeliveries(store, { limit }), listEvents(store, { limit })]) {
      assert.match((await observe(list)).plan, /^SEARCH \w+ USING INTEGER PRIMARY KEY/)
    }
    for (const state of ["ready", "running"] as const) {
      assert.match((await observe(listRuns(store, { limit, state }))).plan, /SCAN job USING (COVERING )?INDEX job_lane/)
    }
    for (const state of ["new", "sending"] as const) {
      const { plan } = await observe(listDeliveries(store, { limit, state }))
      assert.match(plan, /SCAN outbox USING (COVERING )?INDEX outbox_lane/)
    }
    for (const state of ["done", "dead", "cancelled"] as const) {
      assert.equal((await observe(listRuns(store, { limit, state }))).width, 5_000)
    }
    for (const state of ["sent", "dead", "uncertain"] as const) {
      assert.equal((await observe(listDeliveries(store, { limit, state }))).width, 5_000)
    }
    assert.equal((await observe(listEvents(store, { limit, session: "rare" }))).width, 5_000)
    assert.equal((await large.get("/api/runs?state=ready")).json.items[0].runId, "open")
  })

  test("a rare row is found by following the pages", async () => {
    let found: string | undefined
    let pages = 0
    for (let next: number | null = 200_002; next !== null && found === undefined; pages += 1) {
      const { json } = await large.get(`/api/runs?state=dead&before=${next}`)
      found = json.items[0]?.runId
      next = json.next
    }
    assert.equal(found, "r5")
    assert.ok(pages === 40 || pages === 41, `${pages} pages`)
  })
})

describe("actions", () => {
  test("pass checked input on", async () => {
    gateway.calls.length = 0
    assert.equal((await gateway.get("/api/pairing/ChatApp")).json.allowed[0].label, "Ann")
    assert.equal((await gateway.get("/api/pairing/pigeon")).json.error.code, "channel-unknown")
    const approved = await gateway.post("/api/pairing/chatapp/approve", { code: " ABCD1234 ", notify: true })
    const granted = { senderId: "7", label: "Ann", account: "default", isOwner: false, isAnswered: true, sharesWith: 0 }
    assert.deepEqual(approved.json, { ok: true, ...granted })
    await gateway.post("/api/pairing/chatapp/revoke", { senderId: 7, account: "work" })
    const sent = await gateway.post("/api/message/send", {
      channel: "chatapp",
      target: -100,
      message: "hi",
      replyTo: 5,
    })
    assert.equal(sent.status, 202)
    const dry = await gateway.post("/api/message/send", {
      target: "@ann",
      media: "a.png",
      dryRun: true,
    })
    assert.equal(dry.status, 200)
    const one = { channel: "chatapp", target: -100, messageId: 5 }
    assert.equal((await gateway.post("/api/message/edit", { ...one, message: "better" })).status, 202)
    assert.equal((await gateway.post("/api/message/delete", { ...one, dryRun: true })).status, 200)
    assert.equal(
      (await gateway.post("/api/message/react", { target: "@ann", messageId: "5", emoji: "👍" })).status,
      202,
    )
    const told = { channel: "chatapp", target: "-100", messageId: "5" }
    assert.deepEqual(gateway.calls.splice(-3), [
      { action: "edit", ...told, message: "better" },
      { action: "delete", ...told, dryRun: true },
      { action: "react", channel: "last", target: "@ann", messageId: "5", emoji: "👍" },
    ])
    assert.deepEqual(gateway.calls, [
      { channel: "chatapp", by: "gateway token", code: "ABCD1234", notify: true },
      { channel: "chatapp", senderId: "7", account: "work" },
      { channel: "chatapp", target: "-100", message: "hi", replyTo: "5" },
      { channel: "last", target: "@ann", message: "", media: "a.png", dryRun: true },
    ])
    assert.deepEqual((await gateway.get("/api/channels?probe=true")).json.channels, [
      { channel: "chatapp", probe: true },
    ])
    assert.deepEqual((await gateway.get("/api/channels")).json.channels, [{ channel: "chatapp", probe: false }])
  })

  test("of sessions, browsers and secrets are passed on, and answered as they end", async () => {
    gateway.calls.length = 0
    const compacted = await gateway.post("/api/session/compact", { key: "agent:main:main", instructions: "short" })
    assert.deepEqual([compacted.status, compacted.json], [202, { ok: true, runId: "r" }])
    assert.deepEqual((await gateway.post("/api/session/delete", { key: "agent:main:main" })).json.conversations, 1)
    await gateway.get("/api/session/messages?key=agent:main:main&last=true")
    await gateway.get("/api/session/messages?key=agent:main:main&last=false")
    await gateway.get("/api/search?text=words&session=AGENT:main:main")
    assert.deepEqual(gateway.calls.splice(0, 2), [
      { compact: "agent:main:main", instructions: "short" },
      { remove: "agent:main:main" },
    ])
    const [first, second, search] = gateway.calls.splice(0) as Record<string, unknown>[]
    assert.deepEqual([first?.["last"], second?.["last"], search?.["key"]], [true, false, "agent:main:main"])
    const profile = "work"
    assert.equal((await gateway.post("/api/browser/start", { profile })).status, 200)
    assert.equal((await gateway.post("/api/browser/stop", { profile })).json.stopped, true)
    const opened = await gateway.post("/api/browser/open", { profile, url: "https://example.org/" })
    assert.equal(opened.json.targetId, "T")
    assert.equal((await gateway.post("/api/browser/close", { profile, targetId: "T" })).status, 200)
    assert.equal((await gateway.get("/api/browser/snapshot?profile=work&targetId=T")).json.truncated, false)
    assert.deepEqual(gateway.calls, [
      { start: ["work"] },
      { stop: ["work"] },
      { open: ["work", "https://example.org/"] },
      { close: ["work", "T"] },
      { snapshot: ["work", "T"] },
    ])
    const refused = await gateway.post("/api/secrets", {
      name: "shop",
      origins: ["https://shop.example"],
      value: "a-value-that-is-told",
    })
    assert.match(refused.json.error.message, /^shop is not kept here/)
    // From then on it leaves in no answer.
    const told = await gateway.post("/api/secrets/remove", { name: "a-value-that-is-told" })
    assert.deepEqual([told.status, told.text.includes("a-value-that-is-told")], [404, false])
  })

  test("stand in the audit log with what they were about", async () => {
    const profile = "work"
    const key = "agent:main:main"
    const one = { channel: "chatapp", target: "42", messageId: "5" }
    const acts: [string, unknown, string][] = [
      ["/api/pairing/chatapp/approve", { code: "ABCD1234" }, "chatapp default 7"],
      ["/api/pairing/chatapp/deny", { code: "ABCD1234" }, "chatapp default 8"],
      ["/api/pairing/chatapp/revoke", { senderId: "9", account: "work" }, "chatapp work 9"],
      ["/api/browser/start", { profile }, "work"],
      ["/api/browser/stop", { profile }, "work"],
      ["/api/browser/open", { profile, url: "https://example.org/" }, "work"],
      ["/api/browser/close", { profile, targetId: "T" }, "work"],
      ["/api/session/compact", { key }, key],
      ["/api/session/delete", { key }, key],
      ["/api/secrets", { name: "shop", origins: ["https://shop.example"], value: "another-value" }, "shop"],
      ["/api/secrets/remove", { name: "shop" }, "shop"],
      ["/api/message/send", { channel: "chatapp", account: "work", target: "42", message: "x" }, "chatapp work 42"],
      ["/api/message/delete", { ...one, dryRun: true }, "chatapp 42 (dry run)"],
    ]
    for (const [path, body, target] of acts) {
      await gateway.post(path, body)
      const [newest] = (await gateway.get("/api/audit?limit=1")).json.items
      assert.equal(newest.target, target, `${path}: ${JSON.stringify(newest)}`)
    }
  })

  test("refuse wrong input, naming the field", async () => {
    const cases: [string, unknown, RegExp][] = [
      ["/api/pairing/chatapp/approve", {}, /^code/],
      ["/api/pairing/chatapp/approve", { code: "A", extra: 1 }, /extra/],
      ["/api/pairing/chatapp/revoke", { senderId: {} }, /^senderId/],
      ["/api/message/send", { channel: "chatapp", target: "1" }, /^message: is required when there is no media/],
      ["/api/message/send", { channel: "", target: "1", message: "x" }, /^channel/],
      ["/api/message/send", { channel: "c", target: "1", message: "x", dryRun: "yes" }, /^dryRun/],
      ["/api/message/send", [], /object/],
      ["/api/message/edit", { target: "1", messageId: "2", message: " " }, /^message: is empty/],
      ["/api/message/delete", { target: "1" }, /^messageId/],
      ["/api/message/react", { target: "1", messageId: "2", emoji: 3 }, /^emoji/],
    ]
    for (const [path, body, message] of cases) {
      const answer = await gateway.post(path, body)
      assert.equal(answer.status, 400)
      assert.match(answer.json.error.message, message)
    }
    assert.match((await gateway.get("/api/channels?probe=maybe")).json.error.message, /^probe/)
  })

  test("refuse bodies over 1 MB, broken JSON and endless nesting", async () => {
    const post = (body: string) => gateway.send("/api/message/send", { method: "POST", headers: bearer, body })
    assert.equal((await post("x".repeat(1024 * 1024 + 1))).status, 413)
    assert.equal((await post("{")).status, 400)
    assert.equal((await post("[".repeat(100_000))).status, 400)
    assert.equal((await gateway.send("/healthz")).status, 200)
  })

  test("answer a stop before it begins", async () => {
    gateway.calls.length = 0
    const answer = await gateway.post("/api/stop", {})
    assert.equal(answer.status, 202)
    while (gateway.calls.length === 0) await turnOfTheLoop()
    assert.deepEqual(gateway.calls, ["stop"])
  })
})

test("known secrets never leave in an answer", async () => {
  const secret = "1234567:AAExampleExampleExampleExampleExample"
  gateway.redactor.add("plain-secret-value")
  await gateway.store.write(async (write) => {
    write.addEvent({
      sessionKey: "s",
      text: `${secret} plain-secret-value ${gatewayToken}`,
      origin: "webhook",
      trusted: false,
    })
  })
  const { text } = await gateway.get("/api/events?session=s")
  assert.ok(!text.includes(secret) && !text.includes("plain-secret-value"))
  assert.ok(!text.includes(gatewayToken), "the gateway's own token is one")
  assert.match(text, /\*\*\* \*\*\* \*\*\*/)
})

test("a stop lets a running request finish and takes no new ones", async () => {
  let release = () => {}
  let entered = () => {}
  const running = new Promise<void>((resolve) => (entered = resolve))
  const local = await startGateway({
    hooks: {
      path: () => "/hooks",
      handle: async () => {
        entered()
        await new Promise<void>((resolve) => (release = resolve))
        return new Response("finished")
      },
    },
  })
  const answer = local.send("/hooks/x")
  await running
  const stopped = local.server.stop(5_000)
  await assert.rejects(local.send("/healthz"), { code: "ECONNREFUSED" })
  release()
  assert.equal((await answer).text, "finished")
  await stopped
  await local.stop()
})

test("deliveries of webhooks are listed, shown, replayed and tried by what the webhooks provide", async () => {
  const gateway = await startGateway()
  try {
    assert.equal((await gateway.get("/api/hooks?limit=2&before=9")).json.query.before, 9)
    assert.equal((await gateway.get("/api/hooks?limit=0")).status, 400)
    assert.equal((await gateway.get("/api/hooks/7")).json.id, 7)
    assert.equal((await gateway.get("/api/hooks/x")).status, 400)
    assert.equal((await gateway.post("/api/hooks/7/replay", {})).json.status, 202)
    const tried = await gateway.post("/api/hooks/test", { path: "/github", body: "{}", dryRun: true })
    assert.deepEqual(tried.json, { ok: true, mapping: "wake", actions: [] })
    assert.equal((await gateway.post("/api/hooks/test", { path: "github" })).status, 400)
    assert.deepEqual(gateway.calls, [{ replay: 7 }, { path: "github", body: "{}", dryRun: true }])
  } finally {
    await gateway.stop()
  }
})

describe("usage", () => {
  let counting: Gateway
  before(async () => {
    counting = await startGateway()
    const unknown = { cacheReadTokens: undefined, cacheWriteTokens: undefined, reasoningTokens: undefined }
    for (const [model, cost] of [
      ["test/small", 0.25],
      ["test/small", undefined],
      ["test/large", 2],
    ] as const) {
      counting.ledger.record({
        model,
        agentId: "main",
        usedFor: { purpose: "chat", sessionKey: "agent:main:main" },
        usage: { ...unknown, inputTokens: 100, outputTokens: 10 },
        cost,
        ms: 5,
      })
    }
    await counting.store.write(async () => undefined)
  })
  after(() => counting.stop())

  test("is told by day unless something else is asked for, with the range that it is of", async () => {
    const { json, status } = await counting.get("/api/usage")
    assert.equal(status, 200)
    const { ok, by, rows, totals, more, timeZone, since, until } = json
    assert.deepEqual([ok, by, rows.length, more, timeZone], [true, "day", 1, false, "UTC"])
    assert.match(rows[0].key, /^\d{4}-\d\d-\d\d$/)
    const sums = { input: 300, output: 30, cacheRead: null, cacheWrite: null, reasoning: null }
    assert.deepEqual(totals, { calls: 3, ...sums, cost: 2.25, uncounted: 0, unpriced: 1 })
    assert.equal(until - since, 30 * 24 * 60 * 60 * 1000)
  })

  test("is told by model, as many rows as are wanted", async () => {
    const { json } = await counting.get("/api/usage?by=model&since=1d&limit=1")
    assert.deepEqual([json.rows.length, json.rows[0].key, json.more, json.totals.calls], [1, "test/large", true, 3])
    assert.deepEqual((await counting.get("/api/usage?by=model&until=2020-01-31&since=2020-01-01")).json.rows, [])
  })

  test("refuses what cannot be meant, and says what can", async () => {
    for (const [query, told] of [
      ["by=week", /^by: .*"day".*"purpose"/],
      ["since=soon", /^since: is "soon"/],
      ["until=2026-02-30", /^until: is "2026-02-30"/],
      ["since=2026-11-02&until=2026-11-01", /^since: must be before until/],
      ["limit=501", /^limit/],
    ] as const) {
      const { status, json } = await counting.get(`/api/usage?${query}`)
      assert.deepEqual([status, json.error.code], [400, "bad-request"])
      assert.match(json.error.message, told)
    }
    assert.equal((await counting.post("/api/usage", {})).status, 405)
    assert.equal((await counting.send("/api/usage")).status, 401)
  })
})

describe("models", () => {
  test("are listed, and one is tested as it was asked for", async () => {
    const { status, json } = await gateway.get("/api/models")
    assert.deepEqual([status, json], [200, { ok: true, models: [], asked: ["a/b"] }])
    const asked = { model: " a/c ", timeoutSeconds: 2.5 }
    const tested = await gateway.post("/api/models/test", asked)
    assert.deepEqual([tested.status, tested.json], [200, { ok: true, model: "a/c", usable: true }])
    assert.deepEqual(gateway.calls.at(-1), { testModel: { model: "a/c", timeoutSeconds: 2.5 } })
    await gateway.post("/api/models/test", {})
    assert.deepEqual(gateway.calls.at(-1), { testModel: {} })
  })

  test("are not tested without the token, with another method, or by what cannot be meant", async () => {
    const before = gateway.calls.length
    assert.equal((await gateway.send("/api/models")).status, 401)
    assert.equal((await gateway.send("/api/models/test", { method: "POST", body: "{}" })).status, 401)
    assert.equal((await gateway.post("/api/models", {})).status, 405)
    for (const [body, told] of [
      [{ model: " " }, /^model/],
      [{ timeoutSeconds: 0 }, /^timeoutSeconds/],
      [{ timeoutSeconds: 4_000 }, /^timeoutSeconds/],
      [{ name: "a/b" }, /name/],
    ] as const) {
      const { status, json } = await gateway.post("/api/models/test", body)
      assert.deepEqual([status, json.error.code], [400, "bad-request"])
      assert.match(json.error.message, told)
    }
    assert.equal(gateway.calls.length, before)
  })
})
