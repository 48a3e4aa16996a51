// Caps on spending: what is held before a call, given back after it, and told to an owner.
import assert from "node:assert/strict"
import { type TestContext, describe, test } from "node:test"
import { silentLog, testStore } from "../../test/support/store.ts"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { AppError, type Clock, createBackground, systemClock, systemIds } from "../kernel/index.ts"
import type { AdmittedCall, PlannedCall, UsageRecord } from "../models/contract.ts"
import { KeptWrites } from "../store/index.ts"
import { type BudgetConfig, budgetSchema } from "./config.ts"
import { type CapNotice, createGovernor, createLedger } from "./index.ts"

const noon = Date.parse("2026-11-21T12:00:00Z")
const dayMs = 24 * 60 * 60 * 1000
const never = new AbortController().signal

/** A thousand tokens of prompt, a reply of at most a thousand; a cent for a thousand of either. */
function planned(more: Partial<PlannedCall> = {}): PlannedCall {
  return {
    model: "test/small",
    agentId: "main",
    usedFor: { purpose: "chat", sessionKey: "agent:main:main", runId: "run-1" },
    inputTokens: 1_000,
    outputTokens: 1_000,
    inputPrice: 10_000,
    outputPrice: 10_000,
    pricedBy: "model",
    ...more,
  }
}

const heartbeat = planned({ usedFor: { purpose: "heartbeat", sessionKey: "agent:main:main", runId: "beat" } })

async function begin(context: TestContext, config: unknown, options: { folder?: string; bootId?: string } = {}) {
  let now = noon
  const clock: Clock = { ...systemClock, now: () => now }
  const opened = await testStore(context, { clock, ...options })
  const kept = new KeptWrites({ clock: systemClock, log: silentLog })
  context.after(() => kept.stop())
  const store = kept.observe(opened)
  const onRecovered = (listener: () => void) => kept.onRecovered(listener)
  const background = createBackground(silentLog)
  const timeZone = () => "UTC"
  const ledger = createLedger({ store, clock, log: silentLog, background, timeZone, onRecovered })
  const told: CapNotice[] = []
  const resumed: string[] = []
  let settings: BudgetConfig = budgetSchema.parse(config)
  const governor = createGovernor({
    store,
    ledger,
    clock,
    ids: systemIds,
    log: silentLog,
    background,
    onRecovered,
    config: () => settings,
    timeZone,
    tell: (_write, notice) => void told.push(notice) as undefined,
    resume: (_write, runId) => resumed.push(runId) > 0,
  })
  const settle = async (
    call: AdmittedCall,
    plan: PlannedCall,
    tokens: { input: number; output: number } | undefined,
  ) => {
    const usage = { inputTokens: tokens?.input, outputTokens: tokens?.output }
    const cost = tokens && ((tokens.input + tokens.output) * plan.inputPrice) / 1e9
    const counted = { tokens: 2_000, nanoDollars: 2_000 * plan.inputPrice }
    const record: UsageRecord = { model: plan.model, agentId: plan.agentId, usedFor: plan.usedFor, usage, cost, ms: 1 }
    const sum = tokens && { tokens: tokens.input + tokens.output, nanoDollars: (cost ?? 0) * 1e9 }
    call.settle({ ...record, counted: sum ?? counted })
    await background.idle()
  }
  return {
    store,
    governor,
    told,
    resumed,
    settle,
    idle: () => background.idle(),
    set: (ms: number) => void (now = ms),
    configure: (changed: unknown) => void (settings = budgetSchema.parse(changed)),
    cap: (id: string) => governor.list().find((cap) => cap.id === id),
    /** A call that is made and takes so much. */
    async spend(input: number, output: number, plan = planned()) {
      await settle(await governor.admit(plan, never), plan, { input, output })
    },
    percents: () => told.map(({ cap, percent }) => `${cap.id} ${percent}`),
  }
}

const refused = (error: unknown) =>
  error instanceof AppError && error.code === "budget-exceeded" && error.status === 402

