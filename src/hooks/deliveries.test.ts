import assert from "node:assert/strict"
import { after, afterEach, before, describe, test } from "node:test"
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib"
import { bearer, hookToken, startHooks } from "./hooks.fixture.ts"

let server: Awaited<ReturnType<typeof startHooks>>
before(async () => (server = await startHooks()))
after(() => server.stop())
afterEach(() => {
  for (const table of ["event", "job", "inbox", "hook_delivery"]) server.rows(`delete from ${table}`)
  server.configure({ mappings: [] })
})

const list = async (query: { mapping?: string; limit?: number; before?: number } = {}) => {
  await server.background.idle()
  return server.hooks.deliveries.list({ limit: 50, ...query })
}
const inputs = () =>
  server.rows("select payload from job where kind = 'turn' order by id").map((row) => JSON.parse(String(row.payload)))

describe("a delivery is kept", () => {
  test("with its body, headers without secrets, verdict, runs and timing", async () => {
    const answer = await server.post("/hooks/agent?page=1", { message: "m" }, { "x-kept": "yes" })
    const [item] = (await list()).items
    assert.equal(item?.mapping, "agent")
    assert.equal(item?.verdict, "accepted")
    assert.deepEqual(item?.runIds, [answer.json.runId])
    assert.ok(item && item.tookMs > 0 && item.tookMs < 5_000)
    const detail = server.hooks.deliveries.read(item.id)
    assert.equal(detail.body, '{"message":"m"}')
    assert.equal(detail.headers["x-kept"], "yes")
    assert.deepEqual(detail.query, { page: "1" })
    assert.equal(detail.runs[0]?.state, "ready")
    assert.ok(!JSON.stringify(detail).includes(hookToken))
  })

  test("when it was refused, repeated or failed, and strangers are only counted", async () => {
    server.configure({ mappings: [{ id: "m", match: { path: "m" }, messageTemplate: "{{x}}" }] })
    await server.post("/hooks/wake", {})
    await server.post("/hooks/m", {})
    await server.send("/hooks/m", { headers: bearer, body: "{broken" })
    await server.post("/hooks/agent", { message: "m" }, { "idempotency-key": "k" })
    await server.post("/hooks/agent", { message: "m" }, { "idempotency-key": "k" })
    await server.send("/hooks/agent", { body: "{}" })
    await server.send("/hooks/m", { body: '{"secret":"of a stranger"}' })
    await server.post("/hooks/gone", {})
    await server.post("/hooks/agent", { message: "x".repeat(300_000) })
    const { items, refused } = await list()
    const seen = items.map((item) => `${item.mapping} ${item.verdict} ${item.status}`)
    assert.deepEqual(
      seen.toSorted(),
      [
        "agent accepted 202",
        "agent duplicate 200",
        "m refused 400",
        "m refused 401",
        " refused 400",
        "wake refused 400",
        " refused 404",
        "agent refused 413",
      ].toSorted(),
    )
    assert.equal(refused["unauthorized"], 2)
    const stranger = items.find((item) => item.status === 401)
    assert.equal(server.hooks.deliveries.read(stranger?.id ?? 0).body, "")
    await assert.rejects(() => server.hooks.deliveries.replay(stranger?.id ?? 0), { code: "conflict" })
  })

  test("and a flood of refused ones is not: the disk is not theirs to fill", async () => {
    const local = await startHooks()
    const began = performance.now()
    try {
      for (let round = 0; round < 10; round += 1) {
        await Promise.all(Array.from({ length: 60 }, () => local.post("/hooks/wake", {})))
      }
      await local.background.idle()
      const { refused } = local.hooks.deliveries.list({ limit: 1 })
      assert.equal(refused["bad-request"], 600)
      const kept = local.rows("select count(*) as n from hook_delivery")[0]?.n as number
      // A slow machine spreads them over more seconds, each of which lets some through.
      const most = 200 + (20 * (performance.now() - began)) / 1000
      assert.ok(kept >= 200 && kept <= Math.ceil(most), `${kept} of at most ${most}`)
    } finally {
      await local.stop()
    }
  })

  test("without what could be a credential, by its name or by the word of a mapping", async () => {
    const hide = ["X-Shop-Proof", "code"]
    server.configure({
      mappings: [{ id: "m", match: { path: "m" }, messageTemplate: "{{query.code}}|{{query.page}}", hide }],
    })
    const names = ["api_key", "apikey", "key", "sig", "signature", "access_token", "X-Amz-Signature", "code", "Code"]
    const query = new URLSearchParams([
      ...names.map((name): [string, string] => [name, "HIDDEN"]),
      ["page", "7"],
      ["monkey", "b"],
    ])
    const headers = { ...bearer, "x-shop-proof": "HIDDEN", "x-api-key": "HIDDEN", "x-plain": "shown" }
    const answer = await server.send(`/hooks/m?${query}`, { headers, body: "{}" })
    assert.equal(answer.status, 202)
    const [item] = (await list()).items
    const detail = server.hooks.deliveries.read(item?.id ?? 0)
    assert.deepEqual(detail.query, { page: "7", monkey: "b" })
    assert.equal(detail.headers["x-plain"], "shown")
    const everything = ["hook_delivery", "job", "event", "inbox"].map((table) =>
      JSON.stringify(server.rows(`select * from ${table}`)),
    )
    assert.ok(!(everything.join("") + server.logged()).includes("HIDDEN"))
    const tested = await server.hooks.deliveries.test({
      path: "m",
      body: "{}",
      query: { code: "HIDDEN" },
      dryRun: true,
    })
    assert.ok(!JSON.stringify(tested).includes("HIDDEN"))
  })

  test("and of strangers one small row for an address, mapping and hour, with how many they were", async () => {
    const local = await startHooks()
    try {
      const signed = {
        match: { path: "s" },
        messageTemplate: "x",
        verify: { scheme: "github", secret: "0".repeat(20) },
      }
      local.configure({
        mappings: [
          { id: "m", match: { path: "m" }, messageTemplate: "x" },
          { id: "s", ...signed },
        ],
      })
      const headers = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`x-h${n}`, "h".repeat(200)]))
      const statuses = new Set<number>()
      for (let round = 0; round < 30; round += 1) {
        for (const path of ["m", "s"]) {
          const body = path === "s" ? "b".repeat(1_000) : "{}"
          statuses.add((await local.send(`/hooks/${path}?page=${"q".repeat(500)}`, { headers, body })).status)
        }
      }
      assert.deepEqual([...statuses].toSorted(), [401, 429])
      await local.background.idle()
      await local.hooks.stop()
      const rows = local.rows(`select mapping, address, times, length(body) as body,
        length(method) + length(path) + length(headers) + length(query) as bytes from hook_delivery order by mapping`)
      assert.deepEqual(
        rows.map(({ mapping, address, times, body }) => ({ mapping, address, times, body })),
        ["m", "s"].map((mapping) => ({ mapping, address: "127.0.0.1", times: 30, body: 0 })),
      )
      for (const { bytes } of rows) assert.ok(Number(bytes) <= 512, String(bytes))
    } finally {
      await local.stop()
    }
  })

  test("and only so much of them all together: the oldest go, a few at a time", async () => {
    const local = await startHooks({}, {}, { keepDays: 7, keepBytes: 100_000 })
    try {
      for (let n = 0; n < 60; n += 1) {
        await local.post("/hooks/wake", { text: `t${n}`, mode: "next-heartbeat", filler: "f".repeat(5_000) })
      }
      const kept = () =>
        local.rows(
          "select (select bytes from hook_kept) as bytes, count(*) as n, max(id) as newest from hook_delivery",
        )[0]
      assert.ok(Number(kept()?.bytes) > 300_000)
      await local.store().prune()
      const { bytes, n, newest } = kept() ?? {}
      assert.ok(Number(bytes) <= 100_000 && Number(bytes) > 0, String(bytes))
      assert.ok(Number(n) > 0 && Number(n) < 20, String(n))
      assert.equal(newest, 60)
    } finally {
      await local.stop()
    }
  })

  test("in the transaction of what it caused: both or neither", async () => {
    await Promise.all(Array.from({ length: 20 }, (_, n) => server.post("/hooks/agent", { message: `m${n}` })))
    const known = new Set(server.rows("select run_id from job").map((row) => row.run_id))
    const kept = server.rows("select runs from hook_delivery").flatMap((row) => JSON.parse(String(row.runs)))
    assert.equal(kept.length, 20)
    assert.ok(kept.every((runId) => known.has(runId)))
  })

  test("and can be listed in pages, by mapping", async () => {
    for (let n = 0; n < 5; n += 1) await server.post("/hooks/wake", { text: `t${n}`, mode: "next-heartbeat" })
    await server.post("/hooks/agent", { message: "m" })
    const first = await list({ mapping: "wake", limit: 3 })
    assert.equal(first.items.length, 3)
    const second = await list({ mapping: "wake", limit: 3, before: first.next ?? 0 })
    assert.equal(second.items.length, 2)
    assert.equal(second.next, null)
    assert.equal((await list({ mapping: "none" })).items.length, 0)
  })

  test("for as many days as the configuration says, and ids for a week at least", async () => {
    const day = 24 * 60 * 60 * 1000
    const local = await startHooks({}, {}, { keepDays: 2 })
    try {
      await local.post("/hooks/wake", { text: "old" }, { "idempotency-key": "k" })
      for (const table of ["hook_delivery", "inbox"]) {
        local.store().handle.raw.exec(`update ${table} set received_at = received_at - ${3 * day}`)
      }
      await local.post("/hooks/wake", { text: "new" })
      await local.store().prune()
      assert.equal(local.rows("select id from hook_delivery").length, 1)
      assert.equal((await local.post("/hooks/wake", { text: "old" }, { "idempotency-key": "k" })).json.duplicate, true)
    } finally {
      await local.stop()
    }
  })
})

