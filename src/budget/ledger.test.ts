import assert from "node:assert/strict"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { type TestContext, describe, test } from "node:test"
import { pino } from "pino"
import { plain, silentLog, testStore } from "../../test/support/store.ts"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { type Clock, createBackground, systemClock } from "../kernel/index.ts"
import type { UsageRecord } from "../models/contract.ts"
import { type Store, writeStep } from "../store/index.ts"
import { type UsageGroup, type UsageQuery, createLedger } from "./index.ts"

const noon = Date.parse("2026-11-21T12:00:00Z")
const dayMs = 24 * 60 * 60 * 1000
const unknown = { cacheReadTokens: undefined, cacheWriteTokens: undefined, reasoningTokens: undefined }

function answered(more: Partial<UsageRecord> = {}): UsageRecord {
  return {
    model: "test/small",
    agentId: "main",
    usedFor: { purpose: "chat", sessionKey: "agent:main:main", runId: "run-1", origin: "owner" },
    usage: { ...unknown, inputTokens: 100, outputTokens: 10 },
    cost: 0.5,
    ms: 1200.4,
    ...more,
  }
}

function clockAt(start: number): Clock & { set(ms: number): void } {
  let now = start
  return { ...systemClock, now: () => now, set: (ms) => void (now = ms) }
}

async function begin(context: TestContext, options: { folder?: string; timeZone?: string } = {}) {
  const clock = clockAt(noon)
  const store = await testStore(context, { clock, ...(options.folder ? { folder: options.folder } : {}) })
  const background = createBackground(silentLog)
  const warnings: Record<string, unknown>[] = []
  const write = (line: string) => void warnings.push(JSON.parse(line) as Record<string, unknown>)
  const log = pino({ level: "warn" }, { write })
  const timeZone = options.timeZone ?? "UTC"
  const ledger = createLedger({ store, clock, log, background, timeZone: () => timeZone })
  return {
    store,
    clock,
    ledger,
    warnings,
    settled: () => background.idle(),
    async recordAt(time: string, more: Partial<UsageRecord> = {}) {
      clock.set(Date.parse(time))
      ledger.record(answered(more))
      await background.idle()
      clock.set(noon)
    },
    rowsBy: (by: UsageGroup, query: Partial<UsageQuery> = {}) =>
      ledger.summarise({ by, since: 0, until: noon + dayMs, limit: 50, ...query }).rows,
  }
}

const rows = (store: Store) => plain(store.handle.prepare("select * from usage order by id").all())

describe("a call that was answered", () => {
  test("is one row with all that is known of it", async (context) => {
    const { store, ledger, settled } = await begin(context)
    const counted = { cacheReadTokens: 60, cacheWriteTokens: 20, reasoningTokens: 0 }
    ledger.record(answered({ usage: { inputTokens: 100, outputTokens: 10, ...counted }, cost: 0.123456789 }))
    await settled()
    assert.deepEqual(rows(store), [
      {
        id: 1,
        created_at: noon,
        session_key: "agent:main:main",
        run_id: "run-1",
        agent_id: "main",
        purpose: "chat",
        origin: "owner",
        model: "test/small",
        input_tokens: 100,
        output_tokens: 10,
        cache_read_tokens: 60,
        cache_write_tokens: 20,
        reasoning_tokens: 0,
        cost_nano_dollars: 123_456_789,
        ms: 1200,
        counted_tokens: null,
        counted_nano_dollars: null,
      },
    ])
  })

  test("leaves empty what is not known or is nonsense, and never makes a zero of it", async (context) => {
    const { store, ledger, settled } = await begin(context)
    const nothing = { ...unknown, inputTokens: undefined, outputTokens: undefined }
    ledger.record(answered({ usedFor: { purpose: "test" }, usage: nothing, cost: undefined }))
    const nonsense = { ...unknown, inputTokens: -5, outputTokens: Number.NaN, cacheReadTokens: 1e300 }
    ledger.record(answered({ usage: nonsense, cost: Number.POSITIVE_INFINITY, ms: Number.NaN }))
    await settled()
    const values = rows(store).map((row) => [row["session_key"], row["input_tokens"], row["output_tokens"], row["ms"]])
    assert.deepEqual(values, [
      [null, null, null, 1200],
      ["agent:main:main", null, null, null],
    ])
    const { input, output, cacheRead, cost, uncounted, unpriced } = ledger.today()
    assert.deepEqual([input, output, cacheRead, cost, uncounted, unpriced], [null, null, null, null, 2, 2])
  })

  test("is written in the transaction of the journal's step of the same turn of the event loop", async (context) => {
    const { store, ledger, settled } = await begin(context)
    const watcher = new DatabaseSync(join(store.handle.raw.location() ?? ""))
    context.after(() => watcher.close())
    const version = () => (watcher.prepare("pragma data_version").get() as { data_version: number }).data_version
    const before = version()
    ledger.record(answered())
    await writeStep(store, 1, { n: 1, kind: "assistant", data: { text: "hello" } })
    await settled()
    assert.equal(version() - before, 1)
    assert.equal(rows(store).length, 1)
  })

  test("is there once after a restart", async (context) => {
    const folder = temporaryFolder()
    const first = await begin(context, { folder })
    first.ledger.record(answered())
    await first.settled()
    await first.store.close()
    const second = await begin(context, { folder })
    assert.equal(second.ledger.today().calls, 1)
  })
})