describe("before a call", () => {
  test("the most that it can take is held, and given back when it took less", async (context) => {
    const { governor, settle, cap } = await begin(context, { day: { dollars: 1, tokens: 10_000 } })
    const call = await governor.admit(planned(), never)
    assert.deepEqual(cap("day")?.dollars, { limit: 1, allowed: 0, spent: 0, held: 0.02 })
    assert.deepEqual(cap("day")?.tokens, { limit: 10_000, allowed: 0, spent: 0, held: 2_000 })
    await settle(call, planned(), { input: 300, output: 50 })
    assert.deepEqual(cap("day")?.tokens, { limit: 10_000, allowed: 0, spent: 350, held: 0 })
    assert.deepEqual(cap("day")?.dollars, { limit: 1, allowed: 0, spent: 0.0035, held: 0 })
  })

  test("a reply is kept so short that it fits, and refused where not even a short one does", async (context) => {
    const { governor, spend } = await begin(context, { day: { tokens: 10_000 } })
    const long = planned({ outputTokens: 64_000 })
    const call = await governor.admit(long, never)
    assert.equal(call.maxOutputTokens, 8_192)
    call.refund()
    await spend(5_000, 1_000)
    assert.equal((await governor.admit(long, never)).maxOutputTokens, 3_000)
    await assert.rejects(governor.admit(planned({ inputTokens: 9_500 }), never), refused)
  })

  test("calls side by side never pass the cap together: the later one waits for what the first gives back", async (context) => {
    const { governor, settle, cap, told } = await begin(context, { day: { tokens: 3_500 } })
    const first = await governor.admit(planned(), never)
    let isAdmitted = false
    const second = governor.admit(planned(), never).then((call) => ((isAdmitted = true), call))
    await assert.rejects(governor.admit(planned(), AbortSignal.timeout(20)))
    assert.equal(isAdmitted, false)
    await settle(first, planned(), { input: 500, output: 100 })
    ;(await second).refund()
    assert.deepEqual([cap("day")?.tokens?.spent, told.length], [600, 0])
  })

  test("a retry, a fallback or a refusal of the provider costs nothing", async (context) => {
    const { governor, idle, cap } = await begin(context, { day: { tokens: 3_500 } })
    for (let tries = 0; tries < 5; tries += 1) (await governor.admit(planned(), never)).refund()
    await idle()
    assert.deepEqual(cap("day")?.tokens, { limit: 3_500, allowed: 0, spent: 0, held: 0 })
  })

  test("what a stream was cut of counts, though the ledger has no row of it", async (context) => {
    const { governor, idle, cap } = await begin(context, { day: { tokens: 3_500 }, job: { tokens: 9_000 } })
    ;(await governor.admit(planned(), never)).lose({ tokens: 1_200, nanoDollars: 5 })
    await idle()
    assert.equal(cap("day")?.tokens?.spent, 1_200)
    assert.equal(cap("job:run-1")?.tokens?.spent, 1_200)
    assert.deepEqual(governor.cut(), { calls: 1, tokens: 1_200, nanoDollars: 5 })
  })

  test("tokens that a provider does not tell count as what was planned", async (context) => {
    const { governor, settle, cap } = await begin(context, { day: { tokens: 5_000 } })
    await settle(await governor.admit(planned(), never), planned(), undefined)
    assert.equal(cap("day")?.tokens?.spent, 2_000)
  })
})

describe("while the disk takes nothing", () => {
  const ends: [string, (call: AdmittedCall) => void, number][] = [
    ["answered", (call) => call.settle(answered), 600],
    ["given back", (call) => call.refund(), 0],
    ["cut", (call) => call.lose({ tokens: 1_200, nanoDollars: 5 }), 1_200],
  ]
  const answered: UsageRecord = {
    model: "test/small",
    agentId: "main",
    usedFor: planned().usedFor,
    usage: { inputTokens: 500, outputTokens: 100 },
    cost: undefined,
    counted: { tokens: 600, nanoDollars: 0 },
    ms: 1,
  }
  for (const [how, end, spent] of ends) {
    test(`a call that was ${how} keeps nothing from others once the disk works again`, async (context) => {
      const { store, governor, idle, cap } = await begin(context, { day: { tokens: 3_500 } })
      const first = await governor.admit(planned(), never)
      const second = governor.admit(planned(), AbortSignal.timeout(30_000))
      store.handle.raw.exec("pragma query_only = on")
      end(first)
      await idle()
      assert.equal(cap("day")?.tokens?.held, 2_000)
      store.handle.raw.exec("pragma query_only = off")
      ;(await second).refund()
      await idle()
      assert.deepEqual([cap("day")?.tokens?.spent, cap("day")?.tokens?.held], [spent, 0])
    })
  }
})