describe("a kept delivery", () => {
  test("can be replayed, as a delivery of its own that no key stops", async () => {
    server.configure({
      mappings: [
        { id: "m", match: { path: "m" }, messageTemplate: "{{x}} {{headers.x-kind}} {{query.q}}", dedupe: true },
      ],
    })
    await server.post("/hooks/m?q=1", { x: "a" }, { "x-kind": "k" })
    const original = (await list()).items[0]?.id ?? 0
    const { status, answer } = await server.hooks.deliveries.replay(original)
    assert.equal(status, 202)
    assert.deepEqual(
      inputs().map((input) => input.text),
      ["a k 1", "a k 1"],
    )
    const [newest] = (await list()).items
    assert.equal(newest?.replayOf, original)
    assert.deepEqual(newest?.runIds, [(answer as { runId: string }).runId])
    await assert.rejects(() => server.hooks.deliveries.replay(99_999), { code: "not-found" })
  })

  test("is replayed once by a wish that is sent twice with the same key", async () => {
    await server.post("/hooks/agent", { message: "m" })
    const original = (await list()).items[0]?.id ?? 0
    const replay = async (key: string) => (await server.hooks.deliveries.replay(original, key)).answer
    const first = (await replay("first key")) as { runId: string }
    assert.deepEqual(await replay("first key"), { ...first, duplicate: true })
    assert.equal(inputs().length, 2)
    await replay("other key")
    assert.equal(inputs().length, 3)
  })

  test("can be tried before it exists: the mapping, the message and the place, without a run", async () => {
    server.configure({ mappings: [{ id: "m", match: { path: "m" }, messageTemplate: "{{x}}", sessionKey: "s:{{x}}" }] })
    const plan = await server.hooks.deliveries.test({ path: "m", body: '{"x":"a"}', dryRun: true })
    assert.partialDeepStrictEqual(plan, {
      mapping: "m",
      actions: [
        { kind: "agent", session: "agent:main:hook:s:a", message: "a", route: { chatId: "42" }, wrapped: true },
      ],
    })
    assert.equal(server.rows("select * from job").length + server.rows("select * from hook_delivery").length, 0)
    await assert.rejects(server.hooks.deliveries.test({ path: "none", body: "{}", dryRun: true }), {
      code: "not-found",
    })
    await assert.rejects(server.hooks.deliveries.test({ path: "m", body: "{", dryRun: true }), { code: "bad-json" })
    const done = await server.hooks.deliveries.test({ path: "m", body: '{"x":"b"}' })
    assert.partialDeepStrictEqual(done, { status: 202 })
    assert.equal(inputs().length, 1)
  })
})