describe("what could not be written", () => {
  test("does not disturb who recorded it, is logged, and is written once with the next call", async (context) => {
    const { store, ledger, settled, warnings, clock } = await begin(context)
    store.handle.raw.exec("alter table usage rename to away")
    ledger.record(answered({ model: "test/first" }))
    ledger.record(answered({ model: "test/second" }))
    await settled()
    assert.deepEqual(
      warnings.map(({ msg, waiting, lost }) => [msg, waiting, lost]),
      [
        ["usage not written, tried again when the store works", 1, 0],
        ["usage not written, tried again when the store works", 2, 0],
      ],
    )
    store.handle.raw.exec("alter table away rename to usage")
    clock.set(noon + 1)
    ledger.record(answered({ model: "test/third" }))
    ledger.record(answered({ model: "test/fourth" }))
    await settled()
    assert.deepEqual(
      rows(store).map((row) => [row["model"], row["created_at"]]),
      [
        ["test/first", noon],
        ["test/second", noon],
        ["test/third", noon + 1],
        ["test/fourth", noon + 1],
      ],
    )
  })

  test("is forgotten from its oldest end when it grows too much", async (context) => {
    const { store, ledger, settled, warnings } = await begin(context)
    store.handle.raw.exec("alter table usage rename to away")
    for (let n = 1; n <= 1_002; n += 1) ledger.record(answered({ model: `test/${n}` }))
    await settled()
    assert.deepEqual([warnings.at(-1)?.["waiting"], warnings.at(-1)?.["lost"]], [1_000, 1])
    store.handle.raw.exec("alter table away rename to usage")
    ledger.record(answered({ model: "test/last" }))
    await settled()
    const models = rows(store).map((row) => row["model"])
    assert.deepEqual([models.length, models[0], models.at(-1)], [1_001, "test/3", "test/last"])
  })

  test("keeps nothing else of the same transaction from being written", async (context) => {
    const { store, ledger, settled } = await begin(context)
    store.handle.raw.exec("alter table usage rename to away")
    ledger.record(answered())
    await writeStep(store, 1, { n: 1, kind: "assistant", data: { text: "hello" } })
    await settled()
    assert.equal(store.handle.prepare("select count(*) as n from step").get()?.["n"], 1)
  })
})