describe("a process that dies with a call under way", () => {
  test("has spent what was held for it", async (context) => {
    const folder = temporaryFolder()
    const before = await begin(context, { day: { tokens: 3_500 } }, { folder })
    await before.governor.admit(planned(), never)
    await before.store.close()
    const after = await begin(context, { day: { tokens: 3_500 } }, { folder, bootId: "another" })
    await after.governor.recover()
    assert.deepEqual(after.cap("day")?.tokens, { limit: 3_500, allowed: 0, spent: 2_000, held: 0 })
    await assert.rejects(after.governor.admit(planned(), never), refused)
    assert.deepEqual(after.percents(), ["day 50", "day 100"])
  })
})

describe("caps", () => {
  const cases: [string, object, PlannedCall, PlannedCall][] = [
    ["of a session leave others alone", { session: { tokens: 2_500 } }, planned(), sessionCall("other")],
    ["of an agent leave others alone", { agent: { tokens: 2_500 } }, planned(), planned({ agentId: "other" })],
    [
      "of one agent win over those of all",
      { agent: { tokens: 1 }, agents: { main: { tokens: 2_500 }, ops: {} } },
      planned(),
      planned({ agentId: "ops" }),
    ],
    ["of a run leave others alone", { job: { tokens: 2_500 } }, planned(), runCall("run-2")],
    ["of heartbeats leave people alone", { heartbeat: { tokens: 2_500 } }, heartbeat, planned()],
  ]
  for (const [name, config, capped, free] of cases) {
    test(name, async (context) => {
      const { governor, spend } = await begin(context, config)
      await spend(900, 100, capped)
      await assert.rejects(governor.admit(capped, never), refused)
      await spend(900, 100, free)
    })
  }

  test("of a day begin anew with the day, those of a month go on; both survive a session's end", async (context) => {
    const { governor, spend, set, store, cap } = await begin(context, {
      day: { tokens: 3_000 },
      month: { tokens: 5_000 },
    })
    await spend(1_500, 200)
    store.handle.prepare("delete from session").run()
    await assert.rejects(governor.admit(planned(), never), refused)
    set(noon + dayMs)
    await spend(1_500, 200)
    assert.deepEqual([cap("day")?.tokens?.spent, cap("month")?.tokens?.spent], [1_700, 3_400])
    set(noon + 2 * dayMs)
    await assert.rejects(governor.admit(planned(), never), /cap of the month/)
    set(noon + 12 * dayMs)
    await spend(1_500, 200)
    assert.equal(cap("month")?.tokens?.spent, 1_700)
  })

  test("that are set later know what was spent before", async (context) => {
    const { governor, spend, configure, cap } = await begin(context, {})
    await spend(1_500, 200)
    configure({ day: { tokens: 3_000 } })
    assert.equal(cap("day")?.tokens?.spent, 1_700)
    await assert.rejects(governor.admit(planned(), never), refused)
    configure({})
    await spend(1_500, 200)
    configure({ day: { tokens: 6_000 } })
    assert.equal(cap("day")?.tokens?.spent, 3_400)
  })

  test("stop heartbeats first: the rest is left for people, and that is one message", async (context) => {
    const { governor, spend, percents } = await begin(context, { day: { tokens: 10_000 } })
    await spend(6_500, 0, planned({ inputTokens: 7_000 }))
    await assert.rejects(governor.admit(heartbeat, never), refused)
    await assert.rejects(governor.admit(heartbeat, never), refused)
    await spend(1_000, 600)
    assert.deepEqual(percents(), ["day 50", "day 80"])
  })
})