describe("a packed body", () => {
  const send = (body: Buffer, encoding: string) =>
    server.send("/hooks/wake", { headers: { ...bearer, "content-encoding": encoding }, body })
  const plain = Buffer.from('{"text":"packed"}')

  test("is unpacked: gzip, br, deflate", async () => {
    assert.equal((await send(gzipSync(plain), "gzip")).status, 200)
    assert.equal((await send(brotliCompressSync(plain), "BR")).status, 200)
    assert.equal((await send(deflateSync(plain), "deflate")).status, 200)
    assert.equal((await send(plain, "identity")).status, 200)
    assert.equal(server.rows("select text from event where text = 'packed'").length, 4)
  })

  test("that unpacks to more than the limit is a 413, however small it came", async () => {
    const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024))
    assert.ok(bomb.length < 262_144)
    const answer = await send(bomb, "gzip")
    assert.equal(answer.status, 413)
    assert.equal(answer.headers.connection, "close")
  })

  test("that is broken, or packed in a way nobody knows, is refused", async () => {
    assert.equal((await send(plain, "gzip")).status, 400)
    assert.equal((await send(plain, "zstd")).status, 415)
    assert.equal((await send(gzipSync(plain), "gzip, gzip")).status, 415)
    assert.equal((await send(plain, "__proto__")).status, 415)
  })
})

