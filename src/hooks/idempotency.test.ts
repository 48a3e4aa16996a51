import assert from "node:assert/strict"
import { after, before, test } from "node:test"
import { silentLog, testStore } from "../../test/support/store.ts"
import { createBackground, createRedactor, systemClock, systemIds } from "../kernel/index.ts"
import { bearer, hookToken, hooksConfig, sendRaw, startHooks } from "./hooks.fixture.ts"
import { type ProcessOptions, processDelivery } from "./process.ts"
import { createRecorder } from "./recorder.ts"
import { prepareSettings } from "./settings.ts"
import { findAnswer } from "./store.ts"

let server: Awaited<ReturnType<typeof startHooks>>
before(async () => (server = await startHooks()))
after(() => server.stop())

const key = (value: string) => ({ "idempotency-key": value })
const runs = () => server.rows("select * from job where kind = 'turn'").length

test("a repeat gets the first answer and runs nothing, also after a restart", async () => {
  const first = await server.post("/hooks/agent", { message: "m" }, key("order-1"))
  assert.equal(first.status, 202)
  const before = runs()
  const repeat = await server.post("/hooks/agent", { message: "m" }, key("order-1"))
  assert.equal(repeat.status, 200)
  assert.deepEqual(repeat.json, { ...first.json, duplicate: true })
  await server.reopenStore()
  const later = await server.post("/hooks/agent", { message: "other" }, key("order-1"))
  assert.equal(later.status, 200)
  assert.deepEqual(later.json, { ...first.json, duplicate: true })
  assert.equal(runs(), before)
})

test("a repeat that arrives while a transform works on the first does not call it", async (context) => {
  const store = await testStore(context)
  const parts = { clock: systemClock, log: silentLog, background: createBackground(silentLog) }
  const made = Promise.withResolvers<object>()
  let calls = 0
  const options: ProcessOptions = {
    ...parts,
    ids: systemIds,
    mainAgentId: () => "main",
    mainSessionKey: () => "agent:main:main",
    resolveRoute: async () => ({ route: null }),
    checkModel: () => undefined,
    ingest: (entry) => store.ingest(entry),
    findAnswer: (known) => findAnswer(store, known),
    runTransform: async () => {
      calls += 1
      return await made.promise
    },
    underWay: new Map(),
    recorder: createRecorder({ ...parts, store }),
  }
  const mappings = [{ match: { path: "t" }, transform: { module: "t.mjs" }, messageTemplate: "m" }]
  const settings = prepareSettings(hooksConfig({ mappings }), hookToken, { log: silentLog, redactor: createRedactor() })
  const deliver = () =>
    processDelivery(options, settings, {
      receivedAt: 0,
      beganAt: 0,
      mapping: "",
      path: "t",
      method: "POST",
      headers: {},
      query: {},
      body: Buffer.from("{}"),
      payload: {},
      proof: { kind: "token" },
      idempotencyKey: "order-1",
    })
  const both = [deliver(), deliver()]
  made.resolve({})
  const [first, second] = await Promise.all(both)
  assert.deepEqual([calls, first?.status, second?.status], [1, 202, 200])
  assert.deepEqual(second?.answer, { ...first?.answer, duplicate: true })
  assert.equal(options.underWay.size, 0)
  await parts.background.idle()
})

test("repeats that arrive together run once", async () => {
  const before = runs()
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => server.post("/hooks/agent", { message: "m" }, key("burst"))),
  )
  assert.equal(answers.filter((answer) => answer.status === 202).length, 1)
  assert.equal(new Set(answers.map((answer) => answer.json.runId)).size, 1)
  assert.equal(runs(), before + 1)
})

test("the same key is another delivery at another endpoint and under another secret", async () => {
  assert.equal((await server.post("/hooks/agent", { message: "m" }, key("shared"))).status, 202)
  const wake = await server.post("/hooks/wake", { text: "t" }, key("shared"))
  assert.deepEqual(wake.json, { ok: true, mode: "now" })
  server.configure({ token: "second-secret-0123456789abcdef" })
  const other = { ...key("shared"), authorization: "Bearer second-secret-0123456789abcdef" }
  assert.equal((await server.post("/hooks/agent", { message: "m" }, other)).status, 202)
  server.configure({ token: hookToken })
})

test("deliveries without a key are all different", async () => {
  const before = runs()
  await server.post("/hooks/agent", { message: "m" })
  await server.post("/hooks/agent", { message: "m" })
  assert.equal(runs(), before + 2)
})

test("an unusable key is refused rather than ignored", async () => {
  for (const value of ["", "x".repeat(256), "caf\u00e9"]) {
    const answer = await server.post("/hooks/wake", { text: "t" }, key(value))
    assert.equal(answer.status, 400)
    assert.match(answer.json.error.message, /Idempotency-Key/)
  }
  assert.equal((await server.post("/hooks/wake", { text: "t" }, key("x".repeat(255)))).status, 200)
  const twice = await sendRaw(
    server.port,
    `POST /hooks/wake HTTP/1.1\r\nHost: a\r\nAuthorization: ${bearer.authorization}\r\nIdempotency-Key: a\r\n` +
      'Idempotency-Key: b\r\nConnection: close\r\nContent-Length: 12\r\n\r\n{"text":"t"}',
  )
  assert.match(twice, /^HTTP\/1\.1 400 /)
})