describe("sums", () => {
  test("are made by model, session, run, agent and purpose, the costliest first", async (context) => {
    const { recordAt, rowsBy } = await begin(context)
    const chat = { purpose: "chat", sessionKey: "a", runId: "r1" } as const
    await recordAt("2026-11-20T10:00:00Z", { usedFor: chat, cost: 0.25 })
    await recordAt("2026-11-20T11:00:00Z", { usedFor: { ...chat, runId: "r2" }, model: "test/large", cost: 2 })
    await recordAt("2026-11-21T10:00:00Z", { usedFor: { purpose: "picture" }, agentId: "two", cost: undefined })
    const told = (by: UsageGroup) =>
      rowsBy(by).map(({ key, calls, input, cost, unpriced }) => [key, calls, input, cost, unpriced])
    assert.deepEqual(told("model"), [
      ["test/large", 1, 100, 2, 0],
      ["test/small", 2, 200, 0.25, 1],
    ])
    assert.deepEqual(told("session"), [
      ["a", 2, 200, 2.25, 0],
      [null, 1, 100, null, 1],
    ])
    assert.deepEqual(told("job"), [
      ["r2", 1, 100, 2, 0],
      ["r1", 1, 100, 0.25, 0],
      [null, 1, 100, null, 1],
    ])
    assert.deepEqual(told("agent"), [
      ["main", 2, 200, 2.25, 0],
      ["two", 1, 100, null, 1],
    ])
    assert.deepEqual(
      told("purpose").map(([key]) => key),
      ["chat", "picture"],
    )
  })

  test("keep to the time that was asked for, and their total counts rows that were left out too", async (context) => {
    const { recordAt, ledger } = await begin(context)
    for (const model of ["test/a", "test/b", "test/c"]) await recordAt("2026-11-20T10:00:00Z", { model })
    await recordAt("2026-11-19T10:00:00Z")
    await recordAt("2026-11-21T00:00:00Z")
    const range = { since: Date.parse("2026-11-20T00:00:00Z"), until: Date.parse("2026-11-21T00:00:00Z") }
    for (const [limit, more] of [
      [2, true],
      [3, false],
    ] as const) {
      const summary = ledger.summarise({ by: "model", ...range, limit })
      assert.deepEqual([summary.rows.length, summary.more], [limit, more])
      assert.deepEqual([summary.totals.calls, summary.totals.cost], [3, 1.5])
    }
  })

  test("of no calls are zero, not unknown", async (context) => {
    const { ledger } = await begin(context)
    const { calls, input, cost, unpriced } = ledger.today()
    assert.deepEqual([calls, input, cost, unpriced], [0, 0, 0, 0])
    assert.deepEqual(ledger.summarise({ by: "day", since: 0, until: noon, limit: 5 }).rows, [])
  })

  test("add up tiny prices exactly", async (context) => {
    const { ledger, settled } = await begin(context)
    for (let n = 0; n < 1_000; n += 1) ledger.record(answered({ cost: 0.00000001 }))
    await settled()
    assert.equal(ledger.today().cost, 0.00001)
  })

  test("of a session can begin with its newest id", async (context) => {
    const { recordAt, ledger } = await begin(context)
    await recordAt("2026-11-20T10:00:00Z")
    await recordAt("2026-11-21T10:00:00Z")
    await recordAt("2026-11-21T10:00:00Z", { usedFor: { purpose: "chat", sessionKey: "another" } })
    assert.equal(ledger.session("agent:main:main").calls, 2)
    assert.equal(ledger.session("agent:main:main", Date.parse("2026-11-21T00:00:00Z")).calls, 1)
  })
})