describe("the result of a run", () => {
  test("is the answer when the sender waits and it comes in time", async () => {
    const pending = server.post("/hooks/agent?wait=20", { message: "m" })
    while (server.listeners.size === 0) await new Promise((resolve) => setImmediate(resolve))
    const runId = String(server.rows("select run_id from job")[0]?.run_id)
    server.endRun("another-run", "")
    server.endRun(runId, "It is done.")
    const answer = await pending
    assert.equal(answer.status, 200)
    assert.partialDeepStrictEqual(answer.json, { ok: true, runId, state: "done", reply: "It is done." })
    assert.equal(server.listeners.size, 0)
  })

  test("is not waited for longer than asked, nor by a sender who has gone", async () => {
    const late = await server.post("/hooks/agent?wait=0.05", { message: "m" })
    assert.equal(late.status, 202)
    assert.deepEqual(Object.keys(late.json), ["ok", "runId"])
    const abort = new AbortController()
    const gone = fetch(`http://127.0.0.1:${server.port}/hooks/agent?wait=300`, {
      method: "POST",
      headers: bearer,
      body: '{"message":"m"}',
      signal: abort.signal,
    })
    while (server.listeners.size === 0) await new Promise((resolve) => setImmediate(resolve))
    abort.abort()
    await assert.rejects(gone)
    while (server.listeners.size > 0) await new Promise((resolve) => setImmediate(resolve))
    assert.equal(inputs().length, 2)
  })

  test("of a repeat is that of the first", async () => {
    const key = { "idempotency-key": "w" }
    const first = await server.post("/hooks/agent", { message: "m" }, key)
    server.endRun(first.json.runId, "early")
    const again = await server.post("/hooks/agent?wait=5", { message: "m" }, key)
    assert.partialDeepStrictEqual(again.json, {
      runId: first.json.runId,
      duplicate: true,
      state: "done",
      reply: "early",
    })
  })

  test("must be waited for with a sensible number", async () => {
    for (const wait of ["301", "-1", "x", "1e9", ""]) {
      assert.equal((await server.post(`/hooks/agent?wait=${wait}`, { message: "m" })).status, 400, wait)
    }
    assert.equal(inputs().length, 0)
  })

  test("can be asked for with the hook token, for runs of webhooks alone", async () => {
    const { runId } = (await server.post("/hooks/agent", { message: "m" })).json
    const get = (id: string, headers = {}) => server.send(`/hooks/runs/${id}`, { method: "GET", headers })
    assert.equal((await get(runId)).status, 401)
    assert.partialDeepStrictEqual((await get(runId, bearer)).json, { ok: true, runId, state: "ready", reply: null })
    server.endRun(runId, "done")
    assert.partialDeepStrictEqual((await get(runId, bearer)).json, { state: "done", reply: "done" })
    server.store().handle.raw.exec("update job set payload = json_set(payload, '$.purpose', 'chat')")
    assert.equal((await get(runId, bearer)).status, 404)
    assert.equal((await get("unknown", bearer)).status, 404)
    assert.equal(
      (await server.send(`/hooks/runs/${runId}`, { method: "POST", headers: bearer, body: "{}" })).status,
      404,
    )
    const head = await server.send(`/hooks/runs/${runId}`, { method: "HEAD", headers: bearer })
    assert.deepEqual([head.status, head.text], [404, ""])
  })
})