describe("an owner", () => {
  test("is warned once at 50 and 80 %, told once at the end, with the model whose price is not known", async (context) => {
    const { governor, spend, percents, told } = await begin(context, { day: { dollars: 0.1 } })
    await spend(3_000, 100)
    assert.deepEqual(percents(), [])
    await spend(2_000, 100)
    await spend(100, 100)
    assert.deepEqual(percents(), ["day 50"])
    await spend(2_500, 300)
    assert.deepEqual(percents(), ["day 50", "day 80"])
    const unknown = planned({ pricedBy: "provider" })
    await assert.rejects(governor.admit(unknown, never), /the price of test\/small is not known/)
    await assert.rejects(governor.admit(unknown, never), refused)
    assert.deepEqual(percents(), ["day 50", "day 80", "day 100"])
    assert.deepEqual([told[2]?.isPriceUnknown, told[2]?.model], [true, "test/small"])
  })

  test("who allows more is told anew when that is used too, and the stopped run goes on", async (context) => {
    const { governor, spend, percents, resumed, cap } = await begin(context, { day: { tokens: 3_000 } })
    await spend(1_500, 200)
    await assert.rejects(governor.admit(planned(), never), refused)
    const allowed = await governor.allow("day", { tokens: 1_000 }, "chat:1")
    assert.deepEqual([allowed.resumed, resumed], [1, ["run-1"]])
    assert.equal(cap("day")?.tokens?.allowed, 1_000)
    await spend(1_500, 200)
    await assert.rejects(governor.admit(planned(), never), refused)
    assert.deepEqual(percents(), ["day 50", "day 100", "day 80", "day 100"])
  })

  test("is raised once by what is sent twice with the most that it lets through", async (context) => {
    const { governor, cap } = await begin(context, { day: { dollars: 5 } })
    const more = { dollars: 1, ifMostIs: 5 }
    assert.equal((await governor.allow("day", more, "gateway")).isChanged, undefined)
    assert.equal((await governor.allow("day", more, "gateway")).isChanged, true)
    assert.equal(cap("day")?.dollars?.allowed, 1)
  })

  test("lifts a cap until tomorrow, and no longer", async (context) => {
    const { governor, spend, set, cap } = await begin(context, { month: { tokens: 1_000 } })
    await assert.rejects(governor.admit(planned(), never), refused)
    await governor.allow("month", { untilTomorrow: true }, "chat:1")
    assert.equal(cap("month")?.state, "lifted")
    await spend(1_500, 200)
    set(noon + dayMs)
    assert.equal(cap("month")?.state, "reached")
    await assert.rejects(governor.admit(planned(), never), refused)
  })

  test("is told which unit is nearer its end, with what is held, and of runs only those that come near", async (context) => {
    const config = { day: { dollars: 1, tokens: 10_000 }, job: { tokens: 4_000 } }
    const { governor, spend, cap } = await begin(context, config)
    assert.equal(cap("day")?.nearest, "dollars")
    await spend(1_000, 100, runCall("small"))
    assert.equal(cap("day")?.nearest, "tokens")
    assert.deepEqual([cap("day")?.isListed, cap("job:small")?.isListed], [true, false])
    await spend(1_900, 100, runCall("large"))
    assert.deepEqual([cap("job:large")?.share, cap("job:large")?.isListed], [0.5, true])
    await governor.allow("job:small", { untilTomorrow: true }, "chat:1")
    assert.equal(cap("job:small")?.isListed, true)
    await governor.allow("day", { tokens: 1_000_000 }, "chat:1")
    assert.equal(cap("day")?.nearest, "dollars")
  })

  test("cannot allow what is no cap, or another unit", async (context) => {
    const { governor } = await begin(context, { day: { tokens: 1_000 } })
    await assert.rejects(governor.allow("week", { tokens: 1 }, "x"), /There is no cap "week"/)
    await assert.rejects(governor.allow("agent:main", { tokens: 1 }, "x"), /There is no cap/)
    await assert.rejects(governor.allow("day", { dollars: 1 }, "x"), /in tokens, not in dollars/)
    await assert.rejects(governor.allow("day", {}, "x"), /Say how much/)
  })
})

function sessionCall(key: string): PlannedCall {
  return planned({ usedFor: { purpose: "chat", sessionKey: key, runId: "run-2" } })
}

function runCall(runId: string): PlannedCall {
  return planned({ usedFor: { purpose: "chat", sessionKey: "agent:main:main", runId } })
}