describe("days", () => {
  const dayKeys = (found: { key: string | null; calls: number }[]) => found.map(({ key, calls }) => [key, calls])

  test("are those of the user's time zone, newest first, without the empty ones", async (context) => {
    const { recordAt, rowsBy, ledger } = await begin(context, { timeZone: "Europe/Berlin" })
    await recordAt("2026-11-18T22:59:59Z")
    await recordAt("2026-11-20T22:59:59.999Z")
    await recordAt("2026-11-20T23:00:00Z")
    assert.deepEqual(dayKeys(rowsBy("day")), [
      ["2026-11-21", 1],
      ["2026-11-20", 1],
      ["2026-11-18", 1],
    ])
    assert.deepEqual(dayKeys(rowsBy("day", { limit: 1 })), [["2026-11-21", 1]])
    assert.equal(ledger.today().calls, 1)
  })

  test("have 23 or 25 hours where the clock is changed, also at midnight", async (context) => {
    const berlin = await begin(context, { timeZone: "Europe/Berlin" })
    for (const time of ["2026-03-28T23:00:00Z", "2026-03-29T21:59:59Z", "2026-03-29T22:00:00Z"])
      await berlin.recordAt(time)
    for (const time of ["2026-10-24T22:00:00Z", "2026-10-25T22:59:59Z", "2026-10-25T23:00:00Z"])
      await berlin.recordAt(time)
    assert.deepEqual(dayKeys(berlin.rowsBy("day")), [
      ["2026-10-26", 1],
      ["2026-10-25", 2],
      ["2026-03-30", 1],
      ["2026-03-29", 2],
    ])
    // In Cairo the day of 24 April 2026 begins at one o'clock.
    const cairo = await begin(context, { timeZone: "Africa/Cairo" })
    for (const time of ["2026-04-23T21:59:59Z", "2026-04-23T22:00:00Z", "2026-04-24T20:59:59Z"])
      await cairo.recordAt(time)
    assert.deepEqual(dayKeys(cairo.rowsBy("day")), [
      ["2026-04-24", 2],
      ["2026-04-23", 1],
    ])
  })

  test("of a range that begins or ends within a day are cut there", async (context) => {
    const { recordAt, rowsBy } = await begin(context)
    for (const hour of ["08", "12", "16"]) await recordAt(`2026-11-20T${hour}:00:00Z`)
    const range = { since: Date.parse("2026-11-20T10:00:00Z"), until: Date.parse("2026-11-20T16:00:00Z") }
    assert.deepEqual(dayKeys(rowsBy("day", range)), [["2026-11-20", 1]])
  })
})

test("no question about a day or a session reads the whole table, however large it is", async (context) => {
  const { store, ledger, clock } = await begin(context)
  await store.write(async (write) => {
    write
      .prepare(
        `with recursive n (value) as (select 1 union all select value + 1 from n where value < 100000)
         insert into usage (created_at, session_key, agent_id, purpose, model, input_tokens)
         select ? - value * 60000, 'session-' || (value % 100), 'main', 'chat', 'test/small', 1 from n`,
      )
      .run(noon)
  })
  const texts = new Set<string>()
  const { prepare } = store.handle
  store.handle.prepare = (sql) => {
    texts.add(sql)
    return prepare(sql)
  }
  assert.equal(ledger.today().calls, 720)
  assert.equal(ledger.session("session-7").calls, 1_000)
  for (const by of ["day", "model", "session", "job", "agent", "purpose"] as const)
    ledger.summarise({ by, since: noon - dayMs, until: noon, limit: 10 })
  clock.set(noon + 401 * dayMs)
  await store.prune()
  assert.equal(ledger.session("session-7").calls, 0)
  const ours = [...texts].filter((sql) => sql.includes("usage"))
  assert.ok(ours.length > 7)
  for (const sql of ours) {
    const plan = store.handle.raw.prepare(`explain query plan ${sql}`).all() as { detail: string }[]
    assert.ok(
      plan.some(({ detail }) => /^SEARCH usage USING (COVERING )?INDEX usage_(age|session) /.test(detail)),
      sql,
    )
    assert.deepEqual(
      plan.filter(({ detail }) => detail.startsWith("SCAN usage")),
      [],
      sql,
    )
  }
})

test("rows are kept for 400 days", async (context) => {
  const { store, ledger, recordAt, clock } = await begin(context)
  await recordAt(new Date(noon - 401 * dayMs).toISOString(), { model: "test/old" })
  await recordAt(new Date(noon - 399 * dayMs).toISOString(), { model: "test/kept" })
  clock.set(noon)
  await store.prune()
  assert.deepEqual(
    ledger.summarise({ by: "model", since: 0, until: noon, limit: 5 }).rows.map(({ key }) => key),
    ["test/kept"],
  )
})
